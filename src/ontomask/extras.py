"""Packages that not everybody needs, each with what it is for and the extra that installs it."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any

from ontomask.errors import DependencyError

__all__ = ["EXTRAS", "Extra", "is_there", "not_installed", "optional"]


@dataclass(frozen=True)
class Extra:
    """An optional package: who needs it, its name for people, and the extra that brings it."""

    purpose: str
    package: str
    extra: str

    def __str__(self) -> str:
        return (
            f"{self.purpose} need the package {self.package}, which is not installed; install it "
            f'with: pip install "ontomask[{self.extra}]"'
        )


EXTRAS = {
    "duckdb": Extra("Tables larger than memory", "duckdb", "duckdb"),
    "pyarrow": Extra("Tables larger than memory", "pyarrow", "duckdb"),
    "adbc_driver_postgresql": Extra("Tables of PostgreSQL", "adbc-driver-postgresql", "postgresql"),
    "adbc_driver_manager": Extra("Tables of PostgreSQL", "adbc-driver-manager", "postgresql"),
    "pyspark": Extra("Tables of Spark", "pyspark[sql]", "spark"),
    "sklearn": Extra("Classifiers", "scikit-learn", "classify"),
    "scipy": Extra("Classifiers", "scipy", "classify"),
    "threadpoolctl": Extra("Classifiers", "threadpoolctl", "classify"),
    "fastexcel": Extra("Excel workbooks", "fastexcel", "excel"),
    "xlsxwriter": Extra("Excel workbooks", "xlsxwriter", "excel"),
    "pyreadstat": Extra("SPSS and Stata files", "pyreadstat", "stats"),
    "rdflib": Extra("RDF files (OWL, RDFS, SKOS)", "rdflib", "rdf"),
    "starlette": Extra("Pages in the browser (the studio)", "starlette", "studio"),
    "uvicorn": Extra("Pages in the browser (the studio)", "uvicorn", "studio"),
    "tomlkit": Extra("Plans edited in the browser", "tomlkit", "studio"),
    "multipart": Extra("Forms of the studio", "python-multipart", "studio"),
    "altair": Extra("Charts of Altair", "altair", "notebook"),
    "simple_icd_10_cm": Extra("Codes of ICD-10-CM", "simple-icd-10-cm", "icd10"),
}
"""The optional packages, by the name of their module."""


def optional(module: str) -> Any:
    """Import an optional package, or a module of it, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise not_installed(module) from None


def not_installed(module: str) -> DependencyError:
    """The error for an optional package that is not there."""
    return DependencyError(str(EXTRAS[module.partition(".")[0]]))


def is_there(module: str) -> bool:
    """Whether an optional package is installed; it is not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # hidden by a None among the modules
        return False
