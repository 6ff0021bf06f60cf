"""The public tables, and small tables of the same columns made by code.

========== ==================================================================================
name       table
========== ==================================================================================
claims     inpatient claims with ICD-9-CM diagnoses and procedures (some missing)
neoplasm   its complete claims with a principal diagnosis 140–239
digestive  its complete claims with a principal diagnosis 520–579
adult      the Adult census table (missing values are null)
adult_nine the nine columns of Adult that the generalization literature uses, without gaps
census     1,080 records of 13 numeric columns
word_pairs Rubenstein and Goodenough's 65 pairs of words with ratings (not among the small ones)
========== ==================================================================================

Codes are texts, ages, days and amounts are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import polars as pl

import ontomask as om

__all__ = ["Data", "Hierarchies", "small_data"]

Hierarchies = Mapping[str, list[list[str]]]
"""Generalization hierarchies by column: one row per value, from the value to `*`."""

FILES = {
    "claims": "inpatient_claims_icd9.csv.gz",
    "neoplasm": "inpatient_neoplasm.csv.gz",
    "digestive": "inpatient_digestive.csv.gz",
    "adult": "adult_train.csv.gz",
    "adult_nine": "adult/adult.csv",
    "census": "census.csv",
}
CLAIM_NUMBERS = ("age", "los", "payment", "deductible")
ADULT_NUMBERS = (
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
)
NUMBERS = {
    "claims": CLAIM_NUMBERS,
    "neoplasm": CLAIM_NUMBERS,
    "digestive": CLAIM_NUMBERS,
    "adult": ADULT_NUMBERS,
    "adult_nine": ("age",),
}


@dataclass(frozen=True)
class Data:
    """Tables by name, read when asked for.

    Parameters
    ----------
    readers
        For each name the function that gives the table.
    adult_hierarchies
        The function that gives the hierarchies of the columns of `adult_nine`.
    """

    readers: Mapping[str, Callable[[], pl.DataFrame]]
    adult_hierarchies: Callable[[], Hierarchies]

    @classmethod
    def from_folder(cls, folder: Path) -> Data:
        """The tables in the folder `tables` of a folder."""
        tables = folder / "tables"
        missing = [file for file in FILES.values() if not (tables / file).is_file()]
        if missing:
            raise om.errors.SourceNotFoundError(
                f"The data folder has no file tables/{missing[0]}; name the folder that holds "
                "the public tables."
            )
        readers = {name: partial(_read, tables / file, name) for name, file in FILES.items()}
        words = folder / "wordsim" / "rg65.csv"
        if words.is_file():
            readers["word_pairs"] = partial(pl.read_csv, words)
        return cls(readers, partial(_read_hierarchies, tables / "adult"))

    def __contains__(self, name: object) -> bool:
        return name in self.readers

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.readers[name]()


def _read(path: Path, name: str) -> pl.DataFrame:
    if name == "census":
        return pl.read_csv(path)
    separator = ";" if name == "adult_nine" else ","
    frame = pl.read_csv(path, infer_schema=False, separator=separator)
    return frame.with_columns(pl.col(*NUMBERS[name]).cast(pl.Int64))


def _read_hierarchies(folder: Path) -> Hierarchies:
    start = "adult_hierarchy_"
    return {
        path.stem.removeprefix(start): [
            line.split(";") for line in path.read_text(encoding="utf-8").splitlines()
        ]
        for path in sorted(folder.glob(f"{start}*.csv"))
    }


# Small tables, made by code -------------------------------------------------------------------

SEED = 20_240_101
SIZES = {"claims": 600, "neoplasm": 180, "digestive": 240, "adult": 400, "census": 120}

EDUCATION = {
    "10th": ("High School", "Secondary education"),
    "HS-grad": ("High School", "Secondary education"),
    "Some-college": ("Undergraduate", "Higher education"),
    "Bachelors": ("Undergraduate", "Higher education"),
    "Masters": ("Graduate", "Higher education"),
    "Doctorate": ("Graduate", "Higher education"),
}
MARITAL = {
    "Married-civ-spouse": "spouse present",
    "Never-married": "spouse not present",
    "Divorced": "spouse not present",
    "Widowed": "spouse not present",
}
COUNTRIES = {
    "United-States": "North America",
    "Mexico": "North America",
    "Cuba": "North America",
    "Germany": "Europe",
    "Poland": "Europe",
    "India": "Asia",
    "Philippines": "Asia",
}
WORK = {
    "Private": "Non-Government",
    "Self-emp-inc": "Non-Government",
    "State-gov": "Government",
    "Federal-gov": "Government",
}
OCCUPATIONS = {
    "Craft-repair": "Technical",
    "Prof-specialty": "Technical",
    "Tech-support": "Technical",
    "Sales": "Nontechnical",
    "Exec-managerial": "Nontechnical",
    "Adm-clerical": "Nontechnical",
    "Other-service": "Other",
    "Handlers-cleaners": "Other",
}
RELATIONSHIPS = ("Husband", "Wife", "Own-child", "Not-in-family", "Unmarried")
RACES = ("White", "Black", "Asian-Pac-Islander", "Other")
CENSUS = (
    "AFNLWGT",
    "AGI",
    "EMCONTRB",
    "FEDTAX",
    "PTOTVAL",
    "STATETAX",
    "TAXINC",
    "POTHVAL",
    "INTVAL",
    "PEARNVAL",
    "FICA",
    "WSALVAL",
    "ERNVAL",
)


def small_data() -> Data:
    """Small tables with the columns of the public ones; always the same."""
    readers: dict[str, Callable[[], pl.DataFrame]] = {
        "claims": partial(_small_claims, "claims", None),
        "neoplasm": partial(_small_claims, "neoplasm", "140-239"),
        "digestive": partial(_small_claims, "digestive", "520-579"),
        "adult": _small_adult,
        "adult_nine": _small_adult_nine,
        "census": _small_census,
    }
    return Data(readers, _small_hierarchies)


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng([SEED, sum(name.encode())])


@lru_cache
def _leaves(taxonomy: str, under: str | None) -> tuple[str, ...]:
    known = om.load_taxonomy(taxonomy)
    inside = known.subtree(under) if under else tuple(known)
    return tuple(code for code in inside if not known.children(code) and "." in code)


def _codes(
    generator: np.random.Generator, taxonomy: str, under: str | None, count: int, drivers: list[int]
) -> list[str]:
    """Codes drawn from a few groups of neighbors, the group by a driver, frequencies uneven."""
    leaves = _leaves(taxonomy, under)
    starts = np.linspace(0, len(leaves) - 9, max(drivers) + 1).astype(int)
    steps = np.minimum(generator.geometric(0.4, count) - 1, 8)
    return [leaves[starts[driver] + step] for driver, step in zip(drivers, steps, strict=True)]


def _small_claims(name: str, chapter: str | None) -> pl.DataFrame:
    generator, count = _generator(name), SIZES[name]
    drivers = generator.integers(0, 8, count).tolist()
    noisy = [
        driver if kept else int(other)
        for driver, kept, other in zip(
            drivers, generator.random(count) < 0.7, generator.integers(0, 8, count), strict=True
        )
    ]
    stays = generator.poisson(3 + np.array(drivers), count)
    paid = 1000 * np.round(np.exp(generator.normal(0.8 + 0.15 * stays, 0.5)))
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(1, count + 1)],
            "age": np.clip(generator.normal(70, 12, count), 25, 100).astype(int),
            "sex": generator.choice(["F", "M"], count),
            "race": generator.choice(["White", "Black", "Other", "Hispanic"], count, p=_RACES),
            "state": generator.choice(["1", "5", "10", "14", "33", "39", "45"], count),
            "los": np.minimum(stays, 35),
            "payment": np.minimum(paid, 125_000).astype(int),
            "deductible": generator.choice([0, 1024, 1068], count),
            "dx_admit": _codes(generator, "icd9cm", chapter, count, noisy),
            "dx_principal": _codes(generator, "icd9cm", chapter, count, drivers),
            "dx_secondary": _codes(generator, "icd9cm", None, count, noisy),
            "procedure": _codes(generator, "icd9cm-procedures", None, count, noisy),
            "drg": [f"{100 + 20 * driver:03}" for driver in noisy],
        }
    )
    if chapter:
        return frame
    gaps = pl.Series(generator.random(count) < 0.3)
    return frame.with_columns(procedure=pl.when(gaps).then(None).otherwise(pl.col("procedure")))


_RACES = (0.8, 0.1, 0.05, 0.05)


def _small_adult() -> pl.DataFrame:
    generator, count = _generator("adult"), SIZES["adult"]
    levels = generator.integers(0, len(EDUCATION), count)
    ages = np.clip(generator.gamma(6, 6.5, count), 17, 90).astype(int)
    rich = generator.random(count) < 1 / (1 + np.exp(3 - 0.5 * levels - ages / 40))
    gaps = generator.random(count) < 0.04
    frame = pl.DataFrame(
        {
            "age": ages,
            "workclass": generator.choice([*WORK], count, p=(0.7, 0.1, 0.1, 0.1)),
            "fnlwgt": generator.integers(20_000, 400_000, count),
            "education": [[*EDUCATION][level] for level in levels],
            "education-num": levels + 6,
            "marital-status": generator.choice([*MARITAL], count, p=(0.5, 0.3, 0.15, 0.05)),
            "occupation": generator.choice([*OCCUPATIONS], count),
            "relationship": generator.choice(RELATIONSHIPS, count),
            "race": generator.choice(RACES, count, p=(0.8, 0.1, 0.06, 0.04)),
            "sex": generator.choice(["Male", "Female"], count),
            "capital-gain": generator.choice([0, 5178, 7688], count, p=(0.9, 0.05, 0.05)),
            "capital-loss": generator.choice([0, 1902], count, p=(0.95, 0.05)),
            "hours-per-week": np.clip(generator.normal(40, 10, count), 5, 80).astype(int),
            "native-country": generator.choice(
                [*COUNTRIES], count, p=(0.8, 0.06, 0.02, 0.03, 0.03, 0.03, 0.03)
            ),
            "income": np.where(rich, ">50K", "<=50K"),
        }
    )
    hidden = pl.when(pl.Series(gaps)).then(None)
    return frame.with_columns(hidden.otherwise(pl.col("workclass", "occupation")).name.keep())


def _small_adult_nine() -> pl.DataFrame:
    complete = _small_adult().drop_nulls().rename({"income": "salary-class"})
    names = ("sex", "age", "race", "marital-status", "education", "native-country")
    return complete.select(*names, "workclass", "occupation", "salary-class")


def _small_hierarchies() -> Hierarchies:
    ages = range(17, 91)
    spans = {age: [f"{age // width * width}+{width}" for width in (5, 10, 20)] for age in ages}
    return {
        "age": [[str(age), *spans[age], "*"] for age in ages],
        "education": [[value, *groups, "*"] for value, groups in EDUCATION.items()],
        "marital-status": [[value, group, "*"] for value, group in MARITAL.items()],
        "native-country": [[value, group, "*"] for value, group in COUNTRIES.items()],
        "occupation": [[value, group, "*"] for value, group in OCCUPATIONS.items()],
        "race": [[value, "*"] for value in RACES],
        "salary-class": [[">50K", "*"], ["<=50K", "*"]],
        "sex": [["Male", "*"], ["Female", "*"]],
        "workclass": [[value, group, "*"] for value, group in WORK.items()],
    }


def _small_census() -> pl.DataFrame:
    generator, count = _generator("census"), SIZES["census"]
    wealth = generator.normal(0, 0.7, count)
    return pl.DataFrame(
        {
            name: np.round(1000 * np.exp(wealth + generator.normal(0, 0.4, count))).astype(int)
            for name in CENSUS
        }
    )
