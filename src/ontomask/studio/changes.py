"""What a form of the studio changes: the plan, what is computed, what is released."""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from ontomask.data.files import FileFormat
from ontomask.errors import PlanError
from ontomask.plan.advice import GOALS, RECIPIENTS, advised
from ontomask.plan.starting import starting, starting_model
from ontomask.studio.answers import FITTING, SETTINGS, Answers, Form
from ontomask.studio.candidates import adopted, limit_of, sizes_of
from ontomask.studio.edits import (
    WITHOUT_ROLE,
    add_step,
    contents,
    move_step,
    only_step,
    remove_step,
    set_value,
)
from ontomask.studio.forms import fields_of, fields_of_section, models_of, read_field
from ontomask.studio.jobs import Task
from ontomask.studio.lattice import node_levels
from ontomask.studio.project import SIGNED
from ontomask.studio.session import PLAN, READING, WHOSE
from ontomask.studio.stages import STAGES

__all__ = ["Changes"]

SET = ("about", "limits", "evaluation", "input")
MOST_SEARCHED = 9
"""Columns whose levels can still be combined in every way."""
LISTS = ("classifiers", "features")
SCREEN = re.compile(
    f"(?:{'|'.join(path for path, _ in STAGES)}|history)(?:/[0-9]+)?(?:[?][a-z0-9=&._-]*)?"
)
"""An address of the studio; no other is gone to because a form says so."""
USUAL = 5
"""The k of a step whose k nobody has said."""


class Changes(Answers):
    """What is changed by forms; each is refused unless it leaves a plan."""

    async def pick(self, _request: Request, form: Form) -> Response:
        """Pick a table, or open a project."""
        path = self.session.inside(str(form.get("path", "")))
        if path.name == PLAN:
            self.session.open(path)
            return self._go("/")
        self.session.pick(path)
        return self._go("/" if self.session.project else "/open")

    async def upload(self, _request: Request, form: Any) -> Response:
        """Take a file that was dropped on the page."""
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise PlanError("No file came along; choose one and send it again.")
        receive = self.session.receive
        self.session.pick(await anyio.to_thread.run_sync(receive, file.filename, file.file))
        return self._go("/open")

    async def demonstrate(self, _request: Request, _form: Form) -> Response:
        """Put the table of the demonstration into the folder and pick it."""
        self.session.pick(await anyio.to_thread.run_sync(self.session.demonstration))
        return self._go("/open")

    async def begin(self, _request: Request, _form: Form) -> Response:
        """Make a plan for the picked table."""
        self.session.job("begin")
        return self._go("/part/begin")

    async def set_reading(self, _request: Request, form: Form) -> Response:
        """Say how a table is read before there is a plan."""
        said = dict(self.session.said_reading)
        for field in fields_of_section("input", said, READING):
            if field.name in form:
                said[field.name] = read_field(field, str(form[field.name]))
        known = {name: value for name, value in said.items() if value is not None}
        FileFormat(**known)  # refuses what cannot be said
        self.session.said_reading = known
        return self._go("/open")

    async def renew(self, _request: Request, form: Form) -> Response:
        """Propose columns and steps anew, for the table as it is read now."""
        text = await anyio.to_thread.run_sync(self.session.renewed)
        return await self._save(form, text, "proposed anew", "/columns")

    async def set_column(self, _request: Request, form: Any) -> Response:
        """Say what a column is, or several."""
        names = [str(one) for one in form.getlist("name")]
        key, value = (str(form.get(one, "")) for one in ("key", "value"))
        if not names:
            raise PlanError("Choose at least one column first.")
        if form.get("what") == "kind":
            return await self._set_kinds(form, names)
        if key not in ("role", "kind"):
            raise PlanError("Only the role and the kind of a column are set here.")
        if key == "kind" and value in ("nominal", "ordinal"):
            known = list(contents(self.session.opened.text).get("columns", {}))
            place = known.index(names[0]) if names[0] in known else len(known)
            return self._go(f"/columns/{place}?kind={value}")
        text = self.session.opened.text
        said = contents(text).get("columns", {})
        if len(names) > 1:  # those among several that nobody has to decide on stay as they are
            names = [one for one in names if said.get(one, {}).get("kind") not in WITHOUT_ROLE]
        for name in names:
            text = set_value(text, ["columns", name, key], value)
            if key == "kind":
                text = _fitting(text, name, value)
        return await self._save(form, text, "", "/columns")

    async def _set_kinds(self, form: Form, names: Sequence[str]) -> Response:
        """Give several columns a kind and what it needs: a taxonomy, or an order to begin with."""
        kind, taxonomy = (str(form.get(one, "")).strip() for one in ("kind", "taxonomy"))
        if kind not in FITTING:
            raise PlanError("There is no such kind of column; reload the page.")
        if kind == "nominal" and not taxonomy:
            raise PlanError("Nominal columns need a taxonomy: name one, then set the kind.")
        text = self.session.opened.text
        said = contents(text).get("columns", {})
        for name in names:
            text = _fitting(set_value(text, ["columns", name, "kind"], kind), name, kind)
            if kind == "nominal":
                text = set_value(text, ["columns", name, "taxonomy"], taxonomy)
            if kind == "ordinal" and not said.get(name, {}).get("order"):
                order = await anyio.to_thread.run_sync(self._awaited, "columns.values", name)
                text = set_value(text, ["columns", name, "order"], order)
        return await self._save(form, text, "", "/columns")

    async def declare(self, _request: Request, form: Form) -> Response:
        """Say more of a column: its kind, its taxonomy, how it is measured."""
        number, kind = str(form.get("number", "")), str(form.get("kind", ""))
        name, text = self.session.column(number), self.session.opened.text
        said = contents(text)["columns"][name]
        if kind not in FITTING:
            raise PlanError("There is no such kind of column; reload the page.")
        given: dict[str, Any] = {"kind": kind}
        if "taxonomy" in form:
            given["taxonomy"] = str(form["taxonomy"]).strip() or None
        for field in fields_of("kind", kind, said):
            if field.name in SETTINGS and field.name in form:
                given[field.name] = read_field(field, str(form[field.name]))
        if kind == "ordinal" and not said.get("order"):
            given["order"] = await anyio.to_thread.run_sync(self._awaited, "columns.values", name)
        for key, value in given.items():
            if value != said.get(key):
                text = set_value(text, ["columns", name, key], value)
        text = _fitting(text, name, kind)
        return await self._save(form, text, "", f"/columns/{int(number)}")

    def _awaited(self, task: Task, column: str, **given: object) -> Any:
        return self.session.awaited(task, column=column, **given)

    async def set_order(self, _request: Request, form: Any) -> Response:
        """Put a value of an ordinal column elsewhere in its order."""
        number = str(form.get("number", ""))
        name = self.session.column(number)
        order = [_value(str(one)) for one in form.getlist("order")]
        place, _, to = str(form.get("move", "")).partition(".")
        if not (place.isdecimal() and to.isdecimal() and int(place) < len(order)):
            raise PlanError("There is no such value any more; reload the page.")
        order.insert(int(to), order.pop(int(place)))
        text = set_value(self.session.opened.text, ["columns", name, "order"], order)
        return await self._save(form, text, f"{name}: order", f"/columns/{int(number)}")

    async def find(self, _request: Request, form: Form) -> Response:
        """Look up a word in a column's taxonomy; what was typed is in no address."""
        number, text = str(form.get("number", "")), str(form.get("text", "")).strip()[:200]
        name = self.session.column(number)
        if not text:
            raise PlanError("Type a word or a code to look for.")
        found = await anyio.to_thread.run_sync(
            functools.partial(self._awaited, "columns.found", name, text=text)
        )
        return self._column(number, form, found=found)

    async def map_value(self, _request: Request, form: Form) -> Response:
        """Say which concept a value means."""
        number, value, concept = (str(form.get(one, "")) for one in ("number", "value", "concept"))
        if not value or not concept.strip():
            raise PlanError("Choose a concept, or write its id or name.")
        name = self.session.column(number)
        text = self.session.mapped(name, value, concept.strip())
        return await self._save(form, text, f"{name}: a value mapped", f"/columns/{int(number)}")

    async def set_person(self, _request: Request, form: Form) -> Response:
        """Say which column says whose record it is; none means that every record is a person."""
        name, text = str(form.get("name", "")), self.session.opened.text
        declared = contents(text).get("columns", {})
        if name and name not in declared:
            raise PlanError("There is no such column any more; reload the page.")
        for other, said in declared.items():
            if said.get("unit"):
                text = set_value(text, ["columns", other, "unit"], None)
        if name:
            text = set_value(text, ["columns", name, "role"], None)
            text = set_value(text, ["columns", name, "kind"], "identifier")
            text = set_value(text, ["columns", name, "unit"], True)
        said = f"{WHOSE}: {f'people by {name}' if name else 'each a person'}"
        if text == self.session.opened.text:  # the guess is accepted: that is a decision, too
            self.session.opened.record(said)
            return self._go("/columns")
        return await self._save(form, text, said, "/columns")

    async def set_table(self, _request: Request, form: Form) -> Response:
        """Say where the table is now."""
        path = self.session.inside(str(form.get("path", "")))
        project = self.session.opened
        where = Path(os.path.relpath(path, project.folder)).as_posix()
        text = set_value(project.text, ["input", "path"], where)
        return await self._save(form, text, "", "/open")

    async def set_hierarchy(self, _request: Request, form: Form) -> Response:
        """Say how the levels of a column are built, in the plan's generalization."""
        number = str(form.get("number", ""))
        name, text = self.session.column(number), self.session.opened.text
        steps = contents(text).get("steps", [])
        places = [n for n, one in enumerate(steps) if one.get("method") == "generalization"]
        if not places:
            raise PlanError("The plan has no generalization; add that step first.")
        recipe = _recipe(form)
        path: list[str | int] = ["steps", places[0], "hierarchies", name]
        text = set_value(set_value(text, path, None), path, recipe)
        text = set_value(text, ["steps", places[0], "levels"], None)  # a node of other levels
        return await self._save(form, text, f"{name}: levels", f"/columns/{int(number)}")

    async def set_section(self, request: Request, form: Any) -> Response:
        """Change fields of a section that the plan has once."""
        name, text = request.path_params["name"], self.session.opened.text
        if name not in SET:
            raise PlanError("There is no such section; reload the page.")
        said = contents(text).get(name, {})
        for field in fields_of_section(name, said):
            if field.name in form:
                given = form.getlist(field.name)
                joined = "\n".join(map(str, given)) if field.name in LISTS else str(given[-1])
                value = read_field(field, joined)
                if value != said.get(field.name):
                    text = set_value(text, [name, field.name], value)
        return await self._save(form, text, "", _here(form))

    async def advise(self, _request: Request, form: Form) -> Response:
        """Take over what is usual for a kind of recipient: k and l where they fit, the limit."""
        advice = RECIPIENTS.get(str(form.get("recipient", "")))
        if advice is None:
            raise PlanError("There is no such kind of recipient; reload the page.")
        text, schema = self.session.opened.text, self.session.plan().schema
        values = await anyio.to_thread.run_sync(self.session.distinct)
        diverse = [
            name for name in schema.with_role("sensitive") if values.get(name, 0) >= advice.l
        ]
        known = contents(text).get("about", {}).get("recipient")
        if known is None or known in [one.recipient for one in RECIPIENTS.values()]:
            text = set_value(text, ["about", "recipient"], advice.recipient)
        text = set_value(text, ["limits", "max_risk"], round(100 * advice.max_risk, 9))
        for number, step in enumerate(contents(text).get("steps", ())):
            if "k" in step:
                text = set_value(text, ["steps", number, "k"], advice.k)
            if models_of(step.get("method", "")) and (
                promised := advised(step.get("privacy", ()), advice, diverse)
            ):
                text = set_value(text, ["steps", number, "privacy"], promised)
        return await self._save(form, text, "", "/protection")

    async def add_step(self, _request: Request, form: Form) -> Response:
        """Put a step behind the others, with what it needs at least."""
        method = str(form.get("method", ""))
        text = add_step(self.session.opened.text, method, await self._needed(method, form))
        return await self._save(form, text, f"step added: {method}", "/protection")

    async def choose_goal(self, _request: Request, form: Form) -> Response:
        """Take the method that serves a goal, instead of the steps there."""
        goal = GOALS.get(str(form.get("goal", "")))
        if goal is None:
            raise PlanError("There is no such goal; reload the page.")
        sizes = sizes_of(contents(self.session.opened.text).get("steps", ()))
        given = await self._needed(goal.method, {"k": max(sizes, default=USUAL), **form})
        text = only_step(self.session.opened.text, goal.method, given)
        return await self._save(form, text, f"goal: {goal.title}", "/protection")

    async def _needed(self, method: str, form: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that a method begins with, from a form and a look at the table."""
        schema, asked = self.session.plan().schema, str(form.get("k", ""))
        given = starting(method, schema, int(asked) if asked.isdecimal() else USUAL)
        if method == "generalization":
            if len(schema.quasi) > MOST_SEARCHED:
                given["algorithm"] = "best-effort"
            given["hierarchies"] = await anyio.to_thread.run_sync(
                self.session.awaited, "tasks.draft"
            )
        return given

    async def remove_step(self, _request: Request, form: Form) -> Response:
        """Take a step out."""
        text = remove_step(self.session.opened.text, _number(form, "step"))
        return await self._save(form, text, "", "/protection")

    async def move_step(self, _request: Request, form: Form) -> Response:
        """Put a step elsewhere in the order."""
        text = move_step(self.session.opened.text, _number(form, "step"), _number(form, "to"))
        return await self._save(form, text, "", "/protection")

    async def add_model(self, _request: Request, form: Form) -> Response:
        """Let a step promise one model more."""
        number, model = _number(form, "step"), str(form.get("model", ""))
        step = self._step(number)
        sizes = sizes_of([step])
        promised = starting_model(model, self.session.plan().schema, max(sizes, default=USUAL))
        models = [*step.get("privacy", ()), promised]
        return await self._promise(form, number, models)

    async def remove_model(self, _request: Request, form: Form) -> Response:
        """Take a model out of the promises of a step."""
        number, place = _number(form, "step"), _number(form, "place")
        models = list(self._step(number).get("privacy", ()))
        del models[place : place + 1]
        return await self._promise(form, number, models or None)

    async def set_model(self, _request: Request, form: Form) -> Response:
        """Change parameters of a model that a step promises."""
        number, place = _number(form, "step"), _number(form, "place")
        models = list(self._step(number).get("privacy", ()))
        if not 0 <= place < len(models):
            raise PlanError("There is no such model any more; reload the page.")
        given = dict(models[place])
        for field in fields_of("model", str(given.get("model", "")), given):
            if field.name in form:
                given[field.name] = read_field(field, str(form[field.name]))
        models[place] = {name: value for name, value in given.items() if value is not None}
        return await self._promise(form, number, models)

    async def _promise(self, form: Form, number: int, models: object) -> Response:
        path: list[str | int] = ["steps", number, "privacy"]
        text = set_value(set_value(self.session.opened.text, path, None), path, models)
        return await self._save(form, text, "", "/protection")

    def _step(self, number: int) -> Mapping[str, Any]:
        steps = contents(self.session.opened.text).get("steps", [])
        if not 0 <= number < len(steps):
            raise PlanError("There is no such step any more; reload the page.")
        step: Mapping[str, Any] = steps[number]
        return step

    async def set_step(self, _request: Request, form: Form) -> Response:
        """Change parameters of a step."""
        number = _number(form, "step")
        text, step = self.session.opened.text, self._step(number)
        for field in fields_of("method", step["method"], step):
            if field.name in form:
                value = read_field(field, str(form[field.name]))
                if value != step.get(field.name):
                    text = set_value(text, ["steps", number, field.name], value)
        return await self._save(form, text, "", "/protection")

    async def set_grid(self, _request: Request, form: Any) -> Response:
        """Say which methods are compared."""
        names = [str(one) for one in form.getlist("names")]
        sizes = [
            int(one)
            for one in str(form.get("sizes", "")).replace(",", " ").split()
            if one.isdigit()
        ]
        limit = str(form.get("limit", ""))
        if not names or not sizes:
            raise PlanError("Choose at least one method and one k, such as 5.")
        grid = {
            "names": names,
            "sizes": sizes,
            "limit": None,
            "whole": form.get("whole") == "true",
        }
        usual = limit_of(grid, contents(self.session.opened.text))
        if limit.replace(".", "", 1).isdigit() and float(limit) != usual:
            grid["limit"] = float(limit)  # what is not changed follows the plan
        self.session.grid = grid
        return self._go("/explore")

    async def stop_comparing(self, _request: Request, _form: Form) -> Response:
        """Compare no more methods."""
        self.session.stop_cells()
        return self._go("/explore")

    async def adopt(self, _request: Request, form: Form) -> Response:
        """Take a compared method into the plan, instead of the steps there."""
        text = self.session.opened.text
        steps = contents(text).get("steps", ())
        step, said = adopted(steps, str(form.get("method", "")), _number(form, "k"))
        text = only_step(text, step.pop("method"), step)
        return await self._save(form, text, said, "/protection")

    async def fix_levels(self, _request: Request, form: Form) -> Response:
        """Fix a node of the lattice in the plan, or let levels be searched again."""
        text, node = self.session.opened.text, str(form.get("node", ""))
        levels = node_levels(node, list(self.session.plan().schema.quasi)) if node else None
        for number, step in enumerate(contents(text).get("steps", ())):
            if step.get("method") == "generalization":
                text = set_value(text, ["steps", number, "levels"], None)
                text = set_value(text, ["steps", number, "levels"], levels)
                break
        said = f"levels fixed: {node}" if node else "levels are searched"
        return await self._save(form, text, said, "/protection" if node else "/explore")

    async def undo(self, _request: Request, form: Form) -> Response:
        """Go back one version."""
        self.session.opened.undo()
        return self._go(_here(form))

    async def redo(self, _request: Request, form: Form) -> Response:
        """Go forward one version."""
        self.session.opened.redo()
        return self._go(_here(form))

    async def go(self, _request: Request, form: Form) -> Response:
        """Go to any version of the plan."""
        self.session.opened.go(_number(form, "number"))
        return self._go("/history")

    async def note(self, _request: Request, form: Form) -> Response:
        """Write down why something was decided."""
        self.session.opened.annotate(_number(form, "number"), str(form.get("note", ""))[:2000])
        return self._go(_here(form))

    async def sign(self, _request: Request, form: Form) -> Response:
        """Sign a release: who, and on which figures."""
        name = str(form.get("name", "")).strip()[:200]
        job = self.session.release_job()
        if not name:
            raise PlanError("Say who signs: the name is kept with the figures of the release.")
        if job is None or job.state != "done":
            raise PlanError("Make the release first; what is signed are its figures.")
        if self.session.release_state() != "ready":
            raise PlanError(
                "Only a finished release of the plan as it is now can be signed; make it again, "
                "within its limits."
            )
        self.session.opened.record(SIGNED, f"{name}, on: {_signed_on(job.result)}")
        return self._go("/release#signed")

    async def run(self, _request: Request, form: Form) -> Response:
        """Make the release."""
        self.session.start_release(
            force=form.get("force") == "true", leave_out=form.get("leave_out") == "true"
        )
        return self._go("/release")

    async def stop(self, request: Request, form: Form) -> Response:
        """Stop a job."""
        self.session.board.stop(request.path_params["key"])
        return self._go(_here(form))


def _fitting(text: str, name: str, kind: str) -> str:
    """The plan without what a column of a kind has no use for."""
    useless = {
        "taxonomy": kind != "nominal",
        "order": kind != "ordinal",
        "role": kind in WITHOUT_ROLE,
    }
    for key in (key for key, is_useless in useless.items() if is_useless):
        text = set_value(text, ["columns", name, key], None)
    return text


def _number(form: Form, name: str) -> int:
    text = str(form.get(name, ""))
    if not text.removeprefix("-").isdecimal() or not text.isascii():
        raise PlanError(f"{name} must be a whole number.")
    return int(text)


def _signed_on(made: Mapping[str, Any]) -> str:
    """The figures of a release that are signed: promises, risk, loss, and what stays at risk."""
    figures = made["figures"]
    said = [statement for _, statement in made["findings"]]
    said += [
        f"highest risk {100 * figures['highest']:.3g} %",
        f"records linked {100 * figures['linkage']:.3g} %",
        f"information loss {100 * figures['loss']:.3g} %",
    ]
    said += [f"{share} share {column} with their whole group" for column, share in made["alike"]]
    return "; ".join([*said, *made["exceeded"]])


def _here(form: Form) -> str:
    """The screen that a form came from."""
    here = str(form.get("here", ""))
    return f"/{here}" if SCREEN.fullmatch(here) else "/"


def _recipe(form: Form) -> Any:
    """How a hierarchy is built, as a form says it; None takes it out."""
    way, said = str(form.get("way", "")), str(form.get("said", "")).strip()
    words = said.replace(",", " ").split()
    match way:
        case "":
            return None
        case "file":
            return said
        case "intervals":
            return {"intervals": [_measure(word) for word in words], **_ends(form)}
        case "cuts":
            return {"cuts": [_measure(word) for word in words]}
        case "dates":
            return {"dates": words}
        case "order":
            return {"order": int(said) if said.isdecimal() else said}
        case "star":
            return {"star": said != "no"}
    return {way: said}


def _value(literal: str) -> Any:
    """A value of the table as a form holds it: as it is written in a plan."""
    try:
        return tomllib.loads(f"value = {literal}")["value"]
    except tomllib.TOMLDecodeError:
        raise PlanError("This is no value of the column; reload the page.") from None


def _ends(form: Form) -> dict[str, float]:
    given = {name: str(form.get(name, "")).strip() for name in ("bottom", "top")}
    return {name: _measure(text) for name, text in given.items() if text}


def _measure(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise PlanError(f"{text!r} is no number; give widths such as 5, 10, 20.") from None
    return int(number) if number.is_integer() else number
