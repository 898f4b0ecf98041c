"""The figures that the ReDiSC paper prints (`paper.json`), to stand beside ours."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

TABLES = ("homophilic", "heterophilic", "large", "priority-queue", "labelled-first", "time-aware")


@cache
def _rows() -> list[dict[str, Any]]:
    return json.loads(files("redisc.experiments").joinpath("paper.json").read_text(encoding="utf-8"))


def printed(table: str) -> list[dict[str, Any]]:
    """Return a table's rows: method, backbone, dataset, node and subgraph accuracy in percent (None: out of memory)."""
    return [row for row in _rows() if row["table"] == table]


def printed_figure(method: str, dataset: str, backbone: str | None = None) -> dict[str, Any] | None:
    """Return what the main tables print for a method on a dataset; a backbone of None matches any."""
    for row in _rows():
        same = row["method"] == method and row["dataset"] == dataset and "variant" not in row
        if same and (backbone is None or row["backbone"] in (None, backbone)):
            return row
    return None
