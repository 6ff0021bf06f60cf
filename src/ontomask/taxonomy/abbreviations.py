"""What people write instead of words: abbreviations of hospitals, and small words, by language.

A key in capitals stands for its words only where it is written in capitals: "MS" is multiple
sclerosis, "ms" may be anything. Several meanings are separated by a bar. What merely begins the
word it stands for ("chron", "resp") needs no entry, nor do initials of a name, which are
recognized by themselves; here is what cannot be read from the names of a taxonomy, or is so usual
that other names with the same initials are hardly meant ("MI", "CHF").
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
        **dict.fromkeys(("dm1", "t1dm", "iddm"), "diabetes mellitus type 1"),
        **dict.fromkeys(("dm2", "t2dm", "niddm"), "diabetes mellitus type 2"),
    },
    "german": {"z.n.": "zustand nach", "v.a.": "verdacht auf", "o.n.a.": "ohne nähere angabe"},
    "french": {"s/p": "statut post"},
    "spanish": {"s/p": "estado posterior", "s/e": "sin especificar"},
}
"""Those whose signs would be lost with the punctuation, or that hold a number."""

ABBREVIATIONS = {
    "english": {
        "abd": "abdominal",
        "ACS": "acute coronary syndrome|intermediate coronary syndrome",
        "ADHD": "attention deficit hyperactivity disorder|attention deficit disorder hyperactivity",
        "AF": "atrial fibrillation",
        "AIDS": "acquired immunodeficiency syndrome|human immunodeficiency virus disease",
        "AKI": "acute kidney injury|acute kidney failure|acute renal failure",
        "ALS": "amyotrophic lateral sclerosis",
        "AMI": "acute myocardial infarction",
        "ards": "acute respiratory distress syndrome",
        "ARF": "acute renal failure|acute kidney failure|acute respiratory failure",
        "AS": "aortic stenosis",
        "BPH": "benign prostatic hyperplasia|hyperplasia of prostate|hypertrophy of prostate",
        "bx": "biopsy",
        "ca": "carcinoma|cancer|malignant neoplasm",
        "CABG": "coronary artery bypass graft|aortocoronary bypass",
        "CAD": "coronary artery disease|coronary atherosclerosis",
        "CF": "cystic fibrosis",
        "CHF": "congestive heart failure",
        "CKD": "chronic kidney disease",
        "cl": "closed",
        "cns": "central nervous system",
        "COPD": "chronic obstructive pulmonary disease|chronic airway obstruction",
        "CVA": "cerebrovascular accident|stroke|cerebral infarction",
        "DJD": "degenerative joint disease|osteoarthrosis|osteoarthritis",
        "DKA": "diabetic ketoacidosis|diabetes ketoacidosis",
        "DM": "diabetes mellitus",
        "DVT": "deep vein thrombosis|venous thrombosis deep vessels",
        "ECMO": "extracorporeal membrane oxygenation",
        "EGD": "esophagogastroduodenoscopy",
        "ERCP": "endoscopic retrograde cholangiopancreatography",
        "esrd": "end stage renal disease",
        "ETOH": "alcohol",
        "fb": "foreign body",
        "fx": "fracture",
        "GERD": "esophageal reflux|gastroesophageal reflux disease",
        "gi": "gastrointestinal",
        "GIB": "gastrointestinal hemorrhage|hemorrhage of gastrointestinal tract",
        "gu": "genitourinary",
        "HF": "heart failure",
        "HIV": "human immunodeficiency virus disease",
        "HLD": "hyperlipidemia",
        "htn": "hypertension",
        "hx": "history",
        "IBS": "irritable bowel syndrome",
        "ICH": "intracerebral hemorrhage",
        "jt": "joint",
        "jts": "joints",
        "LBP": "low back pain|lumbago",
        "le": "lower extremity|lower limb",
        "LVAD": "left ventricular assist device|heart assist system",
        "MDD": "major depressive disorder",
        "MI": "myocardial infarction",
        "MS": "multiple sclerosis",
        "MVA": "motor vehicle accident",
        "nec": "other|not elsewhere classified|other specified",
        "nos": "unspecified|not otherwise specified",
        "NSTEMI": "non st elevation myocardial infarction|subendocardial infarction",
        "OA": "osteoarthritis|osteoarthrosis",
        "OCD": "obsessive compulsive disorder",
        "op": "open",
        "OSA": "obstructive sleep apnea",
        "oth": "other",
        "PCI": "percutaneous coronary intervention|percutaneous transluminal coronary angioplasty",
        "PE": "pulmonary embolism",
        "PNA": "pneumonia",
        "PTCA": "percutaneous transluminal coronary angioplasty",
        "PTSD": "posttraumatic stress disorder",
        "PVD": "peripheral vascular disease",
        "RA": "rheumatoid arthritis",
        "SAH": "subarachnoid hemorrhage",
        "SLE": "systemic lupus erythematosus",
        "SOB": "shortness of breath|dyspnea",
        "STEMI": "st elevation myocardial infarction|acute myocardial infarction",
        "subq": "subcutaneous",
        "sz": "seizure",
        "tb": "tuberculosis|tuberculous",
        "TBI": "traumatic brain injury|intracranial injury",
        "THR": "total hip replacement",
        "TIA": "transient ischemic attack|transient cerebral ischemia",
        "TKR": "total knee replacement",
        "TURP": "transurethral resection of prostate|transurethral prostatectomy",
        "UE": "upper extremity|upper limb",
        "URI": "upper respiratory infection",
        "UTI": "urinary tract infection",
        "VTE": "venous thromboembolism|venous embolism and thrombosis",
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
            ends = r"(?!\w)" if short[-1].isalnum() else ""
            text = re.sub(rf"(?<!\w){re.escape(short)}{ends}", words, text, flags=re.IGNORECASE)
    known, found = ABBREVIATIONS[language], {}
    for word in re.findall(r"\w+", text):
        meant = known.get(word.lower()) or (known.get(word.upper()) if loud else known.get(word))
        if meant:
            found[word.lower()] = meant.split("|")
    return text, found
