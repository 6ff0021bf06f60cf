"""Names with accents are one name, however the accents are encoded."""

import unicodedata

import polars as pl
import pytest

import ontomask as om
from ontomask.plan import Plan

COMPOSED = unicodedata.normalize("NFC", "\u00e2ge r\u00e9el")
SEPARATE = unicodedata.normalize("NFD", COMPOSED)
both_ways = pytest.mark.parametrize(
    ("in_table", "said"), [(COMPOSED, SEPARATE), (SEPARATE, COMPOSED), (SEPARATE, SEPARATE)]
)


def columns(name: str) -> dict[str, list]:
    return {name: [20, 21, 22, 40, 41, 42], "sexe": ["f", "m", "f", "f", "m", "f"]}


@both_ways
def test_a_schema_means_the_column_and_the_table_names_it(make_frame, in_table, said):
    schema = om.Schema.of({said: om.Numeric(), "sexe": om.Flat(role="sensitive")})
    assert schema[COMPOSED] is schema[SEPARATE]
    frame = make_frame(columns(in_table))
    rounded = om.protect(frame, schema, om.Rounding((said,), base=10), seed=1)
    release = om.protect(frame, schema, om.Microaggregation(3), seed=1)
    for published in (rounded.frame, release.frame, release.scheme.apply(frame)):
        names = getattr(published, "column_names", None) or list(published.columns)
        assert names == [in_table, "sexe"]
    assert release.evaluate().loss.loss > 0


@both_ways
def test_models_and_strata_mean_the_column_too(in_table, said):
    frame = pl.DataFrame({"sexe": ["f", "m"] * 6, in_table: ["a", "b", "c"] * 4})
    schema = om.Schema.of({"sexe": om.Flat(), said: om.Flat(role="sensitive")})
    rows = [["f", "*"], ["m", "*"]]
    diverse = om.Generalization(
        [om.privacy.KAnonymity(2), om.privacy.LDiversity(2, column=said)],
        hierarchies={"sexe": rows},
    )
    assert om.protect(frame, schema, diverse, seed=1).frame.columns == ["sexe", in_table]
    apart = om.Suppression(2, strata=(said,))
    assert om.protect(frame, schema, apart, seed=1).frame.columns == ["sexe", in_table]


@both_ways
def test_a_plan_means_the_column_of_its_file(tmp_path, in_table, said):
    pl.DataFrame(columns(in_table)).write_csv(tmp_path / "t.csv")
    text = (
        f'[input]\npath = "t.csv"\n[columns."{said}"]\nkind = "numeric"\n'
        '[columns.sexe]\nkind = "flat"\nrole = "sensitive"\n'
        '[[steps]]\nmethod = "microaggregation"\nk = 3\n'
    )
    plan = Plan.parse(text, folder=tmp_path)
    assert plan.check().records == 6
    outcome = plan.run()
    assert outcome.table.read_text(encoding="utf-8").splitlines()[0] == f"{in_table},sexe"


def test_two_columns_of_one_name_are_refused(make_frame):
    twice = {COMPOSED: [1, 2, 3], SEPARATE: [1, 2, 3]}
    with pytest.raises(om.errors.DataError) as caught:
        om.protect(make_frame(twice), om.Schema.of({COMPOSED: om.Numeric()}), om.Recoding(2))
    assert str(caught.value) == (
        f"Two columns are called {COMPOSED!r}, once with composed and once with separate accents; "
        "rename one of them."
    )
    with pytest.raises(om.errors.SchemaError, match="leave one of them out"):
        om.Schema.of({COMPOSED: om.Numeric(), SEPARATE: om.Numeric()})


def test_a_plan_that_names_a_column_twice_says_so(tmp_path):
    pl.DataFrame(columns(COMPOSED)).write_csv(tmp_path / "t.csv")
    text = (
        f'[input]\npath = "t.csv"\n[columns."{COMPOSED}"]\nkind = "numeric"\n'
        f'[columns."{SEPARATE}"]\nkind = "numeric"\n'
        '[[steps]]\nmethod = "microaggregation"\nk = 3\n'
    )
    with pytest.raises(om.errors.OntomaskError, match="composed and once with separate accents"):
        Plan.parse(text, folder=tmp_path)
