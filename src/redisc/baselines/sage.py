"""GraphSAGE with the mean aggregator (Hamilton, Ying & Leskovec, 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from redisc.baselines.stacked import StackedBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class GraphSAGE(StackedBaseline):
    """GraphSAGE with the mean aggregator: H' = relu(H W_root + D^-1 A H W_neighbour)."""

    name = "sage"
    title = "GraphSAGE"
    citation = "Hamilton, Ying & Leskovec, 2017: Inductive Representation Learning on Large Graphs"
    family = "gnn"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"
