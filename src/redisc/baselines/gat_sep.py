"""GAT with the node kept apart from its neighbours (Platonov et al., 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from redisc.baselines.stacked import StackedBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class GATSep(StackedBaseline):
    """GAT with the node kept apart from its neighbours: H' = relu([H W || attention(H W)] U + b).

    Args:
        heads: Attention heads; they share `hidden`.
    """

    name = "gat_sep"
    title = "GAT-sep"
    citation = "Platonov et al., 2023: A Critical Look at the Evaluation of GNNs under Heterophily"
    family = "gnn"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"

    heads: int = 8
