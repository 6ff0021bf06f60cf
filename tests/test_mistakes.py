"""What people get wrong, and the sentence each of them reads."""

import gzip
import zipfile

import pytest

import ontomask as om
from ontomask import errors

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


def sentence(kind: type[Exception], call, *args, **options) -> str:
    with pytest.raises(kind) as caught:
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
        "one of rf2, wordnet, mesh, rdf, obo, json, edges, concepts, hierarchy, codes, indented."
    )


def test_a_table_of_people_is_not_taken_for_a_taxonomy(read):
    rows = "patient,age,diagnosis\n1,66,250.00\n2,71,401.9\n"
    assert "in no format that ontomask recognizes" in sentence(
        errors.FormatError, read, "patients.csv", rows
    )


@pytest.mark.parametrize("content", ["", " \n\n", gzip.compress(b"")])
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
