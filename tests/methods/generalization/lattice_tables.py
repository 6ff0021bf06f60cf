"""Small random tables for the generalization tests, as plain lists and as problems."""

from __future__ import annotations

import numpy as np

from ontomask.methods.generalization.problem import Problem, Sensitive
from ontomask.privacy import Ground
from ontomask.taxonomy.hierarchies import Hierarchy

LETTERS = "abcdefgh"


def tree(values, *groupings):
    """Rows of a hierarchy: each grouping maps the values' positions to a label, then the root."""
    return [
        [
            value,
            *(f"{level}{position // size}" for level, size in enumerate(groupings, start=1)),
            "*",
        ]
        for position, value in enumerate(values)
    ]


HIERARCHIES = (
    tree(LETTERS[:6], 2, 4),
    tree(LETTERS[:4], 2),
    tree(LETTERS[:3]),
)
SENSITIVE = tree("vwxyz", 2)


def random_table(seed, count=40):
    """Records, sensitive values and targets."""
    generator = np.random.default_rng(seed)
    columns = [
        generator.choice([row[0] for row in one], count, p=generator.dirichlet(np.ones(len(one))))
        for one in HIERARCHIES
    ]
    records = [tuple(str(value) for value in record) for record in zip(*columns, strict=True)]
    sensitive = [str(value) for value in generator.choice(list("vwxyz"), count)]
    target = [str(value) for value in generator.choice(["no", "yes"], count)]
    return records, sensitive, target


def make_problem(records, sensitive=None, target=None, population=None, hierarchies=HIERARCHIES):
    made = tuple(Hierarchy.from_rows(one) for one in hierarchies)

    def encoded(table):
        pairs = zip(made, zip(*table, strict=True), strict=True)
        return np.array([hierarchy.encode(column) for hierarchy, column in pairs])

    protected, predicted = {}, {}
    if sensitive is not None:
        hierarchy = Hierarchy.from_rows(SENSITIVE)
        codes = hierarchy.encode(sensitive)
        protected["s"] = Sensitive(codes, hierarchy.rows, hierarchy.levels, Ground(distances()))
    if target is not None:
        numbers = {value: code for code, value in enumerate(sorted(set(target)))}
        codes = np.array([numbers[value] for value in target], np.int32)
        predicted["t"] = Sensitive(codes, len(numbers))
    return Problem(
        made,
        encoded(records),
        ("first", "second", "third")[: len(made)] if len(made) <= 3 else (),
        sensitive=protected,
        targets=predicted,
        population=None if population is None else encoded(population),
    )


def distances():
    """Some distances of the sensitive values that no tree gives."""
    places = np.array([0.0, 0.1, 0.5, 0.7, 1.0])
    return np.abs(places[:, None] - places[None, :])


def skewed_table(seed, columns=9):
    """Columns of 600 records, most of which have few of sixteen values."""
    values = np.minimum(np.random.default_rng(seed).zipf(1.5, (600, columns)) - 1, 15)
    rows = [tuple(f"{value:02d}" for value in row) for row in values]
    hierarchy = [
        [f"{value:02d}", f"a{value // 2}", f"b{value // 4}", f"c{value // 8}", "*"]
        for value in range(16)
    ]
    return make_problem(rows, hierarchies=[hierarchy] * columns)
