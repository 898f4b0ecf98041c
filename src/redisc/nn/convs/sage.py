"""GraphSAGE with the mean aggregator (Hamilton, Ying & Leskovec, 2017)."""

from __future__ import annotations

from redisc.nn.block import Weighting
from redisc.nn.convs.linear import LinearConv


class SAGEConv(LinearConv):
    """`H~_root + D^-1 A H~_neighbour + b`; a node without neighbours keeps its root term alone."""

    rooted = True

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__(in_width, out_width, Weighting("mean"))
