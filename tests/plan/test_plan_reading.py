"""A plan with mistakes is answered by one sentence for each, with its line."""

import pytest

import ontomask as om
from ontomask.errors import PlanError
from ontomask.plan import Plan
from plans import COLUMNS, SMALL, STEP, plan_text, write_people

MISTAKES = """\
seed = -1
sed = 4

[input]
path = "people.csv"
seperator = ";"
decimal = "x"

[columns.patient]
kind = "identifyer"

[columns.diagnosis]
kind = "nominal"
taxonomy = 5

[columns.age]
kind = "numeric"
role = "quasi-identifier"
wieght = 2

[columns.sex]

[columns.severity]
kind = "ordinal"

[columns.charge]
kind = "numeric"
weight = "much"

[[steps]]
method = "microagregation"
k = 5

[[steps]]
method = "recoding"
k = 1

[[steps]]
method = "noise"
columns = ["chrage"]
scale = 0

[[steps]]
method = "generalization"
suppression_limit = 5
quality = 7
[[steps.privacy]]
model = "l-diversity"
column = "diagnosys"
[[steps.privacy]]
k = 5
[[steps.privacy]]
model = "k-anonimity"

[[steps]]
method = "pseudonyms"
columns = ["patient"]

[evaluation]
distances = "semantic"
target = "job"
folds = 1

[limits]
max_linkage = 110
max_los = 20

[output]
folder = ""
shuffle = "yes"
"""

METHODS = (
    "drop-columns, generalization, hybrid, local-suppression, microaggregation, noise, pram, "
    "private-generalization, pseudonyms, rank-swapping, recoding, resampling, rounding, sampling, "
    "shuffling, suppression, top-bottom-coding"
)
KINDS = "identifier, count, weight, numeric, date, flat, ordinal, nominal"

ANSWERS = [
    "line 1, the plan: seed must be a whole number of at least 0, not -1.",
    "line 2, the plan: 'sed' is not known here. Did you mean 'seed'? Known here: seed, about, "
    "input, engine, columns, rules, steps, evaluation, limits, output.",
    "line 6, [input]: 'seperator' is not known here. Did you mean 'separator'? Known here: "
    "format, separator, encoding, decimal, thousands, header, skip, quote, missing, missing_in, "
    "read_as, sheet, labels, path, database, query, password_variable.",
    "line 7, [input]: decimal must be one of '.', ',', not 'x'.",
    f"line 10, [columns.patient]: kind must be one of {KINDS}, not 'identifyer'. Did you mean "
    "'identifier'?",
    "line 14, [columns.diagnosis]: taxonomy must be a bundled name, a file, or a table with its "
    "path, not 5.",
    "line 18, [columns.age]: role must be one of 'quasi', 'sensitive', 'other', 'undecided', "
    "not 'quasi-identifier'.",
    "line 19, [columns.age]: 'wieght' is not known here. Did you mean 'weight'? Known here: kind, "
    "role, missing, weight.",
    f"line 21, [columns.sex]: kind is missing; it is one of {KINDS}.",
    "line 23, [columns.severity]: An ordinal column needs its order: every value once, from lowest "
    "to highest.",
    "line 28, [columns.charge]: weight must be a number of at least 0, 0 excluded, not 'much'.",
    f"line 31, step 1: method must be one of {METHODS}, not 'microagregation'. Did you mean "
    "'microaggregation'?",
    "line 36, step 2: k must be a whole number of at least 2, not 1.",
    "line 40, step 3: columns names the column 'chrage', which the plan lacks. Did you mean "
    "'charge'?",
    "line 41, step 3: scale must be a number of at least 0, 0 excluded, not 0.",
    "line 45, step 4: suppression_limit must be a number from 0 to 1, not 5. For 5 percent write "
    "0.05.",
    "line 46, step 4: quality must be the name of a quality model, or a table with its parameters, "
    "not 7.",
    "line 47, step 4: l is missing (how many values; a whole number unless the kind is `entropy`).",
    "line 49, step 4: column names the column 'diagnosys', which the plan lacks. Did you mean "
    "'diagnosis'?",
    "line 50, step 4: model is missing, which says what privacy is to be.",
    "line 52, step 4: model must be one of k-anonymity, k-map, delta-presence, l-diversity, "
    "t-closeness, delta-disclosure, beta-likeness, average-risk, sample-uniqueness, "
    "estimated-k-map, records-at-risk, population-uniques, no-attack, population-no-attack, "
    "profitability, population-profitability, not 'k-anonimity'. Did you mean 'k-anonymity'?",
    "line 55, step 5: key_variable is missing (the environment variable that holds the secret key; "
    "a plan never holds it).",
    "line 60, [evaluation]: distances must be a list, each item one of 'semantic', 'matching', "
    "'s-distance', 'euclidean', not 'semantic'.",
    "line 61, [evaluation]: target names the column 'job', which the plan lacks. Declare it as "
    "[columns.job].",
    "line 62, [evaluation]: folds must be a whole number of at least 2, not 1.",
    "line 65, [limits]: max_linkage must be a number from 0 to 100, not 110.",
    "line 66, [limits]: 'max_los' is not known here. Did you mean 'max_loss'? Known here: "
    "max_linkage, max_risk, max_loss, max_suppressed, max_unique_unchanged.",
    "line 69, [output]: folder must be a text that is not empty, not ''.",
    "line 70, [output]: shuffle must be true or false, not 'yes'.",
]


@pytest.fixture
def refused(tmp_path):
    """The sentences that answer a plan."""
    write_people(tmp_path)

    def sentences(text: str) -> list[str]:
        with pytest.raises(PlanError) as caught:
            Plan.parse(text, folder=tmp_path)
        assert len(str(caught.value).splitlines()) == len(caught.value.problems) + 1
        said = [str(one) for one in caught.value.problems]
        return [one for one in said if "the table has no column" not in one]

    return sentences


def test_columns_that_the_table_lacks_are_told_with_the_other_problems(tmp_path):
    write_people(tmp_path)
    text = """[input]
path = "people.csv"
[columns.agee]
kind = "numeric"
[[steps]]
method = "microaggregation"
k = "5"
"""
    with pytest.raises(PlanError) as caught:
        Plan.parse(text, folder=tmp_path)
    assert [str(one) for one in caught.value.problems] == [
        "line 3, [columns.agee]: the table has no column 'agee'. Did you mean 'age'?",
        "line 7, step 1: k must be a whole number of at least 2, not '5'. Write it without quotes.",
    ]


def test_a_table_is_not_taken_for_a_plan(tmp_path):
    write_people(tmp_path)
    with pytest.raises(PlanError, match="is a table, not a plan; write one with: ontomask init"):
        Plan.read(tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("role = “quasi”", 'use straight quotes: "quasi"'),
        ('path = "C:\\Users\\x.csv"', "in a path write / or put the path in single quotes"),
        ("[columns.Main diagnosis]", "a name with blanks or other signs needs quotes"),
        ("[a]\n[a]", "the same name stands here a second time"),
    ],
)
def test_a_line_that_is_no_toml_gets_a_hint(line, hint, refused):
    (sentence,) = refused(line)
    assert hint in sentence


def test_who_a_release_is_for_can_be_said_in_a_plan(refused):
    about = 'title = "Stays"\ndate = 2026-11-15\n[about.decided_by]\n"the roles" = "A. Smith"\n'
    read = Plan.parse(f"{SMALL}[about]\n{about}").contents.about
    assert (read.title, str(read.date)) == ("Stays", "2026-11-15")
    assert read.decided_by == {"the roles": "A. Smith"}
    wrong = '[about]\ntitel = "Stays"\nrecipient = 5\ndecided_by = "me"\n'
    sentences = refused(f"{SMALL}{wrong}")
    assert [one.partition(": ")[2] for one in sentences] == [
        "'titel' is not known here. Did you mean 'title'? Known here: title, purpose, recipient, "
        "contact, date, decided_by.",
        "recipient must be a text that is not empty, not 5.",
        "decided_by must be a table of names and values, each value a text that is not empty, not "
        "'me'.",
    ]


def test_every_mistake_in_a_file_gets_its_sentence_at_once(refused):
    assert refused(MISTAKES) == ANSWERS


NOTHING = [
    'the plan: the section [input] is missing; it says path = "your-table.csv".',
    'the plan: no column is declared; write for each [columns.NAME] and kind = "…".',
    'the plan: there is no step; write [[steps]] and method = "microaggregation", k = 5.',
]


def changed(old: str, new: str) -> str:
    text = plan_text()
    assert old in text
    return text.replace(old, new)


NOTHING_DECLARED = [
    'line 3, [columns]: no column is declared; write for each [columns.NAME] and kind = "…".'
]
STRATEGY = plan_text(step='[[steps]]\nmethod = "generalization"\n')
CLASSES = '[[steps.privacy]]\nmodel = "k-anonymity"\nk = 3\n'

SINGLE = {
    "empty": ("", NOTHING),
    "no columns": ('[input]\npath="people.csv"\n[columns]\n' + STEP, NOTHING_DECLARED),
    "wrong shapes": (
        "input = 3\ncolumns = 4\nsteps = 5\noutput = 6\n",
        [
            "line 1, [input]: it must be a table of keys and values.",
            NOTHING_DECLARED[0].replace("3", "2"),
            'line 3, the plan: there is no step; write [[steps]] and method = "microaggregation", '
            "k = 5.",
            "line 4, [output]: it must be a table of keys and values.",
        ],
    ),
    "numbers for tables": (
        "steps = [7]\ncolumns = { a = 5 }\n[input]\npath = 'people.csv'\n",
        [
            'line 1, step 1: this must be a table, such as method = "drop-columns".',
            'line 2, [columns.a]: this must be a table, such as kind = "identifier".',
        ],
    ),
    "a list as kind": (
        changed('kind = "flat"', 'kind = ["flat"]'),
        [
            f"line 18, [columns.sex]: kind must be one of {KINDS}, not ['flat']. Did you mean "
            "'flat'?"
        ],
    ),
    "only identifiers": (
        plan_text(columns='[columns.patient]\nkind = "identifier"\n'),
        [
            "line 4, [columns.patient]: every column is an identifier or the weight, so nothing "
            "would be published."
        ],
    ),
    "nobody knows anything": (
        plan_text(columns='[columns.age]\nkind = "numeric"\nrole = "other"\n'),
        ['line 8, step 1: no column has role = "quasi"; say which columns an intruder may know.'],
    ),
    "two weights": (
        plan_text(columns=COLUMNS + '[columns.v]\nkind="weight"\n[columns.w]\nkind="weight"\n'),
        ["line 24, [columns.w]: only one column can be the weight; 'v' is."],
    ),
    "a table elsewhere": (
        plan_text(more='[output]\ntable = "../people.csv"\n'),
        [
            "line 26, [output]: table must be the name of a file inside the output folder, not "
            "'../people.csv'."
        ],
    ),
    "a table of no format": (
        plan_text(more='[output]\ntable = "report.html"\n'),
        [
            "line 26, [output]: table must end in .csv, .tsv, .txt (also packed: .csv.gz), "
            ".parquet, .xlsx, .sav, .zsav or .dta, not be 'report.html'."
        ],
    ),
    "an input whose format cannot be written": (
        plan_text(table="people.xls"),
        [
            "line 3, [input]: the masked table would be called 'people.xls', which cannot be "
            'written; say table = "…" under [output] with a name that ends in .csv, .tsv, .txt '
            "(also packed: .csv.gz), .parquet, .xlsx, .sav, .zsav or .dta."
        ],
    ),
    "a folder with a zero character": (
        plan_text(more='[output]\nfolder = "a\\u0000b"\n'),
        ["line 26, [output]: folder and table must be names without zero characters."],
    ),
    "no taxonomy": (
        changed("diseases.csv", "nowhere"),
        [
            "line 9, [columns.diagnosis]: There is no file or bundled taxonomy 'nowhere'; bundled "
            "are icd9cm, icd9cm-procedures, wordnet, doid, nace, naics, icd10cm."
        ],
    ),
    "an option that is none": (
        changed('"diseases.csv"', '{ path = "nace", options = { format = "obo" } }'),
        [
            "line 9, [columns.diagnosis]: options are those of the reader; path and format stand "
            "beside them."
        ],
    ),
    "a hierarchy of numbers": (
        f"{STRATEGY}{CLASSES}[steps.hierarchies]\nage = [1, 2]\n",
        [
            "line 28, step 1: The hierarchy of 'age' must be a list that is not empty, each item a "
            "row of a value and its generalizations, not [1, 2]."
        ],
    ),
    "a hierarchy that is not there": (
        f'{STRATEGY}{CLASSES}[steps.hierarchies]\nage = "no.csv"\n',
        [
            "line 28, step 1: The hierarchy of 'age' is to be in 'no.csv', which is not a file; "
            "the path starts from the plan."
        ],
    ),
}


@pytest.mark.parametrize(("text", "sentences"), SINGLE.values(), ids=SINGLE)
def test_a_mistake_is_named_with_its_place(refused, text, sentences):
    assert refused(text) == sentences


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("seed = 1\n[input\n", 2, "this is not valid TOML, near character 7"),
        ("seed = one\n", 1, "this is not valid TOML, near character 8"),
        ("seed = 1\nseed = 2\n", 2, "this is not valid TOML"),
        ('seed = 1\npath = "', 2, "this is not valid TOML"),
        ("seed = [1,\n", 2, "this is not valid TOML"),
    ],
)
def test_a_file_that_is_no_toml_says_where(refused, text, line, said):
    (sentence,) = refused(text)
    assert sentence.startswith(f"line {line}, the file: {said}")
    assert sentence.endswith(").")


def test_files_that_cannot_be_plans_are_answered(tmp_path):
    (tmp_path / "latin.toml").write_bytes("# M\xfcller".encode("latin-1"))
    for name, said in {
        "none.toml": "There is no plan",
        "": "cannot be read (Is a directory)",
        "latin.toml": "is not UTF-8 text; save it as UTF-8",
    }.items():
        with pytest.raises(PlanError) as caught:
            Plan.read(tmp_path / name)
        assert said in str(caught.value)
        assert caught.value.problems == ()


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    write_people(tmp_path)
    (tmp_path / "plan.toml").write_text(plan_text(), encoding="utf-8-sig")
    assert Plan.read(tmp_path / "plan.toml").contents.seed == 7


def test_a_plan_says_what_it_says(tmp_path):
    write_people(tmp_path)
    more = '[limits]\nmax_loss = 20\n[evaluation]\ndistances = ["matching"]\n'
    plan = Plan.parse(plan_text(more=more), folder=tmp_path)
    assert plan.contents.seed == 7
    assert plan.steps == (om.Microaggregation(3),)
    assert list(plan.schema) == [
        "patient",
        "diagnosis",
        "age",
        "admitted",
        "severity",
        "sex",
        "charge",
    ]
    assert plan.schema["severity"].order == ("mild", "moderate", "severe")
    assert plan.schema.quasi == ("diagnosis", "age", "admitted", "severity", "sex")
    assert plan.contents.limits.max_loss == 0.2
    assert plan.contents.evaluation.settings["distances"] == ["matching"]
    assert plan.target == tmp_path / "plan-release"
    assert plan.with_seed(9).contents.seed == 9


def test_paths_start_from_the_plan_and_bundled_names_win(tmp_path, monkeypatch):
    write_people(tmp_path)
    (tmp_path / "mapping.csv").write_text("value,concept\ngrippe,flu\n", encoding="utf-8")
    (tmp_path / "nace").mkdir()
    text = changed('"diseases.csv"', '"diseases.csv"\nmapping = "mapping.csv"')
    monkeypatch.chdir("/")
    column = Plan.parse(text, folder=tmp_path).schema["diagnosis"]
    assert column.taxonomy.map(["grippe"], overrides=column.overrides).ids == ("flu",)
    bundled = Plan.parse(changed("diseases.csv", "nace"), folder=tmp_path).schema["diagnosis"]
    assert bundled.taxonomy.name == "nace"


def test_the_key_of_pseudonyms_comes_from_the_environment_only(tmp_path, monkeypatch, refused):
    step = '[[steps]]\nmethod = "pseudonyms"\ncolumns = ["patient"]\n'
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    assert refused(plan_text(step=f'{step}key_variable = "HOUSE_KEY"\n')) == [
        "line 25, step 1: key_variable names the environment variable 'HOUSE_KEY', which is not "
        "set; set it to a secret of your own before the run."
    ]
    missing, unknown = refused(plan_text(step=f'{step}key = "secret"\n'))
    assert "key_variable is missing" in missing
    assert "'key' is not known here" in unknown
    assert "secret" not in unknown
    monkeypatch.setenv("HOUSE_KEY", "a secret of the house")
    plan = Plan.parse(plan_text(step=f'{step}key_variable = "HOUSE_KEY"\n'), folder=tmp_path)
    assert plan.steps[0].key == "a secret of the house"


OLD = {
    'method = "rank-swapping"\nk = 3\nvariant = "fixed"': ("variant", "algorithm"),
    'method = "hybrid"\nk = 3\npartition = "mdav"': ("partition", "algorithm"),
    'method = "recoding"\nk = 3\nguide = "random"': ("guide", "algorithm"),
    'method = "generalization"\nk = 3\nsearch = "local"': ("search", "algorithm"),
    'method = "rounding"\ncolumns = ["age"]\nbase = 5\nhow = "random"': ("how", "algorithm"),
    'method = "suppression"\nk = 3\nhow = "star"': ("how", "outliers"),
}


@pytest.mark.parametrize("step", OLD)
def test_an_old_word_is_told_its_new_name(refused, step, tmp_path):
    old, new = OLD[step]
    (problem,) = refused(plan_text(step=f"[[steps]]\n{step}\n"))
    assert problem.endswith(f"{old!r} is called {new!r} now.")
    named = plan_text(step=f"[[steps]]\n{step.replace(f'{old} =', f'{new} =')}\n")
    assert Plan.parse(named, folder=tmp_path).steps
