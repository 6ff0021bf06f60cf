r"""Texts that are numbers: by declaration, with every exception reported, or by their look.

A column nobody declared is taken for numbers only if nothing is lost by it but trailing zeros:
every value is digits with at most one decimal mark (or an exponent with a sign), none has a leading
zero, a plus sign or more than 15 digits, and they are written as numbers are:

* all with the same number of decimals (1200.50, 900.00), unless they all have the same look of
  three digits or more before the mark and two or more after it (250.00, 401.90), as codes have; or
* without trailing zeros (3, 2.5, 3.25); or
* all with decimals, of which only a single zero stands alone (3.0, 2.5, 3.25), as Python does.

Anything else (250.00 next to 401.9 and 486) is a column of codes and stays text. Where the decimal
mark is a comma, decimals may be written anyhow: no code has a comma.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from ontomask.errors import DataError
from ontomask.wording import option, quoted

__all__ = ["looks_numeric", "to_numbers", "would_be_numeric", "written_like_codes"]

BLANKS = " \t\u00a0"
PLAIN = r"^-?(?:(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|\.\d{1,15})(?:[eE][+-]\d{1,3})?$"
DIGITS = r"^\d[\d.]*$"
THOUSANDS = r"^[+-]?\d{1,3}(?:[,.'’\x{00a0}\x{202f} ]\d{3})+(?:[.,]\d+)?$"
DECIMAL_COMMA = r"^-?\d+(?:,\d+)?$"
CODE_DIGITS, CODE_DECIMALS = 3, 2
SAMPLED = 1000
SHOWN = 5


def to_numbers(
    name: str,
    texts: pl.Series,
    decimal: str,
    missing: Sequence[str],
    places: Callable[[Sequence[int]], str],
) -> pl.Series:
    """Turn texts into whole numbers if all are written so, else into floats; or say where not."""
    plain = _plain(texts, missing)
    pointed = _pointed(plain, decimal)
    floats = pointed.cast(pl.Float64, strict=False)
    wrong = (plain.is_not_null() & ~floats.is_finite().fill_null(False)).arg_true()
    if len(wrong):
        raise _not_numbers(name, plain.gather(wrong), decimal, places(wrong.head(SHOWN).to_list()))
    whole = pointed.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == floats.null_count() else floats


def looks_numeric(texts: pl.Series, decimal: str, missing: Sequence[str]) -> bool:
    """Whether a column nobody declared is to be taken for numbers."""
    for part in (texts.head(SAMPLED), texts):  # most texts are told from numbers by the first ones
        plain = _pointed(_plain(part, missing), decimal).drop_nulls()
        if not plain.str.contains(PLAIN).all():
            return False
    if decimal == "," or not plain.str.contains(".", literal=True).any():
        return bool(len(plain))  # codes are not written with commas
    return _written_like_numbers(plain.unique())


def written_like_codes(texts: pl.Series) -> bool:
    """Whether values are digits and points only."""
    return _all_match(texts.drop_nulls(), DIGITS)


def would_be_numeric(texts: pl.Series) -> bool:
    """Whether the column would be numbers if the comma were the decimal mark."""
    known = texts.drop_nulls()
    return _all_match(known, DECIMAL_COMMA) and known.str.contains(",", literal=True).any()


def _all_match(known: pl.Series, pattern: str) -> bool:
    parts = (known.head(SAMPLED), known)
    return bool(len(known)) and all(part.str.contains(pattern).all() for part in parts)


def _plain(texts: pl.Series, missing: Sequence[str]) -> pl.Series:
    stripped = texts.str.strip_chars(BLANKS)
    return stripped.replace(dict.fromkeys(missing)) if missing else stripped


def _pointed(plain: pl.Series, decimal: str) -> pl.Series:
    """Write the decimal mark as a point; where a point stands already there is no number."""
    if decimal == ".":
        return plain
    swapped = plain.str.replace_all(".", "?", literal=True)
    return swapped.str.replace(",", ".", literal=True)


def _written_like_numbers(values: pl.Series) -> bool:
    decimals = values.str.extract(r"\.(\d+)$")
    lengths = decimals.str.len_chars().fill_null(0)
    if lengths.n_unique() == 1:
        return not _look_alike(values, int(lengths[0]))
    zero_ended = lengths.filter(decimals.str.ends_with("0").fill_null(False))
    if not len(zero_ended):
        return True
    always = values.str.contains(r"[.eE]").all()
    return bool(always) and bool((zero_ended == 1).all())


def _look_alike(values: pl.Series, decimals: int) -> bool:
    widths = values.str.len_chars()
    same = widths.n_unique() == 1 and not values.str.starts_with("-").any()
    return same and decimals >= CODE_DECIMALS and int(widths[0]) > CODE_DIGITS + decimals


def _not_numbers(name: str, wrong: pl.Series, decimal: str, places: str) -> DataError:
    count = f"{len(wrong)} of its values are" if len(wrong) > 1 else "one of its values is"
    return DataError(
        f"Column {quoted([name])} is to hold numbers, but {count} none ({places}); "
        f"{_way_out(wrong, decimal)}"
    )


def _way_out(wrong: pl.Series, decimal: str) -> str:
    other = "," if decimal == "." else "."
    if wrong.str.contains(THOUSANDS).any():
        return (
            "thousands separators are not read: save the numbers without them, or say that the "
            f"mark is a decimal one ({option('decimal', other)})."
        )
    if wrong.str.contains(rf"^[+-]?\d*\{other}\d+$").all():
        return f"their decimal mark seems to be {other!r}: say so ({option('decimal', other)})."
    return (
        "correct what is wrong, declare the column as flat or nominal, or name what means a "
        "missing value in missing."
    )
