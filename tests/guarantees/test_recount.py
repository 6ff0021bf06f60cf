"""The package's own recount: it must notice every broken promise that the counters notice."""

import numpy as np
import pytest

from guarantees.counting import Text
from guarantees.options import every_option, made
from guarantees.people import LIBRARIES, released, written
from guarantees.promised import Seen, broken
from ontomask.promises import (
    MapSize,
    Payout,
    Permutation,
    PopulationUniquenessLimit,
    Presence,
    Published,
    Records,
    Unchanged,
)
from ontomask.verify import verify

ROUNDS = 6
COMPARED = (Permutation, Published, Records, Unchanged)
"""Promises about more than the released table itself."""

PROMISING = [
    option
    for option in every_option()
    if (option.parameter == "privacy" and option.kind.name != "hybrid")
    or (option.parameter == "k" and option.kind.name not in ("hybrid", "rank-swapping"))
]


@pytest.mark.parametrize("option", PROMISING, ids=str)
def test_the_recount_notices_what_is_broken(trial, option):
    trial().examine(
        lambda people, generator: [made(option.kind, people, generator, option)], unnoticed
    )


def unnoticed(run, release):
    """Change cells of the release, and compare both verdicts."""
    promises = [one for one in release.promises if not isinstance(one, COMPARED)]
    whole = Seen(run.people, run.steps, Text.read(written(released(release.frame))))
    counts, weights = (
        np.array(whole.amounts(*names)) for names in (["copies"], ["copies", "survey weight"])
    )
    generator = np.random.default_rng(run.seed)
    for _ in range(ROUNDS if whole.origins is not None else 0):
        columns = changed(
            released(release.frame), [*whole.quasi, *run.people.named("sensitive")], generator
        )
        frame = LIBRARIES[run.people.library](columns)
        found = verify(
            frame,
            promises,
            published=list(columns),
            records=len(whole.text),
            counts=counts,
            weights=weights,
        )
        seen = Seen(run.people, run.steps, Text.read(written(released(frame))))
        complaints = broken(seen)
        if found.kept and complaints:
            yield f"unnoticed: {complaints}"
        if not complaints and any(not one.kept and is_told(one.promise) for one in found.findings):
            yield f"false alarm: {found}"


def is_told(promise):
    """Whether all is known of a combination that the release did not have: not how many people of
    the population it stands for, or are estimated to be alone there, or how much it tells."""
    return not isinstance(promise, (MapSize, Payout, PopulationUniquenessLimit, Presence))


def changed(columns, names, generator):
    """The columns with some cells exchanged for others of the same column, or made empty."""
    columns = {name: list(values) for name, values in columns.items()}
    for _ in range(int(generator.integers(1, 7))):
        name = str(generator.choice([one for one in names if one in columns]))
        here, there = generator.integers(0, len(columns[name]), 2).tolist()
        columns[name][here] = None if generator.random() < 0.2 else columns[name][there]
    return columns
