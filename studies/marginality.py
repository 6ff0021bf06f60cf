"""Marginality against equality in microaggregation.

Domingo-Ferrer, Sánchez and Rufian-Torrell, "Anonymization of nominal data based on semantic
marginality", Information Sciences 242 (2013).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import spearmanr

import ontomask as om
from studies.charts import lines, panels
from studies.data import Data
from studies.study import Claim, Clock, Figure, Findings, ResultTable, Study

__all__ = ["STUDY", "Losses", "loss_claims", "run"]

NUMBERS = ("age", "los", "payment")
DIAGNOSIS = "dx_principal"
DATASETS = ("neoplasm", "digestive")
KS = tuple(range(2, 21, 2))
OPERATORS = {"classic": "equality", "marginality": "marginality", "any concept": "semantic"}
"""The two algorithms of the paper, and one whose centroid may be any concept of the tree."""
NEARLY, SAME, POINTS = 0.01, 0.001, 0.05
"""Relative differences of "almost identical" and "identical", and how near a reduction must be."""

PRINTED_NUMBERS = {
    ("neoplasm", "classic"): {
        "age": (11430, 32740, 49978, 62009, 73136, 98734, 104671, 107409, 114864, 129845),
        "los": (7664, 19154, 41234, 52172, 55748, 68512, 78060, 87869, 97136, 107016),
        "dx": (7589, 12121, 13722, 14517, 14989, 15308, 15550, 15757, 15896, 15981),
        "dx alone": (242, 858, 1465, 2018, 2710, 3154, 3822, 4012, 4570, 4846),
    },
    ("neoplasm", "marginality"): {
        "age": (11436, 32746, 49882, 61925, 73254, 98800, 104605, 107461, 114793, 129770),
        "los": (7662, 19155, 41231, 52175, 55756, 68506, 78073, 87855, 97142, 106938),
        "dx": (7515, 10892, 11852, 12373, 12670, 12927, 13064, 13193, 13281, 13345),
        "dx alone": (150, 280, 435, 545, 667, 785, 904, 1015, 1136, 1185),
    },
    ("digestive", "classic"): {
        "age": (34205, 96405, 144699, 192725, 237758, 257297, 294633, 322896, 339505, 377568),
        "los": (20031, 64075, 109049, 159429, 187512, 203685, 217839, 248137, 327250, 358737),
        "dx": (51556, 88047, 101141, 107804, 111781, 114321, 116240, 117663, 118805, 119688),
        "dx alone": (103, 310, 512, 701, 912, 1042, 1197, 1490, 1642, 1789),
    },
    ("digestive", "marginality"): {
        "age": (34205, 96405, 144699, 192725, 237758, 257297, 294633, 322896, 339505, 377568),
        "los": (20031, 64075, 109049, 159429, 187512, 203685, 217839, 248137, 327250, 358737),
        "dx": (51556, 77478, 85827, 89896, 92616, 94442, 95873, 96894, 97642, 98321),
        "dx alone": (103, 206, 323, 439, 560, 621, 708, 851, 945, 1038),
    },
}
"""SSE of Tables 2 to 5 for k = 2, 4, …, 20 (CHARGE has three digits in print and is left out)."""
PRINTED_RECORDS = {"neoplasm": 19_502, "digestive": 143_472}

EXAMPLE = om.Taxonomy.from_parents(
    {
        "disease": [],
        "neoplastic disease": ["disease"],
        "mental disorder": ["disease"],
        "disorder of nervous system": ["disease"],
        "dementia": ["mental disorder"],
        "degenerative disease of nervous system": ["disorder of nervous system"],
        "lung cancer": ["neoplastic disease"],
        "paranoia": ["mental disorder"],
        "schizophrenia": ["mental disorder"],
        "vascular dementia": ["dementia"],
        "Alzheimer": ["dementia", "degenerative disease of nervous system"],
        "meningitis": ["disorder of nervous system"],
        "multiple sclerosis": ["disorder of nervous system"],
    },
    name="Figure 1",
)
EXAMPLE_SAMPLE = (
    "lung cancer",
    "paranoia",
    "schizophrenia",
    "vascular dementia",
    "Alzheimer",
    "Alzheimer",
    "meningitis",
    "meningitis",
    "multiple sclerosis",
)
EXAMPLE_PRINTED = (6.94, 6.22, 6.22, 6.14, 5.07, 5.07, 5.3, 5.3, 5.88)


# The experiment -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Losses:
    """The SSE of one table: for each algorithm and attribute one figure per k.

    `dx alone` is the diagnosis when it is the only attribute; `balanced` are mixed figures when
    the diagnosis counts as much as a number.
    """

    ks: tuple[int, ...]
    records: int
    sse: Mapping[str, Mapping[str, tuple[float, ...]]]
    balanced: Mapping[str, Mapping[str, tuple[float, ...]]]

    def reduction(self, attribute: str, algorithm: str = "marginality") -> tuple[float, ...]:
        """By which share the SSE of an algorithm is below the classic one, for each k."""
        pairs = zip(self.sse["classic"][attribute], self.sse[algorithm][attribute], strict=True)
        return tuple(1 - new / old if old else 0.0 for old, new in pairs)

    def at(self, attribute: str, k: int, algorithm: str = "marginality") -> float:
        """The reduction at a k (or the nearest one of a small run)."""
        place = min(range(len(self.ks)), key=lambda one: abs(self.ks[one] - k))
        return self.reduction(attribute, algorithm)[place]

    def trend(self, algorithm: str = "marginality") -> float:
        """Rank correlation of k and the reduction of the diagnosis, mixed attributes."""
        found = self.reduction("dx", algorithm)
        if np.allclose(found, found[0]):
            return 0.0
        return float(spearmanr(self.ks, found).statistic)


def prepared(data: Data, name: str) -> pl.DataFrame:
    """The four attributes; as in the paper, records without a charge are left out."""
    frame = data[name].filter(pl.col("payment") > 0)
    return frame.select(*NUMBERS, DIAGNOSIS)


def schema_of(names: Sequence[str], weight: float = 1.0) -> om.Schema:
    """Numbers, and diagnoses on ICD-9-CM."""
    diagnoses = om.load_taxonomy("icd9cm")
    nominal = om.Nominal(diagnoses, weight=weight)
    return om.Schema.of({name: nominal if name == DIAGNOSIS else om.Numeric() for name in names})


def sse_of(frame: pl.DataFrame, schema: om.Schema, operators: Any, k: int) -> dict[str, float]:
    """The SSE of each attribute after MDAV with S-distance."""
    method = om.Microaggregation(k, algorithm="mdav", operators=operators, metric="s-distance")
    release = om.protect(frame, schema, method, seed=1)
    found = release.evaluate(frame, distances=()).loss.columns
    return {one.name: one.sse if one.raw_sse is None else one.raw_sse for one in found}


def measure(frame: pl.DataFrame, ks: Sequence[int]) -> Losses:
    """Run both algorithms for every k: mixed, diagnosis alone, and mixed in balance."""
    mixed, alone = schema_of((*NUMBERS, DIAGNOSIS)), schema_of((DIAGNOSIS,))
    balanced_schema = schema_of((*NUMBERS, DIAGNOSIS), float(len(frame)))
    sse: dict[str, dict[str, tuple[float, ...]]] = {}
    balanced: dict[str, dict[str, tuple[float, ...]]] = {}
    for title, operators in OPERATORS.items():
        rows = [sse_of(frame, mixed, operators, k) for k in ks]
        single = [sse_of(frame.select(DIAGNOSIS), alone, operators, k) for k in ks]
        even = [sse_of(frame, balanced_schema, operators, k) for k in ks]
        sse[title] = {
            **_by_attribute(rows),
            "dx alone": tuple(one[DIAGNOSIS] for one in single),
        }
        balanced[title] = _by_attribute(even)
    return Losses(tuple(ks), len(frame), sse, balanced)


def _by_attribute(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, ...]]:
    named = {"age": "age", "los": "los", "payment": "payment", "dx": DIAGNOSIS}
    return {short: tuple(row[name] for row in rows) for short, name in named.items()}


# Claims about the losses ----------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _range(shares: Sequence[float]) -> str:
    return f"{_percent(min(shares))} to {_percent(max(shares))}"


def _differences(losses: Losses) -> list[float]:
    """Relative differences of the two algorithms in the SSE of numbers."""
    return [abs(one) for name in NUMBERS for one in losses.reduction(name)]


def loss_claims(known: Mapping[str, Losses]) -> Iterator[Claim]:
    """What Section 3.3 says about Tables 2 to 5."""
    yield from _number_claims(known)
    yield from _mixed_claims(known)
    yield from _alone_claims(known)


def _number_claims(known: Mapping[str, Losses]) -> Iterator[Claim]:
    first, second = _differences(known["neoplasm"]), _differences(known["digestive"])
    yield Claim.judged(
        "Mixed data, neoplasm: the SSE of numbers is almost identical for both algorithms",
        "Section 3.3, Table 2",
        [one <= NEARLY for one in first],
        f"largest difference {_percent(max(first))}, median {_percent(float(np.median(first)))}",
        f"almost identical: within {NEARLY:.0%}; printed, at most 0.2 % (age, length of stay)",
    )
    yield Claim.judged(
        "Mixed data, digestive: the SSE of numbers is identical for both algorithms",
        "Section 3.3, Table 3",
        [one <= SAME for one in second],
        f"largest difference {_percent(max(second))}, median {_percent(float(np.median(second)))}",
        f"identical: within {SAME:.1%}",
    )
    worse = [
        -one <= NEARLY
        for losses in known.values()
        for name in NUMBERS
        for one in losses.reduction(name)
    ]
    yield Claim.judged(
        "The loss of nominal attributes is reduced without increasing that of numbers",
        "Section 3.3",
        worse,
        f"in {sum(worse)} of {len(worse)} cases the SSE of a number grows by no more than "
        f"{NEARLY:.0%}",
    )


PRINTED_MIXED = {"neoplasm": (0.10, 0.16), "digestive": (0.12, 0.18)}


def _mixed_claims(known: Mapping[str, Losses]) -> Iterator[Claim]:
    for place, (name, losses) in enumerate(known.items()):
        table, found = f"Section 3.3, Table {2 + place}", losses.reduction("dx")
        yield Claim.judged(
            f"Mixed data, {name}: marginality reduces the SSE of the diagnosis",
            table,
            [one > 0 for one in found],
            _range(found),
        )
        yield Claim.judged(
            f"Mixed data, {name}: the reduction tends to grow with k",
            table,
            losses.trend() > 0,
            f"rank correlation of k and reduction {losses.trend():.2f}",
            f"with a centroid from the whole tree: {losses.trend('any concept'):.2f}",
        )
        low, high = PRINTED_MIXED[name]
        ours = losses.at("dx", 4), losses.at("dx", 20)
        tree = losses.at("dx", 4, "any concept"), losses.at("dx", 20, "any concept")
        yield Claim.judged(
            f"Mixed data, {name}: {low:.0%} less at k = 4, {high:.0%} less at k = 20",
            table,
            [abs(one - other) <= POINTS for one, other in zip(ours, (low, high), strict=True)],
            f"{_percent(ours[0])} and {_percent(ours[1])}",
            f"holds where within {100 * POINTS:.0f} percentage points; with a centroid from the "
            f"whole tree: {' and '.join(_percent(one) for one in tree)}",
        )


PRINTED_ALONE = {"neoplasm": {2: 0.38, 20: 0.75}, "digestive": {4: 0.33, 20: 0.42}}


def _alone_claims(known: Mapping[str, Losses]) -> Iterator[Claim]:
    lower = [
        alone < mixed
        for losses in known.values()
        for title in ("classic", "marginality")
        for alone, mixed in zip(losses.sse[title]["dx alone"], losses.sse[title]["dx"], strict=True)
    ]
    yield Claim.judged(
        "The SSE of the diagnosis is lower when it is the only attribute",
        "Section 3.3, Tables 2 to 5",
        lower,
        f"in {sum(lower)} of {len(lower)} cases",
    )
    more = [
        alone > mixed
        for losses in known.values()
        for alone, mixed in zip(losses.reduction("dx alone"), losses.reduction("dx"), strict=True)
    ]
    yield Claim.judged(
        "With the diagnosis alone, marginality gains more than with mixed attributes",
        "Section 3.3, Tables 4 and 5",
        more,
        f"in {sum(more)} of {len(more)} cases",
    )
    for place, (name, printed) in enumerate(PRINTED_ALONE.items()):
        ours = [known[name].at("dx alone", k) for k in printed]
        sizes = ", ".join(f"{share:.0%} at k = {k}" for k, share in printed.items())
        yield Claim.judged(
            f"Diagnosis alone, {name}: the SSE falls by {sizes}",
            f"Section 3.3, Table {4 + place}",
            [abs(one - other) <= POINTS for one, other in zip(ours, printed.values(), strict=True)],
            " and ".join(_percent(one) for one in ours),
            f"holds where within {100 * POINTS:.0f} percentage points",
        )
    pairs = zip(
        known["neoplasm"].reduction("dx alone"),
        known["digestive"].reduction("dx alone"),
        strict=True,
    )
    smaller = [digestive < neoplasm for neoplasm, digestive in pairs]
    yield Claim.judged(
        "Diagnosis alone: the gain is smaller for digestive diseases than for neoplasms",
        "Section 3.3, Tables 4 and 5",
        smaller,
        f"in {sum(smaller)} of {len(smaller)} values of k",
    )


def rarity_claim(frames: Mapping[str, pl.DataFrame], ks: Sequence[int]) -> Claim:
    """Whether the gain shrinks when rare diagnoses are left out."""
    tests, shown = [], []
    for name, frame in frames.items():
        every = frame.select(DIAGNOSIS)
        frequent = every.filter(pl.len().over(DIAGNOSIS) >= max(ks))
        before, after = (_mean_gain(one, ks) for one in (every, frequent))
        tests.append(after < before)
        shown.append(f"{name} {_percent(before)}, without rare ones {_percent(after)}")
    return Claim.judged(
        "The gain depends on the number of unique or rare diagnoses",
        "Section 3.3, Figures 4 and 5",
        tests,
        "mean over k: " + "; ".join(shown),
        f"rare: seen less than {max(ks)} times",
    )


def _mean_gain(frame: pl.DataFrame, ks: Sequence[int]) -> float:
    schema = schema_of((DIAGNOSIS,))
    gains = []
    for k in ks:
        old, new = (sse_of(frame, schema, one, k)[DIAGNOSIS] for one in ("equality", "marginality"))
        gains.append(1 - new / old if old else 0.0)
    return float(np.mean(gains))


# Claims about the tables and the definitions --------------------------------------------------


@dataclass(frozen=True)
class Profile:
    """What a table is like: distinct and unique records and diagnoses."""

    records: int
    unique_records: int
    diagnoses: int
    unique_diagnoses: int
    rare_records: int
    concepts: int
    same: float

    @property
    def unique_share(self) -> float:
        """The records whose diagnosis nobody shares."""
        return self.unique_diagnoses / self.records


def profile(frame: pl.DataFrame) -> Profile:
    """Count records and diagnoses."""
    counts = frame[DIAGNOSIS].value_counts()["count"].to_numpy().astype(float)
    tuples = frame.group_by(frame.columns).len()["len"]
    taxonomy = om.load_taxonomy("icd9cm")
    ids = [one for one in taxonomy.map(frame[DIAGNOSIS].to_list()).ids if one]
    return Profile(
        len(frame),
        int((tuples == 1).sum()),
        counts.size,
        int((counts == 1).sum()),
        int(counts[counts < max(KS)].sum()),
        len(taxonomy.minimum_hierarchy(ids)),
        float((counts / counts.sum()) ** 2 @ np.ones(counts.size)),
    )


def table_claims(profiles: Mapping[str, Profile]) -> Iterator[Claim]:
    """What Section 3.2 says about the tables."""
    shares = {name: one.unique_records / one.records for name, one in profiles.items()}
    yield Claim.judged(
        "A large proportion of the records of both tables is unique",
        "Section 3.2, Figures 2 and 3",
        [share > 0.5 for share in shares.values()],
        ", ".join(f"{name} {_percent(share)}" for name, share in shares.items()),
        "large: more than half; printed, 12,304 of 19,502 and 142,897 of 143,472",
    )
    neoplasm, digestive = profiles["neoplasm"], profiles["digestive"]
    yield Claim.judged(
        "Unique diagnoses are a much larger share of the records among neoplasms than among "
        "digestive diseases",
        "Section 3.2, Figures 4 and 5",
        neoplasm.unique_share > 2 * digestive.unique_share,
        f"{_percent(neoplasm.unique_share)} and {_percent(digestive.unique_share)}",
        "much larger: more than twice; printed, 0.66 % and 0.025 %",
    )


def definition_claims(frame: pl.DataFrame, small: bool) -> Iterator[Claim]:
    """What Section 2 says about distance, marginality, variance and covariance."""
    sample = om.statistics.Sample.of(frame[DIAGNOSIS].to_list(), om.load_taxonomy("icd9cm"))
    yield _distance_claim(sample)
    yield _s_distance_claim(frame, sample, 40 if small else 120)
    yield _integration_claim(frame)
    yield from _example_claims()
    yield _frequency_claim()
    yield _variance_claim(sample)
    yield _covariance_claim(sample)


def _breaches(matrix: np.ndarray) -> int:
    """How many triples break the triangle inequality."""
    return sum(int(np.count_nonzero(matrix > row[:, None] + row[None, :] + 1e-9)) for row in matrix)


def _is_metric(matrix: np.ndarray) -> list[bool]:
    apart = matrix + np.eye(len(matrix))
    return [
        bool((matrix >= 0).all()),
        bool((np.diag(matrix) == 0).all() and (apart > 0).all()),
        bool(np.allclose(matrix, matrix.T)),
        _breaches(matrix) == 0,
    ]


def _distance_claim(sample: om.statistics.Sample) -> Claim:
    matrix = sample.matrix
    return Claim.judged(
        "The semantic distance is a distance in the mathematical sense",
        "Section 2.1, Expression (1)",
        _is_metric(matrix),
        f"{_breaches(matrix)} of {len(matrix) ** 3:,} triples of diagnoses break the triangle "
        "inequality",
    )


def _s_distance_claim(frame: pl.DataFrame, sample: om.statistics.Sample, count: int) -> Claim:
    numbers = [frame[name].to_list() for name in NUMBERS]
    attributes: list[om.statistics.Sample | Sequence[float]] = [sample, *numbers]
    distinct = frame.with_row_index().unique([*NUMBERS, DIAGNOSIS], maintain_order=True)
    rows = distinct["index"].to_list()[:count]
    matrix = np.array(
        [
            [om.statistics.s_distance(attributes, one, other) for other in rows[:place]]
            + [0.0] * (count - place)
            for place, one in enumerate(rows)
        ]
    )
    matrix = matrix + matrix.T
    return Claim.judged(
        "S-distance on mixed records is a distance in the mathematical sense",
        "Section 2.3.3, Corollary 1",
        _is_metric(matrix),
        f"{_breaches(matrix)} of {len(matrix) ** 3:,} triples of records break the triangle "
        "inequality",
    )


def _integration_claim(frame: pl.DataFrame) -> Claim:
    """Whether the diagnosis counts in S-distance, measured against a number."""
    share = share_of_diagnosis(frame)
    ratio = share / ((1 - share) / len(NUMBERS))
    return Claim.judged(
        "S-distance effectively integrates numbers and nominal attributes",
        "Sections 2.3.3 and 3.3",
        ratio >= 0.1,
        f"the diagnosis adds {100 * ratio:.3f} % of what a number adds to the squared S-distance "
        "of two random records",
        "integrates: at least a tenth of a number; the variance that the diagnosis is divided by "
        "grows with the number of records",
    )


def _example_claims() -> Iterator[Claim]:
    sample = om.statistics.Sample.of(EXAMPLE_SAMPLE, EXAMPLE)
    found = om.statistics.marginality(sample)
    most = {EXAMPLE_SAMPLE[place] for place in np.flatnonzero(found >= found.max() - 1e-9)}
    least = {EXAMPLE_SAMPLE[place] for place in np.flatnonzero(found <= found.min() + 1e-9)}
    yield Claim.judged(
        "Example: lung cancer is the most marginal diagnosis, Alzheimer the least",
        "Section 2.2, Example 1",
        [most == {"lung cancer"}, least == {"Alzheimer"}],
        f"most: {', '.join(sorted(most))} ({found.max():.2f}); least: {', '.join(sorted(least))} "
        f"({found.min():.2f})",
    )
    right = [abs(one - other) <= 0.015 for one, other in zip(found, EXAMPLE_PRINTED, strict=True)]
    yield Claim.judged(
        "Example: the nine marginalities, mean 5.07 and variance 5.79",
        "Section 2.2, Table 1; Examples 2 and 3",
        [*right, abs(om.statistics.nominal_variance(sample) - 5.79) <= 0.015],
        ", ".join(f"{one:.2f}" for one in found)
        + f"; variance {om.statistics.nominal_variance(sample):.2f}",
        "printed d(Alzheimer, meningitis) and d(Alzheimer, multiple sclerosis) are 0.65; "
        "Expression (1) gives 0.78 on the taxonomy described",
    )


def _frequency_claim() -> Claim:
    """Marginality when a value becomes more frequent: by more records, or instead of others."""
    before = om.statistics.marginality(om.statistics.Sample.of(EXAMPLE_SAMPLE, EXAMPLE))
    added = om.statistics.marginality(
        om.statistics.Sample.of((*EXAMPLE_SAMPLE, *["lung cancer"] * 3), EXAMPLE)
    )
    instead = om.statistics.marginality(
        om.statistics.Sample.of((*["lung cancer"] * 4, *EXAMPLE_SAMPLE[4:]), EXAMPLE)
    )
    return Claim.judged(
        "If the frequency of a value increases, its marginality decreases",
        "Section 2.2",
        [bool(added[0] < before[0] - 1e-9), bool(instead[0] < before[0] - 1e-9)],
        f"lung cancer in Example 1: {before[0]:.2f}; with three more cases {added[0]:.2f}; with "
        f"three cases instead of others {instead[0]:.2f}",
        "a further case adds distance 0 to its own marginality, and more to that of the others: "
        "only relative to them it decreases",
    )


def _variance_claim(sample: om.statistics.Sample) -> Claim:
    """Variance of siblings against that of values from different categories."""
    taxonomy = sample.taxonomy
    by_parent: dict[str, list[str]] = {}
    for identifier in taxonomy.ids_of(sample.concepts.tolist()):
        by_parent.setdefault(taxonomy.parents(identifier)[0], []).append(identifier)
    families = [members for members in by_parent.values() if len(members) >= 3]
    others = [members[0] for members in by_parent.values()]
    within = [_pairwise(sample, taxonomy.indices_of(members[:3])) for members in families]
    between = [
        _pairwise(sample, taxonomy.indices_of(others[start : start + 3]))
        for start in range(len(others) - 2)
    ]
    return Claim.judged(
        "A sample of children of one category has a smaller variance than one of children of "
        "different categories",
        "Section 2.3.2",
        max(within) < min(between),
        f"three children of one category: at most {max(within):.2f}; of three categories: at "
        f"least {min(between):.2f}",
    )


def _pairwise(sample: om.statistics.Sample, numbers: np.ndarray) -> float:
    places = np.searchsorted(sample.concepts, numbers)
    return float(sample.matrix[np.ix_(places, places)].sum() / len(places))


def _covariance_claim(sample: om.statistics.Sample) -> Claim:
    """The same two columns, paired in the same order, at random, and in opposite order."""
    order = np.argsort(om.statistics.marginality(sample), kind="stable")
    rising = om.statistics.Sample(sample.space, sample.concepts, sample.codes[order])
    falling = om.statistics.Sample(sample.space, sample.concepts, sample.codes[order[::-1]])
    mixed = np.random.default_rng(1).permutation(order)
    anyhow = om.statistics.Sample(sample.space, sample.concepts, sample.codes[mixed])
    found = [om.statistics.nominal_covariance(rising, one) for one in (rising, anyhow, falling)]
    return Claim.judged(
        "Covariance is not negative, and higher when marginalities are positively correlated",
        "Section 2.3.2, Definition 3",
        [min(found) >= 0, found[0] > found[1] > found[2]],
        "diagnoses paired in the same order, at random, in opposite order: "
        + ", ".join(f"{one:.1f}" for one in found),
    )


def replacement_claim(frame: pl.DataFrame, small: bool) -> Claim:
    """Whether the synthetic replacement of Section 3.1 keeps means and variances."""
    schema, k = schema_of((*NUMBERS, DIAGNOSIS)), 5 if small else 20
    seeds = 1 if small else 5
    centroids = om.Microaggregation(
        k, algorithm="mdav", operators="marginality", metric="s-distance"
    )
    reduced = _ratios(frame, om.protect(frame, schema, centroids, seed=1).frame)
    drawn = np.mean(
        [
            _ratios(frame, om.protect(frame, schema, om.Hybrid(k), seed=seed).frame)
            for seed in range(1, seeds + 1)
        ],
        axis=0,
    )
    nearer = np.abs(drawn[1] - 1) < np.abs(reduced[1] - 1)
    shown = ", ".join(
        f"{name} {one:.2f} and {other:.2f}"
        for name, one, other in zip(NUMBERS, reduced[1], drawn[1], strict=True)
    )
    return Claim.judged(
        "Synthetic values instead of centroids avoid the loss of variance and keep the means",
        "Section 3.1",
        [*nearer.tolist(), *(np.abs(drawn[0] - 1) <= 0.05).tolist()],
        f"k = {k}, variance relative to the original with centroids and with synthetic values: "
        f"{shown}; means of synthetic values {', '.join(f'{one:.2f}' for one in drawn[0])}",
        "passed where the variance is nearer to the original, and the mean within 5 %",
    )


def _ratios(frame: pl.DataFrame, masked: pl.DataFrame) -> np.ndarray:
    """Means and variances of the masked numbers relative to the original ones."""
    old, new = (one.select(NUMBERS).to_numpy().astype(float) for one in (frame, masked))
    return np.array([new.mean(axis=0) / old.mean(axis=0), new.var(axis=0) / old.var(axis=0)])


def word_claim(data: Data) -> Claim:
    """Whether the distance agrees with people better than edge counting."""
    claim = "The distance approximates human judgments better than other ontology-based measures"
    where = "Section 2.1 (after earlier work)"
    if "word_pairs" not in data:
        return Claim.untestable(claim, where, "these data hold no pairs of words rated by people")
    found = word_correlations(data["word_pairs"])
    others = [value for name, value in found.items() if name != "logsc"]
    return Claim.judged(
        claim,
        where,
        [found["logsc"] > one for one in others],
        ", ".join(f"{name} {value:.3f}" for name, value in found.items()),
        "correlation with the ratings of 65 pairs of words, on WordNet 3.0",
    )


def word_correlations(pairs: pl.DataFrame) -> dict[str, float]:
    """Correlation of similarity and human rating for some measures; closest senses count."""
    wordnet = om.load_taxonomy("wordnet")
    senses: dict[str, list[str]] = {}
    names = zip(wordnet.ids, wordnet.labels, wordnet.synonyms, strict=True)
    for identifier, label, others in names:
        for name in (label, *others):
            senses.setdefault(name.lower(), []).append(identifier)
    ratings = pairs["rating"].to_numpy()
    found = {}
    for name in ("logsc", "path", "wu-palmer", "leacock-chodorow", "resnik", "lin"):
        closest = [
            wordnet.between(senses[one], senses[other], name, root="taxonomy").min()
            for one, other in zip(pairs["word1"], pairs["word2"], strict=True)
        ]
        found[name] = float(np.corrcoef(-np.array(closest), ratings)[0, 1])
    return found


# The page -------------------------------------------------------------------------------------


def sse_table(name: str, losses: Losses, balanced: bool = False) -> ResultTable:
    """SSE of both algorithms for each attribute and k."""
    attributes = [*NUMBERS, "dx"] if balanced else [*NUMBERS, "dx", "dx alone"]
    found = losses.balanced if balanced else losses.sse
    columns = [f"{one}, {title}" for one in attributes for title in OPERATORS]
    rows = [
        (k, *(found[title][one][place] for one in attributes for title in OPERATORS))
        for place, k in enumerate(losses.ks)
    ]
    extra = ", the diagnosis weighing as much as a number" if balanced else ""
    return ResultTable(
        f"{name}_{'balanced' if balanced else 'sse'}",
        f"SSE, {name}{extra}",
        ("k", *columns),
        tuple(rows),
    )


def reduction_table(known: Mapping[str, Losses]) -> ResultTable:
    """How much lower the SSE of the diagnosis is, printed and found here."""
    rows = []
    for name, losses in known.items():
        for place, k in enumerate(losses.ks):
            row: list[int | float | str | None] = [name, k]
            for attribute in ("dx", "dx alone"):
                row += [
                    _printed_reduction(name, attribute, k),
                    100 * losses.reduction(attribute)[place],
                    100 * losses.reduction(attribute, "any concept")[place],
                    _printed_per_record(name, attribute, k),
                    losses.sse["marginality"][attribute][place] / losses.records,
                ]
            rows.append(tuple(row))
    heads = [
        f"{title}: {one}"
        for title in ("mixed", "alone")
        for one in ("printed %", "here %", "any concept %", "printed SSE / n", "here SSE / n")
    ]
    return ResultTable(
        "reduction",
        "Diagnosis: reduction of SSE by marginality, and its SSE per record",
        ("data", "k", *heads),
        tuple(rows),
        digits=3,
    )


def _printed_reduction(name: str, attribute: str, k: int) -> float | None:
    if k not in KS:
        return None
    titles = ("classic", "marginality")
    old, new = (PRINTED_NUMBERS[name, title][attribute][KS.index(k)] for title in titles)
    return 100 * (1 - new / old)


def _printed_per_record(name: str, attribute: str, k: int) -> float | None:
    if k not in KS:
        return None
    return PRINTED_NUMBERS[name, "marginality"][attribute][KS.index(k)] / PRINTED_RECORDS[name]


def profile_table(profiles: Mapping[str, Profile]) -> ResultTable:
    """The tables here and in print."""
    printed: dict[str, tuple[int | None, ...]] = {
        "neoplasm": (19_502, 12_304, 542, 129, 690),
        "digestive": (143_472, 142_897, 409, 37, 552),
    }
    rows: list[tuple[str | int | float | None, ...]] = []
    for name, one in profiles.items():
        rows.append((f"{name}, printed", *printed[name], None, None))
        counts = (one.records, one.unique_records, one.diagnoses, one.unique_diagnoses)
        rows.append((f"{name}, here", *counts, one.concepts, one.rare_records, one.same))
    columns = (
        "data",
        "records",
        "unique records",
        "diagnoses",
        "unique diagnoses",
        "concepts of the tree",
        "records with a diagnosis seen less than 20 times",
        "chance that two records share the diagnosis",
    )
    return ResultTable("tables", "The tables", columns, tuple(rows), digits=3)


def share_of_diagnosis(frame: pl.DataFrame) -> float:
    """The mean share of the diagnosis in the squared S-distance of two random records."""
    sample = om.statistics.Sample.of(frame[DIAGNOSIS].to_list(), om.load_taxonomy("icd9cm"))
    mean = float(sample.counts @ sample.matrix @ sample.counts) / len(sample) ** 2
    return (mean / om.statistics.nominal_variance(sample)) / (
        len(NUMBERS) + mean / om.statistics.nominal_variance(sample)
    )


def figures(known: Mapping[str, Losses]) -> tuple[Figure, ...]:
    """SSE of the diagnosis over k."""
    drawn = []
    for attribute, title in (("dx", "mixed attributes"), ("dx alone", "the diagnosis alone")):
        charts = {
            name: lines(
                [
                    {"k": k, "SSE": value, "algorithm": algorithm}
                    for algorithm, found in losses.sse.items()
                    for k, value in zip(losses.ks, found[attribute], strict=True)
                ],
                "k",
                "SSE",
                "algorithm",
                titles=("k", "SSE of the diagnosis"),
            )
            for name, losses in known.items()
        }
        last = ", ".join(
            f"{name} {_percent(one.reduction(attribute)[-1])}" for name, one in known.items()
        )
        drawn.append(
            Figure(
                attribute.replace(" ", "_"),
                f"SSE of the diagnosis, {title}",
                panels(charts),
                f"SSE of the diagnosis over k with {title}: marginality against classic; at the "
                f"largest k the reduction is {last}",
            )
        )
    return tuple(drawn)


SETUP = """\
MDAV with S-distance, on (age, los, payment, dx_principal) and on dx_principal alone, for
k = 2, 4, …, 20. *Classic*: distance 0 or 1, centroid = mode. *Marginality*: distance of Expression
(1) with all ancestors in ICD-9-CM, centroid = the least marginal value of the cluster (Definition
1). *Any concept*, which the paper does not have: the same, but the centroid may be any concept of
the tree above the values of the cluster. Means of whole numbers are rounded. SSE of a number is
the sum of squared differences, of the diagnosis the sum of squared semantic distances; the
reduction is 1 − SSE(marginality) / SSE(classic). Section 3.1 of the paper replaces records by
synthetic ones; Section 3.3, which its tables follow, speaks of averages, and so it is done here.
"""

PAPER = (
    "J. Domingo-Ferrer, D. Sánchez, G. Rufian-Torrell: *Anonymization of nominal data based on "
    "semantic marginality.* Information Sciences 242 (2013)."
)

PRINTED_NOTES = (
    "The percentages in the text follow from Tables 2 to 5 (10.1 % and 16.5 %, 12.0 % and 17.9 %, "
    "38.0 % and 75.5 %, 33.5 % and 42.0 %).",
    "In Table 1 two printed distances contradict Expression (1): see the row on Example 1. With "
    "them the last five marginalities are 5.46, 5.46, 5.56, 5.56 and 6.14 and the variance 5.97.",
    "At k = 2 the printed reduction with mixed attributes is 1 % and 0 %. It cannot be otherwise: "
    "in a cluster of two, either value is as central as the other.",
)


def discrepancies(
    frames: Mapping[str, pl.DataFrame], known: Mapping[str, Losses]
) -> tuple[str, ...]:
    """Why results differ, with the figures that show it."""
    share = share_of_diagnosis(frames["neoplasm"])
    last = {
        name: _percent(losses.reduction("dx", "any concept")[-1]) for name, losses in known.items()
    }
    return (
        "Data: a few thousand claims of insured, mostly elderly people instead of 19,502 and "
        "143,472 discharges; amounts are rounded to thousands, so more records are equally far in "
        "the numbers, and there the diagnosis decides who joins a cluster.",
        "The variance of a nominal column is the mean of the *sums* of distances to all records "
        "(Definition 2), so it grows with the table, and S-distance divides by it: of the squared "
        f"S-distance of two random neoplasm records the diagnosis makes {100 * share:.3f} %, each "
        "number a third of the rest. Clusters of mixed records are made by the numbers alone. This "
        "is why the SSE of numbers is (almost) the same for both algorithms, in print and here; it "
        "does not show that S-distance balances the two kinds. What is gained in the diagnosis "
        "comes only from taking another centroid. In the tables with *the diagnosis weighing as "
        "much as a number* its share is multiplied by the number of records: then clusters do "
        "follow it, and the numbers pay for it.",
        "Mixed attributes: as clusters are random in the diagnosis, the least marginal of their "
        "own values is hardly more central than the mode, and less so as k grows. The printed "
        "pattern, a gain that grows with k, appears here when the centroid may be any concept of "
        f"the tree ({', '.join(f'{name} {one}' for name, one in last.items())} at the largest k). "
        "The paper's SSE per record also levels off at the same 0.68 in both of its tables, as it "
        "does when one general concept stands for most clusters. We suspect that its program chose "
        "centroids from the whole tree, unlike its Definition 1.",
        "Diagnosis alone: with a tenth or less of the paper's records, many more of them have a "
        "rare diagnosis (see *The tables*), in both tables; so marginality gains much already at "
        "small k, and about as much in both tables.",
    )


def run(data: Data, small: bool) -> Findings:
    """Repeat Tables 2 to 5 and what the paper says about its definitions."""
    clock, ks = Clock(), (2, 4, 10) if small else KS
    frames = {name: prepared(data, name) for name in DATASETS}
    known: dict[str, Losses] = {}
    for name, frame in frames.items():
        with clock.part(f"microaggregation, {name}"):
            known[name] = measure(frame, ks)
    profiles = {name: profile(frame) for name, frame in frames.items()}
    with clock.part("definitions"):
        claims = [
            *loss_claims(known),
            rarity_claim(frames, (4, 10) if small else (4, 10, 20)),
            *table_claims(profiles),
            *definition_claims(frames["neoplasm"], small),
            replacement_claim(frames["neoplasm"], small),
            word_claim(data),
        ]
    counts = ", ".join(f"{len(frame):,} {name}" for name, frame in frames.items())
    return Findings(
        title="Marginality-based microaggregation",
        paper=PAPER,
        data=f"Inpatient claims with a payment: {counts} (paper: 19,502 and 143,472 discharges).",
        setup=SETUP.strip(),
        tables=(
            profile_table(profiles),
            reduction_table(known),
            *(sse_table(name, losses) for name, losses in known.items()),
            *(sse_table(name, losses, balanced=True) for name, losses in known.items()),
        ),
        figures=figures(known),
        claims=tuple(claims),
        printed_notes=PRINTED_NOTES,
        discrepancies=discrepancies(frames, known),
        seconds=clock.seconds,
    )


STUDY = Study("marginality", run)
