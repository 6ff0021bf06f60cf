"""All words of a plan: the columns, steps, privacy and quality models that it can name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from ontomask.checks import ListOf, Text, Typed, check
from ontomask.data.files import FileFormat, read_file
from ontomask.data.rules import Rule
from ontomask.data.schema import (
    Count,
    Date,
    Flat,
    Identifier,
    Nominal,
    Numeric,
    Ordinal,
    Weight,
)
from ontomask.errors import ParameterError
from ontomask.extensions import declared_classes
from ontomask.methods.generalization.recipes import RECIPES, check_hierarchy
from ontomask.methods.registry import METHODS
from ontomask.plan.parts import Kind, Part, Written, list_of, union_of
from ontomask.privacy import (
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EstimatedKMap,
    KAnonymity,
    KMap,
    LDiversity,
    NoAttack,
    PopulationNoAttack,
    PopulationProfitability,
    PopulationUniques,
    PrivacyModel,
    Profitability,
    RecordsAtRisk,
    SampleUniqueness,
    TCloseness,
)
from ontomask.quality import QUALITIES, Quality
from ontomask.taxonomy.bundled import NAMES
from ontomask.taxonomy.loading import load_taxonomy

__all__ = [
    "COLUMNS",
    "COLUMN_MODELS",
    "PRIVACY",
    "PRIVACY_MODELS",
    "QUALITY",
    "QUALITY_MODELS",
    "RULE",
    "RULE_MODEL",
    "STEPS",
    "STEP_MODELS",
    "TaxonomyFile",
    "make",
]

Word = Annotated[str, Text()]
ROWS = ListOf(Typed(list, "a row of a value and its generalizations"), empty=False)
HierarchyForm = Annotated[
    Any,
    Typed((str, list, dict), "a file, a list of rows, or a table that says how to build it"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                ROWS.json_schema(),
                *(recipe.json_schema for recipe in RECIPES.values()),
            ]
        }
    ),
]


def _or_word(part: Any, key: str, described: str) -> Any:
    """What a part allows, or a single word for its key."""

    def spelled_out(value: object, info: ValidationInfo) -> object:
        check(str(info.field_name), value, Typed((str, Mapping), described))
        return {key: value} if isinstance(value, str) else value

    return Annotated[part, BeforeValidator(spelled_out, json_schema_input_type=str | part)]


def _by_name(*kinds: Kind) -> dict[str, Kind]:
    return {kind.name: kind for kind in kinds}


# Columns --------------------------------------------------------------------------------------


class TaxonomyFile(Part):
    """A taxonomy in a file, with the options of its reader."""

    path: Word = Field(description="The file or folder, relative to the plan.")
    format: Word | None = Field(default=None, description="The reader, if it is not recognized.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the reader.")


def _taxonomy(written: TaxonomyFile, folder: Path) -> Any:
    file = folder / written.path
    source = file if file.exists() and written.path not in NAMES else written.path
    if {"source", "format"} & set(written.options):
        raise ParameterError("options are those of the reader; path and format stand beside them.")
    return load_taxonomy(source, format=written.format, **written.options)


def _overrides(written: str | dict[str, str], folder: Path) -> Any:
    return folder / written if isinstance(written, str) else written


COLUMNS = _by_name(
    Kind("kind", "identifier", Identifier),
    Kind("kind", "count", Count),
    Kind("kind", "weight", Weight),
    Kind("kind", "numeric", Numeric),
    Kind("kind", "date", Date),
    Kind("kind", "flat", Flat),
    Kind("kind", "ordinal", Ordinal),
    Kind(
        "kind",
        "nominal",
        Nominal,
        {
            "taxonomy": Written(
                "taxonomy",
                _or_word(TaxonomyFile, "path", "a bundled name, a file, or a table with its path"),
                _taxonomy,
                "A bundled taxonomy by name, or a file relative to the plan.",
                required=True,
            ),
            "overrides": Written(
                "mapping",
                Annotated[Any, Typed((str, dict), "a file, or a table of values and concepts")],
                _overrides,
                "Concepts of particular values: a file relative to the plan, or a table.",
            ),
        },
    ),
)

RULE = Kind("", "rule", Rule)
RULE_MODEL = RULE.model()
COLUMN_MODELS = {name: kind.model() for name, kind in COLUMNS.items()}


# Privacy and quality models -------------------------------------------------------------------

PRIVACY = _by_name(
    Kind("model", "k-anonymity", KAnonymity),
    Kind("model", "k-map", KMap),
    Kind("model", "delta-presence", DeltaPresence),
    Kind("model", "l-diversity", LDiversity),
    Kind("model", "t-closeness", TCloseness),
    Kind("model", "delta-disclosure", DeltaDisclosure),
    Kind("model", "beta-likeness", BetaLikeness),
    Kind("model", "average-risk", AverageRisk),
    Kind("model", "sample-uniqueness", SampleUniqueness),
    Kind("model", "estimated-k-map", EstimatedKMap),
    Kind("model", "records-at-risk", RecordsAtRisk),
    Kind("model", "population-uniques", PopulationUniques),
    Kind("model", "no-attack", NoAttack),
    Kind("model", "population-no-attack", PopulationNoAttack),
    Kind("model", "profitability", Profitability),
    Kind("model", "population-profitability", PopulationProfitability),
)

PRIVACY |= _by_name(
    *(
        Kind("model", one.name, one)
        for one in declared_classes("privacy_models", PrivacyModel, PRIVACY)
    )
)
PRIVACY_MODELS = {name: kind.model() for name, kind in PRIVACY.items()}

QUALITY = _by_name(*(Kind("model", name, made) for name, made in QUALITIES.items()))
QUALITY |= _by_name(
    *(Kind("model", one.name, one) for one in declared_classes("quality_models", Quality, QUALITY))
)

QUALITY_MODELS = {name: kind.model() for name, kind in QUALITY.items()}


def make(kinds: Mapping[str, Kind], part: Part, folder: Path) -> Any:
    """Make what a part describes, whichever of the kinds it is."""
    tag = next(iter(kinds.values())).tag
    return kinds[getattr(part, tag)].make(part, folder)


# Steps ----------------------------------------------------------------------------------------


def _privacy(written: list[Part], folder: Path) -> Any:
    return tuple(make(PRIVACY, one, folder) for one in written)


def _quality(written: Part, folder: Path) -> Any:
    return make(QUALITY, written, folder)


def _hierarchies(written: dict[str, Any], folder: Path) -> Any:
    return {name: _hierarchy(one, folder) for name, one in written.items()}


def _wrong_hierarchies(written: dict[str, Any], folder: Path) -> Iterator[tuple[tuple[str], str]]:
    for name, one in written.items():
        try:
            if isinstance(one, list):
                check(f"The hierarchy of {name!r}", one, ROWS)
            check_hierarchy(name, _hierarchy(one, folder))
        except ParameterError as error:
            yield (name,), str(error)
        if isinstance(one, str) and not (folder / one).is_file():
            yield (
                (name,),
                f"The hierarchy of {name!r} is to be in {one!r}, which is not a file; the path "
                "starts from the plan.",
            )


def _hierarchy(written: str | list[Any] | dict[str, Any], folder: Path) -> Any:
    if isinstance(written, str):
        return folder / written
    return [tuple(row) for row in written] if isinstance(written, list) else written


def _population(written: str, folder: Path) -> Any:
    return read_file(folder / written, FileFormat()).frame


def _secret(written: str, _folder: Path) -> str:
    found = os.environ.get(written, "")
    if not found.strip():
        raise ParameterError(
            f"key_variable names the environment variable {written!r}, which is not set; set it to "
            "a secret of your own before the run."
        )
    return found


_MODELS = Written(
    "privacy",
    list_of(union_of(PRIVACY_MODELS, "model"), empty=True),
    _privacy,
    "The models that must hold, all of them: [[steps.privacy]].",
)

_HIERARCHIES = Written(
    "hierarchies",
    dict[str, HierarchyForm],
    _hierarchies,
    "For each column how to build its hierarchy, as in { intervals = [5, 10, 20] } or "
    '{ dates = ["month", "year"] }; or rows of a value and its generalizations, or a file '
    "of such rows relative to the plan. Nominal columns have their taxonomy.",
    examine=_wrong_hierarchies,
)

WRITTEN: dict[str, dict[str, Written]] = {
    "private-generalization": {
        "schemes": Written(
            "schemes",
            list_of(dict[str, int]),
            lambda written, _folder: written,
            "The level of every quasi-identifier, chosen without a look at the table; of several "
            "such tables one is drawn.",
            required=True,
        ),
        "hierarchies": _HIERARCHIES,
    },
    **{
        name: {"privacy": _MODELS}
        for name in ("microaggregation", "recoding", "resampling", "hybrid")
    },
    "generalization": {
        "privacy": _MODELS,
        "quality": Written(
            "quality",
            _or_word(
                union_of(QUALITY_MODELS, "model"),
                "model",
                "the name of a quality model, or a table with its parameters",
            ),
            _quality,
            "What to lose least of: the name of a quality model, or a table with its parameters.",
        ),
        "hierarchies": _HIERARCHIES,
        "population": Written(
            "population",
            Word,
            _population,
            "A file relative to the plan with the population that the records come from.",
        ),
    },
    "pseudonyms": {
        "key": Written(
            "key_variable",
            Word,
            _secret,
            "The environment variable that holds the secret key; a plan never holds it.",
            required=True,
        )
    },
}

STEPS = _by_name(
    *(Kind("method", name, made, WRITTEN.get(name, {})) for name, made in sorted(METHODS.items()))
)

STEP_MODELS = {name: kind.model() for name, kind in STEPS.items()}
