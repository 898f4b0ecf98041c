"""A picture of how cost grows with nodes, degree and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redisc.report.canvas import sheet
from redisc.report.palette import HUES

_MILLISECONDS = [10, 20, 50, 100, 200, 500]
_AXES = {"nodes": "nodes", "mean_degree": "mean degree", "steps": "steps T"}


def draw_growth(rows: list[dict[str, Any]], path: str | Path) -> None:
    """Draw one panel for each thing that was varied: time of an update and of a sample, on logarithmic axes."""
    with sheet(path, (4 * len(_AXES), 3.6), columns=len(_AXES), sharey=True) as panels:
        for panel, (key, name) in zip(panels[0], _AXES.items(), strict=True):
            mine = [row for row in rows if row["varied"] == key]
            for field, label, colour in (("m_step_s", "update", HUES[0]), ("sample_s", "sample", HUES[1])):
                panel.plot([r[key] for r in mine], [1000 * r[field] for r in mine], "o-", color=colour, label=label)
            panel.set(xscale="log", yscale="log", xlabel=name, xticks=[r[key] for r in mine])
            panel.set_xticklabels([f"{r[key]:,}" for r in mine])
            panel.minorticks_off()
            panel.grid(alpha=0.3)
        first = panels[0, 0]
        first.set_ylabel("milliseconds")
        first.set_yticks(_MILLISECONDS, labels=[f"{tick:,}" for tick in _MILLISECONDS])
        first.legend(frameon=False)
