"""Graph attention network (Velickovic et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from redisc.baselines.stacked import StackedBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class GAT(StackedBaseline):
    """Graph attention network: attention over neighbours and the node itself, Eqs. 1 to 6 of its paper.

    Args:
        heads: Attention heads; they share `hidden`.
    """

    name = "gat"
    title = "GAT"
    citation = "Velickovic et al., 2018: Graph Attention Networks"
    family = "gnn"
    cost = "O(N d^2 + E d) an epoch"

    heads: int = 8
