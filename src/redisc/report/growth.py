"""A picture of how cost grows with nodes, degree and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redisc.io.files import draft_of
from redisc.optional import require

_MILLISECONDS = [10, 20, 50, 100, 200, 500]
_AXES = {"nodes": "nodes", "mean_degree": "mean degree", "steps": "steps T"}


def draw_growth(rows: list[dict[str, Any]], path: str | Path) -> None:
    """Draw one panel for each thing that was varied: time of an update and of a sample, on logarithmic axes."""
    require("matplotlib", extra="plot").use("Agg")
    plot = require("matplotlib.pyplot", extra="plot")
    figure, panels = plot.subplots(1, len(_AXES), figsize=(4 * len(_AXES), 3.6), sharey=True)
    for panel, (key, name) in zip(panels, _AXES.items(), strict=True):
        mine = [row for row in rows if row["varied"] == key]
        for field, label, colour in (("m_step_s", "update", "#0072B2"), ("sample_s", "sample", "#E69F00")):
            panel.plot([r[key] for r in mine], [1000 * r[field] for r in mine], "o-", color=colour, label=label)
        panel.set(xscale="log", yscale="log", xlabel=name, xticks=[r[key] for r in mine])
        panel.set_xticklabels([f"{r[key]:,}" for r in mine])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("milliseconds")
    panels[0].set_yticks(_MILLISECONDS, labels=[f"{tick:,}" for tick in _MILLISECONDS])
    panels[0].legend(frameon=False)
    figure.tight_layout()
    with draft_of(Path(path)) as draft:
        figure.savefig(draft, dpi=110)
    plot.close(figure)
