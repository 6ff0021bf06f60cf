"""What the studio shows: the screens, and the parts of them that have to be computed."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
)

from ontomask.data.file_names import without_suffixes
from ontomask.evaluation.classifiers import CLASSIFIERS
from ontomask.methods.base import Method, sizes_asked
from ontomask.methods.presets import PRESETS
from ontomask.methods.registry import METHODS
from ontomask.plan.advice import GOALS, RECIPIENTS
from ontomask.plan.limits import LIMITS
from ontomask.plan.outputs import INTERNAL, MANIFEST, REPORT
from ontomask.plan.plan import Plan
from ontomask.studio.answers import Answers, has_generalization, is_followed, templates
from ontomask.studio.candidates import (
    besides,
    comparable,
    is_candidate,
    limit_of,
    sizes_of,
    step_of,
)
from ontomask.studio.edits import ROLES, WITHOUT_ROLE, contents, model_in_words
from ontomask.studio.exploring import gathered
from ontomask.studio.forms import fields_of, fields_of_section, models_of, texts_of
from ontomask.studio.jobs import Job
from ontomask.studio.lattice import shown_nodes
from ontomask.studio.measuring import attackers
from ontomask.studio.project import SIGNED
from ontomask.studio.session import READING, fraction_of
from ontomask.studio.stages import exceeded
from ontomask.taxonomy.bundled import taxonomies

__all__ = ["PARTS", "Pages"]

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
PARTS = {
    "look": "Reading the file",
    "begin": "Making a plan",
    "people": "Counting records of people",
    "check": "Counting who is alone",
    "meter": "Counting who is alone",
    "columns": "Looking at every column",
    "unique": "Looking for the smallest sets that single people out",
    "words": "Looking values up",
    "tree": "Counting the records of concepts",
    "shape": "Counting values",
    "ladder": "Building the levels",
    "preview": "Trying the steps on a sample",
    "masked": "Counting who is alone after masking",
    "promise": "Trying the steps on a sample",
    "solutions": "Looking at combinations of levels",
    "node": "Generalizing a sample",
    "account": "Masking and measuring the whole table",
    "classifiers": "Training classifiers on the table before and after",
    "records": "Finding the records that moved farthest",
    "map": "Counting values before and after",
    "population": "Estimating who is unique in the population",
}
"""The parts of pages, and what is computed for each."""
OF_STEPS = ("masked", "promise", "solutions", "account", "classifiers", "records", "map")
"""The parts of other screens that fail where the steps do not fit."""
VIEWS = ("account", "map", "classifiers", "records")
TARGETS = ("sensitive", "other")
"""The roles of columns that a classifier can be judged by."""
AXES = ("first", "second", "within", "inside")


class Pages(Answers):
    """The screens of a project."""

    async def reading(self, request: Request) -> Response:
        """How the file of the table is read, as a form."""
        project = self.session.project
        shown = {
            "fields": fields_of_section("input", self.session.reading(), READING),
            "project": project,
            "token": self.keys.form,
            "version": project.notice().digest if project else "",
        }
        return self._part(request, "reading", shown)

    async def columns(self, _request: Request) -> Response:
        """What each column is, and to whom it matters."""
        return self._page_of_project("columns")

    async def column(self, request: Request) -> Response:
        """What one column is and means, and by which levels it is generalized."""
        return self._column(request.path_params["number"], request.query_params)

    async def protection(self, _request: Request) -> Response:
        """For whom the table is, and the steps of the plan."""
        if self.session.project is None:
            return self._go("/open")
        said = contents(self.session.opened.text)
        steps = [
            {
                "number": number,
                "method": step["method"],
                "text": texts_of("method").get(step["method"], ""),
                "fields": fields_of("method", step["method"], step),
                "models": list(_promised(step)),
                "more": models_of(step["method"]),
            }
            for number, step in enumerate(said.get("steps", ()))
            if step.get("method") in METHODS
        ]
        return self._page(
            "protection",
            steps=steps,
            methods=texts_of("method"),
            models=texts_of("model"),
            goals=GOALS,
            recipients=RECIPIENTS,
            taken=_taken(said),
            recipient=said.get("about", {}).get("recipient"),
            about=fields_of_section(
                "about", said.get("about", {}), ("title", "purpose", "recipient", "contact")
            ),
            limits=fields_of_section("limits", said.get("limits", {})),
        )

    async def explore(self, request: Request) -> Response:
        """Methods side by side, or the lattice of a generalization."""
        if self.session.project is None:
            return self._go("/open")
        wanted = request.query_params.get("view", "methods")
        return self._page(
            "explore",
            view="solutions" if wanted == "solutions" else "methods",
            query=request.url.query,
            grid=self.session.grid,
            limit=limit_of(self.session.grid, contents(self.session.opened.text)),
            names=comparable(),
            texts={name: _explained(name) for name in comparable()},
            generalized=has_generalization(contents(self.session.opened.text)),
        )

    async def utility(self, request: Request) -> Response:
        """What was lost: figures, classifiers, single records."""
        if self.session.project is None:
            return self._go("/open")
        said = contents(self.session.opened.text)
        view = request.query_params.get("view", VIEWS[0])
        chosen = ("target", "features", "classifiers", "folds", "seed")
        learned = {
            name: one.get("role", "quasi")
            for name, one in said.get("columns", {}).items()
            if _is_learned(one)
        }
        places = {name: place for place, name in enumerate(said.get("columns", {}))}
        first = {"first": str(places[next(iter(learned))])} if learned else {}
        return self._page(
            "utility",
            view=view if view in VIEWS else VIEWS[0],
            axes={name: request.query_params.get(name, first.get(name, "")) for name in AXES},
            sort=request.query_params.get("sort", "moved"),
            which=request.query_params.get("class", "0"),
            fields=fields_of_section("evaluation", said.get("evaluation", {}), chosen),
            learned=list(learned),
            targets=[name for name, role in learned.items() if role in TARGETS],
            places=places,
            classifiers=CLASSIFIERS,
            chosen=said.get("evaluation", {}),
        )

    async def risk(self, request: Request) -> Response:
        """What is still at risk."""
        if self.session.project is None:
            return self._go("/open")
        percent = request.query_params.get("percent", self.session.percent)
        if percent:
            fraction_of(percent)  # refuses what is no share, before it is remembered
        self.session.percent = percent
        return self._page("risk", percent=percent)

    async def release(self, _request: Request) -> Response:
        """The last look, and the release."""
        project = self.session.opened
        problem = self.session.problem()
        plan = None if problem else self.session.plan()
        measured = None if problem else self.session.known("account")
        decisions = project.decisions()
        signed = [one for one in decisions if one.said == SIGNED]
        return self._page(
            "release",
            plan=plan,
            undecided=list(plan.schema.undecided) if plan else [],
            last=_last_look(plan) if plan else {},
            measured=measured.result if measured and measured.state == "done" else None,
            state=self.session.release_state() if plan else "empty",
            made=plan is not None and (plan.target / MANIFEST).is_file(),
            folder=os.path.relpath(plan.target, self.session.root) if plan else "",
            names=_downloads(self.session.opened.plan, plan) if plan else {},
            job=self.session.release_job(),
            signed=[one for one in signed if one.digest == project.notice().digest],
            decisions=decisions[::-1],
        )

    async def history(self, request: Request) -> Response:
        """Every version of the plan; of one, what it changed."""
        project = self.session.opened
        current, asked = project.current(), request.query_params.get("show", "")
        line = {one.number for one in project.decisions()}
        shown = project.version(int(asked)) if asked.isdecimal() and asked.isascii() else None
        return self._page(
            "history",
            versions=[(one, one.number in line) for one in reversed(project.versions())],
            number=current.number if current else 0,
            shown=shown,
            changed=project.changed(shown) if shown else [],
        )

    async def part(self, request: Request) -> Response:
        """A part of a page that has to be computed: the result, or how far it is."""
        name, query = request.path_params["name"], request.query_params
        if name not in PARTS:
            raise HTTPException(404)
        asked = {"meter": "check", "masked": "preview", "promise": "preview"}.get(name, name)
        job = self.session.job(asked, of=query.get("of", ""), again="again" in query)
        if name == "masked" and job.state in ("failed", "stopped"):
            return HTMLResponse("")  # the screen Protection says why
        if name == "check" and job.is_over:
            return JSONResponse({"show": True})  # the rail tells
        if name == "begin" and job.state == "done" and self.session.picked is not None:
            self.session.begun(self.session.picked, job.result)
            return self._go("/open") if is_followed(request) else JSONResponse({"go": "/open"})
        kept = {key: value for key, value in query.items() if key != "again"}
        project = self.session.project
        shown = {
            "job": job,
            "part": name,
            "computed": PARTS[name],
            "of_steps": OF_STEPS,
            "ahead": self.session.board.ahead(job.key),
            "found": job.result,
            "again": f"/part/{name}?{urlencode(kept)}",
            "token": self.keys.form,
            "roles": ROLES,
            "kinds": texts_of("kind"),
            "version": project.notice().digest if project else "",
            "which": query.get("of", ""),
            "query": query,
        }
        if job.state != "done":
            return self._part(request, "job", shown)
        if name == "columns":
            shown["declared"] = contents(self.session.opened.text).get("columns", {})
            shown |= {"without_role": WITHOUT_ROLE, "taxonomies": taxonomies()}
        if name == "solutions":
            shown["nodes"] = shown_nodes(job.result, query)
        if name == "preview":
            former = self.session.board.get(self.session.former.get("preview", ""))
            shown["was"] = former.result["loss"] if former and former.state == "done" else None
        if name == "account":
            shown |= self._accounted(job.result, query)
        return self._part(request, name, shown)

    def _accounted(self, found: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
        """What the screens add to an account: who may look for people, what was seen before."""
        percent = query.get("percent", "")
        share = fraction_of(percent) if percent else None
        preview = self.session.known("preview")
        sampled = preview.result if preview and preview.state == "done" else None
        return {
            "attackers": attackers(found, share),
            "share": 100 * (share or 0.0),
            "exceeded": exceeded(found, query.get("of", "")),
            "sampled": None if sampled is None or sampled["whole"] else sampled,
        }

    async def methods(self, request: Request) -> Response:
        """The grid of methods as far as it is, and what it waits for."""
        if self.session.project is None:
            raise HTTPException(404)
        cells = self.session.cells(again="again" in request.query_params)
        over = [_as_cell(*one) for one in cells if one[2].state in ("done", "failed")]
        waiting = [job for *_, job in cells if not job.is_over]
        running = [job for job in waiting if job.state == "running"]
        said = contents(self.session.opened.text)
        limit, steps = limit_of(self.session.grid, said), self._steps()
        found = gathered(over, limit)
        shown = {
            "found": found,
            "limit": limit,
            "own": [
                one["title"]
                for one in found["cells"]
                if not one["error"]
                and any(is_candidate(step, one["method"], one["k"] or 2) for step in steps)
            ],
            "steps": [step.name for step in steps],
            "besides": [model_in_words(one) for one in besides(said.get("steps", ()))],
            "over": len(over),
            "cells": len(cells),
            "job": next(iter([*running, *waiting]), None),
            "stopped": any(job.state == "stopped" for *_, job in cells),
            "token": self.keys.form,
            "version": self.session.opened.notice().digest,
        }
        return self._part(request, "methods", shown)

    def _steps(self) -> tuple[Method, ...]:
        """The steps of the plan; none while it cannot be run."""
        return () if self.session.problem() else tuple(self.session.plan().steps)

    async def account(self, _request: Request) -> Response:
        """The internal report of what the plan would release now."""
        job = self.session.job("account")
        if job.state != "done":
            raise HTTPException(404)
        return HTMLResponse(job.result["page"], headers={"content-security-policy": REPORT_POLICY})

    async def report(self, request: Request) -> Response:
        """A report of the release."""
        names = {"public": REPORT, "internal": INTERNAL}
        path = self.session.plan().target / names.get(request.path_params["which"], "")
        if not path.is_file():
            raise HTTPException(404)
        return HTMLResponse(
            path.read_text("utf-8"), headers={"content-security-policy": REPORT_POLICY}
        )

    async def download(self, request: Request) -> Response:
        """A file of the release, or the plan."""
        which = request.path_params["which"]
        if which == "decisions":
            return self._decisions()
        files = _downloads(self.session.opened.plan, self.session.plan())
        path, name = files.get(which, (None, ""))
        if path is None or not path.is_file():
            raise HTTPException(404)
        return (
            self._with_decisions(path) if which == "internal" else FileResponse(path, filename=name)
        )

    def _with_decisions(self, report: Path) -> Response:
        """The internal report with what led to the plan, and why."""
        told = templates().get_template("parts/decisions.html")
        text = told.render(decisions=self.session.opened.decisions())
        before, end, after = report.read_text("utf-8").rpartition("</body>")
        headers = {"content-disposition": f'attachment; filename="{report.name}"'}
        return HTMLResponse(f"{before}{text}{end}{after}", headers=headers)

    def _decisions(self) -> Response:
        """Every version of the plan with its reason, to be kept with the internal report."""
        lines = [
            f"{one.when}  {one.said}{f': {one.note}' if one.note else ''}"
            for one in self.session.opened.decisions()
        ]
        headers = {"content-disposition": 'attachment; filename="decisions.txt"'}
        return Response("\n".join(lines) + "\n", media_type="text/plain", headers=headers)


def _downloads(text: Path, plan: Plan) -> dict[str, tuple[Path, str]]:
    """The files of a release and the plan's own, each with the name that it is sent by.

    A table that is sent leaves its folder, so its name says that it is not the original.
    """
    names = {"report": REPORT, "internal": INTERNAL, "manifest": MANIFEST}
    stem = without_suffixes(plan.table)
    sent = f"{stem}-released{plan.table.removeprefix(stem)}"
    return {
        "table": (plan.target / plan.table, sent),
        **{which: (plan.target / name, name) for which, name in names.items()},
        "plan": (text, text.name),
    }


def _taken(said: Mapping[str, Any]) -> list[str]:
    """The kinds of recipients whose k and limit a plan has."""
    sizes = set(sizes_of(said.get("steps", ())))
    limit = said.get("limits", {}).get("max_risk")
    return [
        name
        for name, advice in RECIPIENTS.items()
        if limit == round(100 * advice.max_risk, 9) and sizes <= {advice.k}
    ]


@functools.cache
def _explained(name: str) -> str:
    """What a compared method is, and what its step does."""
    text = texts_of("method").get(step_of(name, 2)["method"], "").split(". ")[0].replace("`", "")
    return f"{PRESETS[name][0]}: {text}" if name in PRESETS else text


def _is_learned(said: Mapping[str, Any]) -> bool:
    """Whether classifiers may learn from a column: one that is published and no name or number."""
    named = said.get("kind") in WITHOUT_ROLE
    return not named and said.get("role") != "undecided"


def _last_look(plan: Plan) -> dict[str, Any]:
    """What a release of a plan will be, in a few facts, for somebody who is about to make it."""
    schema, about, limits = plan.schema, plan.contents.about, plan.contents.limits
    sizes = sizes_asked(plan.steps)
    added, dropped = (_named(plan, method) for method in ("pseudonyms", "drop-columns"))
    published = [one for one in schema if one in {*schema.published, *added} - dropped]
    return {
        "steps": [step.name for step in plan.steps],
        "k": max(sizes) if sizes else None,
        "recipient": about.recipient,
        "purpose": about.purpose,
        "published": published,
        "left": [name for name in schema if name not in published],
        "limits": {
            said: getattr(limits, name)
            for name, said in LIMITS.items()
            if getattr(limits, name) is not None
        },
        "unit": schema.unit,
        "shuffle": plan.contents.output.shuffle,
    }


def _named(plan: Plan, method: str) -> set[str]:
    """The columns that the steps of a method name."""
    steps = [step for step in plan.steps if step.name == method]
    return {name for step in steps for name in getattr(step, "columns", None) or ()}


def _as_cell(name: str, k: int, job: Job) -> dict[str, Any]:
    """A compared method; one that could not be compared says why."""
    if job.state == "done":
        found: dict[str, Any] = job.result
        return found
    return {"cell": {"method": name, "k": k, "seed": 1, "error": job.problem}} | {
        "whole": True,
        "records": 0,
    }


def _promised(step: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The privacy models of a step, each with the fields of its form."""
    for place, model in enumerate(step.get("privacy", ())):
        name = model.get("model", "")
        if name in texts_of("model"):
            title, fields = model_in_words(model), fields_of("model", name, model)
            yield {"place": place, "model": name, "title": title, "fields": fields}
