"""Colours and shapes of classes, for readers of every kind of sight.

The first eight colours are Okabe and Ito's, which colour-blind readers can tell apart; black is kept for mistakes, and
a dark grey stands in for it (a lighter one looks like the pink to eyes without green cones). Nobody tells many more
hues apart, so the next eight classes take the same hues darkened and the eight after these the hues paled: lightness
is what everyone sees. Then the colours start over. Where marks have a shape, each group of eight also has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#606060")
UNKNOWN = "#DDDDDD"
"""The colour of a node without a label."""

MISTAKE = "#000000"
_SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
_DARKER, _PALER = 0.55, 0.5


def class_colours(count: int) -> list[str]:
    """Return a colour `#RRGGBB` for each of `count` classes; the first colours of many are those of few."""
    shades = [*HUES, *(_mixed(hue, 0, _DARKER) for hue in HUES), *(_mixed(hue, 255, _PALER) for hue in HUES)]
    return [shades[label % len(shades)] for label in range(count)]


def class_shapes(count: int) -> list[str]:
    """Return a matplotlib marker for each of `count` classes: circles for the first eight, then squares, and so on."""
    return [_SHAPES[label // len(HUES) % len(_SHAPES)] for label in range(count)]


def node_colours(labels: np.ndarray, count: int | None = None) -> np.ndarray:
    """Return the colour `(N,)` of each label `(N,)`; a negative label is an unknown one."""
    count = max(int(labels.max(initial=-1)) + 1, count or 0)
    return np.array([*class_colours(count), UNKNOWN])[np.where(labels < 0, count, labels)]


def _mixed(colour: str, towards: int, share: float) -> str:
    """Mix a colour with black (0) or white (255), of which it takes 1 - `share`."""
    return "#" + "".join(f"{round(share * part + (1 - share) * towards):02X}" for part in _parts(colour))


def _parts(colour: str) -> Sequence[int]:
    return bytes.fromhex(colour[1:])
