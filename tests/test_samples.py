"""The demo table: reproducible, coded in ICD-9-CM, and plausible."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import ParameterError
from ontomask.samples import COUNTIES, STATUSES, _diagnoses, _procedures, discharges


@pytest.fixture(scope="module")
def table() -> dict[str, list]:
    return discharges()


def chapter(code: str) -> str:
    return code.split(".", maxsplit=1)[0]


def test_the_same_seed_gives_the_same_table_and_another_seed_another(table):
    assert discharges() == table
    other = discharges(seed=2)
    assert all(other[name] != table[name] for name in table)


def test_the_first_records_are_pinned(table):
    first = {
        "patient": ["P275042", "P976856", "P691809", "P657292"],
        "sex": ["F", "M", "F", "F"],
        "age": [75, 59, 0, 90],
        "diagnosis": ["410.71", "820.21", "774.6", "820.21"],
        "procedure": [None, "79.35", None, "79.15"],
    }
    assert {name: table[name][:4] for name in first} == first


def test_columns_are_plain_lists_that_any_frame_takes(table):
    frame = pl.DataFrame(table)
    assert frame.shape == (5000, 10)
    assert frame.schema["admission_date"] == pl.Date
    assert [name for name in table if None in table[name]] == ["procedure"]
    assert len(discharges(records=7)["age"]) == 7


@pytest.mark.parametrize(
    ("column", "taxonomy"), [("diagnosis", "icd9cm"), ("procedure", "icd9cm-procedures")]
)
def test_every_code_that_can_occur_is_a_leaf_of_its_taxonomy(column, taxonomy):
    known = om.load_taxonomy(taxonomy)
    leaves = {known.ids[number] for number in np.flatnonzero(known.leaf_mask)}
    table = _diagnoses() if column == "diagnosis" else _procedures()
    codes = [code for code in table.code.tolist() if code is not None]
    assert [code for code in codes if code not in leaves] == []


def test_every_diagnosis_finds_its_procedures():
    assert set(_diagnoses().group) <= set(_procedures().group)
    treated_by_nothing = (_diagnoses().group == "") & (_diagnoses().treated > 0)
    assert not treated_by_nothing.any()


def test_patients_occur_once(table):
    assert len(set(table["patient"])) == 5000
    assert all(
        len(name) == 7 and name[0] == "P" and name[1:].isdigit() for name in table["patient"]
    )


def test_diagnoses_are_many_and_skewed(table):
    counts = Counter(table["diagnosis"]).most_common()
    assert 250 <= len(counts) <= 320
    assert counts[0][1] > 200
    assert sum(count <= 5 for _, count in counts) > 80


def test_no_man_is_pregnant_and_no_woman_has_a_prostate(table):
    sexes = {"mother": set(), "prostate": set()}
    for code, sex in zip(table["diagnosis"], table["sex"], strict=True):
        if "630" <= chapter(code) <= "679":
            sexes["mother"].add(sex)
        if chapter(code) in ("185", "600", "608"):
            sexes["prostate"].add(sex)
    assert sexes == {"mother": {"F"}, "prostate": {"M"}}


def test_mothers_are_of_an_age_to_be(table):
    ages = [
        age
        for code, age in zip(table["diagnosis"], table["age"], strict=True)
        if "630" <= chapter(code) <= "679"
    ]
    assert min(ages) >= 14
    assert max(ages) <= 46


def test_codes_of_newborns_are_for_newborns_only(table):
    ages = {
        age
        for code, age in zip(table["diagnosis"], table["age"], strict=True)
        if "760" <= chapter(code) <= "779" or "V30" <= code < "V40"
    }
    assert ages == {0}


def test_girls_are_not_circumcised(table):
    pairs = Counter(zip(table["procedure"], table["sex"], strict=True))
    assert pairs["64.0", "F"] == 0
    assert pairs["64.0", "M"] > 50


def test_ages_have_two_humps(table):
    counts = np.bincount(np.array(table["age"]) // 10, minlength=11)
    assert counts[0] > 2 * counts[1]
    assert counts[7] > 1.2 * counts[4]
    assert 0 <= min(table["age"]) <= max(table["age"]) <= 104


def test_about_a_third_have_no_procedure(table):
    assert 0.30 < table["procedure"].count(None) / 5000 < 0.40


def test_stays_are_skewed_and_never_negative(table):
    stay = np.array(table["length_of_stay"])
    assert stay.min() >= 0
    assert stay.mean() > np.median(stay)
    assert 3 < stay.mean() < 6.5


def test_charges_grow_with_the_stay_and_with_procedures(table):
    charge, stay = np.array(table["charge"]), np.array(table["length_of_stay"])
    treated = np.array([code is not None for code in table["procedure"]])
    assert np.corrcoef(stay, charge)[0, 1] > 0.4
    assert np.median(charge[treated]) > 1.3 * np.median(charge[~treated])
    assert charge.min() > 0
    assert all(round(value, 2) == value for value in table["charge"])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_die_and_they_are_old(seed):
    table = discharges(seed=seed)
    died = np.array(table["status"]) == "died"
    age = np.array(table["age"])
    assert 0.01 < died.mean() < 0.06
    assert age[died].mean() > age[~died].mean() + 15
    assert set(table["status"]) == set(STATUSES)


def test_nursing_depends_on_age_and_diagnosis(table):
    nursing = np.array(table["status"]) == "nursing facility"
    age = np.array(table["age"])
    hip = np.array([code.startswith("820") for code in table["diagnosis"]])
    assert not nursing[age < 18].any()
    assert nursing[hip].mean() > 1.5 * nursing[(age >= 65) & ~hip].mean()


def test_counties_differ_in_size_and_age(table):
    assert set(table["county"]) == set(COUNTIES)
    age, county = np.array(table["age"]), np.array(table["county"])
    assert (age[county == "Fairhaven"] >= 65).mean() > 1.4 * (age >= 65).mean()


def test_admissions_have_weekends_and_winters():
    table = discharges(20_000, seed=4)
    days = table["admission_date"]
    assert min(days) >= datetime.date(2008, 1, 1)
    assert max(days) <= datetime.date(2010, 12, 31)
    weekdays = Counter(day.weekday() for day in days)
    assert weekdays[5] + weekdays[6] < 0.75 * (weekdays[0] + weekdays[1])
    lungs = [
        day.month
        for day, code in zip(days, table["diagnosis"], strict=True)
        if "460" <= chapter(code) <= "519"
    ]
    winter, summer = (sum(month in few for month in lungs) for few in ((12, 1, 2), (6, 7, 8)))
    assert winter > 1.3 * summer


@pytest.mark.parametrize("wrong", [{"records": 0}, {"records": 1.5}, {"seed": -1}, {"seed": None}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=rf"^{next(iter(wrong))} must be a whole number"):
        discharges(**wrong)
