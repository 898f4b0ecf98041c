"""A graph as the engine holds it: propagation matrices, edge lists and patterns, built once and kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from redisc.graph import Graph
from redisc.kernels.attention import Pattern
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.block import Weighting


@dataclass(frozen=True)
class Edges:
    """Directed edges sorted by target; `log_weight` is None where all weights are 1."""

    source: Tensor
    target: Tensor
    log_weight: Tensor | None


@dataclass(frozen=True)
class Scales:
    """A weighting by node: an edge from j to i counts `left[i] * weight * right[j]`, node i itself `loop[i]`."""

    left: np.ndarray
    right: np.ndarray
    loop: np.ndarray


class Topology:
    """The symmetric adjacency A of a graph and what layers derive from it, in one dtype on one device."""

    def __init__(self, graph: Graph, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> None:
        self._graph, self.weighted = graph, graph.edge_weight is not None
        self.num_nodes, self.dtype, self.device = graph.num_nodes, dtype, device
        self.indptr, self.indices = graph.indptr, graph.indices
        real = torch.empty(0, dtype=dtype).numpy().dtype
        self.edge_weight = np.empty(0, real) if graph.edge_weight is None else graph.edge_weight.astype(real)
        self._propagators: dict[Weighting, SparseMatrix] = {}
        self._scales: dict[Weighting, Scales] = {}
        self._edges: dict[bool, Edges] = {}
        self._patterns: dict[bool, Pattern] = {}

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """A as a matrix, made when a layer first needs one: it takes as much memory again as the graph."""
        matrix: sp.csr_array = self._graph.adjacency()
        return matrix

    def weighted_degree(self) -> np.ndarray:
        """Sum of the weights of each node's edges `(N,)`, float64."""
        if not self.weighted:
            return np.diff(self.indptr).astype(np.float64)
        return np.asarray(self.adjacency.astype(np.float64).sum(axis=1)).ravel()

    @cached_property
    def locality(self) -> np.ndarray:
        """A place for each node `(N,)` that puts neighbours near each other (reverse Cuthill-McKee)."""
        places = np.empty(self.num_nodes, np.int64)
        places[sp.csgraph.reverse_cuthill_mckee(sp.csr_matrix(self.adjacency), symmetric_mode=True)] = np.arange(
            self.num_nodes
        )
        return places

    @property
    def num_directed_edges(self) -> int:
        """Messages of one pass over the graph, without self-loops."""
        return len(self.indices)

    def scales(self, weighting: Weighting) -> Scales:
        """Return a weighting as factors of nodes."""
        if weighting not in self._scales:
            self._scales[weighting] = node_scales(self.weighted_degree(), weighting, self.edge_weight.dtype)
        return self._scales[weighting]

    def propagator(self, weighting: Weighting) -> SparseMatrix:
        """Return the propagation matrix of a weighting."""
        if weighting not in self._propagators:
            scales = node_scales(self.weighted_degree(), weighting, np.dtype(np.float64))
            matrix = sp.diags_array(scales.left) @ self.adjacency.astype(np.float64) @ sp.diags_array(scales.right)
            if weighting.self_loop:
                matrix = matrix + sp.diags_array(scales.loop)
            self._propagators[weighting] = SparseMatrix(matrix, self.dtype, self.device)
        return self._propagators[weighting]

    def edges(self, self_loops: bool) -> Edges:
        """Return the edge list, with or without a self-loop of weight 1 on every node."""
        if self_loops not in self._edges:
            matrix = self._looped(self_loops)
            target = torch.from_numpy(np.repeat(np.arange(self.num_nodes), np.diff(matrix.indptr)))
            source = torch.from_numpy(matrix.indices.astype(np.int64))
            log_weight = self._log_weight(matrix)
            given = None if log_weight is None else torch.from_numpy(log_weight).to(self.device, self.dtype)
            self._edges[self_loops] = Edges(source.to(self.device), target.to(self.device), given)
        return self._edges[self_loops]

    def pattern(self, self_loops: bool) -> Pattern:
        """Return the same edges for compiled kernels, with the edge that runs the other way beside each."""
        if self_loops not in self._patterns:
            matrix = self._looped(self_loops)
            numbered = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
            reverse = sp.csr_array(numbered.T)
            reverse.sort_indices()
            arrays = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), reverse.data.astype(np.int64))
            self._patterns[self_loops] = Pattern(*arrays, self._log_weight(matrix))
        return self._patterns[self_loops]

    def _looped(self, self_loops: bool) -> sp.csr_array:
        matrix = self.adjacency.astype(np.float64)
        matrix = sp.csr_array(matrix + sp.eye_array(self.num_nodes)) if self_loops else sp.csr_array(matrix)
        matrix.sort_indices()
        return matrix

    def _log_weight(self, matrix: sp.csr_array) -> np.ndarray | None:
        return np.log(matrix.data) if self.weighted else None


def node_scales(degree: np.ndarray, weighting: Weighting, dtype: np.dtype) -> Scales:
    """Derive a weighting's factors; a node without edges and without a self-loop gets zeros from "sym" and "mean"."""
    if weighting.kind == "sum":
        ones = np.ones(len(degree), dtype)
        return Scales(ones, ones, weighting.self_loop * ones)
    degree = degree + weighting.self_loop
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    left = np.sqrt(inverse) if weighting.kind == "sym" else inverse
    right = left if weighting.kind == "sym" else np.ones_like(left)
    factors = (left, right, weighting.self_loop * left * right)
    return Scales(*(factor.astype(dtype) for factor in factors))
