"""The same on files: a plan is run, and the text of the CSV that it writes is counted."""

import csv
import io

import numpy as np
import pytest

import ontomask as om
from guarantees.counting import Text
from guarantees.options import GUARDED, made
from guarantees.plans import ENVIRONMENT, TABLE, write_plan
from guarantees.promised import Seen, broken
from guarantees.running import wrong
from guarantees.test_recount import ROUNDS, changed
from ontomask.plan.recounting import recount_folder


@pytest.mark.parametrize("name", GUARDED)
def test_what_is_written_keeps_what_is_promised(trial, name, tmp_path_factory, monkeypatch):
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)

    def look(run, _release):
        folder = tmp_path_factory.mktemp("plan")
        outcome = om.Plan.read(write_plan(run, folder)).run()
        seen = Seen(run.people, run.steps, Text.read(outcome.table.read_text(encoding="utf-8")))
        yield from wrong(seen)
        yield from unnoticed(run, outcome, seen)

    trial().examine(lambda people, generator: [made(GUARDED[name], people, generator)], look)


def unnoticed(run, outcome, whole):
    """Change cells of the file, and recount it as anyone can who has the folder and the original.

    What a recount does not count for want of weights or spellings, it must say.
    """
    found = recount_folder(outcome.folder, outcome.folder.parent / TABLE)
    if not found.verification.kept:
        yield f"a recount of the files says {found.verification}"
    generator = np.random.default_rng(run.seed)
    names = [*whole.quasi, *run.people.named("sensitive")]
    if not set(names) & set(whole.text.names):
        return
    columns = {name: whole.text.column(name) for name in whole.text.names}
    for _ in range(ROUNDS):
        cells = changed(columns, names, generator)
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([list(cells), *zip(*cells.values(), strict=True)])
        outcome.table.write_text(buffer.getvalue(), encoding="utf-8", newline="")
        complaints = broken(Seen(run.people, run.steps, Text.read(buffer.getvalue())))
        found = recount_folder(outcome.folder, outcome.folder.parent / TABLE)
        if complaints and found.verification.kept and not found.notes[2:]:
            yield f"unnoticed: {complaints}"
