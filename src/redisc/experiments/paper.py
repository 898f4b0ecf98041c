"""The figures that the ReDiSC paper prints (`paper.json`), to stand beside ours."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def printed() -> list[dict[str, Any]]:
    """Return all printed rows: table, method, backbone, dataset, node and subgraph accuracy in percent.

    A node accuracy of None stands for "out of memory". Rows of ablations have a `variant`. A `metric` is named where it
    is not the accuracy that the table's head promises: the paper's column of Minesweeper takes the figures of GNNs over
    from the heterophily benchmark, whose metric there is ROC-AUC.
    """
    text = files("redisc.experiments").joinpath("paper.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


def printed_figure(
    method: str, dataset: str, backbone: str | None = None, table: str | None = None, variant: str | None = None
) -> dict[str, Any] | None:
    """Return what is printed for a method on a dataset; a backbone or table of None matches any.

    Without a `variant` rows of ablations are left out.
    """
    for row in printed():
        same = (row["method"], row["dataset"], row.get("variant")) == (method, dataset, variant)
        if same and table in (None, row["table"]) and (backbone is None or row["backbone"] in (None, backbone)):
            return row
    return None
