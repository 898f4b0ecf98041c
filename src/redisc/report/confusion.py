"""A picture of which classes are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import LabelError, LengthError
from redisc.graph import as_mask
from redisc.optional import require
from redisc.report.canvas import sheet

_MOST_WRITTEN = 15
"""Up to so many classes the counts are written into the cells."""


def confusion_counts(y_true: np.ndarray, y_pred: np.ndarray, mask: Any, classes: int) -> np.ndarray:
    """Count `(C, C)` the mask's nodes by true class (row) and predicted class (column)."""
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.shape != predicted.shape:
        raise LengthError(f"y_pred has {predicted.size} entries, but y_true has {truth.size}: give one for each node")
    nodes = as_mask(mask, truth.size)
    for name, labels in (("y_true", truth[nodes]), ("y_pred", predicted[nodes])):
        outside = labels[(labels < 0) | (labels >= classes)]
        if outside.size:
            raise LabelError(f"{name} holds the label {outside[0]} in the mask, but the classes are 0..{classes - 1}")
    pairs = truth[nodes].astype(np.int64) * classes + predicted[nodes].astype(np.int64)
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def draw_confusion(
    y_true: np.ndarray, y_pred: np.ndarray, mask: Any, class_names: Sequence[str], path: str | Path
) -> None:
    """Draw the share of each true class (row) that got each label (column), with counts where there is room.

    The row of a class without nodes is blank.
    """
    counts = confusion_counts(y_true, y_pred, mask, len(class_names))
    total = counts.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, counts / np.maximum(total, 1), np.nan)
    side = float(np.clip(1.6 + 0.5 * len(class_names), 3.6, 9.0))
    with sheet(path, (side + 0.9, side)) as panels:
        panel = panels[0, 0]
        # The square root of a share as its colour: rare mistakes are what one looks for.
        scale = require("matplotlib.colors", extra="plot").PowerNorm(0.5, vmin=0, vmax=1)
        image = panel.imshow(shares, cmap="Blues", norm=scale)
        panel.figure.colorbar(image, ax=panel, label="share of the true class", shrink=0.85)
        if len(class_names) <= _MOST_WRITTEN:
            _write_counts(panel, counts, shares)
        _name_axes(panel, class_names)
        panel.set_title(f"{np.trace(counts):,} of {counts.sum():,} right", fontsize=11)


def _write_counts(panel: Any, counts: np.ndarray, shares: np.ndarray) -> None:
    for row, column in zip(*np.nonzero(counts), strict=True):
        colour = "white" if shares[row, column] > 0.35 else "black"
        panel.text(column, row, f"{counts[row, column]:,}", ha="center", va="center", color=colour, fontsize=8)


def _name_axes(panel: Any, names: Sequence[str]) -> None:
    every = -(-len(names) // 40)  # so that names do not cover each other
    ticks, shown = range(0, len(names), every), list(names)[::every]
    upright = max(len(name) for name in shown) > 3
    panel.set_xticks(ticks, labels=shown, rotation=90 if upright else 0, fontsize=8)
    panel.set_yticks(ticks, labels=shown, fontsize=8)
    for name in (*panel.get_xticklabels(), *panel.get_yticklabels()):
        name.set_parse_math(False)  # a class may be called $50
    panel.set(xlabel="predicted", ylabel="true")
