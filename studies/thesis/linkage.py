"""Chapter 8: semantic against matching record linkage, on tables generalized by hierarchies.

Two hierarchies for each table: one with two levels of generalization (VGH2), one with a finer level
more (VGH3). The intruder does not know them, and compares values through the ontology.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

import ontomask as om
from studies.charts import lines, panels
from studies.study import Cell, Claim, Clock, Figure, ResultTable
from studies.thesis.material import Material, Part, chosen, counted, falling, tuple_counts

__all__ = ["Linked", "linkage_claims", "study_linkage"]

KS = tuple(range(2, 21, 2))
MEASURES = ("logsc", "wu-palmer", "path")
MATCHING = "matching"
LEVELS = ("VGH2", "VGH3")
CHAPTER = "chapter 8"

OCCUPATIONS = {
    ("employee.n.01", "worker.n.01"): ("Adm-clerical", "Sales", "Protective-serv"),
    ("workman.n.01", "worker.n.01"): (
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Transport-moving",
    ),
    ("skilled_worker.n.01", "worker.n.01"): ("Craft-repair", "Farming-fishing", "Armed-Forces"),
    ("servant.n.01", "worker.n.01"): ("Priv-house-serv", "Other-service"),
    ("administrator.n.01", "expert.n.01"): ("Exec-managerial",),
    ("professional.n.01", "expert.n.01"): ("Prof-specialty", "Tech-support"),
}
COUNTRIES = {
    "asian_country.n.01": (
        *("Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines"),
        *("South", "Taiwan", "Thailand", "Vietnam"),
    ),
    "european_country.n.01": (
        *("England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland"),
        *("Italy", "Poland", "Portugal", "Scotland", "Yugoslavia"),
    ),
    "central_american_country.n.01": (
        *("El-Salvador", "Guatemala", "Honduras", "Nicaragua", "Cuba", "Dominican-Republic"),
        *("Haiti", "Jamaica", "Puerto-Rico", "Trinadad&Tobago"),
    ),
    "north_american_country.n.01": (
        *("Canada", "Mexico", "United-States", "Outlying-US(Guam-USVI-etc)"),
    ),
    "south_american_country.n.01": ("Columbia", "Ecuador", "Peru"),
}
Rows = list[list[str]]


# Hierarchies ----------------------------------------------------------------------------------


def census_rows(finer: bool) -> dict[str, Rows]:
    """Value, (group,) kind and top for the columns of Adult, made by hand."""
    occupations = [
        [value, *((fine,) if finer else ()), coarse, "person.n.01"]
        for (fine, coarse), values in OCCUPATIONS.items()
        for value in values
    ]
    countries = [
        [value, *((region,) if finer else ()), "country.n.02", "location.n.01"]
        for region, values in COUNTRIES.items()
        for value in values
    ]
    return {"occupation": occupations, "native-country": countries}


def code_rows(material: Material, finer: bool) -> dict[str, Rows]:
    """Code and the upper levels of the classification, two or three of them."""
    return {name: _upper_levels(material, name, finer) for name in material.frame.columns}


def _upper_levels(material: Material, column: str, finer: bool) -> Rows:
    codes = material.frame[column].unique().sort().to_list()
    ids = material.only("codes", pl.DataFrame({column: codes})).concepts(column)
    full = om.Hierarchy.from_taxonomy(material.taxonomy, ids, by="depth")
    kept = range(max(1, full.height - (2 if finer else 1)), full.height + 1)
    places = full.encode(ids)
    return [
        [code, *(full.labels[level][full.levels[level, place]] for level in kept)]
        for code, place in zip(codes, places.tolist(), strict=True)
    ]


def hierarchies(material: Material, finer: bool) -> dict[str, om.Hierarchy]:
    """The hierarchies of a table, with two or three levels."""
    rows = census_rows(finer) if material.overrides else code_rows(material, finer)
    return {name: om.Hierarchy.from_rows(one, name) for name, one in rows.items()}


# Linking --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linked:
    """One generalized table: linkage in percent by each distance, and its semantic loss."""

    risks: Mapping[str, float]
    loss: float


Chains = Mapping[str, Mapping[int, Linked]]
"""For each hierarchy and k."""


def link(material: Material, levels: Mapping[str, om.Hierarchy], k: int) -> Linked:
    """Generalize single tuples until k is reached, and link."""
    method = om.Generalization([om.privacy.KAnonymity(k)], algorithm="tuple", hierarchies=levels)
    words = om.Schema.of(dict.fromkeys(material.frame.columns, om.Flat()))
    release = om.protect(material.frame, words, method, seed=1)
    risks = {
        measure: 100.0
        * om.measuring.record_linkage(
            material.frame, release.frame, material.schema, measure=measure
        ).risk
        for measure in MEASURES
    }
    same = om.measuring.record_linkage(
        material.frame, release.frame, material.schema, distance="matching"
    )
    found = om.evaluate(material.frame, release.frame, material.schema, distances=())
    return Linked({**risks, MATCHING: 100.0 * same.risk}, found.loss.semantic_loss)


def all_links(material: Material) -> Chains:
    """Both hierarchies, every k, and one k above the largest class."""
    ks = [*chosen(KS, material)]
    above = tuple_counts(material.frame)[0] + 1
    if ks[-1] < above <= material.frame.height:
        ks.append(above)
    return {
        name: {k: link(material, hierarchies(material, name == "VGH3"), k) for k in ks}
        for name in LEVELS
    }


# Claims ---------------------------------------------------------------------------------------


def linkage_claims(tables: Mapping[str, Chains]) -> tuple[Claim, ...]:
    """The statements of section 8.4.4."""
    return (
        *_semantic_claims(tables),
        *_measure_claims(tables),
        *_detail_claims(tables),
        *_loss_claims(tables),
    )


def _usual(chain: Mapping[int, Linked]) -> dict[int, Linked]:
    """The k of the thesis, without the one above the largest class."""
    return {k: one for k, one in chain.items() if k <= KS[-1]}


def _chains(tables: Mapping[str, Chains]) -> list[tuple[str, Mapping[int, Linked]]]:
    return [
        (f"{name}, {levels}", chain)
        for name, chains in tables.items()
        for levels, chain in chains.items()
    ]


def _ratio(one: Linked) -> float:
    matching = one.risks[MATCHING]
    return one.risks["logsc"] / matching if matching else float("inf")


def _semantic_claims(tables: Mapping[str, Chains]) -> tuple[Claim, ...]:
    where = "8.4.4, Fig. 33"
    chains = _chains(tables)
    ahead = [
        one.risks["logsc"] > one.risks[MATCHING] for _, chain in chains for one in chain.values()
    ]
    middle = [_ratio(one) for _, chain in chains for k, one in chain.items() if 4 <= k <= 8]
    growing = [_ratio(chain[max(_usual(chain))]) > _ratio(chain[min(chain)]) for _, chain in chains]
    falls = [
        step
        for _, chain in chains
        for step in falling([one.risks["logsc"] for one in _usual(chain).values()])
    ]
    beyond = [(name, one) for name, chain in chains for k, one in chain.items() if k > KS[-1]]
    return (
        Claim.judged(
            "Semantic linkage links more records than matching, for every k.",
            where,
            ahead,
            f"at {counted(ahead, 'tables, hierarchies and k')}",
        ),
        Claim.judged(
            "For k from 4 to 8 semantic linkage almost doubles the correct links.",
            where,
            [ratio > 1.6 for ratio in middle],
            f"{min(middle):.1f} to {max(middle):.1f} times as many",
            "almost doubles: more than 1.6 times",
        ),
        Claim.judged("Linkage falls as k grows.", where, falls, counted(falls, "steps of k")),
        Claim.judged(
            "The advantage over matching, relatively, grows with k.",
            "8.4.4, Fig. 34",
            growing,
            "times as many links at the smallest and largest k: "
            + "; ".join(
                f"{_ratio(chain[min(chain)]):.1f} and "
                f"{_ratio(chain[max(_usual(chain))]):.1f} ({name})"
                for name, chain in chains
            ),
        ),
        Claim.judged(
            "Above the size of the largest class matching links nothing, semantic linkage still "
            "does.",
            "8.4.4",
            [one.risks[MATCHING] == 0 < one.risks["logsc"] for _, one in beyond],
            "; ".join(
                f"{one.risks[MATCHING]:.2f} and {one.risks['logsc']:.2f} % ({name})"
                for name, one in beyond
            )
            or "—",
        ),
    )


def _measure_claims(tables: Mapping[str, Chains]) -> tuple[Claim, ...]:
    where = "8.4.4, Fig. 33"
    every = [one.risks for _, chain in _chains(tables) for one in _usual(chain).values()]
    spreads = [
        (max(one[name] for name in MEASURES) - min(one[name] for name in MEASURES))
        / max(one[name] for name in MEASURES)
        for one in every
    ]
    above = [min(one["logsc"], one["wu-palmer"]) >= one["path"] for one in every]
    return (
        Claim.judged(
            "Which semantic measure is used makes a minor difference.",
            where,
            [spread < 0.1 for spread in spreads],
            f"{100 * min(spreads):.0f} to {100 * max(spreads):.0f} % between the measures",
            "minor: less than 10 %",
        ),
        Claim.judged(
            "Wu-Palmer and logSC link slightly more than path length.",
            where,
            above,
            f"at {counted(above, 'tables, hierarchies and k')}",
        ),
    )


def _detail_claims(tables: Mapping[str, Chains]) -> tuple[Claim, ...]:
    where = "8.4.4, Figs. 33 and 34"
    pairs = [
        (chains["VGH2"][k], chains["VGH3"][k])
        for chains in tables.values()
        for k in _usual(chains["VGH2"])
    ]
    gains = [
        100.0 * (finer.risks["logsc"] / coarse.risks["logsc"] - 1.0) for coarse, finer in pairs
    ]
    same = [
        abs(finer.risks[MATCHING] - coarse.risks[MATCHING])
        <= 0.1 * max(coarse.risks[MATCHING], 0.1)
        for coarse, finer in pairs
    ]
    return (
        Claim.judged(
            "The more detailed hierarchy (VGH3) leaves more records linked.",
            where,
            [gain > 0 for gain in gains],
            f"{min(gains):.0f} to {max(gains):.0f} % more correct links",
        ),
        Claim.judged(
            "The difference between the hierarchies is 10 to 25 %, whatever k.",
            where,
            [10.0 <= gain <= 25.0 for gain in gains],
            f"{min(gains):.0f} to {max(gains):.0f} % more correct links",
        ),
        Claim.judged(
            "Matching hardly sees the difference between the hierarchies.",
            where,
            same,
            f"within 10 % of each other at {counted(same, 'tables and k')}",
        ),
    )


def _loss_claims(tables: Mapping[str, Chains]) -> tuple[Claim, ...]:
    where = "8.4.4, Fig. 35"
    higher = [
        chains["VGH2"][k].loss > chains["VGH3"][k].loss
        for chains in tables.values()
        for k in _usual(chains["VGH2"])
    ]
    fits = [_straightness(_usual(chain)) for _, chain in _chains(tables)]
    late = [_late_shares(_usual(chain)) for _, chain in _chains(tables)]
    return (
        Claim.judged(
            "The simpler hierarchy (VGH2) loses more meaning.",
            where,
            higher,
            f"at {counted(higher, 'tables and k')}",
        ),
        Claim.judged(
            "Loss grows linearly with k.",
            where,
            [fit > 0.9 for fit in fits],
            f"squared correlations with k {min(fits):.2f} to {max(fits):.2f}",
            "linearly: a squared correlation above 0.9",
        ),
        Claim.judged(
            "High k is not worth it: late steps of k cost more loss than they save risk.",
            "8.4.4, Figs. 34 and 35",
            [lost > saved for lost, saved in late],
            "in the upper half of k, shares of the whole rise of loss and fall of linkage: "
            + "; ".join(f"{lost:.0%} and {saved:.0%}" for lost, saved in late),
        ),
    )


def _late_shares(chain: Mapping[int, Linked]) -> tuple[float, float]:
    """Which share of the rise of loss, and of the fall of linkage, is in the upper half of k."""
    every = list(chain.values())
    first, middle, last = every[0], every[len(every) // 2], every[-1]
    lost = (last.loss - middle.loss) / ((last.loss - first.loss) or 1.0)
    risks = [one.risks["logsc"] for one in (first, middle, last)]
    return lost, (risks[1] - risks[2]) / ((risks[0] - risks[2]) or 1.0)


def _straightness(chain: Mapping[int, Linked]) -> float:
    losses = [one.loss for one in chain.values()]
    if np.ptp(losses) == 0:
        return 0.0
    return float(np.corrcoef(list(chain), losses)[0, 1] ** 2)


# The part -------------------------------------------------------------------------------------


def study_linkage(materials: Sequence[Material], clock: Clock) -> Part:
    """Run chapter 8."""
    with clock.part(f"{CHAPTER}: generalizing and linking"):
        tables = {one.name: all_links(one) for one in materials}
    return Part((_table(tables),), (_figure(tables),), linkage_claims(tables))


def _table(tables: Mapping[str, Chains]) -> ResultTable:
    rows: list[tuple[Cell, ...]] = [
        (name, levels, k, *one.risks.values(), one.loss)
        for name, chains in tables.items()
        for levels, chain in chains.items()
        for k, one in chain.items()
    ]
    return ResultTable(
        "linkage",
        "Chapter 8: record linkage on generalized tables, %",
        ("table", "hierarchy", "k", *MEASURES, MATCHING, "semantic loss"),
        tuple(rows),
        "The last k of each table is above the size of its largest class.",
    )


def _figure(tables: Mapping[str, Chains]) -> Figure:
    charts = {
        name: lines(
            [
                {"k": k, "linkage": one.risks[distance], "intruder": f"{distance}, {levels}"}
                for levels, chain in chains.items()
                for k, one in _usual(chain).items()
                for distance in ("logsc", MATCHING)
            ],
            "k",
            "linkage",
            "intruder",
            titles=("k", "record linkage, %"),
        )
        for name, chains in tables.items()
    }
    return Figure(
        "linkage",
        "Chapter 8: semantic and matching linkage (Fig. 33)",
        panels(charts, columns=1),
        "Lines of record linkage over k: semantic and matching, on both hierarchies.",
    )
