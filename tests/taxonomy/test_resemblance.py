"""What is suggested for words that no rule finds: by roots, abbreviations, initials, context."""

import pytest

import ontomask as om
from ontomask.taxonomy.resemblance import names_of

WARD = om.Taxonomy.from_parents(
    {
        "all": [],
        "disease": ["all"],
        "heart": ["disease"],
        "410": ["heart"],
        "428": ["heart"],
        "599": ["disease"],
        "008": ["disease"],
        "matter": ["all"],
        "Ti": ["matter"],
        "metal": ["matter"],
        "lead": ["metal"],
        "person": ["all"],
        "boss": ["person"],
    },
    labels={
        "heart": "Diseases of the heart",
        "410": "Acute myocardial infarction",
        "428": "Heart failure, unspecified",
        "599": "Urinary tract infection, site not specified",
        "008": "Intestinal infection due to Clostridium difficile",
        "Ti": "titanium",
        "lead": "soft metal of the plumber",
        "boss": "one who leads",
    },
    synonyms={"lead": ["leader"], "boss": ["leader"], "Ti": ["Ti"]},
    name="ward",
)


def suggested(text, taxonomy=WARD, others=()):
    mapping = taxonomy.map([text, *others])
    return [(one.id, one.reason) for one in mapping.suggestions(text, 3)]


@pytest.mark.parametrize(
    ("text", "concept", "reason"),
    [
        ("AMI", "410", "initials of the label"),
        ("UTI", "599", "initials of the label"),
        ("acute MI", "410", "initials of the label"),
        ("failure of heart", "428", "all its words in the label"),
        ("cardiac failure", "428", "some of its words in the label"),
        ("urinary infections", "599", "all its words in the label"),
        ("Int inf clstrdium dfcile", "008", "spelled like the label"),
        ("myocardail infraction", "410", "spelled like the label"),
        ("titannium", "Ti", "spelled like the label"),
        ("HART FAILURES", "428", "some of its words in the label"),
    ],
)
def test_the_likeliest_concept_and_why(text, concept, reason):
    assert suggested(text)[0] == (concept, reason)


@pytest.mark.parametrize("text", ["XTI", "UT", "AMX", "xti"])
def test_short_words_resemble_nothing_by_their_letters(text):
    assert suggested(text) == []


def test_a_long_word_is_no_burden():
    taxonomy = om.Taxonomy.from_parents({"all": [], "a" * 60 + "c": ["all"]})
    assert suggested("a" * 40 + "b", taxonomy) == []
    assert suggested("ab" * 5000, taxonomy) == []


def test_initials_count_in_capitals_only():
    assert suggested("uti") == []


def test_the_whole_name_goes_before_a_part_of_it(icd9):
    assert suggested("AMI", icd9)[0] == ("410", "initials of the label")
    assert suggested("UTI", icd9)[0] == ("599.0", "initials of the label")
    assert "428.0" in dict(suggested("CHF", icd9)[:2])


def test_other_values_of_the_column_decide_between_equals():
    """Leaders are metals beside metals and people beside people."""
    assert suggested("leaders of men", others=["titanium", "metal"])[0][0] == "lead"
    assert suggested("leaders of men", others=["person"])[0][0] == "boss"


def test_synonyms_teach_what_abbreviations_mean():
    sites = ["arm", "leg", "hand", "foot", "neck", "back"]
    parents = {"all": [], **{site: ["all"] for site in sites}, "hip": ["all"]}
    labels = {site: f"Fracture of {site}, unspecified" for site in [*sites, "hip"]}
    labels["hip"] = "Fracture of hip"
    synonyms = {site: [f"fx {site} NOS"] for site in sites}
    taught = om.Taxonomy.from_parents(parents, labels=labels, synonyms=synonyms)
    assert suggested("fx hip", taught)[0][0] == "hip"
    untaught = om.Taxonomy.from_parents(parents, labels=labels)
    before, after = (
        max(one.likeness for one in names_of(each.term_index).like("fx hip"))
        for each in (untaught, taught)
    )
    assert after > before


def test_words_of_no_name_at_all():
    for text in ("zzzz", "Prof-xyz 3", "...", "ß"):
        assert suggested(text) == []
