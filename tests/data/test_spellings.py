"""What a masked column shows: ids and labels, spellings that many have, and nothing else."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from tables import DISEASES, LEAVES

REMARK = "John Doe, file 4711, see letter"
MASKINGS = [
    om.Microaggregation(2),
    om.Microaggregation(5, operators="equality"),
    om.Recoding(3),
    om.Resampling(3),
    om.Hybrid(3),
    om.Suppression(2),
    om.Suppression(3, outliers="star"),
    om.LocalSuppression(4),
    om.RankSwapping(k=5),
    om.Shuffling(confidential=("diagnosis",), given=("age",)),
    om.Pram(columns=("diagnosis",)),
    om.Sampling(share=0.8),
    om.Pseudonyms(("sex",), key="a secret of the house"),
    [om.LocalSuppression(3), om.RankSwapping(k=6, keeps=False)],
    om.Generalization(
        [om.privacy.KAnonymity(3)],
        suppression_limit=0.5,
        hierarchies={
            "age": om.knowledge.interval_hierarchy(range(100), widths=[10, 50]),
            "sex": [["f", "*"], ["m", "*"]],
        },
    ),
]


def messy(seed: int) -> dict[str, list]:
    """Diagnoses as people write them, and what they write when they do not know."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(30, 90))
    spell = [str, str.upper, str.title, lambda text: f" {text}", lambda text: f"{text}s"]
    words = [
        spell[generator.integers(len(spell))](generator.choice([*LEAVES, "disease"]))
        if generator.random() < 0.8
        else f"{REMARK} {generator.integers(0, 4)}"
        for _ in range(count)
    ]
    return {
        "diagnosis": [None if generator.random() < 0.05 else word for word in words],
        "age": generator.choice([30, 40], count).tolist(),
        "sex": generator.choice(["f", "m"], count).tolist(),
    }


def schema_of(unmapped: str, role: str = "quasi", **more) -> om.Schema:
    return om.Schema(
        diagnosis=om.Nominal(DISEASES, role=role, unmapped=unmapped, **more),
        age=om.Numeric(),
        sex=om.Flat(),
    )


def allowed_texts(texts: list, least: int, overrides: dict | None = None) -> set[str]:
    """By plain code: ids, labels, and what maps to a concept and many records have."""
    counts = Counter(text for text in texts if text is not None)
    found = DISEASES.map(list(counts), overrides=overrides)
    spelled = {
        text
        for text, concept in zip(found.values, found.ids, strict=True)
        if concept not in (None, DISEASES.ids[0]) and counts[text] >= least
    }
    return {"*", *DISEASES.ids, *DISEASES.labels, *spelled}


def least_of(steps) -> int:
    listed = steps if isinstance(steps, list) else [steps]
    models = [model for one in listed for model in getattr(one, "privacy", ())]
    sizes = [getattr(one, "k", None) or 0 for one in [*listed, *models]]
    return max(3, *sizes)


@pytest.mark.parametrize("unmapped", ["root", "suppress"])
@pytest.mark.parametrize("steps", MASKINGS, ids=lambda steps: str(steps)[:40])
def test_no_rare_spelling_and_no_unmapped_text_is_published(steps, unmapped):
    for seed in range(12):
        columns = messy(seed)
        frame = (pl.DataFrame, pd.DataFrame)[seed % 2](columns)
        released = om.protect(frame, schema_of(unmapped), steps, seed=seed).frame
        texts = {text for text in released["diagnosis"].to_list() if isinstance(text, str)}
        assert not [text for text in texts if REMARK in text]
        assert texts <= allowed_texts(columns["diagnosis"], least_of(steps))


@pytest.mark.parametrize("count", [1, 3, 8, 40])
def test_however_often_a_remark_is_made_it_is_none_of_the_taxonomys_words(count):
    columns = {"diagnosis": [REMARK] * count + ["flu"] * 5, "age": [30] * (count + 5)}
    schema = om.Schema(diagnosis=om.Nominal(DISEASES, unmapped="root"), age=om.Numeric())
    release = om.protect(pl.DataFrame(columns), schema, om.LocalSuppression(2), seed=1)
    assert set(release.frame["diagnosis"].to_list()) <= {None, "disease", "flu"}


def spelled(texts: list, least: int = 3, counts: list | None = None, **more) -> dict[str, object]:
    """How each concept of a column is written."""
    frame = {"d": texts} | ({} if counts is None else {"n": counts})
    columns = {"d": om.Nominal(DISEASES, **more)} | ({} if counts is None else {"n": om.Count()})
    attribute = encode(open_table(pl.DataFrame(frame)), om.Schema.of(columns), least)["d"]
    return dict(zip(DISEASES.ids_of(attribute.concepts.tolist()), attribute.values, strict=True))


def test_a_spelling_needs_as_many_records_as_a_class():
    assert spelled(["FLU"] * 4 + ["Flu"] * 3) == {"flu": "FLU"}
    assert spelled(["FLU"] * 4 + ["Flu"] * 3, least=4) == {"flu": "FLU"}
    assert spelled(["FLU"] * 4 + ["Flu"] * 3, least=5) == {"flu": "flu"}


def test_counted_records_count():
    assert spelled(["FLU", "Cold"], counts=[3, 2]) == {"flu": "FLU", "cold": "cold"}


def test_a_mapping_file_makes_no_spelling_of_its_own():
    overrides = {REMARK: "flu", "grippe": "flu"}
    assert spelled([REMARK] * 2 + ["grippe"], overrides=overrides) == {"flu": "flu"}
    assert spelled(["grippe"] * 3, overrides=overrides) == {"flu": "grippe"}


def test_the_root_is_written_as_itself():
    assert spelled(["DISEASE"] * 9) == {"disease": "disease"}


def test_the_largest_k_of_a_run_decides():
    columns = {"diagnosis": ["FLU"] * 6 + ["cold"] * 6, "age": [30] * 12}
    schema = om.Schema(diagnosis=om.Nominal(DISEASES), age=om.Numeric())
    for steps, shown in (
        (om.Microaggregation(6), "FLU"),
        ([om.LocalSuppression(2), om.Microaggregation(6)], "FLU"),
        ([om.Rounding(("age",), base=5), om.RankSwapping(columns=("diagnosis",), k=7)], "flu"),
    ):
        released = om.protect(pl.DataFrame(columns), schema, steps, seed=1).frame
        assert set(released["diagnosis"].to_list()) == {shown, "cold"}


def test_codes_without_dots_stay_so_however_few_they_are(icd9):
    codes = ["71534", "71535", "71536", "V4571"]
    column = encode(open_table(pl.DataFrame({"d": codes})), om.Schema(d=om.Nominal(icd9)))["d"]
    assert set(column.values) == set(codes)
    mixed = ["715.34", "71535", "715.36"]
    column = encode(open_table(pl.DataFrame({"d": mixed})), om.Schema(d=om.Nominal(icd9)))["d"]
    assert set(column.values) == {"715.34", "715.35", "715.36"}


@pytest.mark.filterwarnings("ignore::ontomask.errors.OntomaskWarning")
def test_codes_that_are_numbers_are_written_so_that_they_are_read_as_the_same(icd9):
    for numbers in ([401.9, 250.13], [401, 250], [250.0, 401.0]):
        frame = pd.DataFrame({"d": numbers * 5})
        column = encode(open_table(frame), om.Schema(d=om.Nominal(icd9)))["d"]
        assert icd9.map(column.values).ids == icd9.ids_of(column.concepts.tolist())


def test_a_column_that_nobody_masks_is_published_as_declared():
    columns = {"diagnosis": [REMARK, "FLU", "flu"] * 4, "age": [30] * 12, "sex": ["f"] * 12}
    schema = schema_of("root", role="other")
    released = om.protect(pl.DataFrame(columns), schema, om.Microaggregation(3), seed=1).frame
    assert released["diagnosis"].to_list() == columns["diagnosis"]


def test_new_records_are_written_like_the_release():
    columns = {"diagnosis": ["FLU"] * 6 + ["cold"] * 6, "age": [30] * 12, "sex": ["f"] * 12}
    new = pl.DataFrame({"diagnosis": ["flu", REMARK], "age": [30, 30], "sex": ["f", "f"]})
    for method in (om.Microaggregation(3), om.Recoding(3)):
        scheme = om.protect(pl.DataFrame(columns), schema_of("root"), method, seed=1).scheme
        assert set(scheme.apply(new)["diagnosis"].to_list()) <= {"FLU", "cold", "infection"}
    kept = om.protect(pl.DataFrame(columns), schema_of("root"), om.Suppression(3), seed=1).scheme
    assert kept.apply(new)["diagnosis"].to_list() == ["FLU"]


def test_a_hierarchy_may_be_written_as_the_column_is():
    columns = {"diagnosis": ["Flu", "COLD", "covids"] * 2, "age": [30] * 6, "sex": ["f"] * 6}
    rows = [["Flu", "infection", "*"], ["COLD", "infection", "*"], ["covids", "infection", "*"]]
    method = om.Generalization(
        [om.privacy.KAnonymity(3)],
        hierarchies={"diagnosis": rows, "age": [["30", "*"]], "sex": [["f", "*"]]},
    )
    released = om.protect(pl.DataFrame(columns), schema_of("error"), method, seed=1).frame
    assert set(released["diagnosis"].to_list()) == {"infection"}


def test_an_empty_text_is_missing():
    frame = pl.DataFrame({"d": ["flu", "", "  ", "cold"]})
    column = encode(open_table(frame), om.Schema(d=om.Nominal(DISEASES)))["d"]
    assert column.values == ("cold", "flu")
    assert column.codes.tolist() == [1, 2, 2, 0]
    assert column.has_missing


def test_codes_that_are_numbers_are_not_taken_silently(icd9):
    frame = pd.DataFrame({"d": [250.0, 401.9, 428.0] * 3})
    schema = om.Schema(d=om.Nominal(icd9))
    with pytest.warns(om.errors.OntomaskWarning) as caught:
        om.protect(frame, schema, om.Microaggregation(3), seed=1)
    assert {str(one.message) for one in caught} == {
        "Column 'd' holds numbers, and 2 of its 3 codes may have been others: as numbers, codes "
        "lose their zeros (250.0 may have been 250 or 250.00); read the column as text from its "
        "source."
    }
    texts = frame.astype({"d": str})
    assert om.protect(texts, schema, om.Microaggregation(3), seed=1).verification.kept
