"""Which quality model keeps what a classifier needs? The study of Prasser et al. (2017) on claims.

    python benchmarks/classification_study.py CLAIMS [--figure study.svg] [--sample 300]

CLAIMS is the table of 50,025 inpatient claims (inpatient_claims_icd9.csv.gz). The bracket of the
payment (below 5,000; to 10,000; above) is predicted from demographic, spatial, temporal and
clinical columns. Every node of the lattice of their hierarchies is made 5-anonymous by suppressing
what still stands out, measured by four quality models, and judged by interwoven 3-fold
cross-validation:

* on every node a naive Bayes classifier, which is a matter of counting (`judge_nodes` below, the
  same figures as the package's `naive-bayes`: compared at the end of the run);
* on a sample of nodes, spread evenly over the ranks of that accuracy, and on all picks the logistic
  regression of the paper.

Diagnosis and procedure are there because the demographic, spatial and temporal columns alone hardly
tell the payment in this table (naive Bayes: 44.7 % right, 41.9 % by always saying the most frequent
bracket). All columns enter as categories. As in the paper, any number of records may be suppressed;
picks under tighter limits are shown as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np
import polars as pl
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

import ontomask as om
from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.evaluation.classifiers import learn
from ontomask.evaluation.features import Features
from ontomask.evaluation.folds import stratified_folds
from ontomask.methods.generalization.builders import interval_hierarchy
from ontomask.methods.generalization.groupings import Grouper
from ontomask.methods.generalization.hierarchies import Hierarchy
from ontomask.methods.generalization.problem import Problem, Sensitive
from ontomask.methods.generalization.search import NodeTable, exhaustive
from ontomask.privacy import KAnonymity
from ontomask.quality import Classification, KLDivergence, Loss, NonUniformEntropy

K = 5
FOLDS = 3
SEED = 1
PROCESSES = 2
LIMITS = (1.0, 0.2, 0.05)
BRACKETS = ("below 5,000", "to 10,000", "above")
COLUMNS = ("age", "sex", "race", "state", "los", "dx_principal", "procedure")
PAPER = {
    "granularity": "5-20 %",
    "non-uniform entropy": "5-20 %",
    "KL divergence": "5-20 %",
    "classification": "almost 90 %",
}

# The census divisions, by the numbers that the social security administration gives to states.
DIVISIONS = {
    ("Northeast", "New England"): (7, 20, 22, 30, 41, 47),
    ("Northeast", "Middle Atlantic"): (31, 33, 39),
    ("Midwest", "East North Central"): (14, 15, 23, 36, 52),
    ("Midwest", "West North Central"): (16, 17, 24, 26, 28, 35, 43),
    ("South", "South Atlantic"): (8, 9, 10, 11, 21, 34, 42, 49, 51),
    ("South", "East South Central"): (1, 18, 25, 44),
    ("South", "West South Central"): (4, 19, 37, 45),
    ("West", "Mountain"): (3, 6, 13, 27, 29, 32, 46, 53),
    ("West", "Pacific"): (2, 5, 12, 38, 50),
    ("elsewhere", "elsewhere"): (40, 48, 54),
}


# The table ------------------------------------------------------------------------------------


def read_claims(path: Path) -> pl.DataFrame:
    claims = pl.read_csv(path, infer_schema_length=0)
    payment = pl.col("payment").cast(pl.Float64)
    low, middle, high = (pl.lit(name) for name in BRACKETS)
    bracket = pl.when(payment < 5000).then(low).when(payment <= 10_000).then(middle).otherwise(high)
    return claims.with_columns(bracket.alias("bracket"), pl.col("procedure").fill_null("none"))


def hierarchies(claims: pl.DataFrame) -> dict[str, Hierarchy]:
    values = {name: claims[name].unique().sort().to_list() for name in COLUMNS}
    procedures = [code for code in values["procedure"] if code != "none"]
    return {
        "age": interval_hierarchy(values["age"], (5, 10, 20)),
        "sex": Hierarchy.from_rows([[sex, "*"] for sex in values["sex"]]),
        "race": Hierarchy.from_rows(
            [[race, "White" if race == "White" else "not White", "*"] for race in values["race"]]
        ),
        "state": Hierarchy.from_rows(
            [[state, *area(int(state)), "*"] for state in values["state"]]
        ),
        "los": interval_hierarchy(values["los"], (3, 6, 12)),
        "dx_principal": coded("icd9cm", values["dx_principal"], (0, 2, 3, 4, 5)),
        "procedure": coded("icd9cm-procedures", procedures, (0, 2, 3, 4)).with_missing_value(
            "none"
        ),
    }


def area(state: int) -> tuple[str, str]:
    """The division and the region of a state."""
    return next((one[1], one[0]) for one, states in DIVISIONS.items() if state in states)


def coded(name: str, codes: Sequence[str], kept: Sequence[int]) -> Hierarchy:
    """Some of the levels of a taxonomy: code, category, block and chapter."""
    full = Hierarchy.from_taxonomy(om.load_taxonomy(name), codes, by="depth")
    rows = [
        [full.labels[level][full.levels[level, row]] for level in kept] for row in range(full.rows)
    ]
    return Hierarchy.from_rows(rows)


def make_problem(claims: pl.DataFrame) -> Problem:
    known = hierarchies(claims)
    codes = np.array([known[name].encode(claims[name].to_list(), name) for name in COLUMNS])
    target = np.array([BRACKETS.index(one) for one in claims["bracket"].to_list()], np.int32)
    targets = {"bracket": Sensitive(target, len(BRACKETS))}
    return Problem(tuple(known.values()), codes, COLUMNS, targets=targets)


# Judging nodes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """The table with its classes and folds."""

    problem: Problem
    labels: Longs
    folds: Longs

    @classmethod
    def of(cls, problem: Problem) -> Study:
        labels = problem.targets["bracket"].codes.astype(np.int64)
        return cls(problem, labels, stratified_folds(labels, FOLDS, SEED))

    def codes(self, levels: Sequence[int]) -> Ints:
        """The generalized values (records x columns)."""
        columns = zip(self.problem.hierarchies, self.problem.codes, levels, strict=True)
        return np.column_stack([one.levels[level][codes] for one, codes, level in columns])

    def sizes(self, levels: Sequence[int]) -> Longs:
        """The number of values of each column at some levels."""
        columns = zip(self.problem.hierarchies, levels, strict=True)
        return np.array([one.widths[level] for one, level in columns], np.int64)

    def kept(self, grouper: Grouper, levels: Sequence[int]) -> Bools:
        """Which records are in classes of at least k."""
        places = grouper.places(tuple(levels))
        sizes = np.bincount(places, weights=self.problem.tuples.amounts[0])
        return (sizes[places] >= K)[self.problem.tuples.places]


@numba.njit(cache=True)
def bayes_counts(codes, starts, width, labels, folds, kept, classes, fold_count):
    """How often each value and each class occur in each fold, among the kept records."""
    counts = np.zeros((fold_count, width, classes))
    totals = np.zeros((fold_count, classes))
    for record in range(labels.size):
        if kept[record]:
            fold, label = folds[record], labels[record]
            totals[fold, label] += 1
            for column in range(starts.size):
                counts[fold, starts[column] + codes[record, column], label] += 1
    return counts, totals


@numba.njit(cache=True)
def bayes_hits(codes, starts, labels, folds, kept, logs, priors):
    """Right predictions of naive Bayes: of all records, and of those that are kept."""
    hits, kept_hits = 0, 0
    for record in range(labels.size):
        fold = folds[record]
        best, largest = 0, -np.inf
        for label in range(priors.shape[1]):
            total = priors[fold, label]
            for column in range(starts.size):
                total += logs[fold, starts[column] + codes[record, column], label]
            if total > largest:
                best, largest = label, total
        if best == labels[record]:
            hits += 1
            kept_hits += kept[record]
    return hits, kept_hits


def bayes_logs(counts: Floats, totals: Floats, starts: Longs) -> tuple[Floats, Floats]:
    """For each fold the logarithms of frequencies (plus 1) in the other folds, and of classes.

    A value that does not occur in the other folds tells nothing.
    """
    others, own = counts.sum(axis=0) - counts, totals.sum(axis=0) - totals
    occurs = others.sum(axis=2) > 0
    seen = np.add.reduceat(occurs, starts, axis=1, dtype=np.int64)
    lengths = np.diff(np.append(starts, counts.shape[1]))
    spread = np.repeat(seen, lengths, axis=1)[:, :, None]
    logs = np.log((others + 1) / (own[:, None, :] + spread + 1)) * occurs[:, :, None]
    shares = own / np.maximum(own.sum(axis=1, keepdims=True), 1)
    return logs, np.log(np.maximum(shares, 1e-300))


def baseline_hits(study: Study) -> Bools:
    """Which records the most frequent class of the other folds predicts right."""
    right = np.zeros(study.labels.size, bool)
    for fold in range(FOLDS):
        others = study.labels[study.folds != fold]
        right |= (study.folds == fold) & (study.labels == np.bincount(others).argmax())
    return right


def bayes_accuracies(study: Study, levels: Sequence[int], kept: Bools) -> tuple[float, float]:
    """Accuracy with suppressed records generalized like others, or left to the baseline."""
    if not kept.any():
        share = float(baseline_hits(study).mean())
        return share, share
    sizes = study.sizes(levels)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    codes, known = study.codes(levels), (study.labels, study.folds, kept)
    counts, totals = bayes_counts(codes, starts, int(sizes.sum()), *known, len(BRACKETS), FOLDS)
    hits, kept_hits = bayes_hits(codes, starts, *known, *bayes_logs(counts, totals, starts))
    missed = int(np.count_nonzero(baseline_hits(study) & ~kept))
    return hits / kept.size, (kept_hits + missed) / kept.size


def logistic_accuracies(study: Study, levels: Sequence[int], kept: Bools) -> tuple[float, float]:
    """The same for the package's logistic regression, trained on distinct records with weights."""
    codes, sizes = study.codes(levels), tuple(study.sizes(levels).tolist())
    right = baseline_hits(study)
    supported = right.copy()
    for fold in range(FOLDS):
        training = kept & (study.folds != fold)
        if not training.any():
            continue
        rows = np.column_stack([codes[training], study.labels[training]])
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        features = Features(np.empty((len(distinct), 0)), distinct[:, :-1].astype(np.int32), sizes)
        predict = learn(
            "logistic", features, distinct[:, -1], counts.astype(float), len(BRACKETS), SEED
        )
        tested = np.flatnonzero(study.folds == fold)
        seen, places = np.unique(codes[tested], axis=0, return_inverse=True)
        test = Features(np.empty((len(seen), 0)), seen.astype(np.int32), sizes)
        predicted = predict(test).argmax(axis=1)[places.ravel()]
        right[tested] = predicted == study.labels[tested]
    supported[kept] = right[kept]
    return float(right.mean()), float(supported.mean())


_STUDY: dict[str, object] = {}


def _start(path: Path) -> None:
    threadpool_limits(1)  # there are as many processes as cores
    study = Study.of(make_problem(read_claims(path)))
    _STUDY.update(study=study, grouper=Grouper(study.problem))


def judge_nodes(work: tuple[str, list[tuple[int, ...]]]) -> list[tuple[float, float]]:
    """Judge some nodes by one of the two classifiers, in a process that has the table."""
    classifier, nodes = work
    study, grouper = _STUDY["study"], _STUDY["grouper"]
    assert isinstance(study, Study)
    assert isinstance(grouper, Grouper)
    judge = {"naive-bayes": bayes_accuracies, "logistic": logistic_accuracies}[classifier]
    return [judge(study, levels, study.kept(grouper, levels)) for levels in nodes]


def judged(pool: ProcessPoolExecutor, classifier: str, nodes: Ints, chunk: int) -> Floats:
    """The two accuracies of each node."""
    listed = [tuple(one) for one in nodes.tolist()]
    parts = [(classifier, listed[at : at + chunk]) for at in range(0, len(listed), chunk)]
    return np.array([one for part in pool.map(judge_nodes, parts) for one in part])


# What comes out -------------------------------------------------------------------------------


def measured(problem: Problem) -> NodeTable:
    models = {
        "granularity": Loss(),
        "non-uniform entropy": NonUniformEntropy(),
        "KL divergence": KLDivergence(),
        "classification": Classification("bracket"),
    }
    return exhaustive(problem, [KAnonymity(K)], 1.0, models)


def pick(table: NodeTable, values: Floats, valid: Bools) -> int:
    """The valid node with the least value; ties: lower level sum, then the smaller vector."""
    among = np.where(valid, values, np.inf)
    ties = np.flatnonzero(among <= among.min() + 1e-12 * abs(among.min()))
    return int(ties[np.argmin(table.levels[ties].sum(axis=1))])


def spread_sample(accuracy: Floats, count: int) -> Longs:
    """Nodes evenly spread over the ranks of an accuracy."""
    order = np.argsort(accuracy, kind="stable")
    places = np.linspace(0, order.size - 1, min(count, order.size)).astype(int)
    return np.sort(order[np.unique(places)])


@dataclass(frozen=True)
class Outcome:
    """All nodes with their scores and what classifiers reach on them.

    Accuracies are relative, in two columns: suppressed records generalized like others, or left to
    the baseline. `logistic` has those of the nodes `sample`.
    """

    table: NodeTable
    records: int
    bayes: Floats
    sample: Longs
    logistic: Floats

    def best(self, limit: float) -> dict[str, int]:
        """The nodes with the best naive Bayes classifier, in both readings."""
        names = ("best, like others", "best, left to baseline")
        return {
            name: pick(self.table, -self.bayes[:, reading], self.valid(limit))
            for reading, name in enumerate(names)
        }

    def valid(self, limit: float) -> Bools:
        return self.table.outliers <= limit * self.records

    def picks(self, limit: float) -> dict[str, int]:
        """The node that each model picks."""
        return {
            model: pick(self.table, losses, self.valid(limit))
            for model, losses in self.table.losses.items()
        }

    def logistic_of(self, node: int) -> Floats:
        return self.logistic[np.searchsorted(self.sample, node)]


def run(path: Path, count: int) -> Outcome:
    """Measure and judge all nodes, printing how long it takes and how good the original is."""
    start = time.perf_counter()
    study = Study.of(make_problem(read_claims(path)))
    records = study.labels.size
    table = measured(study.problem)
    print(f"{len(table):,} nodes measured by four models: {time.perf_counter() - start:.0f} s")
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), _start, (path,)) as pool:
        absolute = judged(pool, "naive-bayes", table.levels, 200)
        print(f"all judged by naive Bayes: {time.perf_counter() - start:.0f} s")
        bayes = relative(study, "naive-bayes", absolute)
        whole = Outcome(table, records, bayes, np.empty(0, np.int64), np.empty((0, 2)))
        chosen = {one for limit in LIMITS for one in whole.picks(limit).values()}
        chosen |= {one for limit in LIMITS for one in whole.best(limit).values()}
        sample = np.union1d(spread_sample(bayes[:, 0], count), sorted(chosen))
        found = judged(pool, "logistic", table.levels[sample], 4)
    print(f"{sample.size} judged by logistic regression: {time.perf_counter() - start:.0f} s")
    check_bayes(study, table.levels[whole.picks(1.0)["classification"]])
    return Outcome(table, records, bayes, sample, relative(study, "logistic", found))


def relative(study: Study, classifier: str, accuracies: Floats) -> Floats:
    """(accuracy - baseline) / (original - baseline)."""
    judge = {"naive-bayes": bayes_accuracies, "logistic": logistic_accuracies}[classifier]
    everything = np.ones(study.labels.size, bool)
    original = judge(study, [0] * len(COLUMNS), everything)[0]
    baseline = float(baseline_hits(study).mean())
    print(f"  {classifier}: baseline accuracy {baseline:.1%}, original accuracy {original:.1%}")
    return (accuracies - baseline) / (original - baseline)


def check_bayes(study: Study, levels: Ints) -> None:
    """Compare the counting above with the package's classifier on one node."""
    kept = study.kept(Grouper(study.problem), levels.tolist())
    features = Features(
        np.empty((kept.size, 0)), study.codes(levels), tuple(study.sizes(levels).tolist())
    )
    hits = 0
    for fold in range(FOLDS):
        training = kept & (study.folds != fold)
        labels, ones = study.labels[training], np.ones(int(training.sum()))
        predict = learn("naive-bayes", features.chosen(training), labels, ones, len(BRACKETS), SEED)
        tested = study.folds == fold
        predicted = predict(features.chosen(tested)).argmax(axis=1)
        hits += int(np.count_nonzero(predicted == study.labels[tested]))
    counted = bayes_accuracies(study, levels.tolist(), kept)[0] * kept.size
    print(f"  right on one node: {counted:.0f} by counting, {hits} by the package's naive Bayes")


# Showing --------------------------------------------------------------------------------------


def show_picks(outcome: Outcome, limit: float) -> None:
    print(
        f"\nAt most {limit:.0%} suppressed: {int(outcome.valid(limit).sum()):,} of "
        f"{len(outcome.table):,} nodes. Levels of {', '.join(COLUMNS)};\nrelative accuracy "
        "with suppressed records generalized like others (left to the baseline)."
    )
    print(f"{'picked by':24}{'levels':>16}{'suppressed':>12}{'naive Bayes':>18}{'logistic':>18}")
    chosen = {**outcome.picks(limit), **outcome.best(limit)}
    for model, node in chosen.items():
        levels = " ".join(map(str, outcome.table.levels[node].tolist()))
        share = outcome.table.outliers[node] / outcome.records
        shown = [shares(outcome.bayes[node]), shares(outcome.logistic_of(node))]
        print(f"{model:24}{levels:>16}{share:>12.1%}{shown[0]:>18}{shown[1]:>18}")


def shares(pair: Floats) -> str:
    return f"{pair[0]:.1%} ({pair[1]:.1%})"


def correlations(outcome: Outcome) -> dict[str, tuple[float, float]]:
    """Rank correlations of low scores with naive Bayes on all nodes and logistic on the sample."""
    return {
        model: (
            float(spearmanr(-losses, outcome.bayes[:, 0]).statistic),
            float(spearmanr(-losses[outcome.sample], outcome.logistic[:, 0]).statistic),
        )
        for model, losses in outcome.table.losses.items()
    }


def show_correlations(outcome: Outcome) -> None:
    agreement = spearmanr(outcome.bayes[outcome.sample, 0], outcome.logistic[:, 0]).statistic
    print("\nRank correlation of a good score with relative accuracy")
    print(f"{'model':22}{'naive Bayes, all':>18}{'logistic, sample':>18}")
    for model, (bayes, logistic) in correlations(outcome).items():
        print(f"{model:22}{bayes:>18.2f}{logistic:>18.2f}")
    print(f"(naive Bayes with logistic on the sample: {agreement:.3f})")


def show_findings(outcome: Outcome) -> None:
    """What holds of the paper's finding, from the figures of this run."""
    print(
        "\nThe paper's finding: logistic regression, any number of records suppressed and tested "
        "like others;\nin the second column suppressed records are left to the baseline."
    )
    for model, node in outcome.picks(1.0).items():
        first, second = outcome.logistic_of(node)
        print(f"  {model:22} paper {PAPER[model]:>12}   here {first:7.1%} {second:7.1%}")
    both = [findings(outcome, reading) for reading in (0, 1)]
    for sentence in both[0]:
        verdicts = [f"{'holds' if one[sentence] else 'does NOT hold':15}" for one in both]
        print(f"  {''.join(verdicts)}{sentence}")
    best = outcome.logistic.max(axis=0)
    print(
        f"  (best of the {outcome.sample.size} nodes judged by logistic regression: {best[0]:.1%}, "
        f"{best[1]:.1%})"
    )


def findings(outcome: Outcome, reading: int) -> dict[str, bool]:
    reached = {
        model: outcome.logistic_of(node)[reading] for model, node in outcome.picks(1.0).items()
    }
    own = reached.pop("classification")
    ranks = {
        model: spearmanr(-losses, outcome.bayes[:, reading]).statistic
        for model, losses in outcome.table.losses.items()
    }
    return {
        **{
            f"{model} picks a node of at most 20 % relative accuracy": bool(share <= 0.2)
            for model, share in reached.items()
        },
        "classification picks a better node than all of them": own > max(reached.values()),
        "its node is among the best available (1 point)": own
        >= outcome.logistic[:, reading].max() - 0.01,
        "its node reaches almost 90 % (at least 85 %)": own >= 0.85,
        "its score orders the nodes best (rank correlation)": max(ranks, key=ranks.__getitem__)
        == "classification",
    }


def draw(outcome: Outcome, path: Path) -> None:
    """Score against relative accuracy, a panel for each model: all nodes, and the pick."""
    import altair as alt

    alt.data_transformers.disable_max_rows()
    panels = []
    for model, node in outcome.picks(1.0).items():
        losses = outcome.table.losses[model]
        scores = (losses - losses.min()) / (losses.max() - losses.min())
        cells = alt.Chart(alt.Data(values=binned(scores, outcome.bayes[:, 0]))).mark_rect()
        nodes = cells.encode(
            x=alt.X("x:Q", title="score (lower is better)"),
            x2="x2:Q",
            y=alt.Y("y:Q", title="relative accuracy", axis=alt.Axis(format="%")),
            y2="y2:Q",
            color=alt.Color("count:Q", scale=alt.Scale(type="log"), title="nodes"),
        )
        spot = [{"x": float(scores[node]), "y": float(outcome.bayes[node, 0])}]
        mark = alt.Chart(alt.Data(values=spot)).mark_point(color="crimson", size=120, filled=True)
        panel = (nodes + mark.encode(x="x:Q", y="y:Q")).properties(title=model)
        panels.append(panel.properties(width=260, height=220))
    alt.concat(*panels, columns=2).save(str(path))
    print(f"\nThe figure is in {path}: all nodes by naive Bayes, the picks in red.")


def binned(scores: Floats, accuracies: Floats, cells: int = 60) -> list[dict[str, float]]:
    counts, across, up = np.histogram2d(scores, accuracies, bins=cells)
    return [
        {"x": across[i], "x2": across[i + 1], "y": up[j], "y2": up[j + 1], "count": counts[i, j]}
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("claims", type=Path, help="the table of claims")
    parser.add_argument("--figure", type=Path, help="an SVG file to draw to")
    parser.add_argument("--sample", type=int, default=300, help="nodes for logistic regression")
    options = parser.parse_args()
    start = time.perf_counter()
    outcome = run(options.claims, options.sample)
    for limit in LIMITS:
        show_picks(outcome, limit)
    show_correlations(outcome)
    show_findings(outcome)
    if options.figure:
        draw(outcome, options.figure)
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
