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

import re
from collections.abc import Callable, Sequence

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.errors import DataError
from ontomask.wording import option, quoted

__all__ = ["looks_numeric", "pointed", "to_numbers", "would_be_numeric", "written_like_codes"]

BLANKS = " \t\u00a0"
PLAIN = r"^-?(?:(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|\.\d{1,15})(?:[eE][+-]\d{1,3})?$"
DIGITS = r"^\d[\d.]*$"
MARKS = r"[,.'’\x{00a0}\x{202f} ]"
THOUSANDS = rf"^[+-]?\d{{1,3}}({MARKS})\d{{3}}(?:{MARKS}\d{{3}})*(?:[.,]\d+)?$"
DECIMAL_COMMA = r"^-?\d+(?:,\d+)?$"
CODE_DIGITS, CODE_DECIMALS = 3, 2
SAMPLED = 1000
SHOWN = 5


def to_numbers(
    texts: pl.Series, how: FileFormat, places: Callable[[Sequence[int]], str]
) -> pl.Series:
    """Turn texts into whole numbers if all are written so, else into floats; or say where not."""
    plain = _plain(texts, how.missing)
    written = pointed(plain, how)
    floats = written.cast(pl.Float64, strict=False)
    wrong = (plain.is_not_null() & ~floats.is_finite().fill_null(False)).arg_true()
    if len(wrong):
        where = places(wrong.head(SHOWN).to_list())
        raise _not_numbers(texts.name, plain.gather(wrong), how, where)
    whole = written.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == floats.null_count() else floats


def looks_numeric(texts: pl.Series, how: FileFormat) -> bool:
    """Whether a column nobody declared is to be taken for numbers."""
    for part in (texts.head(SAMPLED), texts):  # most texts are told from numbers by the first ones
        plain = pointed(_plain(part, how.missing), how).drop_nulls()
        if not plain.str.contains(PLAIN).all():
            return False
    if how.decimal == "," or not plain.str.contains(".", literal=True).any():
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


def pointed(plain: pl.Series, how: FileFormat) -> pl.Series:
    """Write the decimal mark as a point, and no mark of thousands where one may stand.

    Where a point stands that is neither, there is no number.
    """
    if how.thousands:
        mark, decimal = re.escape(how.thousands), re.escape(how.decimal)
        grouped = plain.str.contains(rf"^[+-]?\d{{1,3}}(?:{mark}\d{{3}})+(?:{decimal}\d+)?$")
        joined = plain.str.replace_all(how.thousands, "", literal=True)
        plain = joined.zip_with(grouped.fill_null(False), plain)
    if how.decimal == ".":
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


def _not_numbers(name: str, wrong: pl.Series, how: FileFormat, places: str) -> DataError:
    count = f"{len(wrong)} of its values are" if len(wrong) > 1 else "one of its values is"
    return DataError(
        f"Column {quoted([name])} is to hold numbers, but {count} none ({places}); "
        f"{_way_out(wrong, how)}"
    )


def _way_out(wrong: pl.Series, how: FileFormat) -> str:
    other = "," if how.decimal == "." else "."
    marks = wrong.str.extract(THOUSANDS).drop_nulls()
    if len(marks):
        return (
            f'say what stands between thousands (in a plan: thousands = "{marks[0]}" under '
            f"[input]), or that the mark is a decimal one ({option('decimal', other)})."
        )
    if wrong.str.contains(rf"^[+-]?\d*\{other}\d+$").all():
        return f"their decimal mark seems to be {other!r}: say so ({option('decimal', other)})."
    return (
        "correct what is wrong, declare the column as flat or nominal, or say under [input] of a "
        "plan what means a missing value there (missing_in) or a number (read_as)."
    )
