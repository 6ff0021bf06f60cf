"""The OMOP vocabulary folder: choices, ids, links, and broken files."""

import zipfile

import pytest

import ontomask as om
from ontomask.errors import DuplicateConceptError, EncodingError, FormatError, ParameterError
from ontomask.taxonomy.readers import omop

DATES = ("19700101", "20991231")
CONCEPT = (
    "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept "
    "concept_code valid_start_date valid_end_date invalid_reason"
)
HEADERS = {
    "CONCEPT": CONCEPT,
    "CONCEPT_RELATIONSHIP": "concept_id_1 concept_id_2 relationship_id valid_start_date "
    "valid_end_date invalid_reason",
    "CONCEPT_ANCESTOR": "ancestor_concept_id descendant_concept_id min_levels_of_separation "
    "max_levels_of_separation",
    "CONCEPT_SYNONYM": "concept_id concept_synonym_name language_concept_id",
}


def concept(number, name, code, *, vocabulary="SNOMED", domain="Condition", standard="S", gone=""):
    return str(number), name, domain, vocabulary, "Class", standard, code, *DATES, gone


def relation(first, second, kind="Is a", gone=""):
    return str(first), str(second), kind, *DATES, gone


TABLES = {
    "CONCEPT": [
        concept(1, "Clinical finding", "404684003", domain="Observation"),
        concept(2, "Disease", "64572001"),
        concept(3, 'So-called "Heart" disease', "56265001"),
        concept(4, "Myocardial infarction", "22298006"),
        concept(5, "Old thing", "999", gone="U"),
        concept(6, "Acute myocardial infarction", "I21", vocabulary="ICD10", standard=""),
        concept(7, "Metformin", "6809", vocabulary="RxNorm", domain="Drug"),
        concept(8, "Biguanides", "A10BA", vocabulary="ATC", domain="Drug", standard="C"),
        concept(9, "Blood glucose lowering drugs", "A10B", vocabulary="ATC", domain="Drug"),
    ],
    "CONCEPT_RELATIONSHIP": [
        relation(2, 1),
        relation(3, 2),
        relation(4, 3),
        relation(4, 2, gone="D"),
        relation(3, 4, "Subsumes"),
        relation(5, 2),
        relation(8, 9),
        relation(6, 4, "Maps to"),
    ],
    "CONCEPT_ANCESTOR": [
        ("9", "7", "2", "2"),
        ("8", "7", "1", "1"),
        ("7", "7", "0", "0"),
        ("1", "4", "3", "3"),
        ("1", "3", "2", "2"),
    ],
    "CONCEPT_SYNONYM": [("4", "Heart attack", "4180186"), ("4", "Myocardial infarction", "1")],
}


@pytest.fixture
def folder(tmp_path):
    for name, rows in TABLES.items():
        write(tmp_path / "omop" / f"{name}.csv", [HEADERS[name].split(), *rows])
    return tmp_path / "omop"


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def test_everything_that_is_valid(folder):
    taxonomy = om.load_taxonomy(folder)
    assert set(taxonomy.ids) == set("12346789*")
    assert taxonomy.ancestors("4") == ("*", "1", "2", "3", "4")
    assert taxonomy.label_of("3") == 'So-called "Heart" disease'
    assert taxonomy.synonyms[taxonomy.index_of("4")] == ("Heart attack",)


def test_a_zip_and_names_in_small_letters(folder, tmp_path):
    path = tmp_path / "vocabulary.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"download/{file.name.lower()}")
    assert om.load_taxonomy(path).ids == om.load_taxonomy(folder).ids


def test_vocabularies_domains_and_codes_are_chosen(folder):
    taxonomy = om.load_taxonomy(folder, vocabularies="SNOMED", domains=["Condition"], ids="code")
    assert taxonomy.ids == ("64572001", "56265001", "22298006")
    assert om.load_taxonomy(folder, vocabularies=["ICD10"]).ids == ("6",)


def test_what_hangs_nowhere_takes_the_nearest_ancestors(folder):
    drugs = om.load_taxonomy(folder, domains="Drug")
    assert drugs.ancestors("7") == ("9", "8", "7")
    # the parent of 3 and 4 is left out: 1 is the nearest that is chosen
    write(folder / "CONCEPT.csv", [CONCEPT.split(), *(r for r in TABLES["CONCEPT"] if r[0] != "2")])
    assert om.load_taxonomy(folder, vocabularies="SNOMED").parents("3") == ("1",)


def test_standard_concepts_only(folder):
    assert "6" not in om.load_taxonomy(folder, standard=True)


def test_ancestors_alone_are_enough(folder):
    (folder / "CONCEPT_RELATIONSHIP.csv").unlink()
    assert om.load_taxonomy(folder, domains="Drug").parents("7") == ("8",)


def test_a_code_of_two_vocabularies(folder):
    write(
        folder / "CONCEPT.csv",
        [CONCEPT.split(), *TABLES["CONCEPT"], concept(10, "Other", "I21", vocabulary="ICD9CM")],
    )
    with pytest.raises(DuplicateConceptError, match=r"'I21' stands for two concepts \(ICD10 and"):
        om.load_taxonomy(folder, ids="code")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"vocabularies": "SNOMEDCT"}, r"vocabularies='SNOMEDCT'; it has ATC, ICD10, RxNorm"),
        ({"domains": ["Drug", "Spirit"]}, r"domains='Spirit'; it has Condition, Drug"),
        ({"ids": "source"}, r"ids must be one of 'concept_id', 'code'"),
        ({"vocabularies": []}, r"vocabularies must be"),
    ],
)
def test_wrong_choices(folder, options, words):
    with pytest.raises(ParameterError, match=words):
        om.load_taxonomy(folder, **options)


def test_nothing_says_what_is_above_what(folder):
    (folder / "CONCEPT_RELATIONSHIP.csv").unlink()
    (folder / "CONCEPT_ANCESTOR.csv").unlink()
    with pytest.raises(FormatError, match="holds neither CONCEPT_RELATIONSHIP"):
        om.load_taxonomy(folder)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"concept_id,concept_name\n1,a\n", FormatError, "line 1: the header lacks concept_id"),
        (CONCEPT.replace(" ", "\t").encode() + b"\n1\t2\n", FormatError, "line 2: the row has 2"),
        (
            CONCEPT.replace(" ", "\t").encode() + b"\n1\t\xff\ta\tb\tc\tS\td\te\tf\t\n",
            EncodingError,
            "line 2: byte 0xff",
        ),
    ],
)
def test_broken_tables(folder, content, error, words):
    (folder / "CONCEPT.csv").write_bytes(content)
    with pytest.raises(error, match=words):
        om.load_taxonomy(folder)


def test_levels_that_are_no_numbers(folder):
    rows = [HEADERS["CONCEPT_ANCESTOR"].split(), ("8", "7", "one", "1")]
    write(folder / "CONCEPT_ANCESTOR.csv", rows)
    with pytest.raises(FormatError, match="'one' levels above"):
        om.load_taxonomy(folder)


def test_a_folder_of_another_kind(tmp_path):
    with pytest.raises(FormatError, match=r"holds no CONCEPT\.csv"):
        omop.read(tmp_path)
