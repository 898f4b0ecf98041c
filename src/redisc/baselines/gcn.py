"""Graph convolutional network (Kipf & Welling, 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from redisc.baselines.stacked import StackedBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class GCN(StackedBaseline):
    """Graph convolutional network: H' = relu(D^-1/2 (A + I) D^-1/2 H W)."""

    name = "gcn"
    title = "GCN"
    citation = "Kipf & Welling, 2017: Semi-Supervised Classification with Graph Convolutional Networks"
    family = "gnn"
    cost = "O(N d^2 + E d) an epoch"
