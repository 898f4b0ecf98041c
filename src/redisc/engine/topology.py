"""A graph as the engine holds it: propagation matrices and edge lists, built once and kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from redisc.graph import Graph
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.block import Weighting


@dataclass(frozen=True)
class Edges:
    """Directed edges sorted by target; `log_weight` is None where all weights are 1."""

    source: Tensor
    target: Tensor
    log_weight: Tensor | None


class Topology:
    """The symmetric adjacency A of a graph and what layers derive from it, in one dtype on one device."""

    def __init__(self, graph: Graph, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> None:
        self.adjacency: sp.csr_array = graph.adjacency()
        self.weighted = graph.edge_weight is not None
        self.num_nodes, self.dtype, self.device = graph.num_nodes, dtype, device
        self._propagators: dict[Weighting, SparseMatrix] = {}
        self._edges: dict[bool, Edges] = {}

    def propagator(self, weighting: Weighting) -> SparseMatrix:
        """Return the propagation matrix of a weighting."""
        if weighting not in self._propagators:
            matrix = _normalise(self.adjacency, weighting)
            self._propagators[weighting] = SparseMatrix(matrix, self.dtype, self.device)
        return self._propagators[weighting]

    def edges(self, self_loops: bool) -> Edges:
        """Return the edge list, with or without a self-loop of weight 1 on every node."""
        if self_loops not in self._edges:
            matrix = self.adjacency + sp.eye_array(self.num_nodes) if self_loops else self.adjacency
            self._edges[self_loops] = self._edge_list(sp.csr_array(matrix))
        return self._edges[self_loops]

    def _edge_list(self, matrix: sp.csr_array) -> Edges:
        target = np.repeat(np.arange(self.num_nodes), np.diff(matrix.indptr))
        source = torch.from_numpy(matrix.indices.astype(np.int64)).to(self.device)
        log_weight = None
        if self.weighted:
            log_weight = torch.from_numpy(np.log(matrix.data.astype(np.float64))).to(self.device, self.dtype)
        return Edges(source, torch.from_numpy(target).to(self.device), log_weight)


def _normalise(adjacency: sp.csr_array, weighting: Weighting) -> sp.csr_array:
    """Apply a weighting to A; a node without edges and without a self-loop gets an empty row."""
    looped = adjacency.astype(np.float64)
    if weighting.self_loop:
        looped = looped + weighting.self_loop * sp.eye_array(adjacency.shape[0])
    degree = np.asarray(looped.sum(axis=1)).ravel()
    power = -0.5 if weighting.kind == "sym" else -1.0
    scale = np.zeros_like(degree)
    np.power(degree, power, out=scale, where=degree > 0)
    left = sp.diags_array(scale) @ looped
    return sp.csr_array(left @ sp.diags_array(scale)) if weighting.kind == "sym" else sp.csr_array(left)
