"""Generalization without hierarchies: those that columns get by themselves, and k in short."""

import polars as pl
import pytest

import ontomask as om
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.generalization.method import ALGORITHMS

PETS = om.Taxonomy.from_parents(
    {"pet": [], "cat": ["pet"], "dog": ["pet"], "beagle": ["dog"], "boxer": ["dog"]}
)
TABLE = pl.DataFrame(
    {
        "age": [31, 32, 33, 34, 61, 62, 63, 64],
        "born": ["1990-01-02", "1990-01-05", "1990-02-01", "1990-03-01"] * 2,
        "pain": ["none", "mild", "strong", "worst"] * 2,
        "zip": ["43001", "43002", "43003", "43004"] * 2,
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "pet": ["beagle", "boxer", "cat", "dog"] * 2,
    }
)
SCHEMA = om.Schema(
    age=om.Numeric(),
    born=om.Date(),
    pain=om.Ordinal(["none", "mild", "strong", "worst"]),
    zip=om.Flat(),
    sex=om.Flat(),
    pet=om.Nominal(PETS, measure="path"),
)
RECIPES = {
    "age": {"intervals": [2, 4, 8, 32]},
    "born": {"dates": ["month", "quarter", "year"]},
    "pain": {"order": 2},
    "zip": {"digits": "last"},
    "sex": {"star": True},
}


@pytest.mark.parametrize("search", ALGORITHMS)
def test_defaults_are_the_recipes_that_init_proposes(search):
    budget = {"steps": 50} if search == "best-effort" else {}
    method = om.Generalization(k=2, algorithm=search, **budget)
    release = om.protect(TABLE, SCHEMA, method, seed=1)
    said = om.Generalization(
        [om.privacy.KAnonymity(2)], algorithm=search, hierarchies=RECIPES, **budget
    )
    assert release.frame.equals(om.protect(TABLE, SCHEMA, said, seed=1).frame)
    assert [one.split("'")[1] for one in release.notes] == list(RECIPES)
    assert release.notes[0] == (
        "Column 'age' had no hierarchy; it was generalized by { intervals = [2, 4, 8, 32] }."
    )
    assert om.check(release, SCHEMA, om.privacy.KAnonymity(2))


def test_numbers_are_one_of_a_few_intervals_before_they_are_stars():
    table = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25, 26, 27, 28]})
    release = om.protect(table, om.Schema(age=om.Numeric()), om.Generalization(k=3), seed=1)
    assert release.frame["age"].to_list() == ["[16, 24)"] * 4 + ["[24, 32)"] * 5
    assert release.suppressed == 0


def test_what_is_given_is_not_told():
    release = om.protect(TABLE, SCHEMA, om.Generalization(k=2, hierarchies=RECIPES), seed=1)
    assert release.notes == ()
    assert "note" in om.protect(TABLE, SCHEMA, om.Generalization(k=2), seed=1)._repr_html_()


def test_k_is_k_anonymity_besides_other_models():
    schema = SCHEMA.replace(sex=om.Flat(role="sensitive"))
    short = om.Generalization([om.privacy.LDiversity(2)], k=4)
    assert short.models == (om.privacy.KAnonymity(4), om.privacy.LDiversity(2))
    long = om.Generalization([om.privacy.LDiversity(2), om.privacy.KAnonymity(4)])
    one, other = (om.protect(TABLE, schema, method, seed=1) for method in (short, long))
    assert one.frame.equals(other.frame)
    assert one.verification.k == 4
    with pytest.raises(ParameterError, match="Say what must hold: k=5, or privacy"):
        om.Generalization()


def test_hierarchies_from_the_values_are_not_differentially_private():
    method = om.PrivateGeneralization(2.0, 1e-3, schemes=[{"age": 1}])
    with pytest.raises(MethodError, match="'age' is a quasi-identifier and has no hierarchy"):
        om.protect(TABLE.select("age"), om.Schema(age=om.Numeric()), method)


def test_ground_distances_need_a_hierarchy_that_somebody_chose():
    schema = SCHEMA.replace(sex=om.Flat(role="sensitive"))
    method = om.Generalization([om.privacy.TCloseness(0.5, ground="hierarchical")])
    with pytest.raises(ParameterError, match="'sex' has none; give it one in hierarchies"):
        om.protect(TABLE, schema, method)
