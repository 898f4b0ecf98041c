"""Tables on disk: CSV, or Parquet by its suffix."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from redisc.errors import DatasetError
from redisc.io.files import draft_of
from redisc.optional import require

PARQUET = {".parquet", ".pq"}


def read_table(path: str | Path) -> Any:
    """Read a CSV or Parquet file as a pandas frame."""
    file = Path(path)
    pandas = require("pandas", extra="files")
    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    try:
        return pandas.read_parquet(file) if file.suffix in PARQUET else pandas.read_csv(file)
    except (ValueError, OSError) as fault:
        raise DatasetError(f"{file} can't be read as a table: {fault}") from None


def write_table(path: str | Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length; the file appears whole or not at all."""
    file = Path(path)
    with draft_of(file) as draft:
        if file.suffix in PARQUET:
            require("pandas", extra="files").DataFrame(dict(columns)).to_parquet(draft)
        else:
            _write_csv(draft, columns)


def _write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
