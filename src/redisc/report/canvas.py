"""Sheets of panels that become a picture file, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redisc.errors import ConfigError
from redisc.io.files import draft_of
from redisc.optional import require

_DPI = 110


@contextmanager
def sheet(
    path: str | Path, size: tuple[float, float], rows: int = 1, columns: int = 1, **arrangement: Any
) -> Iterator[Any]:
    """Yield panels `(rows, columns)` on a sheet of `size` inches; it is written to `path` if the block ends well.

    The suffix of the path says the format: .png, .svg, .pdf and what else matplotlib writes. The figure belongs to no
    window and no global state, so that a notebook's or a program's own pictures are left alone. The same picture is the
    same bytes.
    """
    check_picture(Path(path))
    figure = require("matplotlib.figure", extra="plot").Figure(figsize=size, layout="constrained")
    yield figure.subplots(rows, columns, squeeze=False, **arrangement)
    with draft_of(Path(path)) as draft, require("matplotlib", extra="plot").rc_context({"svg.hashsalt": "redisc"}):
        figure.savefig(draft, dpi=_DPI, metadata={"Date": None} if draft.suffix == ".svg" else None)


def check_picture(path: Path) -> None:
    """Raise an error where the name of a picture says no format: to be called before there is something to draw."""
    formats = require("matplotlib.figure", extra="plot").Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in formats:
        raise ConfigError(f"{path} can't be drawn: a picture's name ends in .png, .svg or .pdf")
