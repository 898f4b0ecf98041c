"""A picture of calibration: how often a prediction is right, by how sure it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from redisc.metrics import ReliabilityBins, reliability_bins
from redisc.report.canvas import sheet
from redisc.report.palette import HUES

_BAR, _GAP = HUES[0], HUES[5]
_FEW = 10
"""Bins of fewer nodes are paler: they say little."""


def draw_reliability(y_true: np.ndarray, proba: np.ndarray, mask: Any, path: str | Path, bins: int = 15) -> None:
    """Draw accuracy by confidence, with the gap to perfect calibration, above the number of nodes of each bin.

    The title gives the expected calibration error of `redisc.metrics`, which is the mean gap over nodes.
    """
    found = reliability_bins(y_true, proba, mask, bins)
    shape = {"height_ratios": [3, 1]}
    with sheet(path, (5.4, 5.8), rows=2, sharex=True, gridspec_kw=shape) as panels:
        (upper,), (lower,) = panels
        _draw_bars(upper, found)
        _draw_counts(lower, found)
        nodes = f"{found.count.sum():,} nodes"
        upper.set_title(f"expected calibration error {found.calibration_error:.3f} ({nodes})", fontsize=11)
        first = np.flatnonzero(found.count)[0] / bins
        lower.set(xlabel="confidence", xlim=(np.floor(10 * first) / 10, 1))


def _draw_bars(panel: Any, found: ReliabilityBins) -> None:
    width = 1 / len(found.count)
    middle = (np.arange(len(found.count)) + 0.5) * width
    few = (found.count > 0) & (found.count < _FEW)
    for here, opacity, name in ((found.count >= _FEW, 0.6, "accuracy"), (few, 0.2, f"accuracy, under {_FEW} nodes")):
        if here.any():
            panel.bar(middle[here], found.accuracy[here], width, color=_BAR, alpha=opacity, edgecolor="w", label=name)
    gap = found.confidence - found.accuracy
    panel.bar(middle, gap, 0.3 * width, found.accuracy, color=_GAP, label="gap to the mean confidence")
    panel.plot([0, 1], [0, 1], color="black", linewidth=0.9, linestyle="--", label="perfect calibration")
    panel.set(ylim=(0, 1), ylabel="accuracy")
    panel.legend(framealpha=0.95, loc="lower right", fontsize=9)


def _draw_counts(panel: Any, found: ReliabilityBins) -> None:
    width = 1 / len(found.count)
    bars = panel.bar((np.arange(len(found.count)) + 0.5) * width, found.count, width, color="#999999", edgecolor="w")
    panel.bar_label(bars, [f"{count:,}" if count else "" for count in found.count], fontsize=7, padding=1)
    panel.set_ylabel("nodes")
    panel.margins(y=0.2)
