"""What columns of text hold, and the columns of numbers that they become without losing a character that matters.

A column's *role* says what may happen to it:

- "id": whole numbers, where every cell is spelled as one would print them; else text. `007` stays `007`.
- "label": as ids; plain decimals are numbers too, unless a float would make another whole number of one.
- "text": text, whatever stands in it.
- "value": numbers, truth values, or else text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from redisc.optional import require

Role = Literal["id", "label", "text", "value"]

_DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_WHOLE_AS_FLOAT = r"^-?[0-9]{1,15}(\.0+)?$"
EXACT_AS_FLOAT = 10**15 - 1
"""Whole numbers of so many digits are floats without rounding."""

_TRUE, _FALSE = ["true", "True", "TRUE"], ["false", "False", "FALSE"]


def kind_of(column: Any, role: Role) -> str:
    """What an Arrow column of text holds: "whole", "float", "bool", "other", or "empty" where all cells are."""
    compute = require("pyarrow.compute", extra="files")
    if column.null_count == len(column):
        return "empty"
    if role != "text" and _whole_numbers(column) is not None:
        return "whole"
    if role == "label" and _are_decimals(column):
        return "float"
    if role == "value" and _floats(column) is not None:
        return "float"
    if role == "value" and compute.all(compute.is_in(column.drop_null(), _words(_TRUE + _FALSE))).as_py():
        return "bool"
    return "other"


def typed(table: Any, kinds: Mapping[str, str]) -> Any:
    """A pandas frame of the named columns of an Arrow table of text, each as its kind says.

    Beside the kinds of `kind_of`, "truth" is a column of truth values with gaps, as one read in chunks may have.
    """
    pandas = require("pandas", extra="files")
    columns = {name: _typed_column(table.column(name), kind) for name, kind in kinds.items()}
    return pandas.DataFrame(columns, index=pandas.RangeIndex(table.num_rows))


def count_numbers(column: Any) -> int:
    """How many cells of a pandas column of text or objects are numbers; lists and the like are none."""
    try:
        return int(require("pandas", extra="files").to_numeric(column, errors="coerce").notna().sum())
    except TypeError:
        return 0


def _typed_column(column: Any, kind: str) -> Any:
    if kind == "whole":
        return _as_whole(column)
    if kind in ("float", "empty"):
        return _floats(column).to_pandas()
    if kind in ("bool", "truth"):
        return _as_truth(column).to_pandas()
    return column.to_pandas()


def _as_whole(column: Any) -> Any:
    """Integers, or Python's own where cells are missing: floats would round the large ones."""
    numbers = _whole_numbers(column)
    return numbers.to_pandas(integer_object_nulls=True)


def _whole_numbers(column: Any) -> Any:
    """The column as 64-bit integers, or None where a cell is not spelled as one."""
    arrow = require("pyarrow", extra="files")
    compute = require("pyarrow.compute", extra="files")
    try:
        numbers = column.cast(arrow.int64())
    except arrow.ArrowInvalid:
        return None
    return numbers if compute.all(compute.equal(numbers.cast(arrow.string()), column)).as_py() is not False else None


def _are_decimals(column: Any) -> bool:
    """Whether all cells are plain decimals, and those that are whole as floats are spelled as that number."""
    compute = require("pyarrow.compute", extra="files")
    if not compute.all(compute.match_substring_regex(column, _DECIMAL)).as_py():
        return False
    numbers, spelled = _floats(column), compute.match_substring_regex(column, _WHOLE_AS_FLOAT)
    return bool(compute.all(compute.equal(compute.equal(numbers, compute.floor(numbers)), spelled)).as_py())


def _floats(column: Any) -> Any:
    """The column as floats, blanks around a number allowed, or None where a cell is no number."""
    arrow = require("pyarrow", extra="files")
    compute = require("pyarrow.compute", extra="files")
    try:
        return compute.utf8_trim_whitespace(column).cast(arrow.float64())
    except arrow.ArrowInvalid:
        return None


def _as_truth(column: Any) -> Any:
    compute = require("pyarrow.compute", extra="files")
    truth = compute.is_in(column, _words(_TRUE))
    return compute.if_else(column.is_null(), None, truth)


def _words(words: list[str]) -> Any:
    return require("pyarrow", extra="files").array(words)
