"""ClaML: classes, rubrics, modifiers and their exceptions, and hostile files."""

import gzip

import pytest

import ontomask as om
from ontomask.errors import FormatError, UnknownParentError, UnsafeSourceError
from ontomask.taxonomy.readers import claml
from ontomask.taxonomy.readers.sources import first_bytes

HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ClaML SYSTEM "ClaML.dtd">
<ClaML version="2.0.0">
<Title date="2023-09-15" name="ICD-10-GM" version="2024">ICD-10-GM Version 2024</Title>
<ClassKinds><ClassKind name="chapter"/><ClassKind name="category"/></ClassKinds>
"""


def rubric(text, kind="preferred", language="de"):
    return f'<Rubric kind="{kind}"><Label xml:lang="{language}">{text}</Label></Rubric>'


def a_class(code, label, *inside, kind="category", above=None):
    link = f'<SuperClass code="{above}"/>' if above else ""
    return f'<Class code="{code}" kind="{kind}">{link}{"".join(inside)}{rubric(label)}</Class>\n'


def part(modifier, code, label, *not_after):
    metas = "".join(f'<Meta name="excludeOnPrecedingModifier" value="{v}"/>' for v in not_after)
    return (
        f'<ModifierClass modifier="{modifier}" code="{code}">{metas}'
        f'<SuperClass code="{modifier}"/>{rubric(label)}</ModifierClass>\n'
    )


CHAPTER = a_class("IV", "Endokrine Krankheiten", kind="chapter")
BLOCK = a_class("E10-E14", "Diabetes mellitus", kind="block", above="IV")


@pytest.fixture
def read(tmp_path):
    def write_and_read(*records, name="icd10gm.xml", header=HEADER, **options):
        content = (header + "".join(records) + "</ClaML>").encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        assert claml.can_read(path, first_bytes(path))
        return om.load_taxonomy(path, cache=False, **options)

    return write_and_read


@pytest.mark.parametrize("name", ["icd10gm.xml", "icd10gm.xml.gz"])
def test_chapters_blocks_and_categories(read, name):
    taxonomy = read(CHAPTER, BLOCK, a_class("E10", "Typ 1", above="E10-E14"), name=name)
    assert taxonomy.ancestors("E10") == ("Chapter IV", "E10-E14", "E10")
    assert taxonomy.label_of("Chapter IV") == "Endokrine Krankheiten"
    assert taxonomy.version == "2024"


def test_rubrics_are_label_and_synonyms(read):
    long = rubric("Cholera durch <Term>Vibrio cholerae</Term> O:1", "preferredLong")
    inclusion = (
        '<Rubric kind="inclusion"><Label xml:lang="de"><Fragment type="item">Klassische</Fragment>'
        '<Fragment type="item">Cholera</Fragment> <Reference>A00.9</Reference></Label></Rubric>'
    )
    exclusion = rubric("Keine", "exclusion")
    taxonomy = read(a_class("A00.0", "Cholera, O:1", long, inclusion, exclusion))
    assert taxonomy.label_of("A00.0") == "Cholera durch Vibrio cholerae O:1"
    assert taxonomy.synonyms[0] == ("Cholera, O:1", "Klassische Cholera")


def test_a_language_is_chosen_where_there_are_several(read):
    both = '<Label xml:lang="nl">Nieuwvormingen</Label><Label xml:lang="en">Neoplasms</Label>'
    record = f'<Class code="C1" kind="category"><Rubric kind="preferred">{both}</Rubric></Class>'
    assert read(record).label_of("C1") == "Nieuwvormingen"
    assert read(record, language="en").label_of("C1") == "Neoplasms"
    assert read(record, language="fr").label_of("C1") == "Nieuwvormingen"


MODIFIERS = (
    part("S4", ".0", "Mit Koma")
    + part("S4", ".1", "Mit Ketoazidose")
    + part("S5", "0", "Nicht entgleist", "S4 .0")
    + part("S5", "1", "Entgleist")
)


def test_modifiers_make_codes_one_after_the_other(read):
    modified = '<ModifiedBy code="S4"/><ModifiedBy code="S5" all="true"/>'
    taxonomy = read(MODIFIERS, a_class("E10", "Typ 1", modified))
    assert set(taxonomy.ids) == {"E10", "E10.0", "E10.1", "E10.01", "E10.10", "E10.11"}
    assert taxonomy.parents("E10.11") == ("E10.1",)
    assert taxonomy.label_of("E10.11") == "Typ 1: Mit Ketoazidose: Entgleist"
    assert taxonomy.map(["E1011"]).ids == ("E10.11",)


def test_only_valid_classes_of_a_modifier_count(read):
    valid = '<ModifiedBy code="S4" all="false"><ValidModifierClass code=".1"/></ModifiedBy>'
    assert set(read(MODIFIERS, a_class("E10", "Typ 1", valid)).ids) == {"E10", "E10.1"}


def test_modifiers_come_down_to_the_last_subclasses_unless_excluded(read):
    taxonomy = read(
        MODIFIERS,
        a_class("M00-M25", "Arthropathien", '<ModifiedBy code="S5"/>', kind="block"),
        a_class("M00", "Eitrige Arthritis", above="M00-M25"),
        a_class("M00.8", "Sonstige", above="M00"),
        a_class("M00.9", "Ohne Angabe", '<ExcludeModifier code="S5"/>', above="M00"),
    )
    assert set(taxonomy.children("M00.8")) == {"M00.80", "M00.81"}
    assert not taxonomy.children("M00.9")
    assert set(taxonomy.children("M00")) == {"M00.8", "M00.9"}


def test_a_defined_class_is_not_made_again_by_a_modifier(read):
    own = a_class("E10.0", "Eigener Text", above="E10")
    taxonomy = read(MODIFIERS, a_class("E10", "Typ 1", '<ModifiedBy code="S4"/>'), own)
    assert taxonomy.label_of("E10.0") == "Eigener Text"


def test_subclass_links_are_enough_and_undefined_ones_passed_over(read):
    listed = '<SubClass code="Y35.5"/><SubClass code="Y35.6"/>'
    taxonomy = read(a_class("Y35", "Gesetz", listed), a_class("Y35.5", "Hinrichtung"))
    assert taxonomy.children("Y35") == ("Y35.5",)


def test_an_undefined_superclass_is_an_error(read):
    with pytest.raises(UnknownParentError, match="'A00' is said to be a 'A00-A09'"):
        read(a_class("A00", "Cholera", above="A00-A09"))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ('<Class kind="category"/>', "a <Class> near class number 1 has no 'code'"),
        ('<Class code="A"><SuperClass/></Class>', "a <SuperClass> near class number 1"),
        ('<ModifierClass code="0"/>', "a <ModifierClass> near class number 1 has no 'modifier'"),
        ("<Class code='A'>", "not well-formed"),
    ],
)
def test_broken_records(read, record, words):
    with pytest.raises(FormatError, match=words):
        read(record)


def test_entities_are_refused(read):
    header = HEADER.replace('SYSTEM "ClaML.dtd"', '[<!ENTITY a "aaaa">]')
    with pytest.raises(UnsafeSourceError, match="declares the entity"):
        read(a_class("A", "&a;"), header=header)


def test_modifiers_cannot_multiply_without_end(read, monkeypatch):
    monkeypatch.setattr(claml, "MOST_MODIFIED", 1000)
    parts = "".join(part(f"S{n}", str(c), "x") for n in range(4) for c in range(10))
    modified = "".join(f'<ModifiedBy code="S{n}"/>' for n in range(4))
    with pytest.raises(UnsafeSourceError, match="make more than 1,000 codes"):
        read(parts, a_class("A", "Bombe", modified))


def test_handing_modifiers_down_is_bounded(read, monkeypatch):
    monkeypatch.setattr(claml, "MOST_MODIFIED", 1000)
    chain = [
        a_class(f"A{n}", "x", '<ModifiedBy code="S5"/>', above=f"A{n - 1}" if n else None)
        for n in range(100)
    ]
    with pytest.raises(UnsafeSourceError, match="make more than 1,000 codes"):
        read(*chain)


def test_labels_nested_without_end_are_cut(read):
    deep = "<Para>" * 3000 + "x" + "</Para>" * 3000
    assert read(a_class("A", f"oben {deep}")).label_of("A") == "oben"
