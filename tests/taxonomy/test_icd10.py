import sys
import types

import pytest

from ontomask.errors import DependencyError
from ontomask.taxonomy import icd10
from ontomask.taxonomy.assembly import assemble


def made_package():
    """Make a stand-in with the package's oddity: a block that bears its only category's code."""
    rows = {
        "1": ("", "Infections", []),
        "A00": ("1", "Cholera", ["Classical cholera"]),
        "B20": ("B20", "HIV disease", []),
        "B20.1": ("B20", "Made up", []),
    }
    package = types.ModuleType("simple_icd_10_cm")
    package.get_all_codes = lambda with_dots: ["1", "A00", "B20", "B20", "B20.1"]
    package.get_parent = lambda code, prioritize_blocks: "1" if prioritize_blocks else rows[code][0]
    package.get_description = lambda code, prioritize_blocks: (
        "HIV (B20)" if prioritize_blocks else rows[code][1]
    )
    package.get_inclusion_term = lambda code, prioritize_blocks: rows[code][2]
    return package


def test_blocks_chapters_and_synonyms(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", made_package())
    monkeypatch.setattr(icd10.importlib.metadata, "version", lambda name: "9.9")
    draft = icd10.read_icd10cm()
    assert [link[:2] for link in draft.links] == [
        ("Chapter 1", "ICD10CM"),
        ("A00", "Chapter 1"),
        ("B20-B20", "Chapter 1"),
        ("B20", "B20-B20"),
        ("B20.1", "B20"),
    ]
    assert draft.labels[draft.positions["B20-B20"]] == "HIV (B20)"
    assert draft.synonyms[draft.positions["A00"]] == ("Classical cholera",)
    assert draft.version == "simple-icd-10-cm 9.9"
    assert assemble(draft).ids[0] == "ICD10CM"


def test_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(DependencyError) as caught:
        icd10.read_icd10cm()
    assert str(caught.value) == (
        "Codes of ICD-10-CM need the package simple-icd-10-cm, which is not installed; install it "
        'with: pip install "ontomask[icd10]"'
    )
