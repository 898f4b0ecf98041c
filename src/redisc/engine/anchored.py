"""Denoisers that start from the mean-field GNN's answer and learn what labels change in it."""

from __future__ import annotations

from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import LEAST_PROBABILITY, Denoiser, Features, MeanField


def anchor_of(probabilities: Tensor, share: float) -> Tensor:
    """Return `share` times log p_φ, `(N, C)`, where no probability counts as less than 1e-6."""
    return probabilities.clamp_min(LEAST_PROBABILITY).log_().mul_(share)


class AnchoredEngine(Engine):
    """Another engine's answers, with D_θ = softmax(a log p_φ + f_θ(Y(t), t, G)) for its denoisers f_θ.

    `anchor (N, C)` holds a log p_φ, the mean-field GNN's answer times a share. The queue first holds samples of p_φ at
    a temperature τ. With a = 1 / τ the anchor alone explains them, so f_θ stays near 0 and the chain near the warm
    start; with a smaller a f_θ has to make the answers as sharp as the samples are, and learns from labels there.
    """

    def __init__(self, engine: Engine, anchor: Tensor) -> None:
        self._engine, self._anchor = engine, anchor
        self.topology = engine.topology

    @property
    def own_features(self) -> Features:
        """The nodes' own features, scaled, without hops."""
        return self._engine.own_features

    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, C)` of the mean-field GNN."""
        return self._engine.mean_field(model, dropout)

    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None, draw: int = 0) -> Tensor:
        """Return logits `(R, C)` of the mean-field GNN."""
        return self._engine.mean_field_rows(model, rows, dropout, draw)

    def noisy_logits(self, denoiser: Denoiser, labels: Tensor, t: Tensor, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""
        return self._engine.noisy_logits(denoiser, labels, t, dropout) + self._anchor[:, None]

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return logits `(R, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""
        return self._engine.noisy_rows(denoiser, labels, t, rows, dropout, draw) + self._anchor[rows, None]

    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it."""
        ask, anchor = self._engine.denoise(denoiser), self._anchor

        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            return ask(labels, t, chain, node) + anchor[node]

        return denoise

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Pass on which rows will be asked about next."""
        self._engine.announce(rows, depth, draw)
