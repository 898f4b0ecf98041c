"""Propagation of predictions, without weights (APPNP: Gasteiger et al., 2019)."""

from __future__ import annotations

from torch import Tensor

from redisc.nn.affine import Features
from redisc.nn.block import Weighting
from redisc.nn.convs.linear import LinearConv


class PropagationConv(LinearConv):
    """`D^-1/2 (A + sI) D^-1/2 H~ + b`: a graph convolution whose input is not multiplied with anything.

    Rows are logits of a row-wise network, so with the stack's initial residual α layers walk, but for their biases,
    towards α (I - (1 - α) P)^-1 Z, the personalised PageRank of its predictions Z; label embeddings spread with them.
    """

    def __init__(self, width: int, self_loop: float = 1.0) -> None:
        super().__init__(width, width, Weighting("sym", self_loop))
        del self.projection

    def project(self, h: Features) -> Tensor:
        """Return predictions as they are."""
        assert isinstance(h, Tensor)
        return h
