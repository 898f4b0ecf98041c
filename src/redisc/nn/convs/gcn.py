"""Graph convolution (Kipf & Welling, 2017)."""

from __future__ import annotations

from redisc.nn.block import Weighting
from redisc.nn.convs.linear import LinearConv


class GCNConv(LinearConv):
    """`D^-1/2 (A + sI) D^-1/2 H~ + b`, with self-loops of weight s (the authors' code has s = 2)."""

    def __init__(self, in_width: int, out_width: int, self_loop: float = 1.0) -> None:
        super().__init__(in_width, out_width, Weighting("sym", self_loop))
