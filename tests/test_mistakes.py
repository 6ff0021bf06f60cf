"""What people get wrong, and the sentence each of them reads."""

import dataclasses
import gzip
import zipfile

import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask import errors
from ontomask.methods.base import METHODS, Method
from ontomask.promises import ClassSize

TOY = om.Taxonomy.from_parents({"disease": [], "flu": ["disease"], "cold": ["disease"]}, name="toy")


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a file and load it; messages then show its bare name."""
    monkeypatch.chdir(tmp_path)

    def load(name: str, content: str | bytes, **options):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return om.load_taxonomy(name, **options)

    return load


def sentence(error: type[Exception], call, *args, **options) -> str:
    with pytest.raises(error) as caught:
        call(*args, **options)
    assert isinstance(caught.value, errors.OntomaskError)
    return str(caught.value)


def test_missing_file():
    assert sentence(FileNotFoundError, om.load_taxonomy, "icd9.obo") == (
        "There is no file or bundled taxonomy 'icd9.obo'; bundled are icd9cm, icd9cm-procedures, "
        "wordnet, doid, nace, naics, icd10cm."
    )


def test_wrong_format(read):
    assert sentence(
        errors.FormatError, read, "letter.txt", "Dear colleague,\nall the best\n\n"
    ) == (
        "letter.txt is in no format that ontomask recognizes; if you know it, say format=… with "
        "one of rf2, omop, umls, wordnet, mesh, claml, fhir, rdf, obo, json, icd11, loinc, atc, "
        "edges, concepts, hierarchy, codes, indented."
    )


def test_a_table_of_people_is_not_taken_for_a_taxonomy(read):
    rows = "patient,age,diagnosis\n1,66,250.00\n2,71,401.9\n"
    assert "in no format that ontomask recognizes" in sentence(
        errors.FormatError, read, "patients.csv", rows
    )


@pytest.mark.parametrize(
    "content", ["", " \n\n", gzip.compress(b"", mtime=0)], ids=["nothing", "blank", "gzip"]
)
def test_empty_file(read, content):
    assert sentence(errors.EmptyTaxonomyError, read, "tree.csv", content) == "tree.csv is empty."


def test_a_header_without_rows(read):
    assert "holds no concept" in sentence(
        errors.EmptyTaxonomyError, read, "tree.csv", "child,parent,label\n"
    )


def test_cycle(read):
    rows = "child,parent\nroot,\nflu,cold\ncold,flu\n"
    assert sentence(errors.CycleError, read, "tree.csv", rows) == (
        "tree.csv, line 3: the is-a links run in a circle (flu → cold → flu); remove one of these "
        "links."
    )


def test_unknown_parent(read):
    rows = "id,label,parents\ndisease,Disease,\nflu,Influenza,diseas\n"
    assert sentence(errors.UnknownParentError, read, "tree.csv", rows) == (
        "tree.csv, line 3: 'flu' is said to be a 'diseas', but there is no concept 'diseas'; add a "
        "row for the parent or correct its id."
    )


def test_duplicate_id_with_another_label(read):
    rows = "id,label,parents\nd,Disease,\nflu,Influenza,d\nflu,Grippe,d\n"
    assert sentence(errors.DuplicateConceptError, read, "tree.csv", rows) == (
        "tree.csv, line 4: concept 'flu' is labeled 'Grippe' here but 'Influenza' before (line 3); "
        "give one id one label, or another id to one of them."
    )


def test_two_roots_without_permission(read):
    rows = "child,parent\nflu,disease\nfalse alarm,finding\n"
    message = sentence(errors.SeveralRootsError, read, "tree.csv", rows, single_root=True)
    assert message == (
        "tree.csv: 2 concepts have no parent ('disease', 'finding') and a single root is demanded; "
        "link them to one root, or allow a virtual root with single_root=False."
    )
    assert read("tree.csv", rows).root == "*"


def test_malformed_xml(read):
    pytest.importorskip("rdflib")
    content = '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<oops'
    message = sentence(errors.FormatError, read, "onto.owl", content)
    assert message.startswith("onto.owl, line 3")


def test_xml_with_entity_expansion(read):
    pytest.importorskip("rdflib")
    content = (
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;">\n]>\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b;</rdf:RDF>'
    )
    message = sentence(errors.UnsafeSourceError, read, "onto.owl", content)
    assert message.startswith("onto.owl, line 4")


def test_zip_bomb_and_zip_that_climbs_out(tmp_path):
    bomb, climbing = tmp_path / "bomb.zip", tmp_path / "climbing.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sct2_Concept_Snapshot_INT_20240101.txt", bytes(70 * 2**20))
    with zipfile.ZipFile(climbing, "w") as archive:
        archive.writestr("../outside.txt", "x")
    assert "decompression bomb" in sentence(errors.UnsafeSourceError, om.load_taxonomy, bomb)
    message = sentence(errors.UnsafeSourceError, om.load_taxonomy, climbing)
    assert "'../outside.txt', a name that points outside of it" in message
    assert not (tmp_path.parent / "outside.txt").exists()


def test_gzip_bomb(read):
    content = gzip.compress(bytes(70 * 2**20))
    assert "decompression bomb" in sentence(
        errors.UnsafeSourceError, read, "tree.csv.gz", content, format="edges"
    )


def test_binary_file(read):
    content = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
    assert "in no format that ontomask recognizes" in sentence(
        errors.FormatError, read, "photo.png", content
    )
    message = sentence(errors.OntomaskError, read, "photo.csv", content, format="edges")
    assert message.startswith("photo.csv")


def test_wrong_encoding(read):
    rows = "child,parent\nMénière,disease\n".encode("latin-1")
    assert sentence(errors.EncodingError, read, "tree.csv", rows) == (
        "tree.csv, line 2: byte 0xe9 is not UTF-8 text; save the file with the encoding UTF-8 and "
        "read it again."
    )


def test_unknown_measure():
    message = sentence(ValueError, TOY.distances, ["flu"], measure="wu-plamer")
    assert message.endswith("not 'wu-plamer'. Did you mean 'wu-palmer'?")
    assert message.startswith("measure must be one of 'path', 'leacock-chodorow'")


def test_an_option_that_a_measure_does_not_have():
    assert sentence(ValueError, TOY.distances, ["flu"], measure="logsc", depth="links") == (
        "The measure 'logsc' has no option 'depth'; its options: none."
    )


def test_unknown_concept():
    assert sentence(KeyError, TOY.distances, ["flu", "clod"]) == (
        "'clod' is not the id of a concept of taxonomy 'toy'. Did you mean 'cold'? "
        "Use taxonomy.map(values) to find the concepts of words or codes."
    )
    for wrong in (3, None, ["flu"]):
        assert "is not the id of a concept" in sentence(KeyError, TOY.distances, ["flu", wrong])


def test_one_text_where_a_list_is_needed():
    assert sentence(ValueError, TOY.distances, "flu") == (
        "Give a list of concept ids, not the single text 'flu'."
    )
    assert "must be a list of ids" in sentence(ValueError, om.Taxonomy.from_parents, {"a": "b"})


def test_no_values_at_all():
    assert sentence(ValueError, TOY.distances, []) == (
        "Distances need at least one value, and the list is empty."
    )


def test_unmapped_values():
    message = sentence(
        errors.UnmappedValuesError, TOY.map(["flu", "colt", "colt", "measles"]).require
    )
    assert message.startswith("2 values (3 records) of 3 have no concept in the taxonomy 'toy':")
    assert "'colt'" in message
    assert "cold" in message


def test_an_option_that_a_reader_does_not_have(read):
    message = sentence(ValueError, read, "tree.csv", "child,parent\na,b\n", langauge="en")
    assert message == "The reader for 'edges' has no option 'langauge'; its options: separator."


def test_options_for_a_bundled_taxonomy():
    assert sentence(ValueError, om.load_taxonomy, "icd9cm", language="es") == (
        "The bundled taxonomy 'icd9cm' takes no option 'language'; leave it out."
    )


def test_counts_where_none_are_used_and_none_where_they_are_needed():
    for options in ({"ic": "corpus"}, {"ic": "seco", "counts": {"flu": 2}}):
        assert "ic='corpus' needs counts" in sentence(
            ValueError, TOY.distances, ["flu"], measure="lin", **options
        )


# Tables and methods -------------------------------------------------------------------------

PEOPLE = {"illness": ["flu", "cold", "flu", "cold"], "age": [30, 40, 50, 60]}
SCHEMA = om.Schema(illness=om.Nominal(TOY), age=om.Numeric())


def protect(columns=PEOPLE, schema=SCHEMA, method=None, kind=pl.DataFrame, **options):
    return om.protect(kind(columns), schema, method or om.Microaggregation(2), **options)


@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, "5", None, True])
def test_k_that_is_no_k(wrong):
    message = sentence(ValueError, om.Microaggregation, wrong)
    hint = " Write it without quotes." if wrong == "5" else ""
    assert message == f"k must be a whole number of at least 2, not {wrong!r}.{hint}"


@pytest.mark.parametrize(
    "method", [om.Microaggregation(5), om.Recoding(5), om.Resampling(5), om.LocalSuppression(5)]
)
def test_k_larger_than_the_table(method):
    assert sentence(errors.MethodError, protect, method=method) == (
        "k is 5, but there are only 4 records; choose a smaller k."
    )


def test_a_column_that_is_not_there():
    schema = om.Schema(ilness=om.Nominal(TOY), age=om.Numeric())
    assert sentence(errors.SchemaError, protect, schema=schema) == (
        "The schema names a column 'ilness' that the table does not have. Did you mean 'illness'?"
    )


def test_a_nominal_column_without_taxonomy():
    assert sentence(ValueError, om.Nominal, None) == (
        "taxonomy must be a taxonomy (see load_taxonomy), not None."
    )
    assert "must be a taxonomy" in sentence(ValueError, om.Nominal, "icd9cm")


def test_values_without_a_concept():
    columns = {**PEOPLE, "illness": ["flu", "colt", "flu", "cold"]}
    message = sentence(errors.UnmappedValuesError, protect, columns)
    assert message.startswith("Column 'illness': 1 value (1 record) of 3 has no concept")
    assert "perhaps cold" in message
    rooted = om.Schema(illness=om.Nominal(TOY, unmapped="root"), age=om.Numeric())
    assert len(protect(columns, rooted).frame) == 4


def test_a_column_of_missing_values():
    assert sentence(errors.DataError, protect, {**PEOPLE, "age": [None] * 4}) == (
        "Column 'age' holds missing values only; leave it out of the schema."
    )


def test_duplicate_column_names():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["age", "age"])
    message = sentence(
        errors.DataError, om.protect, frame, om.Schema(age=om.Numeric()), om.Suppression(2)
    )
    assert message == "The column name 'age' occurs 2 times; give every column a name of its own."


def test_an_empty_frame():
    empty = {"illness": [], "age": []}
    assert sentence(errors.DataError, protect, empty) == (
        "The table has no records; give it at least k of them."
    )
    assert sentence(errors.DataError, protect, {}) == "The table has no columns."


def test_something_that_is_no_table():
    assert sentence(errors.DataError, protect, kind=list) == (
        "A table must be a pandas, Polars or PyArrow data frame, not list."
    )


def test_a_frame_that_changes_while_it_is_masked():
    frame = pd.DataFrame(PEOPLE)

    def change(fraction, message):
        frame.loc[0, "age"] = 99

    message = sentence(
        errors.DataError, om.protect, frame, SCHEMA, om.Microaggregation(2), progress=change
    )
    assert message == "The table was changed while it was being masked; run it again."


def test_numbers_that_are_none():
    infinite = {**PEOPLE, "age": [1.0, float("inf"), 3.0, float("-inf")]}
    assert sentence(errors.DataError, protect, infinite) == (
        "Column 'age' holds numbers that are infinite or beyond 1e+150 (records: 2); replace them "
        "by a number or by a missing value."
    )
    words = {**PEOPLE, "age": ["old", "young", "old", "young"]}
    assert sentence(errors.DataError, protect, words) == (
        "Column 'age' is said to be numeric but holds values of type str; declare it as nominal, "
        "or read it as numbers."
    )
    gaps = {**PEOPLE, "age": [1.0, float("nan"), 3.0, None]}
    assert len(protect(gaps).frame) == 4


def test_mixed_types_in_a_column():
    columns = {**PEOPLE, "illness": ["flu", 3, "flu", "cold"]}
    assert sentence(errors.DataError, protect, columns, kind=pd.DataFrame) == (
        "Column 'illness' mixes values of the types int, str; make them one type, for codes and "
        "words usually text."
    )


def test_operators_that_numbers_do_not_have():
    method = om.Microaggregation(2, operators="lcs")
    assert sentence(errors.MethodError, protect, method=method) == (
        "The operators 'lcs' have no meaning for numbers, and column 'age' is numeric; use "
        "'semantic' or 'marginality'."
    )


def test_no_quasi_identifier():
    schema = om.Schema(illness=om.Nominal(TOY, role="other"))
    assert sentence(errors.MethodError, protect, schema=schema) == (
        "No column has the role 'quasi'; say which columns an intruder may know."
    )


def test_a_method_that_is_none():
    for wrong in ("microaggregation", [], [om.Suppression], None):
        message = sentence(ValueError, om.protect, pl.DataFrame(PEOPLE), SCHEMA, wrong)
        assert message.startswith("method must be a masking method or a list of them")


def test_an_order_that_lacks_a_value():
    schema = om.Schema(illness=om.Ordinal(order=["cold", "fluu"]))
    assert sentence(errors.DataError, protect, schema=schema) == (
        "Column 'illness' holds 'flu', which is not in its order; add it to the order or correct "
        "it. Did you mean 'fluu'?"
    )
    for wrong in ((), ([],), (["a", "a"],), ([["a"], ["b"]],)):
        assert "needs its order" in sentence(errors.SchemaError, om.Ordinal, *wrong)
    assert om.Ordinal(["low", "high"]) == om.Ordinal(order=("low", "high"), role="quasi")
    said = sentence(errors.ParameterError, om.Ordinal, "sensitive")
    assert said == "order must be a list, not 'sensitive'."


def test_dates_that_are_none():
    schema = om.Schema(illness=om.Date())
    assert sentence(errors.DataError, protect, schema=schema) == (
        "Column 'illness' is said to hold dates (ISO dates such as 2024-01-31) but holds values "
        "that are none (in records 1, 2, 3, 4); correct them, give the column's format, or declare "
        "the column as flat."
    )


@pytest.mark.parametrize(
    ("kind", "wrong", "allowed"),
    [
        (om.Weight, [1, 2, 0, 1], "numbers greater than 0"),
        (om.Count, [1, 2, 0, 1], "whole numbers of at least 1"),
        (om.Count, [1.0, 2.0, 1.5, 1.0], "whole numbers of at least 1"),
    ],
)
def test_counts_and_weights_that_are_none(kind, wrong, allowed):
    schema = om.Schema(illness=om.Nominal(TOY), age=kind())
    message = sentence(errors.DataError, protect, {**PEOPLE, "age": wrong}, schema)
    assert message == (
        f"The {kind.kind}s in column 'age' must be {allowed}, without gaps; correct them or leave "
        "the column out."
    )


def test_a_broken_promise_withholds_the_release(monkeypatch):
    kind = METHODS["microaggregation"]

    def careless(self, microdata, context):
        return Method.run(om.Microaggregation(2), microdata, context)

    monkeypatch.setattr(kind, "run", lambda self, *rest: promise_more(careless(self, *rest)))
    message = sentence(errors.PromiseError, protect, method=om.Microaggregation(3))
    assert message == (
        "The release does not keep its promise and is withheld: every combination of illness, age "
        "is shared by at least 4 (at least 2). This is a defect of the method: please report it."
    )


def promise_more(masked):
    return dataclasses.replace(masked, promises=(ClassSize(("illness", "age"), 4),))


def test_a_dictionary_is_no_schema():
    frame = pl.DataFrame({"age": [1, 2, 3]})
    wrong = {"age": om.Numeric()}
    said = "schema must be a Schema, not a dict: Schema(age=Numeric(), …), or Schema.of({…})"
    for call in (
        lambda: om.protect(frame, wrong, om.Microaggregation(2)),
        lambda: om.evaluate(frame, frame, wrong),
    ):
        assert sentence(errors.SchemaError, call).startswith(said)
    assert "Name the columns" in sentence(errors.SchemaError, om.Schema, wrong)
    assert "must be a text, not 0" in sentence(errors.SchemaError, om.Schema.of, {0: om.Numeric()})
