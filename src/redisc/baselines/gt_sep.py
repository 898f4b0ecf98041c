"""Graph transformer with the node kept apart from its neighbours (Platonov et al., 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from redisc.baselines.gt import GT, DotAttention
from redisc.nn.block import Block


class SeparateDotAttention(DotAttention):
    """`[h_i || Σ_j softmax_j(<Q h_i, K h_j> / sqrt(d)) V h_j over heads] O`, over neighbours alone."""

    self_loops = False
    parts = 2

    def forward(self, block: Block, h: Tensor) -> Tensor:
        """Put the node's own row beside the message, and mix the two row-wise."""
        return self.output.join(block.own(h), self.message(block, h))


@dataclass(eq=False, repr=False, kw_only=True)
class GTSep(GT):
    """GT with the node kept apart: a module maps [h_i || message], and the message is of neighbours alone.

    Args:
        heads: Attention heads; they share `hidden`.
    """

    name = "gt_sep"
    title = "GT-sep"
    citation = "Platonov et al., 2023: A Critical Look at the Evaluation of GNNs under Heterophily"
    attention = SeparateDotAttention
