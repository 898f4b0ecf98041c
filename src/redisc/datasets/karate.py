"""Zachary's karate club: 34 members, 78 friendships, and the two factions it broke into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redisc.datasets import splits
from redisc.errors import DatasetError
from redisc.graph import Graph

NODES = 34
FACTION_NAMES = ("Mr. Hi", "Officer")

# Friends with a higher number, member by member; the instructor is 0, the president 33.
_FRIENDS: dict[int, tuple[int, ...]] = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}
_OFFICERS_SIDE = (9, 14, 15, 18, 20, *range(22, 34))
# Communities of highest modularity, as Kipf and Welling (2017) use them.
_COMMUNITIES: tuple[tuple[int, ...], ...] = (
    (8, 14, 15, 18, 20, 22, 23, 26, 27, 29, 30, 32, 33),
    (0, 1, 2, 3, 7, 9, 11, 12, 13, 17, 19, 21),
    (24, 25, 28, 31),
    (4, 5, 6, 10, 16),
)


def karate(*, classes: int = 2, seed: int = 0) -> Graph:
    """Return the club with its 2 factions or its 4 modularity communities; features are the identity matrix.

    One stratified split of 25 % / 25 % / 50 %.
    """
    if classes not in (2, 4):
        raise DatasetError(f"classes={classes!r}: the karate club has 2 factions or 4 communities.")
    y = _labels((_OFFICERS_SIDE,), first=1) if classes == 2 else _labels(_COMMUNITIES, first=0)
    return Graph(
        x=np.eye(NODES, dtype=np.float32),
        edge_index=np.array([(a, b) for a, friends in _FRIENDS.items() for b in friends]).T,
        y=y,
        splits=(splits.stratified(y, (0.25, 0.25, 0.5), seed),),
        name="karate",
        class_names=FACTION_NAMES if classes == 2 else None,
    )


def _labels(groups: tuple[tuple[int, ...], ...], *, first: int) -> NDArray[np.int64]:
    """Number the groups from `first`; members of none stay 0."""
    y = np.zeros(NODES, dtype=np.int64)
    for label, members in enumerate(groups, start=first):
        y[list(members)] = label
    return y
