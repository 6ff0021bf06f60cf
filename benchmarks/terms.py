"""How fast words and codes find their concepts: 100,000 distinct values against three taxonomies.

    python benchmarks/terms.py [--values 100000]

The values are ids, codes without dots, labels, plurals and misses in equal parts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import ontomask as om
from arguments import whole_number


def column(taxonomy: om.Taxonomy, count: int, generator: np.random.Generator) -> list[str]:
    """Distinct values of five kinds."""
    chosen = generator.integers(0, len(taxonomy), count)
    kinds = (
        lambda place: taxonomy.ids[place],
        lambda place: taxonomy.ids[place].replace(".", ""),
        lambda place: taxonomy.labels[place],
        lambda place: taxonomy.labels[place].lower() + "s",
        lambda place: f"{taxonomy.labels[place]} {place} of no kind",
    )
    return [kinds[number % 5](place) for number, place in enumerate(chosen.tolist())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=whole_number, default=100_000)
    count = parser.parse_args().values
    print(f"{'taxonomy':20}{'values':>9}{'first s':>9}{'again s':>9}{'mapped':>9}")
    for name in ("wordnet", "icd9cm", "icd9cm-procedures"):
        taxonomy = om.load_taxonomy(name)
        values = column(taxonomy, count, np.random.default_rng(1))
        start = time.perf_counter()
        mapping = taxonomy.map(values)
        first = time.perf_counter() - start
        start = time.perf_counter()
        taxonomy.map(values)
        again = time.perf_counter() - start
        share = mapping.coverage.value_share
        print(f"{name:20}{len(mapping.values):9,}{first:9.2f}{again:9.2f}{share:9.1%}")


if __name__ == "__main__":
    main()
