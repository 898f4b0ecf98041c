"""The engine that training and sampling use on a CPU: compiled Blocks, and receptive fields where they are cheaper."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.compiled_block import CompiledBlock
from redisc.engine.full_graph import FullGraphEngine
from redisc.engine.row_block import AggregatedRowBlock, Hop, RowBlock, make_hop, no_hop
from redisc.engine.topology import Topology
from redisc.engine.two_layers import TwoLayers
from redisc.nn import Conditioning, Denoiser, Projected
from redisc.nn.convs import LinearConv

_ROW_COST = 8
"""What a row costs beside its edges (matrix products, gathering), in edges."""


@dataclass
class Work:
    """What the engine did: messages passed (edges walked, over chains and layers), and which path each step took."""

    messages: int = 0
    receptive_steps: int = 0
    full_steps: int = 0


@dataclass(frozen=True)
class CompiledEngine(FullGraphEngine):
    """Answers as `FullGraphEngine` does, faster; `work` says what sampling cost and which way it went."""

    block = CompiledBlock
    work: Work = field(default_factory=Work)

    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it; what no label changes is computed now."""
        with torch.no_grad():
            return CompiledDenoise(self.topology, denoiser, denoiser.project(self.features), self.work)


class CompiledDenoise:
    """A denoiser with frozen weights: feature products, their aggregation and all steps' tables are at hand."""

    def __init__(self, topology: Topology, denoiser: Denoiser, projected: Projected, work: Work) -> None:
        self.topology, self.denoiser, self.projected, self.work = topology, denoiser, projected, work
        steps = torch.arange(1, denoiser.steps + 1, device=projected.z.device)
        self.times: Conditioning = denoiser.condition(steps)
        first, self.aggregated = denoiser.stack.layers[0].conv, None
        if isinstance(first, LinearConv):
            self.aggregated = first.preaggregate(CompiledBlock(topology), projected.z)
        self.two_layers: TwoLayers | None = None
        if self.aggregated is not None and TwoLayers.fit(denoiser.stack, self.times):
            base = TwoLayers.base_of(denoiser.stack, self.aggregated)
            self.two_layers = TwoLayers(denoiser.stack, topology, base, self.times)
        self._marker = np.empty(0, np.int32)
        self._depth = denoiser.depth

    @torch.inference_mode()
    def __call__(self, labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
        """Return logits `(R, C)`, by the cheapest way; rows are sorted by chain."""
        if self.two_layers is not None:
            logits, messages = self.two_layers(labels, t, chain, node)
            self.work.messages += messages
            self.work.receptive_steps += 1
            return logits
        rows = (chain * self.topology.num_nodes + node).numpy()
        hops = self._receptive_field(rows, len(labels))
        time = self.times.copy(t - 1)
        if hops is None:
            return self._on_full_graph(labels, time)[node, chain]
        return self._on_rows(labels, hops, time)

    def _receptive_field(self, rows: np.ndarray, chains: int) -> list[Hop] | None:
        """Return the hops that lead to `rows`, first layer first; None where the whole graph is cheaper."""
        num_nodes, budget = self.topology.num_nodes, self._full_cost(chains)
        if len(self._marker) < chains * num_nodes:
            self._marker = np.full(chains * num_nodes, -1, np.int32)
        hops: list[Hop] = []
        for k in reversed(range(self._depth)):
            hop = (
                no_hop(rows) if k == 0 and self.aggregated is not None else make_hop(self.topology, rows, self._marker)
            )
            budget -= hop.messages + _ROW_COST * len(hop.sources)
            if budget <= 0:
                return None
            hops.insert(0, hop)
            rows = hop.sources
        return hops

    def _full_cost(self, chains: int) -> int:
        walked, topology = self._depth - (self.aggregated is not None), self.topology
        return chains * (walked * topology.num_directed_edges + self._depth * _ROW_COST * topology.num_nodes)

    def _on_rows(self, labels: Tensor, hops: list[Hop], time: Conditioning) -> Tensor:
        flat = labels.reshape(-1).numpy()
        kinds = [RowBlock] * len(hops)
        if self.aggregated is not None:
            kinds[0] = AggregatedRowBlock
        blocks = [kind(self.topology, hop, flat) for kind, hop in zip(kinds, hops, strict=True)]
        nodes = torch.from_numpy(hops[0].sources % self.topology.num_nodes)
        self.work.messages += sum(hop.messages for hop in hops)
        self.work.receptive_steps += 1
        return self.denoiser(blocks, self._gather(nodes), time).squeeze(1)

    def _gather(self, nodes: Tensor) -> Projected:
        """Return the feature products of the first hop's sources."""
        given = self.projected
        z = given.z if self.aggregated is None else self.aggregated
        parts = (None if part is None else part.index_select(0, nodes) for part in (given.skip, given.initial))
        return Projected(z.index_select(0, nodes), *parts)

    def _on_full_graph(self, labels: Tensor, time: Conditioning) -> Tensor:
        block = CompiledBlock(self.topology, labels)
        walked = self._depth - (self.aggregated is not None)
        self.work.messages += walked * self.topology.num_directed_edges * len(labels)
        self.work.full_steps += 1
        return self.denoiser([block] * self._depth, self.projected, time)
