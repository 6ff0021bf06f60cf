"""`Plan`: a whole run as a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.cards import card
from ontomask.data.file_names import is_table_name
from ontomask.data.schema import Schema
from ontomask.errors import PlanError
from ontomask.methods.base import Method, Progress, silent
from ontomask.plan.examination import Examination, Reading
from ontomask.plan.execution import Job, Outcome, execute
from ontomask.plan.reading import read_contents
from ontomask.plan.schema import plan_schema
from ontomask.plan.spelling import spelled
from ontomask.plan.surveying import survey
from ontomask.protection import seed_of, steps_of
from ontomask.writing import write_new

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Job):
    """A whole run in one file: input, columns, steps, evaluation, limits, output, seed.

    ``Plan.read("plan.toml").run()`` does what ``ontomask run plan.toml`` does. The same plan with
    the same seed gives the same bytes.

    Attributes
    ----------
    contents
        What the plan says.
    name, text, folder
        Its file's name, its text, and the folder that paths in it start from.

    Examples
    --------
    >>> plan = om.Plan.parse('''
    ... seed = 1
    ... input = {path = "patients.csv"}
    ... columns = {age = {kind = "numeric", role = "quasi"}}
    ... steps = [{method = "microaggregation", k = 2}]
    ... output = {folder = "release"}
    ... ''')
    >>> plan.schema.quasi
    ('age',)
    >>> [step.k for step in plan.steps]
    [2]
    >>> sorted(om.Plan.json_schema()["required"])
    ['columns', 'input', 'steps']
    """

    def __repr__(self) -> str:
        steps = " → ".join(step.name for step in self.steps)
        return f"Plan({self.name}: {len(self.schema)} columns, {steps}, to {self.target})"

    def _repr_html_(self) -> str:
        facts = [("steps", " → ".join(step.name for step in self.steps)), ("to", self.target)]
        return card(f"Plan {self.name}", facts, self.schema._repr_html_())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a plan from a TOML file; all its problems are raised together."""
        file = Path(path)
        if file.is_file() and is_table_name(file):
            raise PlanError(f"{file} is a table, not a plan; write one with: ontomask init {file}")
        try:
            text = file.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PlanError(f"There is no plan {file}; `ontomask init` writes one.") from None
        except UnicodeDecodeError:
            raise PlanError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
        except OSError as error:
            raise PlanError(f"The plan {file} cannot be read ({error.strerror}).") from None
        return cls.parse(text, name=file.name, folder=file.parent)

    @classmethod
    def parse(
        cls, text: str, *, name: str = "plan.toml", folder: str | os.PathLike[str] = "."
    ) -> Plan:
        """Read a plan from a text; paths in it start from `folder`."""
        place = Path(folder)
        return cls(read_contents(text, name, place), name, text, place)

    @classmethod
    def of(
        cls,
        schema: Schema,
        method: Method | Sequence[Method],
        table: str | os.PathLike[str],
        *,
        seed: int | None = None,
        folder: str | os.PathLike[str] = ".",
        taxonomies: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> Plan:
        """What was tried in Python as a plan that can be saved, edited and run.

        Parameters
        ----------
        schema, method, seed
            As in `ontomask.protect`.
        table
            The file of the table.
        folder
            Where paths start from: that of the file that the plan will be saved to.
        taxonomies
            For nominal columns whose taxonomy does not come with the package, its file.
        """
        steps, chosen = steps_of(method), seed_of(seed)
        text = spelled(schema, steps, os.fspath(table), chosen, taxonomies or {})
        return cls.parse(text, folder=folder)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the plan as a file, which `ontomask run` runs; a new one unless forced."""
        target = Path(path)
        write_new(target, self.text, force=force)
        return target

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of plans, for editors."""
        return plan_schema()

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.contents.schema

    @property
    def steps(self) -> tuple[Method, ...]:
        """The methods, in order."""
        return self.contents.steps

    def with_seed(self, seed: int) -> Plan:
        """The same plan with another seed."""
        return replace(self, contents=replace(self.contents, seed=seed))

    def check(self) -> Examination:
        """Read the table too and see whether the plan fits it; nothing is written."""
        return survey(self.contents, self.folder, self.name, self.text, Reading())

    def run(
        self,
        *,
        force: bool = False,
        internal: bool = False,
        leave_out_undecided: bool = False,
        progress: Progress = silent,
    ) -> Outcome:
        """Protect the table, and write it with its report and manifest to the output folder.

        Parameters
        ----------
        force
            Replace a release that is there already.
        internal
            Also write a report with details that must not be published.
        leave_out_undecided
            Leave out the columns whose role is undecided; otherwise they are refused.
        progress
            Called with the fraction done and a message; it may raise to stop the run.
        """
        return execute(
            self,
            force=force,
            internal=internal,
            leave_out_undecided=leave_out_undecided,
            progress=progress,
        )
