from __future__ import annotations

import pytest

import ontomask as om


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's cache folder."""
    monkeypatch.setenv("ONTOMASK_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def icd9() -> om.Taxonomy:
    return om.load_taxonomy("icd9cm")


@pytest.fixture(scope="session")
def wordnet() -> om.Taxonomy:
    return om.load_taxonomy("wordnet")
