"""What is suggested for words that no rule finds: by roots, abbreviations, initials, context."""

import dataclasses

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
        ("acute MI", "410", "some of its words in the label"),
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


def test_that_something_is_unspecified_says_nothing():
    """Who writes no more than the disease means the name that says no more either."""
    labels = {"1": "Lobar pneumonia", "2": "Pneumonia, unspecified", "3": "Lobar fever"}
    parents = {"all": [], "1": ["all"], "2": ["all"], "3": ["all"]}
    found = suggested("PNA", om.Taxonomy.from_parents(parents, labels=labels))
    assert [concept for concept, _ in found] == ["2", "1"]


def test_other_values_of_the_column_decide_between_equals():
    """Leaders are metals beside metals and people beside people."""
    assert suggested("leaders of men", others=["titanium", "metal"])[0][0] == "lead"
    assert suggested("leaders of men", others=["person"])[0][0] == "boss"


def test_synonyms_teach_what_abbreviations_mean():
    sites = ["arm", "leg", "hand", "foot", "neck", "back"]
    parents = {"all": [], **{site: ["all"] for site in sites}, "hip": ["all"]}
    labels = {site: f"Fracture of {site}, unspecified" for site in [*sites, "hip"]}
    labels["hip"] = "Fracture of hip"
    synonyms = {site: [f"qx {site} NOS"] for site in sites}
    taught = om.Taxonomy.from_parents(parents, labels=labels, synonyms=synonyms)
    assert suggested("qx hip", taught)[0][0] == "hip"
    untaught = om.Taxonomy.from_parents(parents, labels=labels)
    before, after = (
        max(one.likeness for one in names_of(each.term_index).like("qx hip"))
        for each in (untaught, taught)
    )
    assert after > before


def test_words_of_no_name_at_all():
    for text in ("zzzz", "Prof-xyz 3", "...", "ß"):
        assert suggested(text) == []


@pytest.mark.parametrize(
    ("text", "concept", "reason"),
    [
        ("MI", "410", "short for the label"),
        ("HF", "428", "initials of the label"),
        ("acute MI NOS", "410", "some of its words in the label"),
        ("HF NOS", "428", "short for the label"),
        ("abscess", None, None),
    ],
)
def test_abbreviations_of_hospitals_are_understood(text, concept, reason):
    found = suggested(text)
    assert (found[0] if found else (None, None)) == (concept, reason)


def test_a_dictionary_is_asked_only_where_names_teach_nothing():
    tuberculosis = {"all": [], "hip": ["all"], "ureter": ["all"], "boat": ["all"]}
    labels = {
        "hip": "Tuberculosis of hip",
        "ureter": "Tuberculous inflammation of ureter",
        "boat": "Tow boat",
    }
    taxonomy = om.Taxonomy.from_parents(tuberculosis, labels=labels)
    assert suggested("TB hip", taxonomy)[0][0] == "hip"
    assert suggested("TB ureter", taxonomy)[0][0] == "ureter"
    own = om.Taxonomy.from_parents(tuberculosis, labels={**labels, "boat": "TB 12"})
    assert suggested("TB", own)[0] == ("boat", "all its words in the label")


def test_a_dictionary_goes_before_initials_that_happen_to_fit():
    labels = {
        "fever": "Crimean hemorrhagic fever [CHF Congo virus]",
        "failure": "Congestive heart failure, unspecified",
        "meninges": "Meningococcal infection",
        "infarct": "Old myocardial infarction",
    }
    ward = om.Taxonomy.from_parents({"all": [], **{one: ["all"] for one in labels}}, labels=labels)
    assert suggested("CHF", ward)[0] == ("failure", "initials of the label")
    assert suggested("MI", ward)[0] == ("infarct", "short for the label")
    # where no name has the words that it stands for, initials are all there is
    del labels["failure"], labels["infarct"]
    rest = om.Taxonomy.from_parents({"all": [], **{one: ["all"] for one in labels}}, labels=labels)
    assert suggested("CHF", rest)[0][0] == "fever"
    assert suggested("MI", rest)[0] == ("meninges", "initials of the label")


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        *(("AMI", "410"), ("UTI", "599.0"), ("COPD", "490-496"), ("CHF", "428"), ("DM2", "250")),
        *(("HTN", "401-405"), ("MI", "410"), ("STEMI", "410"), ("TIA", "435"), ("DVT", "453")),
        *(("AF", "427.31"), ("CKD", "585"), ("OA", "715"), ("OSA", "327.23"), ("NSTEMI", "410.7")),
    ],
)
def test_abbreviations_of_the_field_come_first(icd9, text, concept):
    found, _ = suggested(text, icd9)[0]
    assert found in icd9.subtree(concept)


def test_with_is_not_the_beginning_of_without():
    labels = {"obese": "Diabetes with obesity", "lean": "Diabetes without obesity"}
    taxonomy = om.Taxonomy.from_parents(
        {"all": [], "obese": ["all"], "lean": ["all"]}, labels=labels
    )
    assert suggested("diabetes w/obesity", taxonomy)[0][0] == "obese"


def test_words_written_with_signs_are_understood():
    labels = {"with": "Delivery with complication", "without": "Delivery without complication"}
    taxonomy = om.Taxonomy.from_parents(
        {"all": [], "with": ["all"], "without": ["all"]}, labels=labels
    )
    assert suggested("delivery w/o compl", taxonomy)[0][0] == "without"
    assert suggested("delivery w/ compl", taxonomy)[0][0] == "with"


def test_numbers_are_words_of_their_own_and_teach():
    numbers = range(31, 40)
    taxonomy = om.Taxonomy.from_parents(
        {"all": [], **{f"P{n}": ["all"] for n in numbers}},
        labels={f"P{n}": f"hereditary spastic paraplegia {n}" for n in numbers},
        synonyms={f"P{n}": [f"SPG{n}"] for n in numbers if n != 39},
    )
    assert suggested("SPG39", taxonomy)[0][0] == "P39"
    roman = om.Taxonomy.from_parents(
        {"all": [], "a": ["all"], "b": ["all"]},
        labels={"a": "glycogen storage type II", "b": "glycogen storage type VI"},
    )
    assert suggested("storage glycogen type 6", roman)[0][0] == "b"


GERMAN = {
    "alle": [],
    "I21": ["alle"],
    "I10": ["alle"],
    "S72": ["alle"],
}
GERMAN_LABELS = {
    "I21": "Akuter Herzinfarkt",
    "I10": "Koronare Herzkrankheit",
    "S72": "Fraktur des Oberschenkels",
}


@pytest.mark.parametrize(
    ("language", "labels", "text", "concept"),
    [
        ("german", {"I21": "Akute Blutung"}, "akuten Blutungen", "I21"),
        ("french", {"I21": "maladie infectieuse"}, "maladies infectieux", "I21"),
        ("spanish", {"I21": "dolor agudo"}, "dolores aguda", "I21"),
    ],
)
def test_words_are_stemmed_in_the_language_of_the_taxonomy(
    tmp_path, language, labels, text, concept
):
    path = tmp_path / "codes.csv"
    rows = [f"{one},{labels.get(one, one)},{'|'.join(above)}" for one, above in GERMAN.items()]
    path.write_text("\n".join(["id,label,parents", *rows]), encoding="utf-8")
    assert om.load_taxonomy(path).map([text]).ids == (None,)
    spoken = om.load_taxonomy(path, stemming=language)
    assert spoken.map([text]).ids == (concept,)
    assert spoken.map([text]).how == ("stem",)
    spoken.save(tmp_path / "kept.ontomask")
    assert om.load_taxonomy(tmp_path / "kept.ontomask").map([text]).ids == (concept,)


def test_abbreviations_are_those_of_the_language():
    english = om.Taxonomy.from_parents(GERMAN, labels=GERMAN_LABELS)
    german = dataclasses.replace(english, language="german")
    assert suggested("KHK", german)[0] == ("I10", "short for the label")
    assert suggested("Z.n. Fx Oberschenkel", german)[0][0] == "S72"
    assert suggested("KHK", english) == []


def test_a_bundled_taxonomy_has_its_language():
    with pytest.raises(om.errors.ParameterError, match="takes no option 'stemming'"):
        om.load_taxonomy("icd9cm", stemming="german")
