"""Drawing different keys one after the other, with a table of those already seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from redisc.datasets.block_model import too_many_edges
from redisc.kernels.compiled import serial

_FREE = np.int64(-1)
_ROOM = 1.4
_LEAST_DRAW = 4096
# Where so few of the keys drawn lately are new, the graph is nearly complete.
_LEAST_NEW = 1e-5


def distinct_keys(draw: Callable[[int], np.ndarray], count: int, piece: int = 1 << 21) -> Iterator[np.ndarray]:
    """Draw keys (int64, not negative) until `count` are different, and yield the new ones in pieces.

    Each key is kept the first time it comes, so that the pieces hold the first `count` different keys of one long
    draw. Memory is 11 bytes a key for the table, beside a piece.
    """
    table = np.full(int(_ROOM * count) + 16, _FREE)
    missing, new_share = count, 1.0
    while missing:
        asked = min(piece, _LEAST_DRAW + min(int(1.1 * missing / new_share), 4 * count))
        keys = draw(asked)
        new = keys[: _keep_new(table, keys, missing)]
        missing -= len(new)
        new_share = (new_share + len(new) / asked) / 2
        if missing and new_share < _LEAST_NEW:
            raise too_many_edges(count)
        yield new


@serial
def _keep_new(table: np.ndarray, keys: np.ndarray, most: int) -> int:
    """Move the keys that the table lacks to the front and enter them, `most` at the most; returns how many."""
    kept = 0
    for key in keys:
        if kept == most:
            break
        # Multiplying by an odd number spreads neighbouring keys over the table.
        spread = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        place = np.int64((spread >> np.uint64(11)) % np.uint64(table.size))
        while table[place] != -1 and table[place] != key:
            place += 1
            if place == table.size:
                place = np.int64(0)
        if table[place] == -1:
            table[place] = key
            keys[kept] = key
            kept += 1
    return kept
