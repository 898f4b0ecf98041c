"""Tables on disk: CSV, or Parquet by its suffix, in capitals or not."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from redisc.errors import ConfigError, DatasetError
from redisc.io.csv_files import csv_batches, csv_columns
from redisc.io.files import check_target, draft_of
from redisc.io.spelling import Role, kind_of, typed
from redisc.optional import require

_PARQUET = (".parquet", ".pq")
_WRITTEN = (".csv", ".csv.gz", *_PARQUET)


def is_parquet(path: Path) -> bool:
    """Tell by its name whether a table is Parquet."""
    return path.name.lower().endswith(_PARQUET)


def read_table(path: str | Path, roles: Mapping[str, Role] | None = None) -> Any:
    """Read a CSV or Parquet file as a pandas frame.

    In a CSV an empty cell alone is missing, and a column's role (`redisc.io.spelling`) says whether its spelling
    counts; columns without one hold values. Parquet has types of its own.
    """
    file, given = Path(path), dict(roles or {})
    with readable(file):
        if is_parquet(file):
            return with_named_index(require("pandas", extra="files").read_parquet(file))
        table = require("pyarrow", extra="files").Table.from_batches(csv_batches(file))
        kinds = {name: kind_of(table.column(name), given.get(name, "value")) for name in table.column_names}
        return typed(table, kinds)


def table_head(path: str | Path) -> Any:
    """A frame without rows that has the table's columns."""
    file, pandas = Path(path), require("pandas", extra="files")
    with readable(file):
        if not is_parquet(file):
            return pandas.DataFrame(columns=csv_columns(file))
        schema = require("pyarrow.parquet", extra="files").read_schema(file)
        return with_named_index(schema.empty_table().to_pandas())


def with_named_index(frame: Any) -> Any:
    """The frame with an index that has a name as a column, as pandas stores it in Parquet; often it is the id."""
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one sentence; rows count from 0 below the header."""
    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    try:
        yield
    except UnicodeDecodeError:
        raise DatasetError(f"{file} can't be read as a table: it is not UTF-8; save it as such") from None
    except (ValueError, OSError) as fault:
        reason = re.sub(r"Row #(\d+)", lambda found: f"row {int(found[1]) - 2}", str(fault))
        raise DatasetError(f"{file} can't be read as a table: {reason}") from None


def check_table_target(file: Path) -> None:
    """Raise an error where `write_table` could not write: to be called before the columns are computed."""
    _check_format(file)
    check_target(file)
    if is_parquet(file):
        require("pandas", extra="files")
        require("pyarrow", extra="files")


def write_table(path: str | Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as the suffix says; the file appears whole or not at all."""
    file = Path(path)
    _check_format(file)
    with draft_of(file) as draft:
        if is_parquet(file):
            require("pandas", extra="files").DataFrame(dict(columns)).to_parquet(draft)
        elif file.suffix.lower() == ".gz":
            _write_compressed(draft, columns)
        else:
            with draft.open("w", newline="", encoding="utf-8") as text:
                _write_csv(text, columns)


def _check_format(file: Path) -> None:
    if not file.name.lower().endswith(_WRITTEN):
        raise ConfigError(
            f"{file} can't be written: a table's name ends in {', '.join(_WRITTEN[:-1])} or {_WRITTEN[-1]}"
        )


def _write_compressed(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a CSV by way of gzip, without name and time: the same table is the same bytes."""
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        _write_csv(text, columns)


def _write_csv(text: TextIO, columns: Mapping[str, Sequence[Any]]) -> None:
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
