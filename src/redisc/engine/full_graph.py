"""The reference engine: one full pass over the graph for every question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.engine import Engine
from redisc.engine.full_block import FullBlock
from redisc.engine.topology import Topology
from redisc.kernels.dropout import Dropout
from redisc.nn import Denoiser, Features, MeanField


@dataclass(frozen=True)
class FullGraphEngine(Engine):
    """Runs the networks over the whole graph, whatever is asked: the oracle of every other engine."""

    block: ClassVar[type[FullBlock]] = FullBlock
    topology: Topology
    features: Features

    @property
    def own_features(self) -> Features:
        """The nodes' own features, scaled, without hops."""
        return self.features

    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, C)` of the mean-field GNN."""
        return model([self.block(self.topology)] * model.depth, self.features, dropout)

    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None, draw: int = 0) -> Tensor:
        """Return some rows of `mean_field`."""
        return self.mean_field(model, dropout)[rows]

    def noisy_logits(self, denoiser: Denoiser, labels: Tensor, t: Tensor, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""
        block = self.block(self.topology, labels)
        projected = denoiser.project(self.features, dropout)
        return denoiser([block] * denoiser.depth, projected, denoiser.condition(t), dropout)

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return some rows of `noisy_logits`."""
        return self.noisy_logits(denoiser, labels, t, dropout)[rows]

    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it; features are multiplied once, so don't train in between."""
        with torch.no_grad():
            projected = denoiser.project(self.features)

        @torch.no_grad()
        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            block = self.block(self.topology, labels)
            time = denoiser.condition(torch.tensor([t], device=labels.device))
            return denoiser([block] * denoiser.depth, projected, time)[node, chain]

        return denoise
