"""Ids of nodes as an array without Python objects."""

from __future__ import annotations

import numpy as np

from redisc.errors import StoredGraphError
from redisc.graph.arrays import first_true


def plain_ids(node_ids: np.ndarray) -> np.ndarray:
    """The ids (N,) as numbers or fixed-width text; objects must be all text or all whole numbers."""
    if not node_ids.dtype.hasobject and node_ids.dtype.kind in "biufUM":
        return node_ids
    values = list(node_ids)
    for kind, dtype in ((str, np.str_), ((int, np.integer), np.int64)):
        if isinstance(values[0], kind):
            return _converted(values, kind, dtype)
    raise _unsuited(0, values[0])


def _converted(values: list[object], kind: type | tuple[type, ...], dtype: type[np.generic]) -> np.ndarray:
    fits = np.array([isinstance(value, kind) and not isinstance(value, bool) for value in values])
    if not fits.all():
        raise _unsuited(first_true(~fits), values[first_true(~fits)])
    try:
        ids = np.array(values, dtype=dtype)
    except OverflowError:
        raise StoredGraphError("a node id does not fit into 64 bits: give the ids as text") from None
    # numpy drops zero characters at the end of a text.
    for place, (stored, value) in enumerate(zip(ids.tolist(), values, strict=True)):
        if stored != value:
            raise _unsuited(place, value)
    return ids


def _unsuited(place: int, value: object) -> StoredGraphError:
    return StoredGraphError(
        f"the id of node {place} is {value!r}: a saved graph holds ids that are all text or all whole numbers; "
        "convert them, or leave node_ids out"
    )
