"""A vocabulary of the UMLS: codes and concepts, names, places, and broken files."""

import zipfile

import pytest

import ontomask as om
from ontomask.errors import CycleError, EncodingError, FormatError, ParameterError


def atom(cui, aui, code, text, *, vocabulary="ICD10CM", suppress="N"):
    """A row of MRCONSO.RRF."""
    cells = [cui, "ENG", "P", "L1", "PF", "S1", "Y", aui, "", "", "", vocabulary, "PT", code, text]
    return "|".join([*cells, "0", suppress, "256", ""])


def placed(aui, parent, *, vocabulary="ICD10CM"):
    """A row of MRHIER.RRF."""
    return "|".join(["C0", aui, "1", parent, vocabulary, "", "A0", "", "", ""])


ATOMS = [
    atom("C9", "A0", "V-ICD10CM", "ICD-10-CM", vocabulary="SRC"),
    atom("C1", "A1", "I20-I25", "Ischaemic heart diseases"),
    atom("C2", "A2", "I21", "Acute myocardial infarction"),
    atom("C2", "A3", "I21", "AMI"),
    atom("C2", "A4", "I21", "Former name", suppress="O"),
    atom("C2", "A5", "I21", "Abbrev AMI", suppress="Y"),
    atom("C3", "A6", "I20", "Angina pectoris"),
    atom("C4", "A7", "X99", "It has no place"),
    atom("C2", "A8", "D009203", "Myocardial Infarction", vocabulary="MSH"),
    atom("C5", "A9", "D006331", "Heart Diseases", vocabulary="MSH"),
]
PLACES = [
    placed("A1", "A0"),
    placed("A2", "A1"),
    placed("A2", "A1"),
    placed("A6", "A1"),
    placed("A9", "", vocabulary="MSH"),
    placed("A8", "A9", vocabulary="MSH"),
]


def written(folder, atoms=ATOMS, places=PLACES):
    folder.mkdir(exist_ok=True)
    (folder / "MRCONSO.RRF").write_text("\n".join([*atoms, ""]), encoding="utf-8")
    (folder / "MRHIER.RRF").write_text("\n".join([*places, ""]), encoding="utf-8")
    return folder


def test_codes_with_their_names_and_links(tmp_path):
    taxonomy = om.load_taxonomy(written(tmp_path / "META"), vocabulary="ICD10CM")
    assert set(taxonomy.ids) == {"I20-I25", "I21", "I20"}
    assert taxonomy.parents("I21") == ("I20-I25",)
    assert taxonomy.map(["AMI", "Acute myocardial infarction", "Former name"]).ids == (
        "I21",
        "I21",
        None,
    )
    assert taxonomy.labels[taxonomy.indices_of(["I21"])[0]] == "Acute myocardial infarction"


def test_concepts_of_the_metathesaurus_from_a_zip(tmp_path):
    folder = written(tmp_path / "META")
    with zipfile.ZipFile(tmp_path / "umls.zip", "w") as archive:
        for name in ("MRCONSO.RRF", "MRHIER.RRF"):
            archive.write(folder / name, f"2025AB/META/{name}")
    taxonomy = om.load_taxonomy(tmp_path / "umls.zip", vocabulary="MSH", ids="cui")
    assert taxonomy.parents("C2") == ("C5",)


def related(first, second, relation="PAR", *, suppress="N", vocabulary="ICD10CM"):
    """A row of MRREL.RRF: what the second atom is to the first."""
    cells = ["C0", first, "AUI", relation, "C0", second, "AUI", "inverse_isa", "R1", ""]
    return "|".join([*cells, vocabulary, vocabulary, "", "", suppress, "", ""])


def test_relations_stand_in_for_places(tmp_path):
    folder = written(tmp_path / "META")
    expected = om.load_taxonomy(folder, vocabulary="ICD10CM")
    (folder / "MRHIER.RRF").unlink()
    rows = [
        *(related("A1", "A0"), related("A2", "A1"), related("A6", "A1")),
        *(related("A1", "A2", "CHD"), related("A2", "A6", "SIB"), related("A6", "A2", "RO")),
        related("A7", "A1", suppress="O"),
        related("", "A1"),  # between concepts, not atoms
        related("A8", "A9", vocabulary="MSH"),
    ]
    (folder / "MRREL.RRF").write_text("\n".join([*rows, ""]), encoding="utf-8")
    found = om.load_taxonomy(folder, vocabulary="ICD10CM")
    assert found.ids == expected.ids
    assert found.names == expected.names
    assert found.parent_numbers.tolist() == expected.parent_numbers.tolist()
    assert om.load_taxonomy(folder, vocabulary="MSH").parents("D009203") == ("D006331",)
    (folder / "MRREL.RRF").write_text("C0|A1|cut\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"MRREL\.RRF, line 1: the row has 2 cells instead of 16"):
        om.load_taxonomy(folder)


PUBLISHED = "C3540036|A22726695|AUI|CHD|C0001645|A22729715|AUI|isa|R162894118||ATC||||N||"
"""A row of release 2021AA: the second atom, beta blocking agents, is a child of the first, the
cardiovascular system."""
INVERSE = "C0001645|A22729715|AUI|PAR|C3540036|A22726695|AUI|inverse_isa|R1||ATC||||N||"


@pytest.mark.parametrize("rows", [[PUBLISHED], [INVERSE], [PUBLISHED, INVERSE]])
def test_a_relation_tells_what_the_second_is_to_the_first(tmp_path, rows):
    atoms = [
        atom("C3540036", "A22726695", "C", "CARDIOVASCULAR SYSTEM", vocabulary="ATC"),
        atom("C0001645", "A22729715", "C07", "BETA BLOCKING AGENTS", vocabulary="ATC"),
    ]
    folder = written(tmp_path / "META", atoms)
    (folder / "MRHIER.RRF").unlink()
    (folder / "MRREL.RRF").write_text("\n".join([*rows, ""]), encoding="utf-8")
    assert om.load_taxonomy(folder).parents("C07") == ("C",)


def test_a_single_vocabulary_need_not_be_named(tmp_path):
    places = [one for one in PLACES if "MSH" not in one]
    assert "I20" in om.load_taxonomy(written(tmp_path / "META", places=places)).ids


def test_concepts_that_lie_below_each_other_are_refused(tmp_path):
    atoms = [atom("C1", "A1", "a", "one"), atom("C2", "A2", "b", "two"), atom("C1", "A3", "c", "x")]
    places = [placed("A1", ""), placed("A2", "A1"), placed("A3", "A2")]
    folder = written(tmp_path / "META", atoms, places)
    assert om.load_taxonomy(folder).parents("c") == ("b",)
    with pytest.raises(CycleError):
        om.load_taxonomy(folder, ids="cui")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "holds several hierarchies; choose by vocabulary='…'; there are ICD10CM, MSH"),
        ({"vocabulary": "LNC"}, "no hierarchy of vocabulary='LNC'; there are ICD10CM, MSH"),
        ({"ids": "name"}, "ids must be"),
    ],
)
def test_wrong_options(tmp_path, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        om.load_taxonomy(written(tmp_path / "META"), **options)


def test_broken_files(tmp_path):
    folder = written(tmp_path / "META", atoms=[*ATOMS, "C1|ENG|cut"])
    with pytest.raises(
        FormatError, match=r"MRCONSO\.RRF, line 11: the row has 2 cells instead of 18"
    ):
        om.load_taxonomy(folder, vocabulary="MSH")
    (folder / "MRCONSO.RRF").write_bytes(atom("C1", "A1", "I21", "caf").encode() + b"\n\xe9|")
    with pytest.raises((EncodingError, FormatError), match="line 2"):
        om.load_taxonomy(folder, vocabulary="MSH")
    (folder / "MRCONSO.RRF").write_bytes(
        atom("C1", "A1", "I21", "cafX").encode().replace(b"X", b"\xe9")
    )
    with pytest.raises(EncodingError, match="line 1: byte 0xe9 is not UTF-8"):
        om.load_taxonomy(folder, vocabulary="MSH")
    (folder / "MRHIER.RRF").unlink()
    with pytest.raises(
        FormatError, match=r"holds no MRHIER\.RRF and no MRREL\.RRF; give the folder META"
    ):
        om.load_taxonomy(folder)
