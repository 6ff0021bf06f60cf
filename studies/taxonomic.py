"""Anonymization of taxonomic microdata: shuffling and MicroHybrid against multiple imputation.

Domingo-Ferrer, Muralidhar and Rufian-Torrell, "Anonymization methods for taxonomic microdata",
Privacy in Statistical Databases (2012).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import spearmanr
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import ontomask as om
from studies.charts import dots, lines
from studies.data import Data
from studies.study import Cell, Claim, Clock, Figure, Findings, ResultTable, Study

__all__ = ["STUDY", "Comparison", "run", "sample_claims", "whole_claims"]

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

NUMBERS = ("age", "los", "payment")
FLAT = ("sex", "race")
DIAGNOSIS = "dx_principal"
COLUMNS = ("age", "sex", "race", "los", "payment", DIAGNOSIS)
PAIRS = (
    ("age", "los"),
    ("age", "payment"),
    ("sex", "race"),
    ("sex", DIAGNOSIS),
    ("race", DIAGNOSIS),
    ("los", "payment"),
)
METHODS = ("imputation", "shuffling", "MicroHybrid")
KS = (20, 50, 100, 150, 200, 300, 400, 500, 600)
ACCEPTED = 7 / 3
"""The linkage risk of MicroHybrid relative to that of imputation which the paper accepted."""
LARGE, PRECISION = 1.0, 1e-12

Key = tuple[str, str]
KEYS: tuple[Key, ...] = (
    *(("mean", name) for name in COLUMNS),
    *(("variance", name) for name in COLUMNS),
    *(("covariance", ", ".join(pair)) for pair in PAIRS),
)
_WHOLE = """\
0.00042 0 0.03627; 0.00373 0 0.01349; 0.00033 0 0.01532; 0.26345 0 0.57532; 0.44923 0 0.91774;
- 0 0.00210; 0.00785 0 0.02612; 0.00124 0 0.00465; 0.00011 0 0.01362; 0.24603 0 7.54256;
0.37275 0 19.81236; - 0 0.00197; 5.56559 33.69468 162.38189; 0.12300 1.60121 11.15957;
0.00064 0.00059 0.00514; - 0.00006 0.00205; - 0.00005 0.00914; 0.34455 0.11783 11.58553"""
_SAMPLES = """\
0.00654 0.00757 0.03644; 0.03060 0.02450 0.03044; 0.05581 0.05649 0.05370; 0.26409 0.03139 0.57156;
0.45352 0.03406 0.89759; - 0.00573 0.00745; 0.04109 0.03975 0.02969; 0.01028 0.00822 0.01047;
0.04925 0.04996 0.04747; 0.26744 0.29376 7.86135; 0.32469 0.40743 21.53582; - 0 0.00296;
6.11472 11.01168 159.34892; 1.50547 1.94719 20.94929; 0.02942 0.02984 0.02772;
- 0.00546 0.00674; - 0.02924 0.02821; 0.35682 0.28189 12.32575"""
PRINTED_RISK = {"imputation": 0.015382, "shuffling": 0.005127, "MicroHybrid": 0.03589}
PRINTED_RECORDS = 19_502


def _printed(text: str) -> dict[str, dict[Key, float | None]]:
    """Tables 1 and 2: imputation, shuffling, MicroHybrid, in the order of `KEYS`."""
    rows = [row.split() for row in text.replace("\n", " ").split(";")]
    return {
        method: {
            key: None if row[place] == "-" else float(row[place])
            for key, row in zip(KEYS, rows, strict=True)
        }
        for place, method in enumerate(METHODS)
    }


PRINTED_WHOLE, PRINTED_SAMPLES = _printed(_WHOLE), _printed(_SAMPLES)


# The statistics -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Domain:
    """The nominal columns of the original table, through which releases are seen."""

    samples: Mapping[str, om.statistics.Sample]
    codes: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Domain:
        """Take the tree of the diagnoses, and trees of one level for flat columns."""
        samples = {name: _flat_sample(frame[name].to_list()) for name in FLAT}
        taxonomy = om.load_taxonomy("icd9cm")
        samples[DIAGNOSIS] = om.statistics.Sample.of(
            frame[DIAGNOSIS].to_list(), taxonomy, "weighted-path"
        )
        codes = {
            name: dict(zip(frame[name].to_list(), sample.codes.tolist(), strict=True))
            for name, sample in samples.items()
        }
        return cls(samples, codes)

    def view(self, frame: pl.DataFrame) -> View:
        """A release as numbers, and as codes over the domain."""
        numbers = {name: frame[name].to_numpy().astype(np.float64) for name in NUMBERS}
        codes = {
            name: np.array([known[value] for value in frame[name].to_list()], np.int64)
            for name, known in self.codes.items()
        }
        return View(self, numbers, codes)


def _flat_sample(values: Sequence[str]) -> om.statistics.Sample:
    parents: dict[str, list[str]] = {"any": []}
    parents |= {value: ["any"] for value in sorted(set(values))}
    return om.statistics.Sample.of(
        values, om.Taxonomy.from_parents(parents, name="flat"), "weighted-path"
    )


@dataclass(frozen=True)
class View:
    """A table, original or released, ready to be measured."""

    domain: Domain
    numbers: Mapping[str, Floats]
    codes: Mapping[str, Longs]

    def part(self, rows: Longs) -> View:
        """Only some of the records."""
        return View(
            self.domain,
            {name: one[rows] for name, one in self.numbers.items()},
            {name: one[rows] for name, one in self.codes.items()},
        )

    def sample(self, name: str) -> om.statistics.Sample:
        """A nominal column; distances are those of the original column."""
        known = self.domain.samples[name]
        return om.statistics.Sample.with_matrix(
            known.space, known.concepts, self.codes[name], known.matrix
        )

    def statistics(self) -> dict[Key, float]:
        """Means, variances and covariances, in the order of `KEYS`."""
        found: dict[Key, float] = {}
        samples = {name: self.sample(name) for name in (*FLAT, DIAGNOSIS)}
        for name in COLUMNS:
            if name in samples:
                found["mean", name] = float(om.statistics.marginality(samples[name]).min())
                found["variance", name] = om.statistics.nominal_variance(samples[name])
            else:
                found["mean", name] = float(self.numbers[name].mean())
                found["variance", name] = float(self.numbers[name].var(ddof=1))
        for one, other in PAIRS:
            found["covariance", f"{one}, {other}"] = (
                om.statistics.nominal_covariance(samples[one], samples[other])
                if one in samples
                else float(np.cov(self.numbers[one], self.numbers[other])[0, 1])
            )
        return {key: found[key] for key in KEYS}


def variation(original: View, masked: View) -> dict[Key, float]:
    """|θ' − θ| / |θ| of every statistic; what is below the precision of sums is 0."""
    before, after = original.statistics(), masked.statistics()
    found = {
        key: abs(after[key] - before[key]) / abs(before[key]) if before[key] else 0.0
        for key in KEYS
    }
    return {key: one if one > PRECISION else 0.0 for key, one in found.items()}


def mean_variation(found: Sequence[Mapping[Key, float]]) -> dict[Key, float]:
    """The mean over runs or samples."""
    return {key: float(np.mean([one[key] for one in found])) for key in KEYS}


def sampled_variation(original: View, masked: View, count: int, seed: int) -> dict[Key, float]:
    """The mean over random samples of a tenth of the records, the same in both tables."""
    records = original.numbers["age"].size
    generator = np.random.default_rng(seed)
    parts = [generator.choice(records, max(2, records // 10), replace=False) for _ in range(count)]
    return mean_variation([variation(original.part(rows), masked.part(rows)) for rows in parts])


# The methods ----------------------------------------------------------------------------------


def schema() -> om.Schema:
    """All six attributes are masked; the diagnosis is compared on its edge-weighted tree."""
    diagnoses = om.Nominal(om.load_taxonomy("icd9cm"), measure="weighted-path")
    kinds = {name: om.Flat() if name in FLAT else om.Numeric() for name in COLUMNS}
    return om.Schema.of({**kinds, DIAGNOSIS: diagnoses})


def shuffle(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Shuffle all six attributes: there is no attribute to condition on."""
    method = om.Shuffling(confidential=COLUMNS)
    shuffled: pl.DataFrame = om.protect(frame, schema(), method, seed=seed).frame
    return shuffled


def hybrid(k: int, frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """MicroHybrid."""
    masked: pl.DataFrame = om.protect(frame, schema(), om.Hybrid(k), seed=seed).frame
    return masked


def impute(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Replace all values by draws from sequential regressions fitted to the original ones.

    Numbers: chained Bayesian linear regressions within the observed range. Then sex, race and
    diagnosis, each given what is imputed already, from logistic regressions.
    """
    generator = np.random.default_rng(seed)
    original = frame.select(NUMBERS).to_numpy().astype(np.float64)
    drawn = impute_numbers(original, seed)
    columns: dict[str, object] = {
        name: np.round(drawn[:, place]).astype(np.int64) for place, name in enumerate(NUMBERS)
    }
    known, new = original, np.round(drawn)
    for name in (*FLAT, DIAGNOSIS):
        values = frame[name].to_numpy()
        chosen = _drawn_categories(known, values, new, generator)
        columns[name] = chosen
        categories = np.unique(values)
        known = np.column_stack([known, values[:, None] == categories[1:]])
        new = np.column_stack([new, chosen[:, None] == categories[1:]])
    return pl.DataFrame(columns).select(COLUMNS)


def impute_numbers(original: Floats, seed: int) -> Floats:
    """As many new records as there are, all of whose values are missing, imputed."""
    missing = np.full_like(original, np.nan)
    imputer = IterativeImputer(
        sample_posterior=True,
        max_iter=10,
        min_value=original.min(axis=0),
        max_value=original.max(axis=0),
        random_state=seed,
    )
    filled: Floats = imputer.fit_transform(np.vstack([original, missing]))
    return filled[len(original) :]


def _drawn_categories(
    known: Floats,
    values: npt.NDArray[np.object_],
    new: Floats,
    generator: np.random.Generator,
) -> npt.NDArray[np.object_]:
    """Draw from the probabilities that a (multinomial) logistic regression predicts."""
    scaler = StandardScaler().fit(known)
    model = LogisticRegression(max_iter=200).fit(scaler.transform(known), values)
    shares = np.cumsum(model.predict_proba(scaler.transform(new)), axis=1)
    places = (generator.random((len(new), 1)) > shares).sum(axis=1)
    chosen: npt.NDArray[np.object_] = model.classes_[np.minimum(places, shares.shape[1] - 1)]
    return chosen


def linkage(frame: pl.DataFrame, masked: pl.DataFrame, known: Sequence[str]) -> float:
    """The percentage of records linked correctly by S-distance."""
    found = om.measuring.record_linkage(frame, masked, schema(), distance="s-distance", known=known)
    return 100.0 * found.risk


# The experiment -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What the three methods do: risks over seeds, variations on the whole and on samples."""

    records: int
    k: int
    risks: Mapping[str, tuple[float, ...]]
    whole: Mapping[str, Mapping[Key, float]]
    samples: Mapping[str, Mapping[Key, float]]

    def risk(self, method: str) -> float:
        """The mean risk in percent."""
        return float(np.mean(self.risks[method]))

    @property
    def chance(self) -> float:
        """The risk of picking any record, in percent."""
        return 100 / self.records

    def above_chance(self, method: str) -> bool:
        """Whether a risk is more than chance by three standard deviations of pure luck."""
        luck = self.chance * 3 / float(np.sqrt(len(self.risks[method])))
        return self.risk(method) > self.chance + luck


@dataclass(frozen=True)
class Scan:
    """MicroHybrid over k: mean linkage risk, and variations on samples."""

    risks: Mapping[int, float]
    samples: Mapping[int, Mapping[Key, float]]

    def chosen(self, limit: float) -> int:
        """The smallest k with a risk up to the limit, or the k with the least risk."""
        allowed = [k for k, risk in self.risks.items() if risk <= limit]
        return min(allowed) if allowed else min(self.risks, key=lambda k: self.risks[k])


def scan(frame: pl.DataFrame, original: View, ks: Sequence[int], seeds: int, count: int) -> Scan:
    """Run MicroHybrid for several k."""
    risks, samples = {}, {}
    for k in ks:
        released = [hybrid(k, frame, seed) for seed in range(seeds)]
        risks[k] = float(np.mean([linkage(frame, one, COLUMNS) for one in released]))
        view = original.domain.view(released[0])
        samples[k] = sampled_variation(original, view, count, seed=1)
    return Scan(risks, samples)


def compare(
    frame: pl.DataFrame,
    original: View,
    k: int,
    imputed: Sequence[pl.DataFrame],
    counts: tuple[int, int],
) -> Comparison:
    """Compare imputed tables with as many shuffled and hybrid ones.

    `counts` are the number of tables of each kind to draw samples from, and of samples of each.
    """
    seeds = range(len(imputed))
    released = {
        "imputation": imputed,
        "shuffling": [shuffle(frame, seed) for seed in seeds],
        "MicroHybrid": [hybrid(k, frame, seed) for seed in seeds],
    }
    views = {
        name: [original.domain.view(one) for one in frames] for name, frames in released.items()
    }
    return Comparison(
        len(frame),
        k,
        {name: _risks(frame, name, frames) for name, frames in released.items()},
        {
            name: mean_variation([variation(original, one) for one in found])
            for name, found in views.items()
        },
        {
            name: mean_variation(
                [
                    sampled_variation(original, one, counts[1], seed)
                    for seed, one in enumerate(found[: counts[0]])
                ]
            )
            for name, found in views.items()
        },
    )


def _risks(frame: pl.DataFrame, method: str, released: Sequence[pl.DataFrame]) -> tuple[float, ...]:
    """Linkage risks; imputed tables without the diagnosis, as in the paper."""
    known = COLUMNS[:-1] if method == "imputation" else COLUMNS
    return tuple(linkage(frame, one, known) for one in released)


def rank_differences(frame: pl.DataFrame, sizes: Sequence[int], seeds: int) -> dict[int, float]:
    """Mean change of rank correlations by shuffling (payment, diagnosis) given (age, los)."""
    columns = ("payment", DIAGNOSIS, "age", "los")
    chosen = om.Schema.of({name: schema()[name] for name in columns})
    method = om.Shuffling(confidential=columns[:2], given=columns[2:])
    found = {}
    for size in sizes:
        part = frame.sample(size, seed=1).select(columns)
        domain = _marginalities(part)
        before = _ranks(part, domain)
        gaps = []
        for seed in range(seeds):
            masked = om.protect(part, chosen, method, seed=seed).frame
            gaps.append(np.abs(_ranks(masked, domain) - before))
        # the correlation of the two given columns cannot change
        found[size] = float(np.mean([gap[:2][:, 1:].mean() for gap in gaps]))
    return found


def _marginalities(frame: pl.DataFrame) -> dict[str, float]:
    values = frame[DIAGNOSIS].to_list()
    sample = om.statistics.Sample.of(values, om.load_taxonomy("icd9cm"), "weighted-path")
    return dict(zip(values, om.statistics.marginality(sample).tolist(), strict=True))


def _ranks(frame: pl.DataFrame, domain: Mapping[str, float]) -> Floats:
    """The matrix of rank correlations, diagnoses by their marginality."""
    diagnoses = [domain[value] for value in frame[DIAGNOSIS].to_list()]
    others = [frame[name].to_list() for name in ("payment", "age", "los")]
    matrix: Floats = spearmanr(np.array([others[0], diagnoses, *others[1:]]).T).statistic
    return matrix


# Claims ---------------------------------------------------------------------------------------


COMPARABLE = tuple(key for key in KEYS if DIAGNOSIS not in key[1])
"""Statistics that the paper has for all three methods."""
PRINTED_LOST = (("covariance", "age, los"), ("covariance", "age, payment"))
"""Where imputation beats shuffling in Table 1."""


def _shown(keys: Sequence[Key]) -> str:
    return "; ".join(f"{kind} of {name}" for kind, name in keys) or "none"


def _wins(found: Mapping[str, Mapping[Key, float]], one: str, other: str) -> list[Key]:
    """The statistics that one method keeps strictly better than another."""
    return [key for key in COMPARABLE if found[one][key] < found[other][key]]


def whole_claims(compared: Comparison) -> Iterator[Claim]:
    """What Section 4 says about Table 1 and about risk."""
    whole = compared.whole
    exact = [whole["shuffling"][key] < 1e-9 for key in KEYS if key[0] != "covariance"]
    yield Claim.judged(
        "Shuffling keeps means and variances of all six attributes exactly",
        "Section 2.1 and Section 4, Table 1",
        exact,
        f"in {sum(exact)} of {len(exact)} cases",
    )
    better = _wins(whole, "shuffling", "imputation")
    yield Claim.judged(
        "Shuffling performs even better than multiple imputation in most cases",
        "Section 4, Table 1",
        len(better) > len(COMPARABLE) / 2,
        f"in {len(better)} of {len(COMPARABLE)} statistics",
    )
    lost = _wins(whole, "imputation", "shuffling")
    yield Claim.judged(
        "Multiple imputation beats shuffling only in the covariances of age with length of stay "
        "and with charge",
        "Section 4, Table 1",
        [(key in lost) == (key in PRINTED_LOST) for key in COMPARABLE],
        f"it does in: {_shown(lost)}",
    )
    worst = [
        key
        for key in COMPARABLE
        if whole["MicroHybrid"][key] > max(whole["imputation"][key], whole["shuffling"][key])
    ]
    yield Claim.judged(
        "MicroHybrid is somewhat worse than both shuffling and multiple imputation",
        "Section 4, Table 1",
        len(worst) > len(COMPARABLE) / 2,
        f"worst in {len(worst)} of {len(COMPARABLE)} statistics",
    )
    yield from _risk_claims(compared)


def _risk_claims(compared: Comparison) -> Iterator[Claim]:
    risks = {method: compared.risk(method) for method in METHODS}
    shown = ", ".join(f"{method} {risk:.3f} %" for method, risk in risks.items())
    noise = compared.chance * 3 / float(np.sqrt(len(compared.risks["shuffling"])))
    yield Claim.judged(
        "Shuffling has a lower disclosure risk than multiple imputation",
        "Section 4",
        risks["shuffling"] < risks["imputation"] - noise,
        f"{shown}; by chance {compared.chance:.3f} %",
        "printed, 0.005 % and 0.015 %, which is one and three records of 19,502, and one record is "
        f"chance; here a difference must exceed {noise:.3f} points to be more than luck",
    )
    yield Claim.judged(
        "Without attributes to condition on, shuffled values are independent of the original ones: "
        "the risk is as low as possible",
        "Section 2.1",
        not compared.above_chance("shuffling"),
        f"{risks['shuffling']:.3f} %, by chance {compared.chance:.3f} %",
    )
    ratio = risks["MicroHybrid"] / max(risks["imputation"], compared.chance)
    yield Claim.judged(
        "There is a k for which the risk of MicroHybrid is comparable to that of the others",
        "Section 4",
        ratio <= ACCEPTED,
        f"k = {compared.k}: {risks['MicroHybrid']:.3f} %, {ratio:.1f} times that of imputation",
        f"comparable: up to {ACCEPTED:.1f} times, as in the paper at k = 600",
    )


def sample_claims(compared: Comparison) -> Iterator[Claim]:
    """What Section 4 says about Table 2."""
    found = compared.samples
    best = {method: _best_in(found, method) for method in METHODS}
    yield Claim.judged(
        "On samples none of the three methods wins for all statistics",
        "Section 4, Table 2",
        all(count < len(COMPARABLE) for count in best.values()),
        "best in "
        + ", ".join(f"{count} ({method})" for method, count in best.items())
        + f" of {len(COMPARABLE)} statistics",
    )
    moved = [found["shuffling"][key] > 1e-9 for key in KEYS if key[0] != "covariance"]
    yield Claim.judged(
        "On samples shuffling no longer keeps means and variances exactly",
        "Section 4, Table 2",
        moved,
        f"in {sum(moved)} of {len(moved)} cases; the variance of the diagnosis changes by "
        f"{found['shuffling']['variance', DIAGNOSIS]:.4f}, printed 0",
    )
    lost = [
        key
        for key in COMPARABLE
        if found["shuffling"][key] > min(found[one][key] for one in ("imputation", "MicroHybrid"))
    ]
    yield Claim.judged(
        "On samples shuffling is outperformed by another method for some statistics",
        "Section 4, Table 2",
        0 < len(lost) < len(COMPARABLE),
        f"for {len(lost)} of {len(COMPARABLE)}",
    )
    better = [key for key in KEYS if found["shuffling"][key] < found["MicroHybrid"][key]]
    yield Claim.judged(
        "On samples shuffling behaves somewhat better than MicroHybrid",
        "Section 4, Table 2",
        len(better) > len(KEYS) / 2,
        f"better in {len(better)} of {len(KEYS)} statistics",
    )
    large = [key for key in KEYS if found["MicroHybrid"][key] > LARGE]
    printed = [key for key in KEYS if (PRINTED_SAMPLES["MicroHybrid"][key] or 0) > LARGE]
    yield Claim.judged(
        "On samples MicroHybrid has quite large variations for four statistics",
        "Section 4, Table 2",
        len(large) == 4,
        f"above {LARGE:g}: {_shown(large)}",
        f"the printed table has {len(printed)} above {LARGE:g}: {_shown(printed)}",
    )


def _best_in(found: Mapping[str, Mapping[Key, float]], method: str) -> int:
    return sum(
        all(found[method][key] <= found[other][key] for other in METHODS) for key in COMPARABLE
    )


def size_claim(found: Scan) -> Claim:
    """Whether a smaller k keeps statistics on samples better."""
    medians = {k: float(np.median(list(one.values()))) for k, one in found.samples.items()}
    trend = float(spearmanr(list(medians), list(medians.values())).statistic)
    shown = ", ".join(f"{value:.3f} (k = {k})" for k, value in medians.items())
    return Claim.judged(
        "The smaller k, the better MicroHybrid preserves statistics on random samples",
        "Section 4",
        trend > 0.5,
        f"median variation {shown}; rank correlation with k {trend:.2f}",
    )


def diagnosis_claims(
    frame: pl.DataFrame, compared: Comparison, imputed: pl.DataFrame
) -> Iterator[Claim]:
    """What Sections 1 and 4 say about imputing diagnoses."""
    count, different = frame[DIAGNOSIS].n_unique(), imputed[DIAGNOSIS].n_unique()
    whole = compared.whole["imputation"]
    yield Claim.judged(
        "Sequential regression imputation is incapable of anonymizing a diagnosis with hundreds of "
        "categories",
        "Sections 1 and 4",
        imputed[DIAGNOSIS].null_count() > 0 or different < count / 2,
        f"every record gets one: {count} diagnoses before, {different} after; their mean and "
        f"variance change by {whole['mean', DIAGNOSIS]:.4f} and "
        f"{whole['variance', DIAGNOSIS]:.4f}",
        "one multinomial regression with an equation per diagnosis, on a tenth of the paper's "
        "records; the diagnosis predicts nothing in turn. The paper's program (2010) made a 0/1 "
        "regressor of each of 542 diagnoses. Incapable: records without a diagnosis, or most "
        "diagnoses gone",
    )
    masked = hybrid(compared.k, frame, 1)
    changed = float((masked[DIAGNOSIS] != frame[DIAGNOSIS]).to_numpy().mean())
    yield Claim.judged(
        "MicroHybrid at least offers to anonymize the diagnosis",
        "Section 4",
        changed > 0,
        f"{100 * changed:.1f} % of the diagnoses are changed",
    )
    original = frame.select(NUMBERS).to_numpy().astype(np.float64)
    sample = om.statistics.Sample.of(
        frame[DIAGNOSIS].to_list(), om.load_taxonomy("icd9cm"), "weighted-path"
    )
    values = om.statistics.marginality(sample)
    drawn = impute_numbers(np.column_stack([original, values]), 1)[:, -1]
    back = float(np.isin(drawn.round(6), values.round(6)).mean())
    yield Claim.judged(
        "Imputed marginalities cannot be mapped back: they are not marginalities of categories",
        "Section 3",
        back < 0.01,
        f"{100 * back:.2f} % of the imputed ones are",
    )


def mapping_claims(tables: Mapping[str, pl.DataFrame]) -> Iterator[Claim]:
    """What Sections 3.1 and 5 say about mapping categories to marginalities."""
    taxonomy = om.load_taxonomy("icd9cm")
    samples = {
        name: om.statistics.Sample.of(one[DIAGNOSIS].to_list(), taxonomy, "weighted-path")
        for name, one in tables.items()
    }
    shares = {name: _distinct(sample) for name, sample in samples.items()}
    yield Claim.judged(
        "The mapping from categories to marginalities is one-to-one with great probability",
        "Section 3.1",
        [alone == count for alone, count in shares.values()],
        ", ".join(
            f"{name}: {alone} of {count} categories have a marginality of their own"
            for name, (alone, count) in shares.items()
        ),
        "siblings with equal frequencies have equal marginalities; the library breaks such ties by "
        "concept and so can always map back",
    )
    far = {name: _far_neighbors(sample) for name, sample in samples.items()}
    yield Claim.judged(
        "Mapping back to the nearest marginality can distort grossly: distant categories can have "
        "similar marginalities",
        "Section 5",
        [share > 0.1 for share in far.values()],
        ", ".join(
            f"{name}: the category next in marginality is farther than the average one in "
            f"{100 * share:.0f} % of the cases"
            for name, share in far.items()
        ),
    )


def _distinct(sample: om.statistics.Sample) -> tuple[int, int]:
    """How many categories have a marginality of their own, of how many."""
    values = (sample.matrix @ sample.counts).round(6)
    counts = np.unique(values, return_counts=True)[1]
    return int((counts == 1).sum()), values.size


def _far_neighbors(sample: om.statistics.Sample) -> float:
    """The share of categories whose neighbor in marginality is farther than the mean distance."""
    order = np.argsort(sample.matrix @ sample.counts, kind="stable")
    gaps = sample.matrix[order[:-1], order[1:]]
    size = len(order)
    mean = sample.matrix.sum() / (size * (size - 1))
    return float((gaps > mean).mean())


def rank_claim(found: Mapping[int, float]) -> Claim:
    """Whether rank correlations are kept better by larger tables."""
    sizes = list(found)
    slope = float(np.polyfit(np.log(sizes), np.log(list(found.values())), 1)[0])
    return Claim.judged(
        "Shuffling preserves rank correlations asymptotically: the larger the table, the smaller "
        "the difference",
        "Section 2.1",
        [found[sizes[-1]] < found[sizes[0]], found[sizes[-1]] < 0.02],
        ", ".join(f"{gap:.4f} (n = {size:,})" for size, gap in found.items())
        + f"; proportional to n to the power {slope:.2f}",
        "mean change of the rank correlations of payment and diagnosis, given age and length of "
        "stay; passed where smaller, and below 0.02 in the largest table",
    )


def other_claims(frame: pl.DataFrame, k: int) -> Iterator[Claim]:
    """The loss of variance by centroids, and what has no test."""
    centroids = om.Microaggregation(
        k, algorithm="mdav", operators="marginality", metric="s-distance"
    )
    release = om.protect(frame, schema(), centroids, seed=1)
    shares = {}
    for name in NUMBERS:
        old, new, drawn = (
            float(one[name].to_numpy().var()) for one in (frame, release.frame, hybrid(k, frame, 1))
        )
        shares[name] = new / old, drawn / old
    yield Claim.judged(
        "Replacing records by centroids reduces the variance; MicroHybrid avoids it",
        "Section 3.2",
        [low < 1 <= high for low, high in shares.values()],
        f"k = {k}, variance relative to the original, centroids and MicroHybrid: "
        + ", ".join(f"{name} {low:.2f} and {high:.2f}" for name, (low, high) in shares.items()),
    )
    yield Claim.untestable(
        "With marginality, shuffling needs no more computation than for numbers; binary attributes "
        "for each category would need much more",
        "Section 3.1",
        "no library shuffles binary attributes, so there is nothing to compare with",
    )
    yield Claim.untestable(
        "Both techniques perform well", "Section 5", "the paper gives no criterion"
    )


# The page -------------------------------------------------------------------------------------


def variation_table(
    number: int,
    printed: Mapping[str, Mapping[Key, float | None]],
    found: Mapping[str, Mapping[Key, float]],
) -> ResultTable:
    """Table 1 or 2, printed and here."""
    rows = tuple(
        (
            *key,
            *(one for method in METHODS for one in (printed[method][key], found[method][key])),
        )
        for key in KEYS
    )
    heads = [f"{method}, {source}" for method in METHODS for source in ("printed", "here")]
    where = "the whole table" if number == 1 else "one hundred samples of 10 %"
    return ResultTable(
        f"table{number}",
        f"Table {number}: mean variation |Δ(Θ)| on {where}",
        ("statistic", "attribute", *heads),
        rows,
        digits=3,
    )


def risk_table(compared: Comparison, found: Scan) -> ResultTable:
    """Linkage risk of the methods, and of MicroHybrid over k."""
    rows: list[tuple[Cell, ...]] = [
        ("by chance", 100 / PRINTED_RECORDS, compared.chance),
        *((name, PRINTED_RISK[name], compared.risk(name)) for name in METHODS[:2]),
        (
            f"MicroHybrid (printed k = 600, here k = {compared.k})",
            PRINTED_RISK["MicroHybrid"],
            compared.risk("MicroHybrid"),
        ),
        *((f"MicroHybrid, k = {k}", None, risk) for k, risk in found.risks.items()),
    ]
    return ResultTable(
        "risk",
        "Records linked correctly by S-distance, percent",
        ("method", "printed", "here"),
        tuple(rows),
        "Imputation: without the diagnosis, as in the paper. The rows of the last part have fewer "
        "seeds than the choice above them.",
    )


def figures(compared: Comparison, found: Scan) -> tuple[Figure, ...]:
    """Variation on samples by method, and risk over k."""
    return _variation_figure(compared), _risk_figure(compared, found)


def _variation_figure(compared: Comparison) -> Figure:
    rows = [
        {"statistic": " ".join(key), "variation": compared.samples[method][key], "method": method}
        for key in KEYS
        for method in METHODS
    ]
    spec = dots(rows, "variation", "statistic", "method", title="mean variation", log_x=True)
    medians = ", ".join(
        f"{method} {np.median(list(compared.samples[method].values())):.3f}" for method in METHODS
    )
    return Figure(
        "samples",
        "Mean variation on samples, by method",
        spec,
        f"Mean variation of {len(KEYS)} statistics on samples, by method; medians: {medians}",
    )


def _risk_figure(compared: Comparison, found: Scan) -> Figure:
    rows = [{"k": k, "risk": risk, "series": "MicroHybrid"} for k, risk in found.risks.items()]
    rows += [{"k": k, "risk": compared.chance, "series": "by chance"} for k in found.risks]
    first, last = (found.risks[k] for k in (min(found.risks), max(found.risks)))
    return Figure(
        "risk",
        "Linkage risk of MicroHybrid over k",
        lines(rows, "k", "risk", "series", titles=("k", "records linked, %")),
        f"Linkage risk of MicroHybrid over k, from {first:.3f} to {last:.3f} percent, beside "
        f"chance, {compared.chance:.3f} percent",
    )


PAPER = (
    "J. Domingo-Ferrer, K. Muralidhar, G. Rufian-Torrell: *Anonymization methods for taxonomic "
    "microdata.* Privacy in Statistical Databases, LNCS 7556 (2012)."
)

SETUP = """\
Six attributes (age, sex, race, los, payment, dx_principal), all masked. Nominal statistics are
those of the paper (numeric mean = least marginality, variance = mean marginality, covariance = mean
of sqrt(m(x) m(y))) on the edge-weighted tree of ICD-9-CM pruned to the data; sex and race are trees
of one level. Δ is |θ' − θ| / |θ|: on the whole the mean over {seeds} seeds, on samples the mean
over {samples} samples of 10 % of each of {releases} releases. Linkage by S-distance over all
attributes, from original to masked records (the paper: from masked to original ones).

* *Shuffling*: all six attributes are confidential. So it was in the paper: in its Table 1 every
  attribute keeps its mean and variance and no pair its covariance.
* *MicroHybrid*: MDAV with S-distance, then values drawn anew. k is the smallest of {ks}
  whose linkage risk is at most 7/3 of that of imputation, which is the ratio the paper accepted.
* *Multiple imputation*: the paper used IVEware, a program of its own. Here scikit-learn's
  `IterativeImputer` draws numbers from chained Bayesian linear regressions (`sample_posterior`,
  ten rounds, within the observed range) for as many records as there are, with all values missing;
  then its logistic regressions draw sex, race and diagnosis, each given what is there already. This
  is sequential regression imputation; unlike IVEware it draws every value from its predictive
  distribution instead of drawing coefficients once for each table. What cannot be done with it: a
  chain with a 0/1 column for each diagnosis, as in the paper's program, would not give every record
  one diagnosis; so the diagnosis comes last and predicts nothing. MICE of statsmodels would be
  another dependency for the same regressions.
"""

PRINTED_NOTES = (
    "The printed risks are 3, 1 and 7 records of 19,502; 0.005127 % is exactly what a guess gives.",
    "Table 2 prints 0 for the variance of DIAG_P after shuffling. On samples it cannot be 0 when "
    "the mean is not; probably it was rounded.",
    "The text speaks of large variations of MicroHybrid for four statistics; the printed table has "
    "five above 1, the next largest is 0.9.",
    "The formula printed for the copula, ρ = 2π sin(r)/6, is a slip for ρ = 2 sin(π r / 6).",
    "Δ of a covariance near 0 says little: that of age and length of stay changes 34-fold and "
    "162-fold in print.",
)


def discrepancies(compared: Comparison) -> tuple[str, ...]:
    """Why results differ, with the figures that show it."""
    return (
        f"Data: {compared.records:,} claims instead of {PRINTED_RECORDS:,} discharges. A tenth of "
        "the records makes Δ of random methods larger, and 10 % samples of "
        f"{compared.records // 10} records larger still (paper: 1,950).",
        f"k = {compared.k} of {compared.records:,} records makes "
        f"{compared.records // compared.k} clusters; the paper's k = 600 made 32. The pattern is "
        "that of the paper all the same: numbers drawn uniformly from wide windows inflate the "
        "means, variances and covariances of the skewed attributes (length of stay, payment).",
        "Variations of variances and covariances of numbers are smaller than printed ones: windows "
        "end at the largest value of a column, and stays (up to 35 days) and payments (up to "
        "125,000, in thousands) have short tails here.",
        "Imputation: truncated normal draws for skewed numbers shift their means, here as in "
        "print (length of stay "
        f"{compared.whole['imputation']['mean', 'los']:.2f}, payment "
        f"{compared.whole['imputation']['mean', 'payment']:.2f}; printed 0.26 and 0.45).",
    )


def run(data: Data, small: bool) -> Findings:
    """Repeat Tables 1 and 2, the choice of k, and what the paper says about its mapping."""
    clock = Clock()
    seeds, counts, ks = (3, (1, 10), (5, 20, 40)) if small else (20, (3, 100), KS)
    frame = data["neoplasm"].filter(pl.col("payment") > 0).select(COLUMNS)
    original = Domain.of(frame).view(frame)
    with clock.part("MicroHybrid over k"):
        found = scan(frame, original, ks, 2 if small else 10, counts[1] // 2)
    with clock.part("imputation"):
        imputed = [impute(frame, seed) for seed in range(seeds)]
    risk = float(np.mean(_risks(frame, "imputation", imputed)))
    k = found.chosen(ACCEPTED * max(risk, 100 / len(frame)))
    with clock.part("comparison"):
        compared = compare(frame, original, k, imputed, counts)
    sizes = (100, 200, 400) if small else (500, 2000, 8000, 32_000)
    with clock.part("rank correlations"):
        ranks = rank_differences(data["claims"].drop_nulls([DIAGNOSIS]), sizes, 2 if small else 5)
    tables = {
        name: data[name].drop_nulls([DIAGNOSIS]) for name in ("neoplasm", "digestive", "claims")
    }
    with clock.part("claims"):
        claims = (
            *diagnosis_claims(frame, compared, imputed[0]),
            *whole_claims(compared),
            *sample_claims(compared),
            size_claim(found),
            rank_claim(ranks),
            *mapping_claims(tables),
            *other_claims(frame, k),
        )
    return Findings(
        title="Shuffling and MicroHybrid for taxonomic microdata",
        paper=PAPER,
        data=f"{len(frame):,} neoplasm claims with a payment (paper: 19,502 discharges with "
        "neoplasms); all claims for rank correlations.",
        setup=SETUP.format(
            seeds=seeds, samples=counts[1], releases=counts[0], ks=", ".join(map(str, ks))
        ).strip(),
        tables=(
            variation_table(1, PRINTED_WHOLE, compared.whole),
            variation_table(2, PRINTED_SAMPLES, compared.samples),
            risk_table(compared, found),
        ),
        figures=figures(compared, found),
        claims=claims,
        printed_notes=PRINTED_NOTES,
        discrepancies=discrepancies(compared),
        seconds=clock.seconds,
    )


STUDY = Study("taxonomic", run)
