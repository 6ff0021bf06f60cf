"""MeSH descriptor XML: tree numbers, categories, terms, and hostile files."""

import gzip
import urllib.request

import pytest

from ontomask.errors import FormatError, SourceNotFoundError, UnsafeSourceError
from ontomask.taxonomy.readers import mesh
from ontomask.taxonomy.readers.sources import first_bytes

HEADER = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20230101.dtd">
<DescriptorRecordSet LanguageCode = "eng">
"""

NEOPLASMS = """
<DescriptorRecord DescriptorClass = "1">
  <DescriptorUI>D009369</DescriptorUI>
  <DescriptorName>
   <String>Neoplasms</String>
  </DescriptorName>
  <DateCreated><Year>1999</Year><Month>01</Month><Day>01</Day></DateCreated>
  <AllowableQualifiersList>
   <AllowableQualifier>
    <QualifierReferredTo>
     <QualifierUI>Q000097</QualifierUI>
     <QualifierName><String>blood</String></QualifierName>
    </QualifierReferredTo>
    <Abbreviation>BL</Abbreviation>
   </AllowableQualifier>
  </AllowableQualifiersList>
  <SeeRelatedList>
   <SeeRelatedDescriptor>
    <DescriptorReferredTo>
     <DescriptorUI>D000912</DescriptorUI>
     <DescriptorName><String>Antibodies, Neoplasm</String></DescriptorName>
    </DescriptorReferredTo>
   </SeeRelatedDescriptor>
  </SeeRelatedList>
  <TreeNumberList>
   <TreeNumber>C04</TreeNumber>
  </TreeNumberList>
  <ConceptList>
   <Concept PreferredConceptYN="N">
    <ConceptUI>M0014586</ConceptUI>
    <ConceptName><String>Benign Neoplasms</String></ConceptName>
    <ScopeNote>Not this note.</ScopeNote>
    <TermList>
     <Term ConceptPreferredTermYN="Y" IsPermutedTermYN="N" LexicalTag="NON"
      RecordPreferredTermYN="N">
      <TermUI>T028206</TermUI>
      <String>Benign Neoplasms</String>
     </Term>
    </TermList>
   </Concept>
   <Concept PreferredConceptYN="Y">
    <ConceptUI>M0014585</ConceptUI>
    <ConceptName><String>Neoplasms</String></ConceptName>
    <ScopeNote>New abnormal growth of tissue.
</ScopeNote>
    <TermList>
     <Term ConceptPreferredTermYN="Y" IsPermutedTermYN="N" LexicalTag="NON"
      RecordPreferredTermYN="Y">
      <TermUI>T028207</TermUI>
      <String>Neoplasms</String>
     </Term>
     <Term ConceptPreferredTermYN="N" IsPermutedTermYN="N" LexicalTag="NON"
      RecordPreferredTermYN="N">
      <TermUI>T028208</TermUI>
      <String>Tumors &amp; Growths</String>
     </Term>
    </TermList>
   </Concept>
  </ConceptList>
</DescriptorRecord>
"""


def record(identifier, name, *numbers):
    tree = "".join(f"<TreeNumber>{number}</TreeNumber>\n" for number in numbers)
    listed = f"<TreeNumberList>{tree}</TreeNumberList>" if numbers else ""
    return (
        f'<DescriptorRecord DescriptorClass="1"><DescriptorUI>{identifier}</DescriptorUI>'
        f"<DescriptorName><String>{name}</String></DescriptorName>{listed}</DescriptorRecord>\n"
    )


@pytest.fixture
def read(tmp_path):
    def write_and_read(*records, name="desc2023.xml", header=HEADER):
        content = (header + "".join(records) + "</DescriptorRecordSet>").encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        assert mesh.can_read(path, first_bytes(path))
        return mesh.read(path)

    return write_and_read


def links(draft):
    return [(child, parent) for child, parent, _ in draft.links]


@pytest.mark.parametrize("name", ["desc2023.xml", "desc2023.xml.gz"])
def test_a_descriptor_as_in_the_release(read, name):
    draft = read(NEOPLASMS, name=name)
    assert list(draft.positions) == ["D009369", "C"]
    assert draft.labels == ["Neoplasms", "Diseases"]
    assert draft.synonyms[0] == ("Benign Neoplasms", "Tumors & Growths")
    assert draft.glosses[0] == "New abnormal growth of tissue."
    assert links(draft) == [("D009369", "C")]
    assert draft.version == "2023"


def test_several_places_give_several_parents(read):
    draft = read(
        record("D1", "Breast Neoplasms", "C04.588.180", "C17.800.090.500"),
        record("D2", "Neoplasms by Site", "C04.588"),
        NEOPLASMS,
        record("D3", "Breast Diseases", "C17.800.090"),
        record("D4", "Skin and Connective Tissue Diseases", "C17"),
    )
    # C17.800 is not in this excerpt: the nearest place above takes its role.
    assert set(links(draft)) == {
        ("D1", "D2"), ("D1", "D3"), ("D2", "D009369"), ("D3", "D4"), ("D009369", "C"), ("D4", "C"),
    }  # fmt: skip


def test_categories_in_use_are_named(read):
    draft = read(record("D5", "Body Regions", "A01"), record("D6", "Spain", "Z01.542.846"))
    assert draft.labels[draft.positions["A"]] == "Anatomy"
    assert draft.labels[draft.positions["Z"]] == "Geographicals"
    assert set(draft.positions) == {"D5", "D6", "A", "Z"}


def test_a_descriptor_without_a_place_has_no_parent(read):
    draft = read(record("D008297", "Male"), NEOPLASMS)
    assert "D008297" in draft.positions
    assert links(draft) == [("D009369", "C")]


def test_no_descriptor_is_its_own_parent(read):
    draft = read(record("D7", "Self", "F01.100", "F01.100.200"), record("D8", "Top", "F01"))
    assert links(draft) == [("D8", "F"), ("D7", "D8")]


def test_circles_between_descriptors_are_cut_at_the_longer_number(read):
    records = [
        record("D10", "Ethics", "F01.829.519", "K01.752"),
        record("D11", "Morals", "F01.829", "K01.752.100.479"),
        record("D12", "Between", "K01.752.100"),
    ]
    expected = {("D10", "D11"), ("D10", "K"), ("D11", "F"), ("D12", "D10")}
    assert set(links(read(*records))) == expected
    assert set(links(read(*reversed(records)))) == expected


def test_two_numbers_below_one_parent_are_one_link(read):
    draft = read(record("D13", "Twice", "C04.1", "C04.2"), NEOPLASMS)
    assert sorted(links(draft)) == [("D009369", "C"), ("D13", "D009369")]


def test_the_external_document_type_is_not_fetched(read, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    assert len(read(NEOPLASMS)) == 2


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY a "harmless">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://example.invalid/x.dtd"> %a;',
    ],
)
def test_entity_declarations_are_refused(read, declaration):
    header = f"<!DOCTYPE DescriptorRecordSet [{declaration}]>\n<DescriptorRecordSet>"
    with pytest.raises(UnsafeSourceError, match=r"desc2023\.xml: the file declares the entity 'a'"):
        read(record("D1", "&a;", "C04"), header=header)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (record("D1", "A", "C04") + "<oops>\n", r"desc2023\.xml, line 7: the XML is not well-f"),
        (record("D1", "&nbsp;", "C04"), r"desc2023\.xml, line 4: .*undefined entity"),
        (record("D1", "A", "C4x"), "descriptor 'D1' has the tree number 'C4x'"),
        (record("D1", "A", "C04") + record("D2", "B", "C04"), "'D1' and 'D2' both have .* 'C04'"),
        (record("D1", ""), "descriptor 'D1', number 1 in the file, lacks"),
    ],
)
def test_malformed_files(read, body, sentence):
    with pytest.raises(FormatError, match=sentence):
        read(body)


def test_bytes_that_are_not_utf_8(tmp_path):
    path = tmp_path / "desc2023.xml"
    path.write_bytes(HEADER.encode() + record("D1", "Café").encode("latin-1"))
    with pytest.raises(FormatError, match=r"desc2023\.xml, line 4: the XML is not well-formed"):
        mesh.read(path)


def test_another_kind_of_file(tmp_path):
    path = tmp_path / "supp2023.xml"
    path.write_text("<SupplementalRecordSet></SupplementalRecordSet>")
    assert not mesh.can_read(path, first_bytes(path))
    with pytest.raises(
        FormatError, match="<SupplementalRecordSet> instead of <DescriptorRecordSet"
    ):
        mesh.read(path)


def test_a_gzip_bomb_is_stopped(tmp_path):
    path = tmp_path / "desc2023.xml.gz"
    path.write_bytes(gzip.compress(HEADER.encode() + b" " * (70 * 2**20), compresslevel=1))
    with pytest.raises(UnsafeSourceError, match=r"desc2023\.xml\.gz unpacks to more than"):
        mesh.read(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"no file .*desc2023\.xml"):
        mesh.read(tmp_path / "desc2023.xml")
