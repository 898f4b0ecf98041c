"""The engine of the hop backbone: every answer is a slice of rows, and no message passes but label counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.engine import Engine
from redisc.engine.label_hops import LabelHops, SliceBlock
from redisc.engine.prefetch import Prefetcher
from redisc.engine.topology import Topology
from redisc.kernels.dropout import Dropout
from redisc.nn import Denoiser, Features, MeanField
from redisc.nn.convs import HopConv

_PIECE_ROWS = 1 << 15
"""Rows that pass the networks at a time where no gradient is kept."""


class HopEngine(Engine):
    """Answers for a graph whose features hold their hops, `features (N, (k + 1) F)`, in memory or mapped.

    Peak memory beside the graph and the features: the label counts (see `LabelHops`) and the hidden rows of one piece.
    """

    def __init__(self, topology: Topology, features: np.ndarray, num_classes: int, hops: int) -> None:
        self.topology, self.features, self._hops = topology, features, hops
        self._training = LabelHops(topology, num_classes)
        self._sampling = LabelHops(topology, num_classes)
        self._ahead = Prefetcher(self._prepare)

    @property
    def own_features(self) -> Features:
        """The nodes' own features `(N, 1, F)`, the first columns of all."""
        return torch.from_numpy(self.features[:, : self.features.shape[1] // (self._hops + 1)]).unsqueeze(1)

    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, C)`, piece by piece where no gradient is needed."""
        everyone = torch.arange(self.topology.num_nodes)
        if torch.is_grad_enabled():
            return self.mean_field_rows(model, everyone, dropout)
        return torch.cat([self.mean_field_rows(model, rows, dropout) for rows in everyone.split(_PIECE_ROWS)])

    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None, draw: int = 0) -> Tensor:
        """Return logits `(R, C)`."""
        return model([SliceBlock()], self._ahead.take(rows, model.depth, draw), dropout)

    def noisy_logits(self, denoiser: Denoiser, labels: Tensor, t: Tensor, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, B, C)`."""
        return self.noisy_rows(denoiser, labels, t, torch.arange(self.topology.num_nodes), dropout)

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return logits `(R, B, C)`; a state that was asked about last is not counted again."""
        self._training.follow(labels)
        copies = len(labels)
        copy, node = np.tile(np.arange(copies), len(rows)), np.repeat(rows.numpy(), copies)
        shares = self._training.rows(copy, node, _label_hops(denoiser)).unflatten(1, (len(rows), copies))
        projected = denoiser.project(self._ahead.take(rows, denoiser.depth, draw), dropout)
        return denoiser([SliceBlock(shares)], projected, denoiser.condition(t), dropout)

    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it; counts follow the labels from step to step."""
        with torch.no_grad():
            times = denoiser.condition(torch.arange(1, denoiser.steps + 1))

        @torch.inference_mode()
        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            self._sampling.follow(labels)
            logits = []
            for copies, rows in _pieces(chain, node):
                shares = self._sampling.rows(copies.numpy(), rows.numpy(), _label_hops(denoiser)).unsqueeze(2)
                logits.append(denoiser([SliceBlock(shares)], denoiser.project(self._rows(rows)), times.copy(t - 1)))
            return torch.cat(logits).squeeze(1)

        return denoise

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Read the rows' features in the background."""
        self._ahead.announce(rows, depth, draw)

    def _prepare(self, rows: Tensor, depth: int, draw: int) -> Tensor:
        return self._rows(rows)

    def _rows(self, rows: Tensor) -> Tensor:
        """Return the features of some rows, `(R, 1, (k + 1) F)`."""
        return torch.from_numpy(self.features[rows.numpy()]).unsqueeze(1)


def _label_hops(denoiser: Denoiser) -> int:
    conv = denoiser.stack.layers[0].conv
    assert isinstance(conv, HopConv)
    return conv.label_hops


def _pieces(chain: Tensor, node: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    yield from zip(chain.split(_PIECE_ROWS), node.split(_PIECE_ROWS), strict=True)
