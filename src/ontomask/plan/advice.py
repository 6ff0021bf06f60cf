"""What is usual for whom: the k and the limit of risk to begin with, with reasons and sources.

No law names a k. What is written here is what regulators and guides have published for a kind of
recipient; a steward who knows more about theirs decides otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["GOALS", "RECIPIENTS", "Advice", "Goal", "advised"]


@dataclass(frozen=True)
class Advice:
    """What is usual for a kind of recipient.

    Attributes
    ----------
    recipient
        Who gets the table, in words.
    k
        People who look alike, at least.
    l
        Different sensitive values in each class, at least.
    max_risk
        The highest risk of a person: 1 / k.
    reason, source
        Why, and who says so.
    """

    recipient: str
    k: int
    l: int  # noqa: E741 - the literature's own name
    max_risk: float
    reason: str
    source: str


RECIPIENTS = {
    "public": Advice(
        "anyone, as on a website",
        11,
        3,
        0.091,
        "Nobody can be held to anything, and whoever wants to try has all the time: a risk of "
        "one in eleven, which is classes of eleven.",
        "European Medicines Agency, guidance on Policy 0070 (EMA/90915/2016): 9 %; Centers for "
        "Medicare & Medicaid Services, cell size suppression policy: no count of 1 to 10 is shown; "
        "El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapter on "
        "cell size precedents: eleven for public release in the United States",
    ),
    "contract": Advice(
        "researchers who signed an agreement",
        5,
        2,
        0.2,
        "They promised not to try and can be checked: a risk of one in five, which is classes of "
        "five.",
        "El Emam, Guide to the De-Identification of Personal Health Information, 2013: a cell size "
        "of five (20 %) is what data custodians have used; Prasser et al., 2017, call k = 5 "
        "typical of the biomedical domain",
    ),
    "inside": Advice(
        "colleagues in a protected environment",
        3,
        2,
        0.34,
        "The table does not leave the house, and access is logged: a risk of one in three, which "
        "is classes of three.",
        "El Emam, Guide to the De-Identification of Personal Health Information, 2013: some data "
        "custodians use a cell size of three (33 %)",
    ),
}
"""Kinds of recipients, the least trusted first. There is no value of t that is usual: choose one by
what it costs, on the screen of utility or with `compare`."""


def advised(
    models: Sequence[Mapping[str, Any]], advice: Advice, sensitive: Sequence[str]
) -> list[dict[str, Any]]:
    """The privacy models of a step as is usual for a recipient: k, and l for what is sensitive.

    Parameters
    ----------
    models
        What the step promises now; other models stay as they are.
    sensitive
        The sensitive columns that have l different values at all.
    """
    said = {"k-anonymity": {"k": advice.k}, "l-diversity": {"l": advice.l}}
    kept = [{**one, **said.get(one["model"], {})} for one in models]
    diverse = [one.get("column", *sensitive[:1]) for one in kept if one["model"] == "l-diversity"]
    wanted = [name for name in sensitive if name not in diverse]
    return [*kept, *({"model": "l-diversity", "l": advice.l, "column": name} for name in wanted)]


@dataclass(frozen=True)
class Goal:
    """A wish in plain words, with the method that serves it.

    Attributes
    ----------
    method
        Its name in a plan.
    before, after
        A small example.
    promises, not_promised
        What holds in the end, and what does not.
    """

    title: str
    method: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    promises: str
    not_promised: str


GOALS = {
    "meaning": Goal(
        "Keep the meaning of codes",
        "microaggregation",
        ("34, heart failure", "36, hypertension", "71, asthma"),
        ("35, heart disease", "35, heart disease", "70, asthma"),
        "At least k people have the same masked values; they stay near the original ones.",
        "Single values are no longer those of the person.",
    ),
    "categories": Goal(
        "Publish broad categories",
        "generalization",
        ("34, 250.01", "36, 250.03", "71, 428.0"),
        ("30 to 39, diabetes", "30 to 39, diabetes", "*, *"),
        "At least k people look alike, and every value is true, if less exact.",
        "Details inside of a category are gone; rare people may be left out.",
    ),
    "values": Goal(
        "Keep every value, but not whose it is",
        "rank-swapping",
        ("34, 1200 EUR", "36, 900 EUR", "71, 4100 EUR"),
        ("34, 900 EUR", "36, 1200 EUR", "71, 4000 EUR"),
        "Distributions of single columns stay as they are.",
        "There is no k: how many are linked rightly is measured, not promised.",
    ),
    "rare": Goal(
        "Change nothing, and leave rare people out",
        "suppression",
        ("34, Lisbon", "36, Lisbon", "71, Ushuaia"),
        ("34, Lisbon", "36, Lisbon", "(left out)"),
        "At least k people look alike, and what is there is the original.",
        "Whoever is rare is missing, so that shares and means shift.",
    ),
}
"""Wishes that a steward may have."""
