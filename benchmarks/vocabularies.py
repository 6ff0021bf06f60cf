"""How long half a million concepts take to load, as vocabularies are delivered, and what memory.

    python benchmarks/vocabularies.py [--concepts 500000] [format …]

Made-up vocabularies of one size are written in every format and loaded without the cache, each in a
process of its own, so that its largest memory is its own. The last row is a SNOMED CT release of
the same size, whose reader is the yardstick. Asked for: under 15 s and 1 GB.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import ontomask as om
from arguments import whole_number

BRANCHES = 12
WORDS = (
    "acute",
    "chronic",
    "infection",
    "left",
    "lower",
    "lobe",
    "artery",
    "heart",
    "lung",
    "type",
)

Writer = Callable[[Path, int], Path]


def label(number: int) -> str:
    return " ".join(WORDS[number * step % len(WORDS)] for step in (1, 3, 5)) + f" {number}"


def above(number: int) -> int:
    return (number - 1) // BRANCHES


def lines(path: Path, rows: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(row + "\n" for row in rows)
    return path


def omop(folder: Path, count: int) -> Path:
    dates = "19700101\t20991231\t"
    kinds = "Condition\tSNOMED\tClinical Finding\tS"
    lines(
        folder / "CONCEPT.csv",
        (
            "concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\t"
            "standard_concept\tconcept_code\tvalid_start_date\tvalid_end_date\tinvalid_reason"
            if number < 0
            else f"{number + 1000}\t{label(number)}\t{kinds}\tC{number}\t{dates}"
            for number in range(-1, count)
        ),
    )
    lines(
        folder / "CONCEPT_RELATIONSHIP.csv",
        (
            "concept_id_1\tconcept_id_2\trelationship_id\tvalid_start_date\tvalid_end_date\t"
            "invalid_reason"
            if number < 1
            else f"{number + 1000}\t{above(number) + 1000}\tIs a\t{dates}\n"
            f"{above(number) + 1000}\t{number + 1000}\tSubsumes\t{dates}\n"
            f"{number + 1000}\t{number + 1000}\tMaps to\t{dates}"
            for number in range(count)
        ),
    )
    lines(
        folder / "CONCEPT_SYNONYM.csv",
        (
            "concept_id\tconcept_synonym_name\tlanguage_concept_id"
            if number < 0
            else f"{number + 1000}\t{label(number)} by another name\t4180186"
            for number in range(-1, count)
        ),
    )
    return folder


def claml(folder: Path, count: int) -> Path:
    def rows() -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<ClaML version="2.0.0"><Title version="1"/>'
        for number in range(count):
            link = f'<SuperClass code="C{above(number)}"/>' if number else ""
            text = f'<Label xml:lang="en">{label(number)}</Label>'
            yield f'<Class code="C{number}" kind="category">{link}'
            yield f'<Rubric kind="preferred">{text}</Rubric></Class>'
        yield "</ClaML>"

    return lines(folder / "classes.xml", rows())


def fhir(folder: Path, count: int) -> Path:
    def rows() -> Iterator[str]:
        yield '{"resourceType": "CodeSystem", "content": "complete", "concept": ['
        for number in range(count):
            concept: dict[str, object] = {"code": f"C{number}", "display": label(number)}
            if number:
                concept["property"] = [{"code": "parent", "valueCode": f"C{above(number)}"}]
            yield json.dumps(concept) + ("," if number < count - 1 else "")
        yield "]}"

    return lines(folder / "system.json", rows())


def icd11(folder: Path, count: int) -> Path:
    header = "Foundation URI\tLinearization URI\tCode\tBlockId\tTitle\tClassKind\tChapterNo"

    def rows() -> Iterator[str]:
        yield header
        for number in range(count):
            depth = 0 if number % 1000 == 0 else 1 + number % 5
            kind, chapter = ("chapter", f"{number // 1000:03}") if not depth else ("category", "01")
            title = "- " * depth + label(number)
            yield f'\thttp://x/{number}\tC{number}\t\t"{title}"\t{kind}\t{chapter}'

    return lines(folder / "tabulation.txt", rows())


def loinc(folder: Path, count: int) -> Path:
    def rows() -> Iterator[str]:
        yield "PATH_TO_ROOT,SEQUENCE,IMMEDIATE_PARENT,CODE,CODE_TEXT"
        for number in range(count):
            parent = f"LP{above(number)}-0" if number else ""
            yield f'"{parent}","{number}","{parent}","LP{number}-0","{label(number)}"'

    return lines(folder / "ComponentHierarchyBySystem.csv", rows())


def umls(folder: Path, count: int) -> Path:
    cells = "ENG|P|L1|PF|S1|Y"
    lines(
        folder / "MRCONSO.RRF",
        (f"C{n}|{cells}|A{n}||||ICD10CM|PT|{n}|{label(n)}|0|N|256|" for n in range(count)),
    )
    lines(
        folder / "MRHIER.RRF",
        (f"C{n}|A{n}|1|{f'A{above(n)}' if n else ''}|ICD10CM|||||" for n in range(count)),
    )
    return folder


def rf2(folder: Path, count: int) -> Path:
    component = "id\teffectiveTime\tactive\tmoduleId"
    date = "20240101\t1\t900000000000207008"
    text, is_a = "900000000000003001", "116680003"
    lines(
        folder / "sct2_Concept_Snapshot_INT_20240101.txt",
        (
            f"{component}\tdefinitionStatusId" if n < 0 else f"{n + 1000}\t{date}\t0"
            for n in range(-1, count)
        ),
    )
    lines(
        folder / "sct2_Description_Snapshot-en_INT_20240101.txt",
        (
            f"{component}\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId"
            if n < 0
            else f"{n}\t{date}\t{n + 1000}\ten\t{text}\t{label(n)}\t0"
            for n in range(-1, count)
        ),
    )
    lines(
        folder / "sct2_Relationship_Snapshot_INT_20240101.txt",
        (
            f"{component}\tsourceId\tdestinationId\trelationshipGroup\ttypeId\t"
            "characteristicTypeId\tmodifierId"
            if n < 1
            else f"{n}\t{date}\t{n + 1000}\t{above(n) + 1000}\t0\t{is_a}\t0\t0"
            for n in range(count)
        ),
    )
    return folder


FORMATS: dict[str, Writer] = {
    "omop": omop,
    "claml": claml,
    "fhir": fhir,
    "icd11": icd11,
    "loinc": loinc,
    "umls": umls,
    "rf2": rf2,
}


def measure(path: Path, answers: multiprocessing.SimpleQueue[tuple[float, ...]]) -> None:
    start, busy = time.perf_counter(), time.process_time()
    taxonomy = om.load_taxonomy(path, cache=False)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    answers.put((len(taxonomy), seconds, busy, peak))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concepts", type=whole_number, default=500_000)
    parser.add_argument("formats", nargs="*", choices=[[], *FORMATS], default=[])
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    print(f"{'format':10}{'concepts':>10}{'seconds':>9}{'of CPU':>9}{'GB':>7}")
    for name in arguments.formats or FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            path = FORMATS[name](Path(folder), arguments.concepts)
            answers = context.SimpleQueue()
            process = context.Process(target=measure, args=(path, answers))
            process.start()
            process.join()
            if process.exitcode:
                sys.exit(f"{name}: the process ended with {process.exitcode}")
            count, seconds, busy, peak = answers.get()
        print(f"{name:10}{count:10,}{seconds:9.1f}{busy:9.1f}{peak:7.2f}", flush=True)


if __name__ == "__main__":
    main()
