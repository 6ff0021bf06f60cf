"""From words and codes to concepts: every rule, their order, and what people are told."""

from __future__ import annotations

import csv
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontomask.errors import (
    EncodingError,
    FormatError,
    ParameterError,
    SourceNotFoundError,
    UnknownConceptError,
    UnmappedValuesError,
)
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.mapping import Ambiguity, Coverage, map_values
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.taxonomy.term_index import TermIndex, fold, number_key, singular, unaccented

LABELS = {
    "ICD": "Diseases",
    "001-139": "Infectious diseases",
    "008": "Intestinal infections",
    "008.4": "Other bacterial infections",
    "008.45": "Infection due to Clostridium difficile",
    "008.6": "Viral enteritis",
    "250": "Diabetes mellitus",
    "250.0": "Diabetes mellitus without mention of complication",
    "250.1": "Diabetes with ketoacidosis",
    "250.10": "Diabetes with ketoacidosis, type II",
    "276": "Disorders of fluid balance",
    "276.0": "Hyperosmolality",
    "331.0": "Alzheimer's disease",
    "386": "Ménière's disease",
    "401": "Essential hypertension",
    "458": "Hypotension",
    "845": "Sprains of ankle and foot",
    "V45.71": "Acquired absence of breast",
}
PARENTS = {
    "ICD": [],
    "001-139": ["ICD"],
    "008": ["001-139"],
    "008.4": ["008"],
    "008.45": ["008.4"],
    "008.6": ["008"],
    "250": ["ICD"],
    "250.0": ["250"],
    "250.1": ["250"],
    "250.10": ["250.1"],
    "276": ["ICD"],
    "276.0": ["276"],
    "331.0": ["ICD"],
    "386": ["ICD"],
    "401": ["ICD"],
    "458": ["ICD"],
    "845": ["ICD"],
    "V45.71": ["ICD"],
}
SYNONYMS = {
    "250": ["Sugar disease", "DM"],
    "401": ["High blood pressure"],
    "008.45": ["C. diff", "DM"],
}


@pytest.fixture(scope="module")
def icd() -> Taxonomy:
    return Taxonomy.from_parents(PARENTS, labels=LABELS, synonyms=SYNONYMS)


@pytest.fixture(scope="module")
def procedures() -> Taxonomy:
    parents = {
        "P": [],
        "00": ["P"],
        "00.6": ["00"],
        "00.66": ["00.6"],
        "08": ["P"],
        "08.6": ["08"],
        "08.60": ["08.6"],
        "66": ["P"],
    }
    return Taxonomy.from_parents(parents)


@pytest.fixture(scope="module")
def undotted() -> Taxonomy:
    ids = ("008", "0084", "00845", "250", "2500", "2501", "845")
    return Taxonomy.from_parents({"R": [], **{identifier: ["R"] for identifier in ids}})


def ranked_taxonomy() -> Taxonomy:
    """Senses ranked as in WordNet; the most frequent sense of "individual" has it as a synonym."""
    draft = Draft()
    draft.add_concept("entity", "entity", label_rank=1)
    draft.add_concept("person", "person", synonyms=["individual"], label_rank=1, synonym_ranks=[1])
    draft.add_concept("organism", "individual", label_rank=2)
    draft.add_concept("shore", "bank", label_rank=2)
    draft.add_concept("money", "bank", label_rank=1)
    draft.add_concept("slope", "bank", label_rank=3)
    draft.add_concept("relation", "relation", label_rank=1)
    draft.add_concept("relative", "relative", label_rank=1)
    draft.add_concept("odd", "bank")
    draft.add_link("person", "organism")
    draft.add_link("money", "relative")
    for child in ("organism", "shore", "slope", "relation", "relative", "odd"):
        draft.add_link(child, "entity")
    return assemble(draft)


def found(taxonomy: Taxonomy, value: object) -> tuple[str | None, str | None]:
    mapping = map_values(taxonomy, [value])
    return mapping.ids[0], mapping.how[0]


# Rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "concept", "how"),
    [
        ("008.45", "008.45", "id"),
        ("001-139", "001-139", "id"),
        ("  008.45 ", "008.45", "id"),
        (250, "250", "id"),
        (250.0, "250.0", "id"),
        (Decimal("250.10"), "250.10", "id"),
        ("00845", "008.45", "code"),
        ("v45.71", "V45.71", "code"),
        ("v4571", "V45.71", "code"),
        ("25010", "250.10", "code"),
        ("Viral enteritis", "008.6", "label"),
        ("Sugar disease", "250", "synonym"),
        ("VIRAL  ENTERITIS", "008.6", "folded"),
        ("viral-enteritis", "008.6", "folded"),
        ("c diff", "008.45", "folded"),
        ("diabetes with ketoacidosis (type II)", "250.10", "folded"),
        ("Alzheimers disease", "331.0", "folded"),
        ("Alzheimer’s disease", "331.0", "folded"),
        ("MÉNIÈRE'S DISEASE", "386", "folded"),
        ("Meniere's disease", "386", "folded"),
        ("Vìral enteritis", "008.6", "folded"),
        ("Alzheimer disease", "331.0", "stem"),
        ("sugar diseases", "250", "stem"),
        ("Intestinal infection", "008", "stem"),
        ("meniere diseases", "386", "stem"),
    ],
)
def test_each_rule(icd: Taxonomy, value: object, concept: str, how: str) -> None:
    assert found(icd, value) == (concept, how)


@pytest.mark.parametrize(
    "value",
    [
        "8.45",  # not 845, whose digits are the same
        8.45,
        "25.01",
        "2.50",
        "84.5",
        "0250",
        "250.99",
        "enteritis viral",  # the order of the words counts
        "hypertension",
        "-",
        "?!",
        "diabetis mellitus",
    ],
)
def test_nothing_is_guessed(icd: Taxonomy, value: object) -> None:
    assert found(icd, value) == (None, None)


def test_dotted_values_find_undotted_ids_when_the_dot_is_in_its_place(undotted: Taxonomy) -> None:
    assert found(undotted, "008.45") == ("00845", "code")
    assert found(undotted, "250.1") == ("2501", "code")
    assert found(undotted, "250.") == ("250", "code")
    assert found(undotted, "8.45") == (None, None)
    assert found(undotted, "25.01") == (None, None)


def test_a_zero_after_the_dot_is_a_code_in_a_text_and_doubtful(undotted: Taxonomy) -> None:
    mapping = map_values(undotted, ["250.0"])
    assert mapping.ambiguous == (
        Ambiguity("250.0", "2500", ("250",), "code", "a code, not a number"),
    )


def test_a_zero_after_the_dot_of_a_number_is_no_code(undotted: Taxonomy) -> None:
    mapping = map_values(undotted, [250.0])
    assert mapping.ids == (None,)
    closest = mapping.suggestions(250.0)[0]
    assert (closest.id, closest.reason) == ("250", "the same number, written otherwise")


def test_order_of_rules() -> None:
    taxonomy = Taxonomy.from_parents(
        {"root": [], **{name: ["root"] for name in ("ab", "a.b", "c", "d", "e", "f", "g")}},
        labels={"c": "ab", "d": "Fold", "e": "fold", "f": "x", "g": "folds"},
        synonyms={"f": ["fold", "Fold", "AB"], "c": ["xs"]},
    )
    assert found(taxonomy, "ab") == ("ab", "id")
    assert found(taxonomy, "AB") == ("ab", "code")
    assert found(taxonomy, "A.B") == ("a.b", "code")
    assert found(taxonomy, "fold") == ("e", "label")
    assert found(taxonomy, "Fold") == ("d", "label")
    assert found(taxonomy, "FOLDS") == ("g", "folded")
    assert found(taxonomy, "X") == ("f", "folded")
    assert found(taxonomy, "xs") == ("c", "synonym")


def test_signs_that_carry_meaning_are_not_folded_away() -> None:
    taxonomy = Taxonomy.from_parents(
        {"root": [], "pos": ["root"], "neg": ["root"], "low": ["root"], "high": ["root"]},
        labels={"pos": "Rh+", "neg": "Rh-", "low": "<5", "high": ">5"},
    )
    mapping = map_values(taxonomy, ["RH+", "RH-", " < 5", "<5"])
    assert mapping.ids == ("pos", "neg", None, "low")
    assert mapping.ambiguous == ()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Non_small-cell  (lung), cancer.", "non small cell lung cancer"),
        ("STRASSE Straße", "strasse strasse"),
        ("ﬁne ＡＢ", "fine ab"),
        ("O’Neil's", "oneils"),
        ("100 % + C#", "100 % + c#"),
        ("--", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_accents_of_other_scripts_are_letters() -> None:
    assert unaccented("ménière ö") == "meniere o"
    assert unaccented("が") == "が"


def test_singular() -> None:
    assert singular("bodies houses glass virus dogs") == "body house glass virus dog"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("008.45", "8.45"),
        ("00.66", "0.66"),
        ("250.10", "250.1"),
        ("250.0", "250"),
        ("000", "0"),
        ("V45", None),
        ("1.2.3", None),
        ("٣", None),
    ],
)
def test_number_key(text: str, key: str | None) -> None:
    assert number_key(text) == key


# Ambiguity ----------------------------------------------------------------------------------


def test_most_frequent_sense_wins_and_the_unranked_comes_last() -> None:
    mapping = map_values(ranked_taxonomy(), ["bank"])
    assert mapping.ids == ("money",)
    assert mapping.ambiguous == (
        Ambiguity("bank", "money", ("shore", "slope", "odd"), "label", "most frequent sense"),
    )


def test_most_frequent_sense_wins_over_a_label() -> None:
    mapping = map_values(ranked_taxonomy(), ["individual"])
    assert mapping.ids == ("person",)
    assert mapping.ambiguous == (
        Ambiguity("individual", "person", ("organism",), "synonym", "most frequent sense"),
    )


def test_ranks_decide_in_folded_and_stemmed_names() -> None:
    mapping = map_values(ranked_taxonomy(), ["BANK", "banks"])
    assert mapping.ids == ("money", "money")
    assert mapping.how == ("folded", "stem")


def test_the_plural_of_a_name_goes_before_other_words_of_its_root() -> None:
    mapping = map_values(ranked_taxonomy(), ["relations", "relatives"])
    assert mapping.ids == ("relation", "relative")
    assert [case.decided_by for case in mapping.ambiguous] == ["same singular", "same singular"]
    assert mapping.ambiguous[0].others == ("relative",)


def test_without_ranks_the_shallowest_wins_then_the_smallest_id() -> None:
    taxonomy = Taxonomy.from_parents(
        {"root": [], "z": ["root"], "a": ["z"], "c": ["root"], "b": ["root"]},
        labels={"z": "other", "a": "other", "c": "Same", "b": "Same"},
    )
    mapping = map_values(taxonomy, ["other", "Same"])
    assert mapping.ambiguous == (
        Ambiguity("other", "z", ("a",), "label", "shallowest concept"),
        Ambiguity("Same", "b", ("c",), "label", "smallest id"),
    )


def test_without_ranks_a_label_goes_before_a_synonym() -> None:
    taxonomy = Taxonomy.from_parents(
        {"root": [], "a": ["root"], "b": ["a"]},
        labels={"a": "one", "b": "two"},
        synonyms={"a": ["two"]},
    )
    mapping = map_values(taxonomy, ["two", "TWO"])
    assert mapping.ids == ("b", "b")
    # An exact label is a rule of its own; folded names are one rule, so there was a choice.
    assert mapping.ambiguous == (Ambiguity("TWO", "b", ("a",), "folded", "label before synonym"),)


def test_synonym_shared_by_two_concepts(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["DM"])
    assert mapping.ambiguous == (
        Ambiguity("DM", "250", ("008.45",), "synonym", "shallowest concept"),
    )
    assert str(mapping.ambiguous[0]) == "'DM' is 250 (shallowest concept), not 008.45"


def test_two_names_of_one_concept_are_no_ambiguity() -> None:
    taxonomy = Taxonomy.from_parents(
        {"root": [], "a": ["root"]}, labels={"a": "X-ray"}, synonyms={"a": ["x ray", "X rays"]}
    )
    mapping = map_values(taxonomy, ["X RAY", "x-Rays", "xray"])
    assert mapping.ids == ("a", "a", None)
    assert mapping.ambiguous == ()


def test_codes_that_differ_in_case_or_dots_only() -> None:
    taxonomy = Taxonomy.from_parents({"r": [], "A.1": ["r"], "a.1": ["r"], "a.11": ["a.1"]})
    assert found(taxonomy, "a.1") == ("a.1", "id")
    mapping = map_values(taxonomy, ["a1"])
    assert mapping.ambiguous == (Ambiguity("a1", "A.1", ("a.1",), "code", "smallest id"),)


# The column ---------------------------------------------------------------------------------


def test_repetitions_and_missing_values_are_counted(icd: Taxonomy) -> None:
    column = ["250", None, "nope", "250", math.nan, np.float64("nan"), "", "  ", "401", "250"]
    mapping = map_values(icd, column)
    assert mapping.values == ("250", "nope", "401")
    assert mapping.counts.tolist() == [3, 1, 1]
    assert mapping.positions.tolist() == [0, -1, 1, 0, -1, -1, -1, -1, 2, 0]
    assert mapping.coverage == Coverage(
        values=3, values_mapped=2, records=5, records_mapped=4, records_missing=5
    )
    assert mapping.coverage.value_share == pytest.approx(2 / 3)
    assert mapping.coverage.record_share == pytest.approx(0.8)


def test_missing_values_of_pandas(icd: Taxonomy) -> None:
    pandas = pytest.importorskip("pandas")
    mapping = map_values(icd, pandas.Series(["250", pandas.NA, pandas.NaT], dtype=object))
    assert (mapping.values, mapping.records_missing) == (("250",), 2)


def test_the_text_nan_is_a_value(icd: Taxonomy) -> None:
    assert map_values(icd, ["nan", "None"]).unmapped == ("nan", "None")


def test_counts_give_the_frequencies(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["250", "foo", "bar", None], counts=[10, 2, 5, 7])
    assert mapping.coverage.records == 17
    assert mapping.coverage.records_missing == 7
    assert mapping.unmapped == ("bar", "foo")


def test_numbers_are_told_apart_as_they_are_written(icd: Taxonomy) -> None:
    mapping = map_values(icd, [250, 250.0, "250", True])
    assert mapping.values == (250, 250.0, True)
    assert mapping.counts.tolist() == [2, 1, 1]
    assert mapping.ids == ("250", "250.0", None)


def test_arrays_are_columns(icd: Taxonomy) -> None:
    mapping = map_values(icd, np.array([250.1, 401.0]), counts=np.array([2, 3]))
    assert mapping.ids == ("250.1", None)
    assert mapping.counts.tolist() == [2, 3]


def test_an_empty_column_is_covered(icd: Taxonomy) -> None:
    mapping = map_values(icd, []).require()
    assert (mapping.coverage.value_share, mapping.coverage.record_share) == (1.0, 1.0)
    assert mapping.resolve().tolist() == []
    assert str(mapping) == "0 of 0 values mapped (100%), 0 of 0 records (100%)."


def test_concepts_and_treatments_of_unmapped_values(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["nope", "250"])
    number = icd.index_of("250")
    assert mapping.concepts.tolist() == [-1, number]
    assert mapping.resolve("root").tolist() == [0, number]
    assert mapping.resolve("suppress").tolist() == [-1, number]
    with pytest.raises(UnmappedValuesError):
        mapping.resolve()
    assert map_values(icd, ["250"]).resolve().tolist() == [number]


def test_the_index_is_built_once_and_in_parts(icd: Taxonomy) -> None:
    index = TermIndex(icd)
    assert index.find("250") is not None
    assert set(vars(index)) == {"taxonomy"}
    assert index.find("V4571") is not None
    assert "_names" not in vars(index)
    assert map_values(icd, ["x"]).index is icd.term_index


# Overrides ----------------------------------------------------------------------------------


def test_overrides_go_before_every_rule(icd: Taxonomy) -> None:
    mapping = map_values(
        icd,
        ["250", "pressure", 8.45],
        overrides={"250": "401", "pressure": "401", "8.45": "008.45"},
    )
    assert mapping.ids == ("401", "401", "008.45")
    assert mapping.how == ("override", "override", "override")


def test_a_concept_may_be_given_by_name(icd: Taxonomy) -> None:
    overrides = {"a": "high blood pressures", "b": "00845", "c": "", "d": "DM"}
    mapping = map_values(icd, ["a", "b", "c", "d"], overrides=overrides)
    assert mapping.ids == ("401", "008.45", None, "250")
    assert mapping.ambiguous == (
        Ambiguity("d", "250", ("008.45",), "override", "shallowest concept"),
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_mapping_file(icd: Taxonomy, tmp_path, separator: str) -> None:
    path = tmp_path / "mapping.csv"
    rows = [
        ("note", "Value", "concept"),
        ("", "sugar, high", "250"),
        ("", "left out", ""),
        ("",),
        ("x", "sugar, high", "250"),
    ]
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=separator).writerows(rows)
    for given_path in (path, str(path)):
        mapping = map_values(icd, ["sugar, high", "left out"], overrides=given_path)
        assert mapping.ids == ("250", None)


def test_round_trip_through_the_mapping_file(icd: Taxonomy, tmp_path) -> None:
    column = [
        "250",
        "Viral enteritis",
        "8.45",
        "8.45",
        "zzz",
        'a "quoted", one\nof two lines',
        None,
    ]
    mapping = map_values(icd, column)
    path = mapping.to_csv(tmp_path / "mapping.csv")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["value", "concept", "label", "how", "records", "suggestion"]
    assert rows[1] == [
        "8.45",
        "",
        "",
        "",
        "2",
        "008.45 Infection due to Clostridium difficile (leading zeros lost)",
    ]
    assert rows[2][:2] == ["zzz", ""]
    assert rows[4] == ["250", "250", "Diabetes mellitus", "id", "1", ""]
    unchanged = map_values(icd, column, overrides=path)
    assert unchanged.ids == mapping.ids

    rows[1][1], rows[2][1], rows[3][1] = "008.45", "401", "458"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows(rows)
    edited = map_values(icd, column, overrides=path).require()
    assert edited.ids == ("250", "008.6", "008.45", "401", "458")
    assert set(edited.how) == {"override"}


def test_suggestions_in_the_file_are_bounded(icd: Taxonomy, tmp_path) -> None:
    mapping = map_values(icd, ["8.45", "8.6"], counts=[1, 2])
    for bound, filled in ((0, 0), (1, 1), (None, 2)):
        path = mapping.to_csv(tmp_path / "mapping.csv", overwrite=True, suggestions=bound)
        assert path.read_text("utf-8").count("zeros lost") == filled


# Suggestions --------------------------------------------------------------------------------


def closest(taxonomy: Taxonomy, value: object) -> list[tuple[str, str]]:
    suggestions = map_values(taxonomy, [value]).suggestions(value)
    return [(suggestion.id, suggestion.reason) for suggestion in suggestions]


@pytest.mark.parametrize("value", ["8.45", 8.45])
def test_leading_zeros_lost(icd: Taxonomy, value: object) -> None:
    assert closest(icd, value)[0] == ("008.45", "leading zeros lost")


def test_zeros_lost_in_procedures(procedures: Taxonomy) -> None:
    assert closest(procedures, 8.6) == [
        ("08.6", "leading zeros lost"),
        ("08.60", "leading and trailing zeros lost"),
    ]
    assert closest(procedures, 66)[0] == ("00.66", "leading zeros lost")
    assert closest(procedures, "0.66")[0] == ("00.66", "leading zeros lost")
    assert closest(procedures, "860")[0] == ("08.60", "leading zeros lost")


def test_codes_suggest_codes(icd: Taxonomy) -> None:
    assert closest(icd, "250.99")[0] == ("250", "nearest broader code")
    assert closest(icd, "250.19")[:2] == [
        ("250.1", "nearest broader code"),
        ("250", "nearest broader code"),
    ]
    assert closest(icd, "250,10")[0] == ("250.10", "comma instead of a dot")
    assert closest(icd, "8,45")[0] == ("008.45", "leading zeros lost")
    assert closest(icd, "25.010")[0] == ("250.10", "the dot is elsewhere")
    assert closest(icd, "V54.71")[0] == ("V45.71", "similar code")


def test_words_suggest_names(icd: Taxonomy) -> None:
    assert closest(icd, "diabetis melitus")[0] == ("250", "spelled like the label")
    assert closest(icd, "enteritis, viral")[0] == ("008.6", "all its words in the label")
    assert closest(icd, "suggar diseese")[0] == (
        "250",
        "spelled like the synonym 'sugar disease'",
    )
    assert closest(icd, "acute viral enteritis")[0] == ("008.6", "some of its words in the label")


def test_hypertension_is_not_hypotension(icd: Taxonomy) -> None:
    assert closest(icd, "hypertension") == [("401", "all its words in the label")]
    assert closest(icd, "hypertensoin")[0] == ("401", "spelled like the label")


def test_nothing_similar(icd: Taxonomy) -> None:
    assert closest(icd, "qqqqqq") == []
    assert closest(icd, "--") == []


def test_suggestions_are_distinct_and_limited(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["diabetes"])
    ids = [suggestion.id for suggestion in mapping.suggestions("diabetes", limit=4)]
    assert len(ids) == len(set(ids)) == 4
    assert len(mapping.suggestions("diabetes", limit=1)) == 1


def test_suggestion_table(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["8.6", "8.45", "250", "qqqqqq"], counts=[1, 5, 3, 9])
    table = [(value, records, s.id) for value, records, s in mapping.suggestion_table(limit=1)]
    assert table == [("8.45", 5, "008.45"), ("8.6", 1, "008.6")]
    assert len(mapping.suggestion_table(limit=1, values=2)) == 1


# Warnings -----------------------------------------------------------------------------------


def test_several_lost_zeros_cast_doubt_on_the_column(icd: Taxonomy) -> None:
    mapping = map_values(icd, ["8.45", "8.6", "250.1", "401"], counts=[10, 1, 4, 1])
    assert mapping.warnings == (
        "2 values (11 records) would be codes if zeros were added (e.g. 008.45 for '8.45'): it "
        "seems that a spreadsheet has read the codes of this column as numbers; read it again, as "
        "text, from its source, or give a mapping file.",
        "1 value (4 records) is mapped as written but would, read as numbers, be the same as other "
        "codes (e.g. '250.1' is taken for 250.1 and may have been 250.10); make sure that this "
        "column was never read as numbers, or read it again, as text, from its source.",
    )


def test_numbers_that_are_two_codes_are_doubtful(procedures: Taxonomy, icd: Taxonomy) -> None:
    (warning,) = map_values(procedures, [66]).warnings
    assert "(e.g. '66' is taken for 66 and may have been 00.66)" in warning
    (warning,) = map_values(icd, [276.0]).warnings
    assert "(e.g. '276.0' is taken for 276.0 and may have been 276)" in warning


def test_no_warning_without_a_sign(procedures: Taxonomy, icd: Taxonomy) -> None:
    assert map_values(procedures, ["66", "00.66"]).warnings == ()
    assert map_values(icd, ["8.45", "250.1"]).warnings == ()
    assert map_values(icd, ["0250", "0401"]).warnings == ()
    assert map_values(icd, [401, "Viral enteritis"]).warnings == ()


def test_an_override_is_not_doubtful(procedures: Taxonomy) -> None:
    assert map_values(procedures, [66], overrides={"66": "66"}).warnings == ()


# Words for people ---------------------------------------------------------------------------


def test_summary(icd: Taxonomy) -> None:
    column = ["250", "401", "DM", "8.45", "qqqqqq", "8.6", None]
    mapping = map_values(icd, column, counts=[5, 1, 1, 2, 1, 1, 4])
    assert str(mapping).splitlines()[:9] == [
        "3 of 6 values mapped (50.0%), 7 of 11 records (63.6%); 4 missing.",
        "Values found by: id 2, synonym 1.",
        "Ambiguous:",
        "  'DM' is 250 (shallowest concept), not 008.45",
        "Unmapped:",
        "  '8.45', 2 records: perhaps 008.45 Infection due to Clostridium difficile "
        "(leading zeros lost)",
        "  'qqqqqq', 1 record: nothing similar",
        "  '8.6', 1 record: perhaps 008.6 Viral enteritis (leading zeros lost)",
        f"Warning: {mapping.warnings[0]}",
    ]
    assert repr(mapping) == f"Mapping({mapping.coverage})"


def test_long_lists_are_cut(icd: Taxonomy) -> None:
    lines = str(map_values(icd, [f"qqqq{letter}" for letter in "abcdefg"])).splitlines()
    assert lines[-1] == "  and 2 more"
    assert len(lines) == 8


def test_unmapped_values_are_an_error_that_helps() -> None:
    named = Taxonomy.from_parents(PARENTS, labels=LABELS, name="icd9cm")
    mapping = map_values(named, ["250", "8.45", "qqqqqq"], counts=[1, 12, 3])
    with pytest.raises(UnmappedValuesError) as caught:
        mapping.require()
    assert str(caught.value) == (
        "2 values (15 records) of 3 have no concept in the taxonomy 'icd9cm':\n"
        "  '8.45', 12 records: perhaps 008.45 Infection due to Clostridium difficile "
        "(leading zeros lost)\n"
        "  'qqqqqq', 3 records: nothing similar\n"
        "Correct the values, give a mapping file (mapping.to_csv writes one to fill in), or say "
        'unmapped="root" or unmapped="suppress".'
    )


# Mistakes -----------------------------------------------------------------------------------


def write(path, text: str):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "value,code\na,250\n",
            "{path}, line 1: the header has no column 'concept' but 'value', 'code'; the first row "
            "must name the columns.",
        ),
        (
            " \n",
            "{path} is empty; the first row must name the columns, value and concept.",
        ),
        (
            "value,concept\na,250\nb,401\na,401\n",
            "{path}, line 4: the value 'a' is mapped to '401' here but to '250' before (line 2); "
            "keep one of the two.",
        ),
        (
            "value,concept\n,250\n",
            "{path}, line 2: the concept '250' has no value; fill in the value or remove the line.",
        ),
        (
            'value,concept,label\na,250.1,"Diabetes with ketoacidosis, type II"\n',
            "{path}, line 2: the concept '250.1' is 'Diabetes with ketoacidosis', but the label "
            "beside it is that of '250.10' (trailing zeros lost); write '250.10', or empty the "
            "label.",
        ),
    ],
)
def test_a_wrong_mapping_file(icd: Taxonomy, tmp_path, text: str, sentence: str) -> None:
    path = write(tmp_path / "mapping.csv", text)
    with pytest.raises(FormatError) as caught:
        map_values(icd, ["a"], overrides=path)
    assert str(caught.value) == sentence.format(path=path)


def test_an_edited_concept_may_keep_its_old_label(icd: Taxonomy, tmp_path) -> None:
    path = write(tmp_path / "mapping.csv", "value,concept,label\na,401,Hypotension\n")
    assert map_values(icd, ["a"], overrides=path).ids == ("401",)


def test_unknown_concepts_in_a_mapping_file(icd: Taxonomy, tmp_path) -> None:
    path = write(tmp_path / "mapping.csv", "value,concept\na,8.45\nb,250\nc,qqqqqq\n")
    with pytest.raises(UnknownConceptError) as caught:
        map_values(icd, ["a"], overrides=path)
    assert str(caught.value) == (
        f"{path}: 2 concepts are not in the taxonomy: line 2, '8.45' for the value 'a', perhaps "
        "008.45 Infection due to Clostridium difficile (leading zeros lost); line 4, 'qqqqqq' for "
        "the value 'c'. Give the id or a name of a concept, or leave the concept empty."
    )


def test_unknown_concept_in_a_dictionary(icd: Taxonomy) -> None:
    with pytest.raises(UnknownConceptError) as caught:
        map_values(icd, ["a"], overrides={"a": "qqqqqq"})
    assert str(caught.value) == (
        "overrides: 1 concept is not in the taxonomy: 'qqqqqq' for the value 'a'. Give the id or "
        "a name of a concept, or leave the concept empty."
    )


def test_missing_and_badly_encoded_mapping_files(icd: Taxonomy, tmp_path) -> None:
    path = tmp_path / "none.csv"
    with pytest.raises(SourceNotFoundError, match="There is no file"):
        map_values(icd, ["a"], overrides=path)
    path.write_bytes("value,concept\nMénière,386\n".encode("latin-1"))
    with pytest.raises(EncodingError, match="line 2"):
        map_values(icd, ["a"], overrides=path)


def test_wrong_parameters(icd: Taxonomy) -> None:
    with pytest.raises(ParameterError) as caught:
        map_values(icd, "250")
    assert str(caught.value) == (
        "values must be a list of values, not a single str; write [value] to map one."
    )
    with pytest.raises(ParameterError, match="counts must have one number for each of the 2"):
        map_values(icd, ["a", "b"], counts=[1])
    with pytest.raises(ParameterError, match="counts must be a whole number of at least 0, not -1"):
        map_values(icd, ["a"], counts=[-1])
    with pytest.raises(ParameterError, match="unmapped must be one of 'error', 'root', 'suppress'"):
        map_values(icd, ["250"]).resolve("drop")
    with pytest.raises(ParameterError, match="limit must be a whole number of at least 1"):
        map_values(icd, ["a"]).suggestions("a", limit=0)
    with pytest.raises(
        ParameterError, match="overrides must be None, or a dictionary, or the path"
    ):
        map_values(icd, ["a"], overrides=7)


def test_files_are_not_overwritten_unasked(icd: Taxonomy, tmp_path) -> None:
    mapping = map_values(icd, ["250"])
    path = write(tmp_path / "mapping.csv", "mine")
    with pytest.raises(ParameterError) as caught:
        mapping.to_csv(path)
    assert str(caught.value) == (
        f"{path} exists already; choose another name or say overwrite=True."
    )
    assert path.read_text("utf-8") == "mine"
    mapping.to_csv(str(path), overwrite=True)
    assert path.read_text("utf-8-sig").startswith("value,concept")
    with pytest.raises(SourceNotFoundError, match="There is no folder"):
        mapping.to_csv(tmp_path / "nowhere" / "mapping.csv")


# Properties ---------------------------------------------------------------------------------

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=6
)
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    ids = draw(st.lists(WORDS, min_size=1, max_size=8, unique=True))
    parents = {
        identifier: [] if place == 0 else [ids[draw(st.integers(0, place - 1))]]
        for place, identifier in enumerate(ids)
    }
    labels = {identifier: draw(NAMES) for identifier in ids}
    synonyms = {identifier: draw(st.lists(NAMES, max_size=2)) for identifier in ids}
    return Taxonomy.from_parents(parents, labels=labels, synonyms=synonyms)


@given(taxonomies())
def test_every_id_maps_to_itself(taxonomy: Taxonomy) -> None:
    mapping = map_values(taxonomy, taxonomy.ids)
    assert mapping.ids == taxonomy.ids
    assert set(mapping.how) == {"id"}


@given(taxonomies())
def test_every_name_maps_to_a_concept_of_that_name(taxonomy: Taxonomy) -> None:
    mapping = map_values(taxonomy, taxonomy.names)
    assert not mapping.unmapped
    for value, concept, how in zip(mapping.values, mapping.concepts, mapping.how, strict=True):
        if how == "label":
            assert taxonomy.labels[concept] == value
        elif how == "synonym":
            assert value in taxonomy.synonyms[concept]
            assert value not in taxonomy.labels
        else:
            assert str(value).casefold().replace(".", "") in {
                identifier.casefold().replace(".", "") for identifier in taxonomy.ids
            }


@given(taxonomies(), st.randoms(use_true_random=False))
def test_the_order_of_the_column_does_not_matter(taxonomy: Taxonomy, random) -> None:
    values = [*taxonomy.names, *(name.upper() for name in taxonomy.names)]
    shuffled = random.sample(values, len(values))
    one, other = map_values(taxonomy, values), map_values(taxonomy, shuffled)
    assert dict(zip(one.values, one.ids, strict=True)) == dict(
        zip(other.values, other.ids, strict=True)
    )
