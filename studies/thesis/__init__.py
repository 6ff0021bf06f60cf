"""Martínez Lluís (2012), the thesis on ontology-based anonymization: chapters 4 to 9."""

from __future__ import annotations

from collections.abc import Sequence

from studies.data import Data
from studies.study import Clock, Findings, Study
from studies.thesis.centroids import study_centroids
from studies.thesis.linkage import study_linkage
from studies.thesis.material import (
    Material,
    Part,
    census_material,
    poll_material,
    record_material,
    tuple_counts,
)
from studies.thesis.medical import study_medical
from studies.thesis.microaggregation import study_microaggregation
from studies.thesis.prose import DISCREPANCIES, PAPER, PRINTED_NOTES, SETUP, STAND_INS
from studies.thesis.recoding import study_recoding
from studies.thesis.resampling import study_resampling

__all__ = ["STUDY", "run"]


def run(data: Data, small: bool) -> Findings:
    """Run all chapters."""
    clock = Clock()
    with clock.part("reading tables and ontologies"):
        poll, census = poll_material(data, small), census_material(data, small)
        records = record_material(data, small)
    parts = (
        study_centroids((poll, records), clock),
        study_recoding((poll, records), clock),
        study_microaggregation(poll, census, clock),
        study_resampling(census, clock),
        study_linkage((poll, records), clock),
        study_medical(records, clock),
    )
    return joined(parts, described((poll, census, records)), clock)


def joined(parts: Sequence[Part], data: str, clock: Clock) -> Findings:
    """The chapters as one study."""
    return Findings(
        title="Thesis: ontology-based anonymization",
        paper=PAPER,
        data=data,
        setup=SETUP.rstrip("\n"),
        tables=tuple(table for part in parts for table in part.tables),
        figures=tuple(figure for part in parts for figure in part.figures),
        claims=tuple(claim for part in parts for claim in part.claims),
        printed_notes=PRINTED_NOTES,
        discrepancies=DISCREPANCIES,
        seconds=clock.seconds,
    )


def described(materials: Sequence[Material]) -> str:
    """What the tables are, beside those of the thesis."""
    return "\n".join(_line(one, STAND_INS[one.name]) for one in materials)


def _line(material: Material, meaning: str) -> str:
    counts = tuple_counts(material.frame)
    return (
        f"* **{material.name}**: {meaning}. Here: {sum(counts):,} records, {len(counts):,} "
        f"combinations, {counts.count(1):,} unique, largest {counts[0]:,}."
    )


STUDY = Study("thesis", run)
