"""The study of the thesis, on small tables and on numbers made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import pytest

from studies.data import small_data
from studies.page import write_page
from studies.study import VERDICTS, Claim, Findings
from studies.thesis import STUDY
from studies.thesis.centroids import (
    OTHERS,
    SEMANTIC,
    CentroidCosts,
    centroid_claims,
    worked_examples,
)
from studies.thesis.linkage import Linked, census_rows, linkage_claims
from studies.thesis.material import Outcome, poll_material, tuple_counts
from studies.thesis.medical import METHODS as MEDICAL
from studies.thesis.medical import medical_claims
from studies.thesis.microaggregation import METHODS as MICRO
from studies.thesis.microaggregation import microaggregation_claims
from studies.thesis.recoding import METHODS as RECODING
from studies.thesis.recoding import ClusterDistances, recoding_claims
from studies.thesis.resampling import METHODS as RESAMPLING
from studies.thesis.resampling import resampling_claims


@pytest.fixture(scope="module")
def findings() -> Iterator[Findings]:
    """A quick run; on such small tables threads cost more than they save."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield STUDY.run(small_data(), True)
    numba.set_num_threads(threads)


def test_every_chapter_has_claims_and_tables(findings: Findings) -> None:
    assert len(findings.claims) > 60
    assert all(
        claim.where and claim.figure and claim.verdict in VERDICTS for claim in findings.claims
    )
    assert {claim.where[0] for claim in findings.claims} == set("456789")
    chapters = {table.title.split(":")[0] for table in findings.tables}
    assert chapters == {f"Chapter {number}" for number in range(4, 10)}


def test_the_page_is_written(findings: Findings, tmp_path: Path) -> None:
    page = write_page(tmp_path, "thesis", findings)
    text = page.read_text(encoding="utf-8")
    assert "Here: 30,162" not in text  # the counts are those of the tables given
    assert (tmp_path / "thesis" / "medical_sse.csv").read_text().startswith("k,recoding,")
    for figure in findings.figures:
        assert (tmp_path / "thesis" / f"{figure.name}.svg").read_text().startswith("<svg")


def test_the_worked_examples_are_as_printed() -> None:
    for _, _, printed, total, ours, own in worked_examples():
        assert (ours, own) == (printed, total)


def test_the_poll_is_made_of_people_born_abroad() -> None:
    frame = poll_material(small_data()).frame
    assert "United-States" not in frame["native-country"]
    assert sum(tuple_counts(frame)) == frame.height


def test_both_hierarchies_have_the_same_values_and_tops() -> None:
    coarse, fine = census_rows(finer=False), census_rows(finer=True)
    for name in coarse:
        assert {row[0] for row in coarse[name]} == {row[0] for row in fine[name]}
        assert [[row[0], *row[2:]] for row in fine[name]] == coarse[name]


# Verdicts follow the numbers ------------------------------------------------------------------

Figures = Callable[[str, int], float]


def verdict(claims: tuple[Claim, ...], start: str) -> str:
    return next(claim.verdict for claim in claims if claim.claim.startswith(start))


def grid(methods: object, ks: tuple[int, ...], **figures: Figures) -> dict[str, dict[int, Outcome]]:
    """Outcomes by formulas of method and k, 1 where there is none."""
    fields = [
        *("loss", "sse", "semantic_loss", "divergence", "linkage", "matching"),
        *("printed_linkage", "seconds"),
    ]
    return {
        method: {
            k: Outcome(*(figures.get(name, lambda *_: 1.0)(method, k) for name in fields))
            for k in ks
        }
        for method in methods  # type: ignore[attr-defined]
    }


def test_centroid_claims() -> None:
    def costs(semantic: float, lcs: float) -> dict[str, float]:
        return dict.fromkeys(SEMANTIC, semantic) | dict.fromkeys(OTHERS, 15.0) | {"LCS": lcs}

    def table(one: dict[str, float]) -> CentroidCosts:
        return CentroidCosts("made", one, {}, (one,), (0.1,))

    good, bad = (centroid_claims([table(costs(*one))]) for one in ((10.0, 40.0), (20.0, 14.0)))
    assert verdict(good, "The semantic centroid costs less") == "holds"
    assert verdict(bad, "The semantic centroid costs less") == "does not hold"
    assert verdict(good, "The LCS is the worst") == "holds"
    assert verdict(bad, "The LCS is the worst") == "does not hold"
    assert verdict(good, "On homogeneous clusters") == "cannot be tested here"


def test_recoding_claims() -> None:
    order = {name: place for place, name in enumerate(RECODING)}
    ks = (2, 5, 8)

    def claims(sign: int, clusters: ClusterDistances) -> tuple[Claim, ...]:
        made = grid(
            RECODING,
            ks,
            semantic_loss=lambda method, k: k * (5.0 - sign * min(order[method], 2)),
            printed_linkage=lambda method, k: (30.0 / k) ** sign,
        )
        return recoding_claims({"made": made}, {"made": clusters})

    good = claims(1, ClusterDistances(0.2, 0.5, 0.6))
    bad = claims(-1, ClusterDistances(0.5, 0.2, 0.1))
    for start in ("Taking the rarest", "Record linkage falls", "Clusters survive", "The cluster"):
        assert verdict(good, start) == "holds"
        assert verdict(bad, start) == "does not hold"


def test_microaggregation_claims() -> None:
    def claims(own: float, other: float) -> tuple[Claim, ...]:
        def loss(method: str, k: int) -> float:
            return k * (own if method == "sa-mdav" else other)

        small, large = grid(MICRO, (2, 7, 12), loss=loss), grid(MICRO, (2, 512, 1200), loss=loss)
        return microaggregation_claims({"poll": small, "census": large})

    assert verdict(claims(1.0, 9.0), "SA-MDAV loses less") == "holds"
    assert verdict(claims(9.0, 1.0), "SA-MDAV loses less") == "does not hold"
    assert verdict(claims(1.0, 9.0), "The Boolean method loses much") == "holds"
    assert verdict(claims(1.0, 2.0), "The Boolean method loses much") == "does not hold"
    assert verdict(claims(1.0, 9.0), "SA-MDAV has the best score (") == "holds"


def test_resampling_claims() -> None:
    def claims(errors: tuple[float, ...]) -> tuple[Claim, ...]:
        known = dict(zip(RESAMPLING, errors, strict=True))
        return resampling_claims(grid(RESAMPLING, (2, 3, 12), sse=lambda method, _: known[method]))

    assert verdict(claims((4.0, 3.0, 2.0, 1.0)), "Semantic resampling") == "holds"
    assert verdict(claims((4.0, 3.0, 1.0, 2.0)), "Semantic resampling") == "does not hold"
    assert verdict(claims((4.0, 2.0, 3.0, 1.0)), "The LCS is severely worse") == "holds"


def test_linkage_claims() -> None:
    def chain(factor: float, loss: float) -> dict[int, Linked]:
        return {
            k: Linked(
                dict.fromkeys(("logsc", "wu-palmer", "path"), factor * 20.0 / k)
                | {"matching": 10.0 / k**1.5},
                loss * k,
            )
            for k in (2, 4, 8)
        }

    good = linkage_claims({"made": {"VGH2": chain(1.0, 2.0), "VGH3": chain(1.2, 1.0)}})
    bad = linkage_claims({"made": {"VGH2": chain(0.1, 1.0), "VGH3": chain(0.05, 2.0)}})
    for start in ("Semantic linkage links more", "The more detailed", "The simpler hierarchy"):
        assert verdict(good, start) == "holds"
        assert verdict(bad, start) == "does not hold"
    assert verdict(good, "The difference between the hierarchies") == "holds"
    assert verdict(good, "Loss grows linearly") == "holds"
    assert verdict(good, "High k is not worth it") == "holds"
    assert verdict(good, "Above the size") == "cannot be tested here"


def test_medical_claims() -> None:
    base = {"microaggregation": 1.0, "recoding": 1.1, "resampling": 3.0}

    def claims(gain: float, direction: int) -> tuple[Claim, ...]:
        def errors(method: str, k: int) -> float:
            plain = base.get(method.split(",")[0], 9.0)
            return plain * k**direction * (gain if "equality" in method else 1.0)

        return medical_claims(grid(MEDICAL, (2, 5, 7, 9), sse=errors, loss=errors))

    good, bad = claims(2.5, 1), claims(0.5, -1)
    for start in ("SSE grows with k", "Each method loses less"):
        assert verdict(good, start) == "holds"
        assert verdict(bad, start) == "does not hold"
    assert verdict(good, "SSE: microaggregation is best") == "holds"
    assert verdict(good, "Suppression loses") == "holds"
