"""Do the distances agree with people? Rubenstein and Goodenough's 65 word pairs on WordNet 3.0.

For each pair of words the closest pair of senses counts, depth is counted from WordNet's root,
information content is Seco's. Printed is the Pearson correlation of similarity (the negated
distance; -log for Leacock-Chodorow as published) with the human ratings.

    python benchmarks/word_similarity.py FILE     (a CSV with columns word1,word2,rating)
"""

from __future__ import annotations

import argparse
import csv

import numpy as np

import ontomask as om
from arguments import existing_file

PUBLISHED = {
    "path": 0.737,
    "wu-palmer": 0.786,
    "leacock-chodorow": 0.839,
    "logsc": 0.849,
    "resnik": 0.841,
    "lin": 0.870,
    "jiang-conrath": 0.867,
}


def senses(wordnet: om.Taxonomy) -> dict[str, list[str]]:
    """The concepts that each name stands for."""
    table: dict[str, list[str]] = {}
    for identifier, label, others in zip(
        wordnet.ids, wordnet.labels, wordnet.synonyms, strict=True
    ):
        for name in (label, *others):
            table.setdefault(name.lower(), []).append(identifier)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=existing_file)
    with parser.parse_args().file.open(newline="", encoding="utf-8") as stream:
        rows = [
            (row["word1"], row["word2"], float(row["rating"])) for row in csv.DictReader(stream)
        ]
    wordnet = om.load_taxonomy("wordnet")
    table = senses(wordnet)
    ratings = [rating for *_, rating in rows]
    print(f"{len(rows)} pairs\n{'measure':18}{'ontomask':>10}{'expected':>10}")
    for measure in om.knowledge.measures():
        closest = [
            wordnet.between(table[one], table[other], measure.name, root="taxonomy").min()
            for one, other, _ in rows
        ]
        correlation = float(np.corrcoef(-np.array(closest), ratings)[0, 1])
        known = PUBLISHED.get(measure.name)
        print(f"{measure.name:18}{correlation:10.3f}{f'{known:10.3f}' if known else '':>10}")


if __name__ == "__main__":
    main()
