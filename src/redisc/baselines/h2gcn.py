"""H2GCN (Zhu et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.baselines.derived import once_a_topology
from redisc.engine import FullGraphEngine, Topology
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Weighting
from redisc.nn.affine import Affine, drop_features


def strict_two_hop(adjacency: sp.csr_array) -> sp.csr_array:
    """Return ones where two nodes are exactly two steps apart."""
    near = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    reached = sp.csr_array(near @ near)
    reached.data[:] = 1
    nearer = near + sp.eye_array(adjacency.shape[0])
    far = sp.csr_array(reached - reached.multiply(nearer))
    far.eliminate_zeros()
    return far


@once_a_topology
def two_hop_propagator(topology: Topology) -> SparseMatrix:
    """Return D_2^-1/2 A_2 D_2^-1/2 of the strict two-hop adjacency A_2."""
    far = strict_two_hop(topology.adjacency)
    degree = np.asarray(far.sum(axis=1)).ravel()
    scale = sp.diags_array(np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0))
    return SparseMatrix(scale @ far @ scale, topology.dtype, topology.device)


def combine_rounds(r: Tensor, topology: Topology, rounds: int) -> Tensor:
    """Return `[r_0 || r_1 || ... || r_K]` with `r_k = [P_1 r_(k-1) || P_2 r_(k-1)]`: `(N, (2^(K+1) - 1) d)`."""
    hops = (topology.propagator(Weighting("sym")), two_hop_propagator(topology))
    seen = [r]
    for _ in range(rounds):
        seen.append(torch.cat([hop @ seen[-1] for hop in hops], 1))
    return torch.cat(seen, 1)


class H2GCNNetwork(nn.Module):
    """Embedding, rounds of neighbourhoods without weights, and a linear classifier on all rounds."""

    def __init__(self, num_features: int, num_classes: int, settings: H2GCN) -> None:
        super().__init__()
        self.rounds, self.dropout, self.input_dropout = settings.layers, settings.dropout, settings.input_dropout
        self.embedding = Affine(num_features, settings.hidden)
        self.classifier = Affine((2 ** (self.rounds + 1) - 1) * settings.hidden, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        x = drop_features(engine.features, dropout, self.input_dropout)
        final = combine_rounds(F.relu(self.embedding(x).squeeze(1)), engine.topology, self.rounds)
        return self.classifier(final if dropout is None else dropout.dense(final, self.dropout))


@dataclass(eq=False, repr=False, kw_only=True)
class H2GCN(NeuralBaseline):
    """H2GCN: a node, its neighbours and the nodes two steps away are kept apart, and so are the rounds.

    r_0 = relu(X W_e); r_k = [D_1^-1/2 A_1 D_1^-1/2 r_(k-1) || D_2^-1/2 A_2 D_2^-1/2 r_(k-1)] with A_1 the adjacency
    without self-loops and A_2 the pairs exactly two steps apart; logits = dropout([r_0 || ... || r_K]) W_c. `layers` is
    the number of rounds K.
    """

    name = "h2gcn"
    title = "H2GCN"
    citation = "Zhu et al., 2020: Beyond Homophily in Graph Neural Networks: Current Limitations and Effective Designs"
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + (E + E_2) d 2^K) an epoch, E_2 pairs of nodes two steps apart, K rounds"

    input_dropout: float = 0.0

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return H2GCNNetwork(num_features, num_classes, self)
