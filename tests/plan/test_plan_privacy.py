"""Privacy models of clusters and of risk in plans: run, recounted, changed, and noticed."""

import csv

import pytest

from ontomask.errors import OntomaskError, PlanError
from ontomask.plan.plan import Plan
from ontomask.plan.recounting import recount_folder
from plans import write_small

MODELS = {
    "t-closeness": "t = 0.4",
    "l-diversity": "l = 3",
    "beta-likeness": "beta = 1.5",
    "delta-disclosure": "delta = 2.0",
    "estimated-k-map": "k = 10\nfraction = 0.1",
    "records-at-risk": "t = 0.2\nshare = 0.0",
    "population-uniques": "t = 0.0\nfraction = 0.5",
    "no-attack": "adversary_gain = 50.0\nadversary_cost = 10.0",
}


def run(folder, more):
    return Plan.read(write_small(folder, more)).run().folder


def spoiled(folder):
    """Everybody of the first class gets one job, and one of them an age of their own."""
    path = next(folder.glob("*.csv"))
    rows = list(csv.reader(path.read_text().splitlines()))
    age, job = rows[0].index("age"), rows[0].index("job")
    for row in rows[1:]:
        if row[age] == rows[1][age]:
            row[job] = rows[1][job]
    rows[2][age] = "1"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_of_clusters_in_a_plan(tmp_path, model):
    folder = run(tmp_path, f'[[steps.privacy]]\nmodel = "{model}"\n{MODELS[model]}\n')
    found = recount_folder(folder)
    assert found.verification.kept
    assert len(found.verification.findings) >= 4 - (model == "no-attack")
    spoiled(folder)
    broken = [one for one in recount_folder(folder).verification.findings if not one.kept]
    told = {type(one.promise).__name__ for one in broken}
    assert told >= {"ClassSize"}
    assert len(told) > 1 or model == "no-attack"


def test_clusters_that_all_became_one_are_no_secret(tmp_path):
    """All promises are kept, and nothing is told any more: whoever runs it is to know that."""
    close = '[[steps.privacy]]\nmodel = "t-closeness"\nt = {}\n'
    outcome = Plan.read(write_small(tmp_path, close.format(0.0))).run()
    said = "All records look the same by age, which tells nothing any more."
    assert outcome.verification.kept
    assert any(one.startswith(f"{said} Weaken the privacy models") for one in outcome.notes)
    assert said in outcome.report.read_text(encoding="utf-8")
    outcome = Plan.read(write_small(tmp_path, close.format(0.4))).run(force=True)
    assert not any("look the same" in one for one in outcome.notes)


def test_a_way_of_forming_clusters_in_a_plan(tmp_path):
    step = 'privacy_by = "t-first"\n[[steps.privacy]]\nmodel = "t-closeness"\nt = 0.4\n'
    assert recount_folder(run(tmp_path, step)).verification.kept


def test_a_game_in_a_plan(tmp_path):
    """A class of two would be attacked, since 60 / 2 > 25, and cost more than it brings."""
    plan = write_small(tmp_path)
    head, _ = plan.read_text().split("[[steps]]")
    rows = ", ".join(f'["{age}", "{age // 4}", "*"]' for age in range(20, 29))
    step = (
        '[[steps]]\nmethod = "generalization"\nsuppression_limit = 0.2\n'
        f"hierarchies = {{ age = [{rows}] }}\n"
        '[[steps.privacy]]\nmodel = "profitability"\npublisher_benefit = 50\n'
        "publisher_loss = 200\nadversary_gain = 60\nadversary_cost = 25\n"
    )
    plan.write_text(head + step)
    folder = Plan.read(plan).run().folder
    found = recount_folder(folder)
    assert found.verification.kept
    assert "publishing every combination of age pays" in str(found.verification)
    spoiled(folder)
    assert not recount_folder(folder).verification.kept


def test_a_differentially_private_release_in_a_plan(tmp_path):
    plan = write_small(tmp_path)
    head, _ = plan.read_text().split("[[steps]]")
    rows = ", ".join(f'["{age}", "*"]' for age in range(20, 29))
    jobs = ", ".join(f'["j{number}", "*"]' for number in range(4))
    step = (
        '[[steps]]\nmethod = "private-generalization"\nepsilon = 1.0\ndelta = 0.09\n'
        f"hierarchies = {{ age = [{rows}], job = [{jobs}] }}\n"
        "[[steps.schemes]]\nage = 1\njob = 1\n"
    )
    plan.write_text(head.replace('role = "sensitive"\n', "") + step)
    found = recount_folder(Plan.read(plan).run().folder).verification
    assert found.kept
    assert "(1, 0.09)-differentially private" in str(found)


IMPOSSIBLE = {
    'model = "l-diversity"\nl = 9': "has only 4 different values; choose a smaller l.",
    'model = "l-diversity"\nl = 4\nkind = "recursive"\nc = 0.1': "not even all",
    'model = "l-diversity"\nl = 2\ncolumn = "age"': "'age' is not a sensitive column",
    'model = "t-closeness"\nt = 0.2\ncolumn = "age"': "'age' is not a sensitive column",
}


@pytest.mark.parametrize("method", ["microaggregation", "recoding", "resampling"])
@pytest.mark.parametrize("model", IMPOSSIBLE)
def test_what_no_clusters_of_the_table_satisfy_is_refused_before_anything_is_run(
    tmp_path, method, model
):
    plan = write_small(tmp_path, f"[[steps.privacy]]\n{model}\n")
    text = plan.read_text().replace('"microaggregation"', f'"{method}"')
    plan.write_text(text)
    with pytest.raises(PlanError, match=IMPOSSIBLE[model]) as told:
        Plan.read(plan).check()
    (problem,) = told.value.problems
    assert problem.place == "step 1"
    with pytest.raises(OntomaskError, match=IMPOSSIBLE[model].split(";")[0]):
        Plan.read(plan).run()


def test_a_model_of_values_that_an_earlier_step_changes_is_not_judged_by_them(tmp_path):
    plan = write_small(tmp_path, '[[steps.privacy]]\nmodel = "l-diversity"\nl = 9\n')
    head, step = plan.read_text().split("[[steps]]", 1)
    first = '[[steps]]\nmethod = "pram"\ncolumns = ["job"]\n'
    plan.write_text(f"{head}{first}[[steps]]{step}")
    assert Plan.read(plan).check().records
