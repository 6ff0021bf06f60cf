"""Every declared constraint of every public call refuses every wrong value it can think of."""

import pytest

import ontomask as om
from ontomask.checks import constraints_of
from ontomask.errors import OntomaskError, ParameterError
from ontomask.methods.base import Method
from ontomask.taxonomy.measures import MEASURES
from public import PUBLIC

TOY = om.Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"]})
GAME = {
    **{"publisher_benefit": 10.0, "publisher_loss": 30.0},
    **{"adversary_gain": 100.0, "adversary_cost": 10.0},
}


NEEDED = {
    "load_crosswalk": {"path": "map.json"},
    "load_taxonomy": {"source": "icd9cm"},
    "Nominal": {"taxonomy": TOY},
    "Ordinal": {"order": ["a"]},
    "Classification": {"target": "x"},
    "KAnonymity": {"k": 5},
    "KMap": {"k": 5},
    "EstimatedKMap": {"k": 5, "fraction": 0.1},
    "RecordsAtRisk": {"t": 0.2},
    "PopulationUniques": {"t": 0.1, "fraction": 0.1},
    "NoAttack": {"adversary_gain": 100.0, "adversary_cost": 10.0},
    "PopulationNoAttack": {"adversary_gain": 100.0, "adversary_cost": 10.0},
    "Profitability": GAME,
    "PopulationProfitability": GAME,
    "DeltaPresence": {"minimum": 0.1, "maximum": 0.5},
    "LDiversity": {"l": 2},
    "TCloseness": {"t": 0.2},
    "DeltaDisclosure": {"delta": 1.0},
    "BetaLikeness": {"beta": 1.0},
    "AverageRisk": {"t": 0.1},
    "SampleUniqueness": {"t": 0.1},
}


def declared_calls():
    for name, function in PUBLIC.items():
        if isinstance(function, type) and issubclass(function, Method):
            continue  # methods are tried in every_method/
        for parameter, constraint in constraints_of(function).items():
            for wrong in constraint.wrong_values():
                yield pytest.param(
                    function, parameter, wrong, id=f"{name}-{parameter}-{type(wrong).__name__}"
                )


def measure_options():
    for measure in MEASURES.values():
        for option, constraint in measure.options.items():
            for wrong in constraint.wrong_values():
                name = f"{measure.name}-{option}-{type(wrong).__name__}"
                yield pytest.param(measure.name, option, wrong, id=name)


@pytest.mark.parametrize(("function", "parameter", "wrong"), list(declared_calls()))
def test_wrong_parameters_are_refused_by_name(function, parameter, wrong):
    arguments = NEEDED.get(function.__name__, {})
    with pytest.raises(ParameterError) as caught:
        function(**{**arguments, parameter: wrong})
    assert str(caught.value).startswith(f"{parameter} must be ")


@pytest.mark.parametrize(("measure", "option", "wrong"), list(measure_options()))
def test_wrong_options_of_measures_are_refused_by_name(measure, option, wrong):
    with pytest.raises(OntomaskError) as caught:
        TOY.distances(["a", "b"], measure, **{option: wrong})
    assert str(caught.value).startswith(f"{option} must be ")


@pytest.mark.parametrize("wrong", ["", "atribute", None, 3])
def test_a_wrong_root_is_refused(wrong):
    with pytest.raises(ParameterError, match="root must be one of 'attribute', 'taxonomy'"):
        TOY.distances(["a"], root=wrong)
