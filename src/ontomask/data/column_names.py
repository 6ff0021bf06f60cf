"""What the name of a column says about it: whom it names, what it counts, who may know it.

Names are split into words (`PatientID`, `patient_id` and `Patient id` are all *patient*, *id*), and
the words are looked up in the lists below: English, with the commonest German, French and Spanish
words. A list is a hint, never a proof; `ontomask.data.inference` weighs it against the values.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["Hints", "read_name"]

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
ACCENTS = re.compile("[\u0300-\u036f]")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NAMES = _listed(
    """
    surname lastname firstname forename fullname maidenname middlename familyname givenname
    birthname nickname lname fname mname initials
    vorname nachname familienname zuname geburtsname rufname patientenname versichertenname
    prenom nomdefamille apellido apellidos cognome sobrenome voornaam achternaam
    """
)
"""Words for names of people, of which few may be in a table and which name people still."""

NAMES_OF_ANYTHING = _listed("name nom nombre nome naam")
"""Words for the name of a person, unless they are followed or preceded by what else is named."""

NAMED_PEOPLE = _listed(
    """
    patient person people subject client customer member employee student user pupil resident
    beneficiary respondent participant insured holder child mother father parent spouse husband
    wife partner guardian relative kin contact doctor physician nurse surgeon full complete legal
    birth maiden first last middle family given
    complet completo completa famille familia naissance usuel paciente cliente pila persona
    personne assure medecin medico
    """
)
"""Words that, next to those, say that a person is named."""

NAMED_THINGS = _listed(
    """
    hospital clinic ward unit department dept provider facility company organization organisation
    employer school group insurance insurer plan product brand test file variable
    """
)
"""Words that, next to those, say that something else is named."""

CONTACTS = _listed(
    """
    email mail phone telephone tel mobile cellphone fax address street housenumber
    strasse strassenname hausnummer anschrift adresse mailadresse emailadresse telefon
    telefonnummer rufnummer handynummer handy rue courriel calle direccion domicilio correo
    telefono movil celular
    """
)
"""Words for where a person lives or can be reached."""

DIRECT = (
    NAMES
    | CONTACTS
    | _listed(
        """
        ssn mrn nhs npi iban passport username login ip url uuid guid licence license plate vin nino
        tin insurancenumber insuranceno insuranceid policynumber accountnumber socialsecurity
        medicare medicaid nom nombre versichertennummer steuernummer ausweis dni nif nie curp
        """
    )
)
"""Words for what names one person, whatever else the name of the column says."""

NUMBERS = _listed(
    """
    id ident identifier key uid nr no nbr number num index rowid seqn
    kennung nummer identifiant numero identificador
    """
)
"""Words for a number, of whatever it is."""


def _numbered(listed: frozenset[str]) -> frozenset[str]:
    """What words make with a word for a number: patientid, patientennummer."""
    return frozenset(f"{word}{number}" for word in listed for number in NUMBERS)


PEOPLE = _listed(
    """
    patient patienten pat person personen subject client customer kunden member employee student
    user beneficiary bene respondent participant proband probanden paciente cliente assure
    pid sid ipp nhc personalnummer
    """
)
CASES = _listed("record case encounter visit claim clm episode fall dossier expediente")
NAMING = PEOPLE | _numbered(PEOPLE) | _numbered(CASES)
"""Words for a person, and for the number of a person or a case: they name, however they repeat."""

PERSONS = NUMBERS | NAMING | CASES | {"name"}
"""Words for what names a person, a case or a record if its values hardly repeat."""

GEOGRAPHY = _listed(
    """
    zip zipcode postcode postal postalcode county state region country city town municipality
    province district tract fips location residence neighborhood parish village latitude longitude
    lat lon lng plz postleitzahl ort wohnort gemeinde kreis landkreis bundesland land staat stadt
    ville commune departement pays canton codepostal ciudad municipio provincia pais estado
    """
)

KNOWN_TO_OTHERS = GEOGRAPHY | _listed(
    """
    age ages agegroup sex gender race ethnicity ethnic birth born dob yob birthdate birthday
    birthyear dateofbirth marital civil education educational schooling school degree occupation
    job profession employment employer workclass work industry nationality citizenship citizen
    native language religion household family children dependents relationship spouse veteran los
    lengthofstay stay timein height hispanic origin immigrant migration hours
    alter geschlecht geburt geburtsdatum geburtsjahr familienstand bildung abschluss beruf
    nationalitat staatsangehorigkeit sprache haushalt kinder verweildauer konfession
    sexe naissance profession metier etatcivil langue nationalite enfants
    edad sexo nacimiento profesion ocupacion estadocivil idioma nacionalidad hijos
    """
)
"""Words for what neighbors, colleagues or public registers may know."""

AGES = _listed("age ages alter edad")

EVENTS = _listed(
    """
    admission admitted admit admsn discharge discharged dschrg visit encounter event death died
    procedure surgery operation service hospitalization start end from thru to date dt day
    aufnahme entlassung entree sortie ingreso alta datum fecha
    """
)
"""Words that, on a column of dates, say when something happened that others may have noticed."""

CONFIDENTIAL = _listed(
    """
    payment pmt paid charge charges cost costs price income salary wage earning earnings tax fee
    amount amt balance debt deductible reimbursement asset wealth capital rent loan credit
    result results lab hiv aids outcome score disability pregnancy pregnant abortion crime offense
    conviction drug drugs medication alcohol smoking smoker suicide depression addiction grade
    einkommen gehalt lohn kosten betrag befund revenu salaire cout montant ingresos salario
    costo coste importe
    """
)
"""Words for what is to be kept from those who know the rest."""

MEASURES = CONFIDENTIAL | _listed(
    """
    age total sum value val rate ratio percent pct height weight wt wgt fnlwgt bmi pressure
    temperature temp dose size length los duration minutes hours days months years distance count
    quantity qty gain loss level volume systolic diastolic pulse heart glucose hemoglobin
    cholesterol creatinine latitude longitude lat lon time alter edad gewicht poids peso
    """
)
"""Words for measured numbers, which do not name people however much they differ."""

LABELS = GEOGRAPHY | _listed(
    """
    code cd type class category cat group status drg flag indicator ind source disposition kind
    sex gender race ethnicity ident id ward unit department dept hospital provider facility
    """
)
"""Words for whole numbers that are labels: no sum or mean of them makes sense."""

KINDS = _listed("code cd type class category cat group status id")
"""Words that make a label of what goes before them (weight class)."""

NUMBERING = NUMBERS - {"index", "num"}
"""Words that make a number of a person or a case of what goes before them (household id)."""

COUNTING = _listed("num number count counts nbr n total freq frequency anzahl nombre cantidad")
FREQUENCIES = _listed("freq frequency count counts multiplicity haeufigkeit anzahl effectif")
WEIGHTS = _listed("weight weights wt wgt fnlwgt afnlwgt pweight pwgt gewicht poids peso")
DATES = _listed("date dt day dob birthdate birthday datum fecha jour admitted discharged")

SUBJECTS = {
    "diagnosis": _listed(
        "dx diag diagnosis diagnoses dgns icd disease condition diagnose diagnostic diagnostico"
    ),
    "procedure": _listed("proc prcdr procedure px operation surgery eingriff procedimiento"),
    "industry": _listed("nace naics industry industrial sector branche branch activity"),
    "any": _listed("code cd codes"),
}
"""Words that say what the codes in a column stand for."""


@dataclass(frozen=True)
class Hints:
    """The words of a column's name and what they hint at."""

    words: tuple[str, ...]
    known: frozenset[str]

    def said(self, listed: frozenset[str]) -> str:
        """The words of the name that are in a list, to be quoted in a reason."""
        return ", ".join(repr(word) for word in self._sources(listed))

    def has(self, listed: frozenset[str]) -> bool:
        """Whether a word of the name is in a list."""
        return bool(self.known & listed)

    @property
    def names_people(self) -> bool:
        """Whether the name says that the column holds names of people."""
        if self.has(NAMES):
            return True
        is_person = self.has(NAMED_PEOPLE) and not self.has(NAMED_THINGS | GEOGRAPHY)
        return self.has(NAMES_OF_ANYTHING) and is_person

    @property
    def only_names(self) -> bool:
        """Whether the name says `name` and nothing else but digits."""
        words = [word for word in self.words if not word.isdigit()]
        return len(words) == 1 and words[0] in NAMES_OF_ANYTHING

    @property
    def contacts(self) -> bool:
        """Whether the column holds addresses and the like: not address_city, but postal_address."""
        places = [place for place, word in enumerate(self.words) if _forms(word) & CONTACTS]
        later = self.words[places[-1] :] if places else self.words
        return self.has(CONTACTS) and not any(_forms(word) & GEOGRAPHY for word in later)

    @property
    def numbers_people(self) -> bool:
        """Whether the name says nothing but that of a person, a case or a number (patient, id)."""
        words = [word for word in self.words if not word.isdigit()]
        return bool(words) and all(_forms(word) & PERSONS for word in words)

    @property
    def classifies(self) -> bool:
        """Whether the name ends with a word for a kind of something (address type)."""
        return bool(self.words) and self.words[-1] in KINDS

    @property
    def numbers(self) -> bool:
        """Whether the name ends with a word for the number of something (household_id)."""
        return bool(self.words) and self.words[-1] in NUMBERING and not self.has(GEOGRAPHY)

    @property
    def labels(self) -> bool:
        """Whether whole numbers in the column would be labels."""
        if self.counts or not self.has(LABELS):
            return False
        return not self.has(MEASURES) or self.words[-1] in KINDS

    @property
    def counts(self) -> bool:
        """Whether the name begins or ends with counting (num_procedures, dx_count)."""
        if len(self.words) < 2:
            return False
        return self.words[0] in COUNTING or self.words[-1] in ("count", "counts")

    @property
    def subject(self) -> str | None:
        """What codes in the column would stand for, if the name says it."""
        if self.counts or self.has(CONFIDENTIAL):
            return None
        found = [subject for subject, words in SUBJECTS.items() if self.has(words)]
        return next(iter(found), None)

    def _sources(self, listed: frozenset[str]) -> list[str]:
        single = [word for word in self.words if _forms(word) & listed]
        return single or sorted(self.known & listed)


def read_name(name: str) -> Hints:
    """Split a column's name into words, in lower case, and keep neighbors joined as well."""
    plain = ACCENTS.sub("", unicodedata.normalize("NFD", name.replace("ß", "ss")))
    words = tuple(word.lower() for word in WORDS.findall(plain))
    known: set[str] = set()
    for word in words:
        known |= _forms(word)
    for size in (2, 3):
        known |= {"".join(words[at : at + size]) for at in range(len(words) - size + 1)}
    return Hints(words, frozenset(known))


def _forms(word: str) -> set[str]:
    """A word, and its singular."""
    return {word, word[:-1]} if len(word) > 4 and word.endswith("s") else {word}
