"""CSV and Parquet files in chunks of rows, with the column types that the whole file would have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redisc.io.csv_files import csv_batches
from redisc.io.spelling import EXACT_AS_FLOAT, Role, count_numbers, kind_of, typed
from redisc.io.tables import is_parquet, readable, table_head, with_named_index
from redisc.optional import require

NUMERIC = ("whole", "int", "float", "bool", "truth", "mixed")
"""Kinds of columns that can be features; a cell of "truth" or "mixed" that is no number is refused when it is read."""


@dataclass(frozen=True)
class TableChunks:
    """A table on disk; `rows` is how many rows a chunk has."""

    path: Path
    rows: int = 100_000

    def __post_init__(self) -> None:
        with readable(self.path):
            pass

    def columns(self) -> Any:
        """A frame without rows that has the table's columns."""
        return table_head(self.path)

    def kinds(self, roles: Mapping[Any, Role]) -> dict[Any, str]:
        """What each column with a role holds, all rows considered: one of `NUMERIC`, or "other".

        "whole" numbers are spelled as such, "truth" has gaps, and of "mixed" values half or more are numbers.
        """
        seen = {column: _Seen() for column in roles}
        with readable(self.path):
            for kinds, frame in self._parquet_kinds(roles) if self._is_parquet else self._csv_kinds(roles):
                for column, kind in kinds.items():
                    seen[column].add(kind, frame[column], roles[column])
        return {column: evidence.kind() for column, evidence in seen.items()}

    def chunks(self, kinds: dict[Any, str]) -> Iterator[tuple[int, Any]]:
        """The columns named by `kinds` in chunks of rows: the first row's number, and a frame."""
        start = 0
        with readable(self.path):
            for frame in self._parquet_frames(kinds) if self._is_parquet else self._csv_frames(kinds):
                yield start, frame
                start += len(frame)

    @property
    def _is_parquet(self) -> bool:
        return is_parquet(self.path)

    def _csv_kinds(self, roles: Mapping[Any, Role]) -> Iterator[tuple[dict[Any, str], Any]]:
        for batch in self._csv_pieces():
            kinds = {column: kind_of(batch.column(column), role) for column, role in roles.items()}
            yield kinds, typed(batch, kinds)

    def _csv_frames(self, kinds: dict[Any, str]) -> Iterator[Any]:
        return (typed(batch, kinds) for batch in self._csv_pieces())

    def _csv_pieces(self) -> Iterator[Any]:
        for batch in csv_batches(self.path):
            for start in range(0, max(batch.num_rows, 1), self.rows):
                yield batch.slice(start, self.rows)

    def _parquet_kinds(self, roles: Mapping[Any, Role]) -> Iterator[tuple[dict[Any, str], Any]]:
        for frame in self._parquet_pieces(list(roles)):
            yield {column: _kind(frame[column]) for column in roles}, frame

    def _parquet_frames(self, kinds: dict[Any, str]) -> Iterator[Any]:
        for frame in self._parquet_pieces(list(kinds)):
            whole = [column for column in frame.columns if kinds.get(column) == "float"]
            gaps = {column: "float64" for column in whole if _kind(frame[column]) in ("int", "empty")}
            yield frame.astype(gaps)

    def _parquet_pieces(self, columns: Sequence[Any]) -> Iterator[Any]:
        with require("pyarrow.parquet", extra="files").ParquetFile(self.path) as file:
            for batch in file.iter_batches(self.rows, columns=columns):
                yield with_named_index(batch.to_pandas())
            if not file.metadata.num_rows:
                yield with_named_index(file.schema_arrow.empty_table().select(columns).to_pandas())


@dataclass
class _Seen:
    """What the chunks of a column held so far."""

    kinds: set[str] = field(default_factory=set)
    numbers: int = 0
    filled: int = 0

    def add(self, kind: str, values: Any, role: Role) -> None:
        large = role == "label" and kind == "whole" and not _exact_as_floats(values)
        self.kinds.add("large" if large else kind)
        if role == "value":
            filled = int(values.count())
            self.filled += filled
            self.numbers += count_numbers(values) if kind == "other" else filled

    def kind(self) -> str:
        joined = _joined(self.kinds)
        return "mixed" if joined == "other" and 2 * self.numbers >= self.filled > 0 else joined


def _exact_as_floats(values: Any) -> bool:
    return bool(values.dropna().between(-EXACT_AS_FLOAT, EXACT_AS_FLOAT).all())


def _kind(values: Any) -> str:
    types = require("pandas", extra="files").api.types
    if types.is_bool_dtype(values.dtype):
        return "bool"
    if types.is_integer_dtype(values.dtype):
        return "int"
    if types.is_float_dtype(values.dtype):
        return "empty" if values.isna().all() else "float"
    return {"boolean": "truth", "empty": "empty"}.get(types.infer_dtype(values, skipna=True), "other")


def _joined(kinds: set[str]) -> str:
    """The kind of a column from those of its chunks; a gap turns whole numbers into floats, unless they are spelled.

    "large" are labels that are whole numbers, some of which floats would round.
    """
    filled = kinds - {"empty"}
    if filled and filled <= {"whole", "large"}:
        return "whole"
    if filled == {"int"} and kinds == filled:
        return "int"
    if filled <= {"whole", "int", "float"}:
        return "float"
    if kinds == {"bool"}:
        return "bool"
    return "truth" if filled <= {"bool", "truth"} else "other"
