"""CSV and Parquet files in chunks of rows, with the column types that the whole file would have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redisc.errors import DatasetError
from redisc.io.tables import PARQUET
from redisc.optional import require

NUMERIC = ("int", "float", "bool")
"""Kinds of columns that can be features."""


@dataclass(frozen=True)
class TableChunks:
    """A table on disk; `rows` is how many rows a chunk has."""

    path: Path
    rows: int = 100_000

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise DatasetError(f"there is no file {self.path}")

    def columns(self) -> Any:
        """A frame without rows that has the table's columns."""
        return next(self._frames(None, {}), require("pandas", extra="files").DataFrame()).iloc[:0]

    def kinds(self, columns: Sequence[Any] | None = None) -> dict[Any, str]:
        """What each column holds, all rows considered: "int", "float", "bool", "truth" (with gaps) or "other"."""
        found: dict[Any, set[str]] = {}
        for frame in self._frames(columns, {}):
            for column in frame.columns:
                found.setdefault(column, set()).add(_kind(frame[column]))
        return {column: _joined(kinds) for column, kinds in found.items()}

    def chunks(self, kinds: dict[Any, str]) -> Iterator[tuple[int, Any]]:
        """The columns named by `kinds` in chunks of rows: the first row's number, and a frame."""
        start = 0
        for frame in self._frames(list(kinds), kinds):
            yield start, frame
            start += len(frame)

    def _frames(self, columns: Sequence[Any] | None, kinds: dict[Any, str]) -> Iterator[Any]:
        read = self._parquet if self.path.suffix in PARQUET else self._csv
        try:
            yield from read(columns, kinds)
        except (ValueError, OSError) as fault:
            raise DatasetError(f"{self.path} can't be read as a table: {fault}") from None

    def _csv(self, columns: Sequence[Any] | None, kinds: dict[Any, str]) -> Iterator[Any]:
        types = {"other": str, "float": "float64"}
        dtype = {column: types[kind] for column, kind in kinds.items() if kind in types}
        pandas = require("pandas", extra="files")
        with pandas.read_csv(self.path, usecols=columns, dtype=dtype, chunksize=self.rows, low_memory=False) as frames:
            yield from frames

    def _parquet(self, columns: Sequence[Any] | None, kinds: dict[Any, str]) -> Iterator[Any]:
        with require("pyarrow.parquet", extra="files").ParquetFile(self.path) as file:
            for batch in file.iter_batches(self.rows, columns=columns):
                frame = batch.to_pandas()
                whole = [column for column in frame.columns if kinds.get(column) == "float"]
                gaps = {column: "float64" for column in whole if _kind(frame[column]) in ("int", "empty")}
                yield frame.astype(gaps)
            if not file.metadata.num_rows:
                yield file.schema_arrow.empty_table().select(columns or file.schema_arrow.names).to_pandas()


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
    """The kind of a column from those of its chunks; a gap turns whole numbers into floats."""
    filled = kinds - {"empty"}
    if filled == {"int"} and kinds == filled:
        return "int"
    if filled <= {"int", "float"}:
        return "float"
    if kinds == {"bool"}:
        return "bool"
    return "truth" if filled <= {"bool", "truth"} else "other"
