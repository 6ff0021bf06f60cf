"""What `Schema.infer` proposes for columns of many sorts, and how it says why."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.data import evidence, value_shapes
from ontomask.data.column_names import MEASURES, PERSONS, read_name
from ontomask.data.encoding import encode
from ontomask.data.inference import infer_schema
from ontomask.data.tables import open_table
from ontomask.data.value_shapes import date_shape, ordered, partial_dates
from ontomask.taxonomy.bundled import load

SIZE = 240
RANDOM = np.random.default_rng(8)


def repeated(values, size=SIZE):
    """Values in turn, so that each occurs about equally often."""
    return [values[place % len(values)] for place in range(size)]


def proposed(name, values):
    proposal = infer_schema(pl.DataFrame({name: values}))
    return proposal.schema[name], proposal.reasons[name], name in proposal.unsure


AMOUNTS = np.round(RANDOM.lognormal(9, 1, SIZE), 2).tolist()
WHOLE_AMOUNTS = RANDOM.permutation(np.arange(1000, 400_000, 1663))[:SIZE].tolist()
LONG_NUMBERS = (RANDOM.permutation(80_000)[:SIZE] * 11 + 100_003).tolist()
RUNNING = list(range(1, SIZE + 1))
DISTINCT_TEXTS = [f"K{place * 37:05d}" for place in range(SIZE)]
SURNAMES = repeated(
    [f"{letter}ers{ending}" for letter in "PMHKL" for ending in ("on", "en", "in", "ey", "um")]
)
DIAGNOSES = ["250.00", "401.9", "428.0", "486", "V45.71", "038.9"]
PROCEDURES = ["45.16", "38.93", "99.04", "81.54", "00.66", "03.31"]


# Identifiers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", RUNNING),
        ("PatientID", DISTINCT_TEXTS),
        ("patient_id", LONG_NUMBERS),
        ("DESYNPUF_ID", DISTINCT_TEXTS),
        ("Patient name", DISTINCT_TEXTS),
        ("household_id", DISTINCT_TEXTS),
        ("MRN", LONG_NUMBERS),
        ("surname", SURNAMES),
        ("Last Name", SURNAMES),
        ("Nachname", SURNAMES),
        ("Insurance Number", LONG_NUMBERS),
        ("e-mail", [f"{text}@example.org" for text in DISTINCT_TEXTS]),
        ("contact", [f"{text}@example.org" for text in DISTINCT_TEXTS]),
        ("contact", [f"+49 30 {number}" for number in LONG_NUMBERS]),
        ("contact", [f"({number // 1000}) 555-{number % 9000 + 1000}" for number in LONG_NUMBERS]),
        ("tax", [f"{number % 900 + 100}-45-{number % 9000 + 1000}" for number in LONG_NUMBERS]),
        ("bank", [f"DE89 3704 0044 0532 {number % 9000 + 1000} 00" for number in LONG_NUMBERS]),
        ("token", repeated([f"{number:032x}" for number in range(9)])),
        ("remarks", [f"seen with Dr. No {number}" for number in RUNNING]),
        ("position", RUNNING),
        ("reference", LONG_NUMBERS),
    ],
)
def test_what_names_people_is_an_identifier(name, values):
    assert isinstance(proposed(name, values)[0], om.Identifier)
    assert isinstance(proposed(name, [str(value) for value in values])[0], om.Identifier)


FEW_NAMES = repeated(["Meier", "Schmidt", "Weber"])


@pytest.mark.parametrize(
    "name",
    [
        *("Surname", "First name", "Forename", "FORENAME", "Nachname", "Vorname", "Patient name"),
        *("patientName", "Family name", "Last name", "Full name", "lname", "prénom", "apellido"),
        *("Name (first)", "nombre_completo", "nom_patient", "nom de famille", "contact name"),
    ],
)
def test_names_of_people_are_identifiers_however_few_there_are(name):
    column, reason, unsure = proposed(name, FEW_NAMES)
    assert (column.kind, unsure) == ("identifier", False)
    assert reason.endswith(") says that it names people")
    assert proposed(name, ["Meier", "Meier", "Weber", "Weber"])[0].kind == "identifier"


@pytest.mark.parametrize(
    "name",
    [
        *("Name", "name", "NAME 2", "nom", "nombre", "nome"),
        *("Street", "Straße", "street_name", "Address", "Postal address", "address line 1"),
        *("E-mail", "Email address", "phone", "Telefonnummer", "rue", "dirección"),
    ],
)
def test_what_probably_names_people_is_an_identifier_to_be_checked(name):
    column, reason, unsure = proposed(name, FEW_NAMES)
    assert (column.kind, unsure) == ("identifier", True)
    assert reason.endswith("says that it names people, though it has 3 distinct values only")
    assert not proposed(name, DISTINCT_TEXTS)[2]


@pytest.mark.parametrize(
    "name",
    [
        *("Country name", "hospital name", "drug name", "patient ward name", "patient_city_name"),
        *("address type", "phone_type", "address_city", "Adresse PLZ", "street parking level"),
    ],
)
def test_names_of_other_things_with_few_values_are_no_identifiers(name):
    assert proposed(name, FEW_NAMES)[0].kind == "flat"


def test_numbers_and_answers_are_no_names():
    assert proposed("nombre d'enfants", repeated([0, 1, 2, 3]))[0].kind == "numeric"
    assert proposed("nombre", repeated(["0", "1", "2", "3"]))[0].kind == "numeric"
    assert proposed("email", repeated(["Yes", "No"]))[0].kind == "flat"


EXCHANGED = str.maketrans(",.", ".,")
WITH_COMMAS = {
    "decimals": lambda amount: f"{amount:.2f}".replace(".", ","),
    "thousands": lambda amount: f"{amount:,.0f}",
    "both": lambda amount: f"{amount:,.2f}",
    "both, exchanged": lambda amount: f"{amount:,.2f}".translate(EXCHANGED),
    "a sign": lambda amount: f"-{amount:.1f}".replace(".", ","),
    "a currency before": lambda amount: f"€ {amount:,.2f}",
    "a currency behind": lambda amount: f"{amount:,.2f} CHF".translate(EXCHANGED),
}


@pytest.mark.parametrize("write", WITH_COMMAS.values(), ids=WITH_COMMAS)
@pytest.mark.parametrize("name", ["total", "case value", "x"])
def test_amounts_with_commas_are_never_identifiers(name, write):
    column, reason, unsure = proposed(name, [write(amount) for amount in AMOUNTS])
    assert (column.kind, unsure) == ("flat", True)
    assert "are numbers with commas, which were not read as numbers" in reason


def test_a_number_of_a_case_with_commas_is_no_identifier():
    assert proposed("claim", [f"{amount:,.2f}" for amount in AMOUNTS])[0].kind == "flat"
    assert proposed("claim", [f"{amount:.2f}, paid" for amount in AMOUNTS])[0].kind == "identifier"


def test_repeated_numbers_of_patients_are_identifiers_still():
    visits = [f"p{place // 5}" for place in range(1000)]
    assert isinstance(proposed("patient_nbr", visits)[0], om.Identifier)
    assert not isinstance(proposed("ward", visits)[0], om.Identifier)


@pytest.mark.parametrize(
    ("name", "values", "kind", "role"),
    [
        ("total_payment", AMOUNTS, "numeric", "sensitive"),
        ("CLM_PMT_AMT", WHOLE_AMOUNTS, "numeric", "sensitive"),
        ("Charge", AMOUNTS, "numeric", "sensitive"),
        ("income", WHOLE_AMOUNTS, "numeric", "sensitive"),
        ("reading", AMOUNTS, "numeric", "undecided"),
        ("steps", WHOLE_AMOUNTS, "numeric", "undecided"),
        ("patient_age", RANDOM.integers(0, 95, SIZE).tolist(), "numeric", "quasi"),
        ("phone_at_home", repeated(["yes", "no"]), "flat", "undecided"),
        ("hospital_id", repeated([11, 12, 13, 14]), "flat", "undecided"),
        ("num_procedures", repeated([41, 45, 38, 99]), "numeric", "undecided"),
        ("number_diagnoses", repeated([401, 250, 486]), "numeric", "undecided"),
    ],
)
def test_measures_and_labels_are_no_identifiers(name, values, kind, role):
    for written in (values, [str(value) for value in values]):
        column, _, _ = proposed(name, written)
        assert (column.kind, column.role) == (kind, role)


def test_distinct_payments_in_a_small_table_are_numbers():
    column, reason, unsure = proposed("payment", [120.5, 80.25, 99.0, 1000.0])
    assert (column.kind, column.role, unsure) == ("numeric", "sensitive", False)
    assert reason == "its 4 distinct values are numbers; its name ('payment') sounds confidential"


# Codes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "taxonomy"),
    [
        ("diagnosis", DIAGNOSES, "icd9cm"),
        ("ICD9_DGNS_CD_1", [code.replace(".", "") for code in DIAGNOSES], "icd9cm"),
        ("dx", ["4019", "0389", "25000"], "icd9cm"),
        ("procedure", PROCEDURES, "icd9cm-procedures"),
        ("PrcdrCode", [code.replace(".", "") for code in PROCEDURES], "icd9cm-procedures"),
        ("px", ["9904", "3893", "8154"], "icd9cm-procedures"),
        ("nace", ["01.11", "47.11", "62.10"], "nace"),
        ("industry", ["111110", "236115", "541110"], "naics"),
        ("naics_code", ["11", "23", "54"], "naics"),
    ],
)
def test_codes_find_their_taxonomy(name, values, taxonomy):
    column, reason, unsure = proposed(name, repeated(values))
    assert isinstance(column, om.Nominal)
    assert (column.taxonomy.name, column.role, column.unmapped) == (taxonomy, "quasi", "error")
    assert reason.startswith(f"100% of its records hold codes of {taxonomy} (")
    assert not unsure


def test_codes_are_recognized_by_their_writing_where_the_name_is_silent():
    column, _, unsure = proposed("entry", repeated(DIAGNOSES))
    assert column.taxonomy.name == "icd9cm"
    assert unsure
    assert proposed("entry", repeated(["250.00", "401.9", "428.0"]))[0].kind == "nominal"
    assert proposed("entry", repeated(["250.10", "401.90", "428.00"]))[0].kind == "numeric"
    assert proposed("entry", repeated(["37.5", "36.9", "38.1", "37.2"]))[0].kind == "numeric"


def test_numbers_that_happen_to_be_codes_stay_numbers_or_labels():
    numbers = repeated(list(range(200, 400, 7)))
    assert proposed("points", numbers)[0].kind == "numeric"
    assert proposed("drg", numbers)[0].kind == "flat"
    assert (
        proposed("drg", [f"{number:03d}" for number in repeated(range(1, 100))])[0].kind == "flat"
    )
    assert proposed("hospital_code", numbers)[0].kind == "flat"
    zips = repeated(["02134", "01001", "00401"])
    column, reason, _ = proposed("zip", zips)
    assert (column.kind, column.role) == ("flat", "quasi")
    assert "are words or codes" in reason


def test_codes_held_as_numbers_are_proposed_with_a_warning():
    column, reason, unsure = proposed("dx_principal", repeated([4019, 4280, 25000, 486]))
    assert column.taxonomy.name == "icd9cm"
    assert unsure
    assert "read the column as text" in reason
    column, reason, _ = proposed("procedure", repeated([45.16, 99.04, 81.54, 38.93, 8.63]))
    assert (column.taxonomy.name, column.unmapped) == ("icd9cm-procedures", "root")
    assert reason.startswith("80% of its records")
    assert "1 value is not found" in reason


def test_partly_covered_columns_count_records_not_values():
    mostly = ["401.9"] * 150 + ["486"] * 40 + ["428.0"] * 20 + ["X1", "X2", "X3", "X4", "X5"] * 4
    column, reason, unsure = proposed("diagnosis", mostly)
    assert (column.taxonomy.name, column.unmapped) == ("icd9cm", "root")
    assert reason == (
        "91.3% of its records hold codes of icd9cm (ICD-9-CM diagnoses); "
        "5 distinct values are not found and may then mean anything"
    )
    assert unsure
    barely = ["401.9"] * 60 + ["486"] * 10 + ["X1", "X2", "X3", "X4", "X5"] * 20
    assert proposed("diagnosis", barely)[0].kind == "flat"


def test_every_missed_code_is_seen_in_a_large_table(monkeypatch):
    monkeypatch.setattr(evidence, "CELLS", 10)
    monkeypatch.setattr(evidence, "FEWEST_SAMPLED", 60)
    values = repeated(DIAGNOSES, 1000)
    values[501] = "wrong"
    column, reason, _ = proposed("diagnosis", values)
    assert column.unmapped == "root"
    assert reason.startswith("99.9% of its records")


def test_the_name_decides_between_procedures_and_diagnoses():
    shared = repeated(["37.2", "45.1", "38.9", "99.0"])
    assert proposed("procedure", shared)[0].taxonomy.name == "icd9cm-procedures"
    column, _, unsure = proposed("procedure", repeated(["250.00", "401.9", "V45.71", "428.0"]))
    assert (column.taxonomy.name, unsure) == ("icd9cm", True)


ICD10 = ["E11.9", "I10", "J45.909", "Z00.00", "S72.001A"]


@pytest.fixture
def small_icd10(monkeypatch):
    """ICD-10-CM of five codes, since building the real one takes seconds."""
    small = om.Taxonomy.from_parents(
        {"ICD": [], **{code: ["ICD"] for code in ICD10}}, name="icd10cm"
    )
    monkeypatch.setattr(
        value_shapes, "load", lambda name: small if name == "icd10cm" else load(name)
    )
    value_shapes._codes.cache_clear()
    yield
    value_shapes._codes.cache_clear()


@pytest.mark.usefixtures("small_icd10")
def test_icd10_is_told_from_icd9():
    column, _, unsure = proposed("diagnosis", repeated(ICD10))
    assert (column.taxonomy.name, unsure) == ("icd10cm", False)
    assert proposed("diagnosis", repeated([code.replace(".", "") for code in ICD10]))[
        0
    ].taxonomy.name == ("icd10cm")
    assert proposed("diagnosis", repeated(DIAGNOSES))[0].taxonomy.name == "icd9cm"


def test_the_package_that_icd10_needs_is_named(monkeypatch):
    def missing(name):
        raise om.errors.DependencyError(name)

    monkeypatch.setattr(value_shapes, "load", missing)
    column, reason, unsure = proposed("diagnosis", repeated(ICD10))
    assert (column.kind, unsure) == ("flat", True)
    assert "ontomask[icd10]" in reason


def test_words_are_told_of_wordnet():
    jobs = ["teacher", "nurse", "carpenter", "lawyer", "farmer", "cook", "ad-hoc builder"]
    column, reason, _ = proposed("occupation", repeated(jobs))
    assert (column.kind, column.role) == ("flat", "quasi")
    assert "6 of 7 found in WordNet: the taxonomy 'wordnet' can be tried" in reason
    _, reason, _ = proposed("occupation", repeated([f"zq{job}" for job in jobs]))
    assert "WordNet" not in reason


# Dates --------------------------------------------------------------------------------------------

DAYS = [datetime.date(2008, 1, 1) + datetime.timedelta(3 * step) for step in range(SIZE)]
EARLY = [day for day in DAYS if day.day <= 12]


@pytest.mark.parametrize(
    "written", [None, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d"]
)
def test_written_dates_are_read(written):
    texts = [day.strftime(written) if written else day.isoformat() for day in DAYS]
    column, _, unsure = proposed("admission_date", texts)
    assert (column.kind, column.role, column.format, unsure) == ("date", "quasi", written, False)
    assert len(encode(open_table(pl.DataFrame({"a": texts})), om.Schema(a=column))) == SIZE


def test_day_and_month_are_told_apart_or_the_doubt_is_stated():
    column, reason, unsure = proposed("visit", [day.strftime("%m/%d/%Y") for day in EARLY])
    assert (column.format, unsure) == ("%d/%m/%Y", True)
    assert reason == (
        "its values are dates written as %d/%m/%Y, though all of them could be %m/%d/%Y as well"
    )


@pytest.mark.parametrize("values", [DAYS, [datetime.datetime(2008, 1, day) for day in (1, 2, 3)]])
def test_typed_dates_are_dates(values):
    column, _, unsure = proposed("discharged", values)
    assert (column.kind, column.format, unsure) == ("date", None, False)
    assert proposed("stamp", values)[2]


def test_whole_numbers_that_are_dates_are_seen():
    column, reason, unsure = proposed("dob", [int(day.strftime("%Y%m%d")) for day in DAYS])
    assert (column.kind, column.format, unsure) == ("date", "%Y%m%d", True)
    assert "read the column as text" in reason
    assert proposed("case", [20_081_300 + step for step in range(60)])[0].kind == "identifier"


def test_a_mark_for_missing_dates_and_numbers_is_pointed_out():
    column, reason, unsure = proposed("admitted", [*(day.isoformat() for day in DAYS), "NA"])
    assert (column.kind, unsure) == ("date", True)
    assert reason.endswith("'NA' seems to stand for a missing value: declare it")
    column, reason, _ = proposed("age", repeated(["34", "70", "?", "12"]))
    assert column.kind == "numeric"
    assert "'?'" in reason


@pytest.mark.parametrize("written", ["%Y-%m", "%m/%Y", "%m.%Y"])
def test_months_are_dates(written):
    months = [datetime.date(1960 + n // 12, n % 12 + 1, 1).strftime(written) for n in range(SIZE)]
    column, _, _ = proposed("onset", months)
    assert (column.kind, column.role, column.format) == ("date", "quasi", written)
    assert len(encode(open_table(pl.DataFrame({"a": months})), om.Schema(a=column))) == SIZE


@pytest.mark.parametrize(
    "partial", ["2008-03", "2008", "2008-03-??", "2008-00-00", "xx.03.2008", "??/03/2008", "3/2008"]
)
def test_partial_dates_are_no_identifiers(partial):
    texts = [*(day.isoformat() for day in DAYS[:-1]), partial]
    column, reason, unsure = proposed("onset", texts)
    assert (column, unsure) == (om.Flat(role="quasi"), True)
    assert "without day or month" in reason


def test_years_and_codes_are_no_partial_dates():
    assert not partial_dates(["1999", "2008"])
    assert not partial_dates(["2008-03", "V45.71"])
    assert not partial_dates([])


def test_nearly_dates_are_no_dates():
    assert date_shape(["2008-01-31", "2008-02-30"]) is None
    assert date_shape(["31/31/2008"]) is None
    assert date_shape([]) is None


# Order --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order",
    [
        ("low", "medium", "high"),
        ("Very-Low", "Low", "High"),
        ("mild", "moderate", "severe"),
        ("0-4", "5-9", "10-14", "85+"),
        ("[0-10)", "[10-20)", "[20-30)"),
        ("<18", "18-39", "40 - 64", ">=65"),
        ("under 5", "5 to 17", "18 to 64", "65 and over"),
    ],
)
def test_obvious_orders_are_found(order):
    shuffled = repeated([order[-1], *order[:-1]])
    column, reason, unsure = proposed("age_group", shuffled)
    assert (column.kind, column.role, column.order, unsure) == ("ordinal", "quasi", order, False)
    assert reason.startswith("its values have an order: ")


@pytest.mark.parametrize(
    "values",
    [
        ("yes", "no", "maybe"),
        ("Bachelors", "Masters", "HS-grad"),
        ("0-10", "5-15", "15-20"),
        ("9-5", "8-4", "7-3"),
        ("NO", ">30", "<30"),
        ("low", "Low", "high"),
    ],
)
def test_doubtful_orders_are_not(values):
    assert ordered(values) is None
    assert proposed("answer", repeated(list(values)))[0].kind == "flat"


# Roles and weights --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, "quasi") for name in ("sex", "Gender", "race", "MaritalStatus", "native-country")),
        *((name, "quasi") for name in ("Household size", "Geschlecht", "estado_civil", "county")),
        *((name, "quasi") for name in ("educationLevel", "spoken_language", "nationalité")),
        *(
            (name, "sensitive")
            for name in ("hiv_status", "salary class", "lab_result", "IncomeBand")
        ),
        *((name, "undecided") for name in ("status", "flavor", "x1", "数")),
    ],
)
def test_names_suggest_roles(name, role):
    column, _, unsure = proposed(name, repeated(["aa", "bb", "cc"]))
    assert (column.kind, column.role, unsure) == ("flat", role, role == "undecided")


def test_numbers_that_are_labels_are_flat():
    assert proposed("state", repeated([39, 31, 24]))[0] == om.Flat(role="quasi")
    assert proposed("weight_class", repeated([1, 2, 3]))[0].kind == "flat"
    assert proposed("time_in_hospital", repeated([1, 2, 3]))[0].kind == "numeric"
    assert proposed("price_group", repeated([1, 2, 3]))[0].kind == "flat"


def test_counts_and_weights_are_asked_about():
    counts = repeated([1, 2, 7])
    column, reason, unsure = proposed("frequency", counts)
    assert (column, unsure) == (om.Numeric(role="undecided"), True)
    assert "declare it as a count" in reason
    for name, values in (
        ("frequency", repeated([0, 1, 2])),
        ("frequency", repeated([1.5, 2.0, 3.0])),
        ("frequency", [*counts, None]),
        ("platelet count", counts),
    ):
        column, reason, _ = proposed(name, values)
        assert column.kind == "numeric"
        assert "count if" not in reason
    for name in ("weight", "sample_weight", "fnlwgt"):
        column, reason, unsure = proposed(name, repeated([70, 82, 65]))
        assert (column, unsure) == (om.Numeric(role="undecided"), True)
        assert "of the kind weight" in reason


# The whole ----------------------------------------------------------------------------------------


def table(size=SIZE):
    return {
        "patient": [f"P{number:06d}" for number in range(size)],
        "sex": repeated(["F", "M"], size),
        "age": np.random.default_rng(1).integers(0, 95, size).tolist(),
        "admitted": [DAYS[place % SIZE] for place in range(size)],
        "diagnosis": repeated(DIAGNOSES, size),
        "procedure": [None if place % 3 else "45.16" for place in range(size)],
        "charge": np.round(np.random.default_rng(2).lognormal(9, 1, size), 2).tolist(),
        "nothing": pl.Series([None] * size, dtype=pl.String),
    }


def test_the_proposal_reads_well():
    proposal = om.Schema.infer(pl.DataFrame(table()))
    assert proposal.unsure == {"nothing"}
    lines = str(proposal).splitlines()
    assert lines[1] == "sex: flat, quasi (it has 2 distinct values; outsiders may know it)"
    assert lines[7] == (
        "nothing: flat, undecided (it holds missing values only; leave it out; please check)"
    )
    assert set(proposal.reasons) == set(proposal.schema) == set(table())
    assert not [reason for reason in proposal.reasons.values() if re.search(r"\.$|\s\s", reason)]


def test_every_kind_of_frame_gets_the_same_proposal():
    frame = pl.DataFrame(table()).drop("nothing")
    expected = str(infer_schema(frame))
    assert str(infer_schema(frame.to_arrow())) == expected
    assert str(infer_schema(frame.to_pandas())) == expected
    assert str(
        infer_schema(pd.DataFrame(frame.to_dict(as_series=False)).astype({"sex": "category"}))
    ) == (
        expected.replace(
            "admitted: date, quasi (its values are dates)",
            "admitted: date, quasi (its values are dates (year-month-day))",
        )
    )


def test_the_proposed_schema_works_as_it_is():
    frame = pl.DataFrame(table()).drop("nothing")
    schema = infer_schema(frame).schema
    release = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
    assert len(release.frame) == SIZE
    assert "patient" not in release.frame.columns


def test_large_tables_are_sampled_but_distinctness_is_not(monkeypatch):
    monkeypatch.setattr(evidence, "CELLS", 100)
    monkeypatch.setattr(evidence, "FEWEST_SAMPLED", 50)
    few = [f"word{place % 500}" for place in range(5000)]
    many = [f"word{place}" for place in range(5000)]
    assert proposed("label", few)[0].kind == "flat"
    assert proposed("label", many)[0].kind == "identifier"


def test_blank_texts_count_as_missing():
    column, reason, _ = proposed("age", repeated(["34", " ", "70", ""]))
    assert (column.kind, reason.split(" are")[0]) == (
        "flat",
        "it has 2 distinct values; outsiders may know it",
    )
    assert proposed("dx", repeated(["", " "]))[1].startswith("it holds missing values only")


def test_names_are_split_into_words():
    assert read_name("PatientID").words == ("patient", "id")
    assert read_name("BENE_BIRTH_DT").words == ("bene", "birth", "dt")
    assert read_name("ICD9Code1").words == ("icd", "9", "code", "1")
    assert "zipcode" in read_name("Zip code").known
    assert read_name("payments").has(MEASURES)
    assert read_name("patient-Nr").said(PERSONS) == "'patient', 'nr'"


def test_an_identifier_that_repeats_is_the_unit() -> None:
    """Patients, not households; what is constant within them is named, and what nearly is."""
    visits = range(300)
    frame = pl.DataFrame(
        {
            "household_id": [f"h{one // 6:03d}" for one in visits],
            "patient_id": [f"p{one // 3:03d}" for one in visits],
            "sex": ["fm"[one // 3 % 2] for one in visits],
            "race": ["abc"[one // 3 % 3] if one else "c" for one in visits],
            "age": [20 + one % 50 for one in visits],
        }
    )
    found = om.Schema.infer(frame)
    assert found.schema.unit == "patient_id"
    assert "so persons are counted, not records" in found.reasons["patient_id"]
    said = "the same in all records of a person: household_id, sex and race (but for 1 person)"
    assert said in found.reasons["patient_id"]
    once = frame.unique("patient_id", maintain_order=True).drop("household_id")
    assert om.Schema.infer(once).schema.unit is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("patient", "P{}"),
        ("ssn", "123-45-67{:02}"),
        ("contact", "a{}@b.org"),
        ("key", "{:032x}"),
    ],
)
@pytest.mark.parametrize("persons", [4, 15, 60])
def test_whatever_names_people_and_repeats_is_the_unit(name, value, persons) -> None:
    numbers = [value.format(one % persons) for one in range(120)]
    frame = pl.DataFrame({name: numbers, "sex": ["f", "m"] * 60, "age": [*range(20, 80)] * 2})
    found = om.Schema.infer(frame).schema
    assert found.unit == name
