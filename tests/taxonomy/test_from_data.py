import datetime
import math

import pytest

from ontomask.errors import EmptyTaxonomyError, ParameterError, StructureError
from ontomask.taxonomy import from_data, from_numbers
from ontomask.taxonomy.assembly import ROOT_LABEL


def climb(taxonomy, value):
    """Return the way from a value to the top of a tree, without the virtual root."""
    path = [value]
    while above := taxonomy.parents(path[-1]):
        path.extend(above)
    return path[:-1] if taxonomy.label_of(path[-1]) == ROOT_LABEL else path


def test_nested_columns():
    taxonomy = from_data.nested_taxonomy(
        ["Getafe", "Madrid", None, "Lyon"],
        ["Madrid", "Madrid", "Madrid", "Rhône"],
        ["Spain", "Spain", "Spain", "France"],
    )
    assert climb(taxonomy, "Getafe") == ["Getafe", "Madrid", "Spain"]
    assert climb(taxonomy, "Lyon") == ["Lyon", "Rhône", "France"]
    taxonomy = from_data.nested_taxonomy(["a", "b"], ["x", "x"], name="places")
    assert (len(taxonomy), taxonomy.name) == (3, "places")


def test_nested_ambiguity():
    with pytest.raises(StructureError) as caught:
        from_data.nested_taxonomy(["Toledo", "Toledo"], ["Ohio", "Castile"], ["USA", "Spain"])
    assert str(caught.value) == (
        "The nested columns, row 2: 'Toledo' (column 1) leads up to 'Castile' but in row 1 "
        "(column 1) up to 'Ohio', so column 1 does not determine column 2; every value needs one "
        "value above it: correct the row, or give the two different names."
    )


def test_nested_levels_are_named_right_in_short_rows():
    with pytest.raises(StructureError, match=r"'p' \(column 2\) leads up to 'z'"):
        from_data.nested_taxonomy(["c", None], ["p", "p"], ["y", "z"])


def test_nested_mistakes():
    with pytest.raises(StructureError, match="row 1: a value is missing above 'city'"):
        from_data.nested_taxonomy(["city"], [""], ["country"])
    with pytest.raises(ParameterError, match="must have the same length, not 2, 1"):
        from_data.nested_taxonomy(["a", "b"], ["x"])
    with pytest.raises(ParameterError, match="at least two columns, the finest first, not 1"):
        from_data.nested_taxonomy(["a"])


def test_dates():
    values = ["2019-03-01", datetime.date(2019, 4, 2), datetime.datetime(2020, 1, 5, 10), None]
    taxonomy = from_data.date_taxonomy(values)
    assert climb(taxonomy, "2019-03-01") == ["2019-03-01", "2019-03", "2019", "*"]
    assert climb(taxonomy, "2020-01-05") == ["2020-01-05", "2020-01", "2020", "*"]
    assert taxonomy.synonyms[taxonomy.index_of("2020-01-05")] == ("2020-01-05 10:00:00",)
    assert len(from_data.date_taxonomy(["2019-03-01"])) == 4


@pytest.mark.parametrize("value", ["01/03/2019", "2019-13-01", "2019-03", 5, "2019-03-01x"])
def test_wrong_dates(value):
    with pytest.raises(ParameterError, match="values must be dates or ISO texts such as"):
        from_data.date_taxonomy([value])


def test_intervals():
    taxonomy = from_numbers.interval_taxonomy([17, 18.5, 23, 40.0], width=5)
    assert climb(taxonomy, "17") == [
        "17", "[15, 20)", "[10, 20)", "[0, 20)", "[0, 40)", "[0, 80)",
    ]  # fmt: skip
    assert climb(taxonomy, "40")[1] == "[40, 45)"
    assert taxonomy.synonyms[taxonomy.index_of("40")] == ("40.0",)


def test_interval_parameters_matter():
    numbers = range(1950, 2021)
    assert climb(from_numbers.interval_taxonomy(numbers, width=10, fanout=10), "1999") == [
        "1999", "[1990, 2000)", "[1900, 2000)", "[1000, 2000)", "[0, 10000)",
    ]  # fmt: skip
    shifted = from_numbers.interval_taxonomy(numbers, width=10, origin=1945, levels=1)
    assert climb(shifted, "1950") == ["1950", "[1945, 1955)"]
    limited = from_numbers.interval_taxonomy(numbers, width=10, levels=2)
    assert climb(limited, "1999") == ["1999", "[1990, 2000)", "[1980, 2000)"]


def test_interval_bounds_are_exact_and_negative_numbers_join():
    taxonomy = from_numbers.interval_taxonomy([0.3, 0.1, 0.7], width=0.1)
    assert climb(taxonomy, "0.3")[1] == "[0.3, 0.4)"
    assert climb(taxonomy, "0.7")[1] == "[0.7, 0.8)"
    assert climb(from_numbers.interval_taxonomy([-3, 4], width=10), "-3") == [
        "-3", "[-10, 0)", "[-10, 10)",
    ]  # fmt: skip
    tiny = from_numbers.interval_taxonomy([-1e-300, 5], width=8)
    assert climb(tiny, f"-0.{'0' * 299}1")[1] == "[-8, 0)"


def test_default_width():
    assert climb(from_numbers.interval_taxonomy(range(1, 101)), "5")[1] == "[4, 6)"
    assert climb(from_numbers.interval_taxonomy([1000, 2000, 4000]), "2000")[1] == "[0, 5000)"
    assert climb(from_numbers.interval_taxonomy([7]), "7") == ["7", "[7, 8)"]


def test_missing_numbers_are_skipped():
    with pytest.raises(EmptyTaxonomyError, match="the numbers holds no concept"):
        from_numbers.interval_taxonomy([None, math.nan, ""])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 0}, "width must be"),
        ({"fanout": 1}, "fanout must be"),
        ({"levels": 0}, "levels must be"),
        ({"origin": "x"}, "origin must be"),
        ({"origin": 4}, "origin must not be above the smallest number, 3, but is 4"),
        ({"width": 1e-300}, "too small for numbers that span"),
    ],
)
def test_interval_mistakes(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        from_numbers.interval_taxonomy([3, 9], **options)


@pytest.mark.parametrize("value", ["x", math.inf, True])
def test_wrong_numbers(value):
    with pytest.raises(ParameterError, match="values must be finite numbers"):
        from_numbers.interval_taxonomy([value])


def test_masking():
    taxonomy = from_data.masking_taxonomy(["28013", "28014", "8013"])
    assert climb(taxonomy, "28013") == ["28013", "2801*", "280**", "28***", "2****", "*****"]
    assert climb(taxonomy, "8013") == ["8013", "8013*", "801**", "80***", "8****", "*****"]
    left = from_data.masking_taxonomy(["123", "23"], from_right=False, character="#")
    assert climb(left, "123") == ["123", "#23", "##3", "###"]
    assert climb(left, "23") == ["23", "#23", "##3", "###"]
    assert len(from_data.masking_taxonomy(["A"])) == 2


def test_masking_mistakes():
    with pytest.raises(ParameterError, match=r"The value '1\*' holds the masking character '\*'"):
        from_data.masking_taxonomy(["1*"])
    with pytest.raises(ParameterError, match="character must be a single visible character"):
        from_data.masking_taxonomy(["1"], character="**")
    with pytest.raises(ParameterError, match="from_right must be True or False"):
        from_data.masking_taxonomy(["1"], from_right="yes")
    with pytest.raises(ParameterError, match="values must be a sequence of values, not the text"):
        from_data.masking_taxonomy("28013")
