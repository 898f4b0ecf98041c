"""A picture of a result table: our figures beside the paper's, one panel a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redisc.errors import ConfigError
from redisc.report.canvas import sheet
from redisc.report.palette import HUES

_OURS, _PAPER = HUES[0], HUES[1]


def draw_table(rows: list[dict[str, Any]], path: str | Path) -> None:
    """Draw node accuracy with error bars, methods from top to bottom; what was not measured has no mark.

    Neither has a printed figure that is no accuracy.
    """
    measured = [row for row in rows if row["node"] is not None]
    if not measured:
        raise ConfigError("there is nothing to draw yet: the store holds no run of this table")
    datasets = list(dict.fromkeys(row["dataset"] for row in measured))
    tallest = max(sum(row["dataset"] == d for row in measured) for d in datasets)
    size = (4.2 * len(datasets), 1.2 + 0.32 * tallest)
    with sheet(path, size, columns=len(datasets)) as panels:
        for panel, dataset in zip(panels[0], datasets, strict=True):
            _draw_panel(panel, dataset, [row for row in measured if row["dataset"] == dataset], tallest)


def _draw_panel(panel: Any, dataset: str, rows: list[dict[str, Any]], tallest: int) -> None:
    """Draw a dataset's rows from the top, as far apart as in the tallest panel."""
    for key, colour, label, shift in (("node", _OURS, "ours", -0.12), ("paper_node", _PAPER, "paper", 0.12)):
        drawn = [(place, row) for place, row in enumerate(rows) if _is_drawn(row, key)]
        if not drawn:
            continue
        panel.errorbar(
            [row[key] for _, row in drawn],
            [place + (shift if _is_drawn(row, "paper_node") else 0) for place, row in drawn],
            xerr=[row.get(f"{key}_std") or 0.0 for _, row in drawn],
            fmt="o",
            color=colour,
            label=label,
            markersize=4,
        )
    panel.set_yticks(range(len(rows)), labels=[row["title"] for row in rows])
    panel.set(title=dataset, xlabel="node accuracy, %", ylim=(tallest - 0.5, -0.5))
    panel.grid(axis="x", alpha=0.3)
    panel.legend(frameon=False, fontsize=8)


def _is_drawn(row: dict[str, Any], key: str) -> bool:
    return row.get(key) is not None and (key == "node" or row.get("paper_metric") != "roc_auc")
