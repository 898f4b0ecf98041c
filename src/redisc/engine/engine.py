"""What every engine answers: how training and sampling ask about a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.topology import Topology
from redisc.kernels.dropout import Dropout
from redisc.nn import Committee, Denoiser, Features, MeanField, crowding_of, mean_probabilities, with_reader


class Engine(ABC):
    """Answers for one graph. Methods ending in `rows` answer for some nodes `rows (R,)`, for mini-batches.

    Dropout is given while training. Where an engine samples neighbours, `draw` names the sample: equal draws, equal
    neighbours.
    """

    topology: Topology

    @abstractmethod
    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, C)` of the mean-field GNN."""

    @abstractmethod
    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None, draw: int = 0) -> Tensor:
        """Return logits `(R, C)` of the mean-field GNN."""

    @abstractmethod
    def noisy_logits(self, denoiser: Denoiser, labels: Tensor, t: Tensor, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""

    @abstractmethod
    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return logits `(R, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""

    @abstractmethod
    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it; what no label changes is computed now."""

    @property
    @abstractmethod
    def own_features(self) -> Features:
        """The nodes' own features, scaled, without hops."""

    @property
    def crowding(self) -> Tensor:
        """How crowded neighbourhoods are, 1 + d / d̄ `(N, 1)`; see `redisc.nn.Pooling`."""
        degree = torch.from_numpy(np.diff(self.topology.indptr)).to(self.topology.device)
        return crowding_of(degree, self.topology.num_directed_edges / self.topology.num_nodes)

    @torch.no_grad()
    def answers(self, model: MeanField | Committee) -> Tensor:
        """Return what the mean-field GNNs alone find probable, of a committee the mean: `(N, C)`."""
        return mean_probabilities(model, self.mean_field)

    @torch.no_grad()
    def opinion(self, model: MeanField | Committee) -> Tensor:
        """Return what the mean-field GNNs and, where there is one, their reader of features say together: `(N, C)`."""
        return with_reader(model, self.answers(model), self)

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Say which rows a network of that depth will be asked about next; an engine may prepare them meanwhile."""
        return
