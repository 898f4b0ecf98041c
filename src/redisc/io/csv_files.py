"""CSV files as text, cell by cell as it stands in the file; an empty cell alone is missing.

`NA` or `null` is text like any other, so an id or a class of that name survives.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from redisc.optional import require

_BLOCK_BYTES = 1 << 24


def csv_columns(path: Path) -> list[str]:
    """The names in the first row; one that repeats gets a number, one that is empty its place."""
    with _opened(path) as stream:
        given = next(csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")), [])
    if not given:
        raise ValueError("its first row is empty; it must name the columns")
    return _told_apart([name or f"Unnamed: {place}" for place, name in enumerate(given)])


def csv_batches(path: Path) -> Iterator[Any]:
    """Arrow batches of the rows, all columns text (null where a cell is empty); at least one batch."""
    reader = require("pyarrow.csv", extra="files")
    arrow = require("pyarrow", extra="files")
    names = csv_columns(path)
    # Without threads a row of the wrong length is named by its number.
    reading = reader.ReadOptions(
        use_threads=False, block_size=_BLOCK_BYTES, column_names=names, skip_rows_after_names=1
    )
    converting = reader.ConvertOptions(
        column_types=dict.fromkeys(names, arrow.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    parsing = reader.ParseOptions(newlines_in_values=True)
    with _opened(path) as stream, reader.open_csv(stream, reading, parsing, converting) as batches:
        batch = arrow.RecordBatch.from_pylist([], schema=batches.schema)
        yield batch
        for batch in batches:
            yield batch
    _check_last_cell(path, batch)


def _opened(path: Path) -> Any:
    """The file as a stream of bytes, unpacked where its suffix tells that it is packed."""
    packed = "gzip" if path.suffix.lower() == ".gz" else "detect"  # which overlooks suffixes in capitals
    return require("pyarrow", extra="files").input_stream(str(path), compression=packed)


def _check_last_cell(path: Path, batch: Any) -> None:
    """Raise an error where a quote was never closed: the reader takes all that follows for one cell."""
    last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else None
    if last is None or not {"\n", "\r"} & set(last):
        return
    end = b""
    with _opened(path) as stream:
        while piece := stream.read(_BLOCK_BYTES):
            end = (end + piece)[-3:]
    if not end.rstrip(b"\r\n").endswith(b'"'):
        raise ValueError(f"a quote is never closed; the cell that it opens begins with {last[:40]!r}")


def _told_apart(names: list[str]) -> list[str]:
    told: list[str] = []
    for name in names:
        number, unique = 0, name
        while unique in told:
            number += 1
            unique = f"{name}.{number}"
        told.append(unique)
    return told
