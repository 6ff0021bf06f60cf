"""What people write instead of words: abbreviations of hospitals, and small words, by language.

A key in capitals stands for its words only where it is written in capitals: "MS" is multiple
sclerosis, "ms" may be anything. Several meanings are separated by a bar. What merely begins the
word it stands for ("chron", "resp") needs no entry, nor do initials of a name ("AMI"), which are
recognized by themselves; here is what cannot be read from the names of a taxonomy.
"""

from __future__ import annotations

import re

__all__ = ["LANGUAGES", "SMALL_WORDS", "meanings", "spelled_out"]

LANGUAGES = ("english", "german", "french", "spanish")

SMALL_WORDS = {
    language: frozenset(re.findall(r"\w+", words))
    for language, words in {
        "english": "a and by due for from in of on or the to with",
        "german": "am an auf bei beim das dem den der des die durch ein eine im in mit nach oder "
        "und von vom zu zum zur",
        "french": "a au aux avec d de des du en et l la le les ou par sur un une",
        "spanish": "a al con de del el en la las lo los o por un una y",
    }.items()
}

SLASHED = {
    "english": {
        "w/o": "without",
        "s/p": "status post",
        "d/t": "due to",
        "h/o": "history of",
        "p/p": "postpartum",
        "b/l": "bilateral",
        "n/v": "nausea vomiting",
        "w/": "with ",
    },
    "german": {"z.n.": "zustand nach", "v.a.": "verdacht auf", "o.n.a.": "ohne nähere angabe"},
    "french": {"s/p": "statut post"},
    "spanish": {"s/p": "estado posterior", "s/e": "sin especificar"},
}
"""Those whose signs would be lost with the punctuation."""

ABBREVIATIONS = {
    "english": {
        "abd": "abdominal",
        "AF": "atrial fibrillation",
        "ards": "acute respiratory distress syndrome",
        "AS": "aortic stenosis",
        "BPH": "benign prostatic hyperplasia|hyperplasia of prostate",
        "bx": "biopsy",
        "ca": "carcinoma|cancer|malignant neoplasm",
        "CAD": "coronary artery disease|coronary atherosclerosis",
        "CHF": "congestive heart failure",
        "CKD": "chronic kidney disease",
        "cl": "closed",
        "cns": "central nervous system",
        "COPD": "chronic obstructive pulmonary disease|chronic airway obstruction",
        "CVA": "cerebrovascular accident|stroke|cerebral infarction",
        "DM": "diabetes mellitus",
        "DVT": "deep vein thrombosis|venous thrombosis deep vessels",
        "esrd": "end stage renal disease",
        "ETOH": "alcohol",
        "fb": "foreign body",
        "fx": "fracture",
        "GERD": "esophageal reflux|gastroesophageal reflux disease",
        "gi": "gastrointestinal",
        "gu": "genitourinary",
        "HF": "heart failure",
        "htn": "hypertension",
        "hx": "history",
        "IBS": "irritable bowel syndrome",
        "jt": "joint",
        "jts": "joints",
        "le": "lower extremity|lower limb",
        "MI": "myocardial infarction",
        "MS": "multiple sclerosis",
        "MVA": "motor vehicle accident",
        "nec": "other|not elsewhere classified|other specified",
        "nos": "unspecified|not otherwise specified",
        "OA": "osteoarthritis|osteoarthrosis",
        "op": "open",
        "oth": "other",
        "PE": "pulmonary embolism",
        "PNA": "pneumonia",
        "PTSD": "posttraumatic stress disorder",
        "PVD": "peripheral vascular disease",
        "RA": "rheumatoid arthritis",
        "SOB": "shortness of breath|dyspnea",
        "subq": "subcutaneous",
        "sz": "seizure",
        "tb": "tuberculosis|tuberculous",
        "TIA": "transient ischemic attack|transient cerebral ischemia",
        "UE": "upper extremity|upper limb",
        "URI": "upper respiratory infection",
        "UTI": "urinary tract infection",
    },
    "german": {
        "AVK": "arterielle verschlusskrankheit",
        "ca": "karzinom|bösartige neubildung",
        "COPD": "chronische obstruktive lungenkrankheit",
        "DM": "diabetes mellitus",
        "fx": "fraktur",
        "HWI": "harnwegsinfektion",
        "KHK": "koronare herzkrankheit|ischämische herzkrankheit",
        "li": "links",
        "nnb": "nicht näher bezeichnet",
        "nnbez": "nicht näher bezeichnet",
        "re": "rechts",
        "TBC": "tuberkulose",
        "VHF": "vorhofflimmern",
    },
    "french": {
        "AVC": "accident vasculaire cérébral",
        "BPCO": "bronchopneumopathie chronique obstructive",
        "FA": "fibrillation auriculaire",
        "HTA": "hypertension artérielle",
        "IDM": "infarctus du myocarde",
        "IRC": "insuffisance rénale chronique",
        "nca": "non classé ailleurs",
        "sai": "sans précision|sans autre indication",
    },
    "spanish": {
        "ACV": "accidente cerebrovascular",
        "DM": "diabetes mellitus",
        "EPOC": "enfermedad pulmonar obstructiva crónica",
        "FA": "fibrilación auricular",
        "HTA": "hipertensión arterial",
        "IAM": "infarto agudo de miocardio",
        "ITU": "infección del tracto urinario|infección de vías urinarias",
        "neom": "no especificado",
    },
}

ROMAN = {
    "i": "1", "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
    "xi": "11", "xii": "12", "xiii": "13", "xiv": "14", "xv": "15",
}  # fmt: skip
"""Single letters but for I are other things more often: vitamin D, X-linked."""

_SEAMS = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def spelled_out(folded: str) -> str:
    """Part letters from digits and write Roman numbers as others: "ofd9", "type ii"."""
    if not folded.isalpha():
        folded = _SEAMS.sub(" ", folded)
    return " ".join([ROMAN.get(word, word) for word in folded.split(" ")])


def meanings(text: str, language: str, *, loud: bool) -> tuple[str, dict[str, list[str]]]:
    """Write out what has signs in it; return the text and what its other short words may mean.

    `loud` says that everything is written in capitals, which then are no sign of anything.
    """
    quiet = text.lower()
    for short, words in SLASHED[language].items():
        if short in quiet:
            text = re.sub(rf"(?<!\w){re.escape(short)}", words, text, flags=re.IGNORECASE)
    known, found = ABBREVIATIONS[language], {}
    for word in re.findall(r"\w+", text):
        meant = known.get(word.lower()) or (known.get(word.upper()) if loud else known.get(word))
        if meant:
            found[word.lower()] = meant.split("|")
    return text, found
