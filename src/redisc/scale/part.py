"""A graph cut into parts, one a rank: each holds its rows; rows of others that its edges reach come by message."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from redisc.engine.topology import Scales, node_scales
from redisc.graph import Graph
from redisc.nn.block import Weighting
from redisc.world import World


def part_bounds(indptr: np.ndarray, parts: int) -> np.ndarray:
    """Cut the nodes into consecutive ranges with about equal numbers of edges and nodes: `(parts + 1,)`."""
    nodes = len(indptr) - 1
    weight = indptr.astype(np.float64) + np.arange(nodes + 1)
    inner = np.searchsorted(weight, np.arange(1, parts) * weight[-1] / parts)
    return np.maximum.accumulate(np.concatenate([[0], np.minimum(inner, nodes), [nodes]]))


@dataclass
class Traffic:
    """Bytes that this rank has sent to others."""

    sent: int = 0


@dataclass(frozen=True)
class Part:
    """This rank's nodes `start..stop-1` and their edges; local rows are its own nodes, then the halo.

    `halo (H,)` are the others' nodes that edges reach, sorted; `indptr` and `indices` are the own rows' edges in local
    numbers; `requests[r]` are own rows that rank r reads.
    """

    world: World
    start: int
    stop: int
    num_nodes: int
    halo: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    edge_weight: np.ndarray
    degree: np.ndarray  # weighted, of own nodes and halo
    requests: list[Tensor]
    arrivals: list[int]
    dtype: torch.dtype
    mean_degree: float  # of the whole graph
    traffic: Traffic = field(default_factory=Traffic)

    @classmethod
    def of(cls, graph: Graph, world: World, dtype: torch.dtype = torch.float32) -> Part:
        """Cut this rank's part out of a graph; of one on disk, only that part is read."""
        bounds = part_bounds(graph.indptr, world.size)
        start, stop = int(bounds[world.rank]), int(bounds[world.rank + 1])
        pointers = np.asarray(graph.indptr[start : stop + 1])
        columns = np.asarray(graph.indices[pointers[0] : pointers[-1]])
        outside = columns[(columns < start) | (columns >= stop)]
        halo = np.unique(outside).astype(np.int64)
        local = np.where(
            (columns >= start) & (columns < stop), columns - start, stop - start + np.searchsorted(halo, columns)
        )
        real = torch.empty(0, dtype=dtype).numpy().dtype
        weight = np.empty(0, real)
        if graph.edge_weight is not None:
            weight = np.asarray(graph.edge_weight[pointers[0] : pointers[-1]]).astype(real)
        arrivals = np.diff(np.searchsorted(halo, bounds)).tolist()
        nodes = np.concatenate([np.arange(start, stop), halo])
        return cls(
            world,
            start,
            stop,
            graph.num_nodes,
            halo,
            pointers - pointers[0],
            local.astype(np.int32),
            weight,
            _degree(graph, nodes),
            _requests(world, halo, arrivals, start),
            arrivals,
            dtype,
            len(graph.indices) / graph.num_nodes,
        )

    @property
    def size(self) -> int:
        """How many nodes this rank owns."""
        return self.stop - self.start

    def scales(self, weighting: Weighting) -> Scales:
        """Return a weighting as factors of own nodes and halo."""
        return node_scales(self.degree, weighting, torch.empty(0, dtype=self.dtype).numpy().dtype)

    def exchange(self, rows: Tensor) -> Tensor:
        """Return own `rows (n, ...)` with the halo's rows behind them, `(n + H, ...)`."""
        if self.world.size == 1:
            return rows
        flat = rows.detach().flatten(1).contiguous()
        leaving = torch.cat([flat[request] for request in self.requests])
        arriving = flat.new_empty(len(self.halo), flat.shape[1])
        with self.world.speaking():
            dist.all_to_all_single(arriving, leaving, self.arrivals, [len(r) for r in self.requests])
        self.traffic.sent += leaving.numel() * leaving.element_size()
        return torch.cat([flat, arriving]).unflatten(1, rows.shape[1:])

    def owned(self, nodes: Tensor) -> Tensor:
        """Tell which nodes are this rank's."""
        return (nodes >= self.start) & (nodes < self.stop)


def _degree(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    if graph.edge_weight is None:
        return (graph.indptr[nodes + 1] - graph.indptr[nodes]).astype(np.float64)
    return np.array([graph.edge_weight[graph.indptr[i] : graph.indptr[i + 1]].sum(dtype=np.float64) for i in nodes])


def _requests(world: World, halo: np.ndarray, arrivals: list[int], start: int) -> list[Tensor]:
    """Tell every rank which of its rows this one reads, and learn what the others read of ours."""
    if world.size == 1:
        return [torch.empty(0, dtype=torch.int64)]
    wanted, asked = torch.tensor(arrivals), torch.empty(world.size, dtype=torch.int64)
    with world.speaking():
        dist.all_to_all_single(asked, wanted)
        counts = asked.tolist()
        nodes = torch.empty(sum(counts), dtype=torch.int64)
        dist.all_to_all_single(nodes, torch.from_numpy(halo), counts, arrivals)
    return list((nodes - start).split(counts))
