"""Tables as publishers hand them out: ICD-11 tabulations, LOINC's hierarchy, ATC lists."""

import pytest

import ontomask as om
from ontomask.errors import DuplicateConceptError, FormatError, UnknownParentError

ICD11 = (
    "\ufeffFoundation URI\tLinearization URI\tCode\tBlockId\tTitle\tClassKind\tDepthInKind\t"
    "IsResidual\tChapterNo\tBrowserLink\tisLeaf\tVersion:2025 Jan 24\n"
    '\thttp://id/1\t\t\t"Certain infections"\tchapter\t1\tFalse\t01\t"=link(""x"")"\tFalse\n'
    '\thttp://id/2\t\tBlockL1-1A0\t"- Gastroenteritis"\tblock\t1\tFalse\t01\t"x"\tFalse\n'
    '\thttp://id/3\t1A00\t\t"- - Cholera"\tcategory\t1\tFalse\t01\t"x"\tTrue\n'
    '\thttp://id/4\t1A01\t\t"- - Other - vibrio"\tcategory\t1\tFalse\t01\t"x"\tTrue\n'
    '\thttp://id/5/other\t\t\t"- Elsewhere"\tcategory\t1\tFalse\t01\t"x"\tTrue\n'
)
LOINC = (
    '"PATH_TO_ROOT","SEQUENCE","IMMEDIATE_PARENT","CODE","CODE_TEXT"\n'
    '"","1","","LP432695-7","{component}"\n'
    '"LP432695-7","1","LP432695-7","LP29693-6","Laboratory"\n'
    '"LP432695-7","2","LP432695-7","LP14559-6","Microorganism"\n'
    '"LP432695-7.LP29693-6","1","LP29693-6","2345-7","Glucose, serum"\n'
    '"LP432695-7.LP14559-6","1","LP14559-6","2345-7","Glucose, serum"\n'
)
ATC = (
    "ATC code,ATC level name,DDD,U,Adm.R,Note\n"
    "A,ALIMENTARY TRACT,,,,\nA10,DRUGS USED IN DIABETES,,,,\nA10BA,Biguanides,,,,\n"
    "A10BA02,metformin,2,g,O,\nA10BA02,metformin,1,g,P,\nA10BA02,,3,g,R,\n"
)


@pytest.fixture
def load(tmp_path):
    def write_and_load(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return om.load_taxonomy(path, **options)

    return write_and_load


def test_icd11_hangs_by_its_dashes(load):
    taxonomy = load(ICD11, "SimpleTabulation-ICD-11-MMS-en.txt")
    assert taxonomy.ancestors("1A00") == ("Chapter 01", "BlockL1-1A0", "1A00")
    assert taxonomy.label_of("1A01") == "Other - vibrio"
    assert taxonomy.parents("other") == ("Chapter 01",)


def test_icd11_in_another_language_keeps_the_english_title(load):
    header = "Linearization URI\tCode\tBlockId\tTitleEN\tTitle\tClassKind\tChapterNo\n"
    taxonomy = load(header + "u\t1A00\t\t- Cholera\tDie Cholera\tcategory\t01\n", "t.txt")
    assert taxonomy.names == ("Die Cholera", "Cholera")


@pytest.mark.parametrize(
    ("removed", "words"),
    [
        ("\n\thttp://id/1\t\t\t", "line 2: 'BlockL1-1A0' stands 1 deep and nothing stands above"),
        ("http://id/5/other", "line 6: the row has neither a code"),
    ],
)
def test_broken_icd11(load, removed, words):
    if removed.startswith("\n"):
        start = ICD11.index(removed)
        content = ICD11[:start] + ICD11[ICD11.index("\n", start + 1) :]
    else:
        content = ICD11.replace(removed, "")
    with pytest.raises(FormatError, match=words):
        load(content, "t.txt")


def test_loinc_terms_have_all_their_parts_above_them(load):
    taxonomy = load(LOINC)
    assert set(taxonomy.parents("2345-7")) == {"LP29693-6", "LP14559-6"}
    assert taxonomy.root == "LP432695-7"
    assert taxonomy.label_of("2345-7") == "Glucose, serum"


def test_broken_loinc(load):
    with pytest.raises(UnknownParentError, match="line 6: '2345-7' is said to be a 'LP0'"):
        load(LOINC.replace('"LP14559-6","2345-7"', '"LP0","2345-7"'))
    with pytest.raises(FormatError, match="line 5: the cell CODE is empty"):
        load(LOINC.replace('"2345-7"', '""', 1))
    with pytest.raises(FormatError, match="line 2: the row has 4 cells"):
        load(LOINC.replace('"","1","",', '"1","",'))


def test_atc_hangs_by_its_codes_and_skips_levels(load):
    taxonomy = load(ATC)
    assert taxonomy.ancestors("A10BA02") == ("A", "A10", "A10BA", "A10BA02")
    assert taxonomy.names[-1] == "metformin"


@pytest.mark.parametrize("header", ["ATCCode;Name", "atc_code;atc_name", "ATC-Code;Bedeutung"])
def test_atc_under_other_names_and_for_animals(load, header):
    taxonomy = load(f"{header}\nQA;Animals\nqa10ba02;metformin\n")
    assert taxonomy.parents("QA10BA02") == ("QA",)


def test_broken_atc(load):
    with pytest.raises(FormatError, match="line 5: 'A10B02' is no ATC code"):
        load(ATC.replace("A10BA02", "A10B02", 1))
    with pytest.raises(DuplicateConceptError, match="line 6"):
        load(ATC.replace("metformin,1", "phenformin,1"))
