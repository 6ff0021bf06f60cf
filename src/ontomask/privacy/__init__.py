"""Privacy models, as conditions on the classes of records that share their quasi-identifiers.

A model is a frozen description; asked with `holds`, it says for each class whether the condition is
met. It never counts records itself: class sizes and histograms of sensitive values come in as
`Classes`. Models on the whole table (`TableModel`) say instead which classes may stay.

Two kinds of monotony matter to a search. A model is `monotone` when a table whose classes all
satisfy it still does so after further generalization, which only unites classes. It is
`monotone_with_suppression` when a class that satisfies it still does so after being united with
*any* other class; then every record that fails at some levels also fails at all finer ones.

Asked with `judge`, a model also bounds how many records of a class finer levels could keep. That is
more than all or nothing: classes that are t-close are so together, so a class that is too far from
the table loses at least a certain part of its records wherever it is divided.
"""

from __future__ import annotations

from inspect import isabstract

from ontomask.privacy.classes import Classes, Domain, Ground, Histogram, chosen_column
from ontomask.privacy.models import (
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    KAnonymity,
    KMap,
    LDiversity,
    PrivacyModel,
    SampleUniqueness,
    TableModel,
    TCloseness,
    grassberger,
)
from ontomask.privacy.risks import (
    EstimatedKMap,
    NoAttack,
    PopulationNoAttack,
    PopulationProfitability,
    PopulationUniques,
    Profitability,
    RecordsAtRisk,
)

__all__ = [
    "AverageRisk",
    "BetaLikeness",
    "Classes",
    "DeltaDisclosure",
    "DeltaPresence",
    "Domain",
    "EstimatedKMap",
    "Ground",
    "Histogram",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "NoAttack",
    "PopulationNoAttack",
    "PopulationProfitability",
    "PopulationUniques",
    "PrivacyModel",
    "Profitability",
    "RecordsAtRisk",
    "SampleUniqueness",
    "TCloseness",
    "TableModel",
    "chosen_column",
    "grassberger",
]


def __dir__() -> list[str]:
    """The models; the rest is for other rooms."""
    kinds = [one for one in map(globals().get, __all__) if isinstance(one, type)]
    models = (one for one in kinds if issubclass(one, PrivacyModel) and not isabstract(one))
    return sorted(one.__name__ for one in models)
