"""A picture of a fit: how the loss fell and the validation metric rose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redisc.errors import ConfigError
from redisc.report.canvas import sheet
from redisc.report.palette import HUES

_CURVE, _MEAN_FIELD, _BEST = HUES[0], HUES[1], HUES[5]


def draw_training(history: Mapping[str, Any], path: str | Path, metric: str = "accuracy") -> None:
    """Draw the curves of `clf.history_`: loss above, validation with the mean-field GNN's level and the best below.

    `metric` is the name of the validation metric, as in `clf.metric`. Where nothing was held out for validation it is
    that of the training nodes, and there is no level to compare it with.
    """
    if not history.get("iteration"):
        raise ConfigError("there are no curves to draw: the history holds no look at the validation metric")
    held_out = not history.get("nothing_held_out")
    score = f"validation {_plain(metric)}" if held_out else f"training {_plain(metric)}"
    with sheet(path, (7.0, 5.0), rows=2, sharex=True) as panels:
        (upper,), (lower,) = panels
        marker = "o" if len(history["iteration"]) == 1 else "-"  # no line goes through one point
        for panel, key, name in ((upper, "loss", "loss"), (lower, "validation", score)):
            panel.plot(history["iteration"], history[key], marker, color=_CURVE, linewidth=1.3, label="ReDiSC")
            panel.set_ylabel(name)
            panel.grid(alpha=0.3)
        _mark_best(upper, lower, history)
        _draw_level(lower, history.get("mean_field_validation") if held_out else None)
        lower.set_xlabel("iteration")
        lower.legend(frameon=False, loc="lower right")


def _mark_best(upper: Any, lower: Any, history: Mapping[str, Any]) -> None:
    iteration, score = history["best_iteration"], history["best_validation"]
    for panel in (upper, lower):
        panel.axvline(iteration, color=_BEST, linewidth=0.9, linestyle=":")
    lower.plot([iteration], [score], "o", color=_BEST, markersize=6, label=f"best: {score:.4f} at {iteration:,}")


def _draw_level(panel: Any, level: float | None) -> None:
    if level is not None and math.isfinite(level):
        panel.axhline(level, color=_MEAN_FIELD, linestyle="--", label=f"mean-field GNN: {level:.4f}")


def _plain(metric: str) -> str:
    return metric.replace("roc_auc", "ROC-AUC").replace("_", " ")
