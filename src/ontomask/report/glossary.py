"""The words and figures of the report: first what they mean, then how they are computed."""

from __future__ import annotations

from ontomask.evaluation.evaluation import DEFINITIONS
from ontomask.report.facts import Account
from ontomask.report.words import grouped

__all__ = ["definitions"]

WORDS = (
    (
        "quasi-identifier",
        "A column whose values an intruder may know from elsewhere, such as age or place.",
    ),
    (
        "group (equivalence class)",
        "The records that have the same values in all quasi-identifiers, so that an intruder who "
        "knows these cannot tell them apart.",
    ),
    (
        "k-anonymity",
        "Every group has at least k records, so that nobody is singled out by these columns.",
    ),
    ("sensitive column", "What an intruder shall not learn about a person."),
    (
        "measured columns",
        "The columns whose loss and correlations are measured: the quasi-identifiers and whatever "
        "else was changed, unless the plan names others.",
    ),
    (
        "distance of two values",
        "For words with a taxonomy, from 0 (same) to 1 (nothing in common); for numbers and dates, "
        "their difference in standard deviations.",
    ),
    ("suppressed", "Left out of the release, or replaced by a star."),
)

FIGURES = (
    ("unique records", "Share of records that are alone in their group.", ""),
    (
        "highest risk",
        "How sure an intruder can be who has found the group of a person in the smallest group.",
        "highest_risk",
    ),
    (
        "average risk",
        "The same, on average over all records.",
        "average_risk",
    ),
    (
        "records at risk",
        "Records in groups so small that an intruder can be surer than the percentage named.",
        "records_at_risk",
    ),
    (
        "record linkage",
        "Share of records that are found by an intruder who has everybody's original "
        "quasi-identifiers and takes the most similar record; a tie counts its part.",
        "linkage",
    ),
    (
        "fewest values in a group",
        "How many different values of a sensitive column the least varied group has (l of "
        "l-diversity). One means that membership gives the value away.",
        "",
    ),
    (
        "entropy l",
        "The same, weighed: the least mixed group is as mixed as so many equally frequent values.",
        "entropy_l",
    ),
    (
        "distance from the table (t)",
        "How different the sensitive values of a group are from those of the whole table, at most: "
        "0 the same, 1 altogether different (t of t-closeness).",
        "closeness_t",
    ),
    (
        "within x percent",
        "Share of masked numbers that lie so near to the original.",
        "",
    ),
    (
        "information loss",
        "How far the records moved, compared with how far they lie from the average record.",
        "loss",
    ),
    (
        "of the numeric columns",
        "The same for numbers and dates alone.",
        "numeric_loss",
    ),
    (
        "mean distance",
        "How far values moved on average; a value that stayed counts as 0.",
        "semantic_loss",
    ),
    (
        "root mean square",
        "The same, but far moves count for more.",
        "rmse",
    ),
    (
        "semantic mean",
        "The concept of the taxonomy that is nearest to all values: an average of words.",
        "",
    ),
    (
        "semantic variance",
        "How far the words of a column lie apart in the taxonomy.",
        "semantic variance",
    ),
    (
        "correlation",
        "How closely two columns of numbers go together, from -1 to 1; 0 means not at all.",
        "correlation",
    ),
    (
        "semantic correlation",
        "The same for two columns of words with a taxonomy, from 0 to 1.",
        "semantic correlation",
    ),
    (
        "clusters before and after",
        "Whether records that were similar to each other still are.",
        "clustering",
    ),
)
"""What the report calls a figure, what that means, and what the evaluation calls it."""

PREDICTIONS = (
    ("accuracy", "Share of records whose value is predicted correctly.", ""),
    ("baseline", "The accuracy of always saying the most frequent value.", ""),
    ("original", "The accuracy of a classifier that has learned from the original table.", ""),
    (
        "masked",
        "The accuracy of one that has learned from the release; both are tested on original "
        "records.",
        "",
    ),
    (
        "kept of the advantage",
        "How much of what can be learned from the original beyond the baseline can be learned from "
        "the release.",
        "(masked - baseline) / (original - baseline)",
    ),
)


def _formula(key: str) -> str:
    formula = DEFINITIONS[key] if key else ""
    if key == "loss":
        formula += f" (SSE: {DEFINITIONS['sse']}; SST: {DEFINITIONS['sst']})"
    return grouped(formula)


def definitions(account: Account) -> tuple[tuple[str, str, str], ...]:
    """The words and figures of the report: name, plain words, and how the figure is computed."""
    figures = tuple((name, plain, _formula(key)) for name, plain, key in FIGURES)
    predictions = PREDICTIONS if account.classification is not None else ()
    return (*((name, plain, "") for name, plain in WORDS), *figures, *predictions)
