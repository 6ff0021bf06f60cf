"""A user's mistakes with generalization, and the sentences shown."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import ontomask as om
from ontomask.errors import OntomaskError
from ontomask.methods.generalization.method import Generalization
from ontomask.privacy import (
    AverageRisk,
    DeltaDisclosure,
    DeltaPresence,
    KAnonymity,
    KMap,
    LDiversity,
    TCloseness,
)
from ontomask.quality import Classification, KLDivergence

FRAME = pd.DataFrame(
    {
        "id": range(8),
        "age": [20, 20, 30, 30, 40, 40, 50, 60],
        "sex": list("ffmmffmm"),
        "ill": ["flu", "cold", "flu", "cold"] * 2,
        "rank": list("abcdabcd"),
    }
)
SCHEMA = om.Schema(
    id=om.Identifier(), age=om.Numeric(), sex=om.Flat(), ill=om.Flat(role="sensitive")
)
AGES = [[str(age), "*"] for age in (20, 30, 40, 50, 60)]
HIERARCHIES = {"age": AGES, "sex": [["f", "*"], ["m", "*"]]}


def protect(*privacy, schema=SCHEMA, frame=FRAME, **options):
    chosen = {"hierarchies": HIERARCHIES, **options}
    return om.protect(frame, schema, Generalization(list(privacy), **chosen), seed=1)


MISTAKES = {
    "limit": (
        lambda: protect(KAnonymity(2), suppression_limit=1.5),
        "suppression_limit must be a number from 0 to 1, not 1.5. For 1.5 percent write 0.015.",
    ),
    "k beyond the table": (
        lambda: protect(KAnonymity(9)),
        "k is 9, but there are only 8 records; choose a smaller k.",
    ),
    "k of one": (
        lambda: protect(KAnonymity(1)),
        "k must be a whole number of at least 2, not 1.",
    ),
    "l beyond the values": (
        lambda: protect(LDiversity(3)),
        "l is 3, but the sensitive column has only 2 different values; choose a smaller l.",
    ),
    "no model": (
        lambda: Generalization([]),
        "Say what must hold: k=5, or privacy=[…] with models.",
    ),
    "a number for a model": (
        lambda: Generalization([5]),
        "privacy must be a list, each item a privacy model such as KAnonymity(5), not [5].",
    ),
    "no valid node": (
        lambda: protect(KAnonymity(8), hierarchies={**HIERARCHIES, "sex": [["f"], ["m"]]}),
        "No combination of levels satisfies the privacy models with at most 0 records suppressed; "
        "the nearest miss suppresses 8 (levels age: 1, sex: 0). Raise suppression_limit to 1.0000 "
        "or more, or weaken the privacy models.",
    ),
    "a hierarchy for nothing": (
        lambda: protect(KAnonymity(2), hierarchies={**HIERARCHIES, "agee": AGES}),
        "hierarchies names 'agee', which is not a published column. Did you mean 'age'?",
    ),
    "a value without row": (
        lambda: protect(KAnonymity(2), hierarchies={**HIERARCHIES, "age": AGES[:4]}),
        "Column 'age' holds '60', which the hierarchy has no row for; add a row for every value.",
    ),
    "target is an identifier": (
        lambda: protect(KAnonymity(2), quality=Classification("id")),
        "target names 'id', which is declared as identifier and not published; predict a column "
        "that is in the release.",
    ),
    "target is nothing": (
        lambda: protect(KAnonymity(2), quality=Classification("il")),
        "target names 'il', which is not a published column. Did you mean 'ill'?",
    ),
    "a quality that is none": (
        lambda: protect(KAnonymity(2), quality="los"),
        "quality must be one of 'loss', 'precision', 'discernibility', 'average-class-size', "
        "'non-uniform-entropy', 'kl-divergence', 'ambiguity', 'height', 'entropy-loss', "
        "'classification', 'semantic', or a quality model such as Loss(), not 'los'.",
    ),
    "classification of what": (
        lambda: protect(KAnonymity(2), quality="classification"),
        "The quality 'classification' needs the column to be predicted; give "
        "Classification(target=…) instead of its name.",
    ),
    "a search that is none": (
        lambda: protect(KAnonymity(2), algorithm="optmal"),
        "algorithm must be one of 'optimal', 'best-effort', 'local', 'mondrian', 'tuple', not "
        "'optmal'. Did you mean 'optimal'?",
    ),
    "no budget": (
        lambda: protect(KAnonymity(2), algorithm="best-effort"),
        "A best-effort search needs a budget: give steps=… or seconds=….",
    ),
    "no population": (
        lambda: protect(KMap(2)),
        "KMap needs a population table or survey weights; give population=…, or declare the column "
        "of weights as Weight().",
    ),
    "no population, for presence": (
        lambda: protect(DeltaPresence(0.0, 0.5)),
        "DeltaPresence needs a population table; give one as population=….",
    ),
    "presence inside strata": (
        lambda: protect(DeltaPresence(0.0, 0.5), population=FRAME, strata=("sex",)),
        "DeltaPresence speaks of classes of the whole population, which strata divide; leave out "
        "strata.",
    ),
    "a population that the table has too few of": (
        lambda: protect(DeltaPresence(0.5, 1.0), population=pd.concat([FRAME] * 3)),
        "No combination of levels satisfies the privacy models: DeltaPresence(minimum=0.5, "
        "maximum=1.0) must hold for every class of the population, those without records included, "
        "and suppression cannot mend it; lower its minimum.",
    ),
    "a population without column": (
        lambda: protect(KMap(2), population=FRAME[["age"]]),
        "The population table has no column 'sex'; it needs every quasi-identifier.",
    ),
    "a column that is not sensitive": (
        lambda: protect(LDiversity(2, column="age")),
        "'age' is not a sensitive column; there are: 'ill'. Take this promise out of the step, or "
        "make the column sensitive.",
    ),
    "meaning without taxonomy": (
        lambda: protect(TCloseness(0.2, "semantic")),
        "The semantic ground distance needs a nominal column with a taxonomy, but 'ill' is flat; "
        "choose another ground.",
    ),
    "an order of words": (
        lambda: protect(TCloseness(0.2, "ordered")),
        "The ordered ground distance needs a column with an order, but 'ill' is flat; declare it "
        "as Ordinal([…]), Numeric or Date, or choose another ground.",
    ),
    "tuples with other models": (
        lambda: protect(LDiversity(2), algorithm="tuple"),
        "algorithm='tuple' knows k-anonymity only; use algorithm='local'.",
    ),
    "local with table models": (
        lambda: protect(AverageRisk(0.5), algorithm="local"),
        "AverageRisk cannot be kept by local recoding, because classes that satisfy it by "
        "themselves need not do so together; use algorithm='optimal'.",
    ),
    "local with models that unions lose": (
        lambda: protect(DeltaDisclosure(2.0), algorithm="local"),
        "DeltaDisclosure cannot be kept by local recoding, because classes that satisfy it by "
        "themselves need not do so together; use algorithm='optimal'.",
    ),
    "a quality of global outcomes only": (
        lambda: protect(KAnonymity(2), algorithm="mondrian", quality=KLDivergence()),
        "The quality model is not defined for records that are generalized differently; use loss, "
        "precision, height, entropy-loss, discernibility, average-class-size, classification or "
        "semantic.",
    ),
    "a number for a hierarchy": (
        lambda: protect(KAnonymity(2), hierarchies={**HIERARCHIES, "age": 5}),
        "The hierarchy of 'age' must be a path, rows of values, a Hierarchy, or how to build one, "
        "not int.",
    ),
    "no quasi-identifier": (
        lambda: protect(KAnonymity(2), schema=om.Schema(ill=om.Flat(role="other")), hierarchies={}),
        "No column has the role 'quasi'; say which columns an intruder may know.",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_its_sentence(name):
    attempt, sentence = MISTAKES[name]
    with pytest.raises(OntomaskError, match=f"^{re.escape(sentence)}$"):
        attempt()
