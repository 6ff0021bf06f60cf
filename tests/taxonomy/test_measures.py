import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask import arithmetic
from ontomask.taxonomy import measures as module
from ontomask.taxonomy.pairs import Pairs
from ontomask.taxonomy.taxonomy import Taxonomy
from reference.knowledge import SlowTaxonomy, all_pairs
from strategies import random_attribute

SYMMETRIC_ZERO = [measure.name for measure in module.measures()]


def expected(slow: SlowTaxonomy, name: str, values: list[str], root: str, counts=None):
    """The slow matrix of a measure."""
    content = {
        "seco": slow.seco,
        "sanchez": slow.sanchez,
        "column": lambda one: slow.frequency_content(counts or {}, one),
    }
    kinds = {
        "path": slow.path,
        "leacock-chodorow": lambda a, b: slow.leacock_chodorow(a, b, root),
        "wu-palmer": lambda a, b: slow.wu_palmer(a, b, root),
        "wu-palmer links": lambda a, b: slow.wu_palmer(a, b, root, links=True),
        "logsc": slow.logsc,
        "tversky": lambda a, b: slow.tversky(a, b, root),
        "weighted-path": lambda a, b: slow.weighted_path(a, b, values, root),
        "equality": lambda a, b: float(a != b),
    }
    for kind, function in content.items():
        kinds[f"resnik {kind}"] = lambda a, b, f=function: slow.resnik(a, b, f)
        kinds[f"lin {kind}"] = lambda a, b, f=function: slow.lin(a, b, f)
        kinds[f"jiang-conrath {kind}"] = lambda a, b, f=function: slow.jiang_conrath(a, b, f)
    return all_pairs(values, kinds[name])


CASES = {
    "path": {},
    "leacock-chodorow": {},
    "wu-palmer": {},
    "wu-palmer links": {"depth": "links"},
    "logsc": {},
    "tversky": {},
    "weighted-path": {},
    "equality": {},
    **{
        f"{name} {kind}": {"ic": kind}
        for name in ("resnik", "lin", "jiang-conrath")
        for kind in ("seco", "sanchez", "column")
    },
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", ["attribute", "taxonomy"])
@given(attribute=random_attribute())
@settings(deadline=None, max_examples=25)
def test_every_measure_agrees_with_its_definition(case, root, attribute):
    parents, values = attribute
    slow, fast = SlowTaxonomy(parents), Taxonomy.from_parents(parents)
    top = slow.lcs(values) if root == "attribute" else slow.root
    counts = {value: values.count(value) for value in values}
    result = fast.distances(values, case.split()[0], root, **CASES[case])
    np.testing.assert_allclose(result, expected(slow, case, values, top, counts), atol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", ["attribute", "taxonomy"])
@given(attribute=random_attribute(), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=15)
def test_pairs_of_two_lists_are_cells_of_the_matrix(case, root, attribute, seed):
    parents, values = attribute
    taxonomy, measure = Taxonomy.from_parents(parents), case.split()[0]
    order = np.random.default_rng(seed).permutation(len(values))
    others = [values[place] for place in order]
    options = CASES[case]
    if options.get("ic") != "column":  # two columns have other frequencies than one
        matrix = taxonomy.distances(values, measure, root, **options)
        paired = taxonomy.paired(values, others, measure, root, **options)
        assert np.array_equal(paired, matrix[np.arange(len(values)), order])
    singles = [
        taxonomy.distance(a, b, measure, **options) for a, b in zip(values, others, strict=True)
    ]
    each = [
        taxonomy.paired([a], [b], measure, "taxonomy", **options)[0]
        for a, b in zip(values, others, strict=True)
    ]
    np.testing.assert_allclose(singles, each, rtol=0, atol=1e-15)


def test_paired_lists_may_be_scaled_but_not_empty_or_uneven():
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    assert taxonomy.paired(["c", "b"], ["b", "b"], "path", scaled=True).tolist() == [1.0, 0.0]
    with pytest.raises(om.errors.ParameterError, match="the same length, not 2 and 1"):
        taxonomy.paired(["a", "b"], ["c"])
    with pytest.raises(om.errors.ParameterError, match="at least one value"):
        taxonomy.paired([], [])


def test_wrong_questions_about_single_pairs():
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"]})
    with pytest.raises(om.errors.ParameterError, match="measure must be one of 'path'"):
        taxonomy.distance("a", "t", "cosine")
    with pytest.raises(om.errors.UnknownConceptError, match="'x' is not the id of a concept"):
        taxonomy.distance("a", "x")


@pytest.mark.parametrize("name", SYMMETRIC_ZERO)
@given(attribute=random_attribute())
@settings(deadline=None, max_examples=15)
def test_every_measure_is_a_distance(name, attribute):
    parents, values = attribute
    matrix = Taxonomy.from_parents(parents).distances(values, name)
    assert np.array_equal(matrix, matrix.T)
    assert (matrix >= 0).all()
    same = np.array(values)[:, None] == np.array(values)[None, :]
    assert (matrix[same] == 0).all()
    if module.MEASURES[name].bounded:
        assert matrix.max() <= 1 + 1e-12


def test_a_shuffled_column_gives_the_shuffled_matrix(icd9):
    generator = np.random.default_rng(3)
    values = generator.choice(np.array(icd9.ids), 200).tolist()
    order = generator.permutation(200)
    matrix = icd9.distances(values, "wu-palmer")
    shuffled = icd9.distances([values[place] for place in order], "wu-palmer")
    assert np.array_equal(shuffled, matrix[np.ix_(order, order)])


def test_blocks_do_not_show(icd9, monkeypatch):
    values = list(icd9.ids[::300])
    whole = icd9.distances(values, "lin")
    monkeypatch.setattr(module, "BLOCK", 100)
    assert np.array_equal(icd9.distances(values, "lin"), whole)


def crossed(concepts=400):
    """Concepts with two parents each, among a few."""
    draw = np.random.default_rng(5)
    middle = {f"m{one}": ["t"] for one in range(9)}
    low = {
        f"c{one}": [f"m{two}" for two in draw.choice(9, 2, replace=False)]
        for one in range(concepts)
    }
    return Taxonomy.from_parents({"t": [], **middle, **low})


@pytest.mark.parametrize("measure", ["logsc", "tversky"])
@pytest.mark.parametrize("kind", ["tree", "crossed"])
def test_distances_that_are_looked_up_are_those_that_are_computed(kind, measure, icd9, monkeypatch):
    taxonomy = icd9 if kind == "tree" else crossed()
    values = list(taxonomy.ids[:: len(taxonomy.ids) // 300])
    asked, write = [], Pairs.write_on_curve
    monkeypatch.setattr(Pairs, "write_on_curve", lambda *given: asked.append(1) or write(*given))
    found = taxonomy.distances(values, measure)
    assert asked
    monkeypatch.setattr(module.Space, "by_profiles", lambda *_: None)
    assert np.array_equal(taxonomy.distances(values, measure), found)


@pytest.mark.parametrize("name", SYMMETRIC_ZERO)
def test_single_pairs_start_nothing_that_is_made_for_arrays(name, icd9, monkeypatch):
    started = []

    def counted(*given):
        started.append(given)
        return logarithms(*given)

    logarithms = arithmetic.logarithms
    monkeypatch.setattr(arithmetic, "logarithms", counted)
    some = icd9.ids[1:61]
    for first in some:
        for second in some:
            icd9.distance(first, second, name)
    assert len(started) < 100, "each takes longer than all the rest of a distance"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", ["attribute", "taxonomy"])
def test_single_pairs_with_options_are_those_of_lists(case, root, icd9, monkeypatch):
    name, options = case.split()[0], {"root": root, **CASES[case]}
    some = icd9.ids[1:9]
    pairs = [(first, second) for first in some for second in some]
    found = [icd9.distance(*pair, name, **options) for pair in pairs]
    assert found == [icd9.paired([one], [other], name, **options)[0] for one, other in pairs]

    def refused(*_given, **_options):
        raise AssertionError("made ready once more")

    monkeypatch.setattr(module.Space, "of", refused)
    # depths below the pair's own subsumer, and contents by the pair, are others for the next pair
    rebased = root == "attribute" and module.MEASURES[name].uses_depth
    depends = rebased or options.get("ic") == "column"
    with pytest.raises(AssertionError) if depends else contextlib.nullcontext():
        icd9.distance(*some[:2], name, **options)


def test_path_goes_through_a_common_ancestor_not_through_a_common_child():
    parents = {"top": [], "a": ["top"], "b": ["top"], "aa": ["a"], "bb": ["b"], "x": ["aa", "bb"]}
    taxonomy = Taxonomy.from_parents(parents)
    assert taxonomy.distance("aa", "bb", "path") == 4  # the undirected way over x would be 2


def test_the_root_of_the_attribute_matters_for_depth_only():
    parents = {"t": [], "u": ["t"], "a": ["u"], "b": ["u"], "c": ["t"]}
    taxonomy = Taxonomy.from_parents(parents)
    for measure in module.measures():
        by_attribute = taxonomy.distances(["a", "b"], measure.name)
        by_taxonomy = taxonomy.distances(["a", "b"], measure.name, root="taxonomy")
        differs = not np.allclose(by_attribute, by_taxonomy)
        assert differs == (measure.name in {"leacock-chodorow", "wu-palmer", "tversky"})


def test_scaled_distances_have_a_maximum_of_one():
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    for name in ("path", "weighted-path"):
        assert taxonomy.distances(["b", "c", "a"], name, scaled=True).max() == 1.0
        assert taxonomy.distances(["a", "a"], name, scaled=True).max() == 0.0


def test_weighted_path_on_a_small_tree():
    # Depth of the tree pruned to {c, b}: two links; the upper ones weigh 2, the lower ones 1.
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"], "d": ["c"]})
    assert taxonomy.distances(["b", "c"], "weighted-path")[0, 1] == 2 + 1 + 2


def test_corpus_counts_from_a_mapping_and_from_a_file(tmp_path):
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"]})
    file = tmp_path / "counts.csv"
    file.write_text("concept,count\na,3\nb,0\n")
    mapped = taxonomy.distance("a", "t", "jiang-conrath", ic="corpus", counts={"a": 3, "b": 0})
    read = taxonomy.distance("a", "t", "jiang-conrath", ic="corpus", counts=file)
    # Smoothed counts a 4, b 1, t 1: p(a) = 4/6, the largest content is -log(1/6).
    assert mapped == read == pytest.approx(np.log(6 / 4) / (2 * np.log(6)))


def test_measures_are_listed_with_formula_and_citation():
    listed = om.knowledge.measures()
    assert [measure.name for measure in listed] == list(module.MEASURES)
    assert all(measure.formula and measure.citation for measure in listed)


def test_between_is_the_rectangle_of_the_square():
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    square = taxonomy.distances(["a", "b", "c"], "wu-palmer")
    rectangle = taxonomy.between(["c", "a"], ["a", "b", "c"], "wu-palmer")
    assert np.array_equal(rectangle, square[[2, 0]])
