"""Denoisers that start from the mean-field GNN's answer and learn what labels change in it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import LEAST_PROBABILITY, Denoiser, Features, MeanField


@dataclass(frozen=True)
class Anchor:
    """Where a denoiser's logits start from: D_θ = softmax(a log p_φ + c f_θ(Y(t), t, G)) for the denoiser f_θ.

    `start (N, C)` holds a log p_φ, the mean-field GNN's answer times a share, and `calm (N, 1)` the weight c of f_θ,
    which a hub's neighbours make too certain; None: it is 1.
    """

    start: Tensor
    calm: Tensor | None = None

    @classmethod
    def of(cls, probabilities: Tensor, share: float, calm: Tensor | None = None) -> Anchor:
        """Anchor denoisers to p_φ `(N, C)`, no probability of which counts as less than 1e-6."""
        start = probabilities.clamp_min(LEAST_PROBABILITY).log_().mul_(share)
        return cls(start, None if calm is None else calm.to(start))

    def applied(self, logits: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return what f_θ's `logits (R, ..., C)` of some nodes become."""
        shape = (-1, *[1] * (logits.dim() - 2), self.start.shape[1])
        calmed = logits if self.calm is None else logits * self.calm[rows].view(*shape[:-1], 1)
        return calmed + self.start[rows].view(shape)


class AnchoredEngine(Engine):
    """Another engine's answers, whose denoisers are anchored.

    The queue first holds samples of p_φ at a temperature τ. With a = 1 / τ the anchor alone explains them, so f_θ stays
    near 0 and the chain near the warm start; with a smaller a f_θ has to make the answers as sharp as the samples are,
    and learns from labels there.
    """

    def __init__(self, engine: Engine, anchor: Anchor) -> None:
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
        return self._anchor.applied(self._engine.noisy_logits(denoiser, labels, t, dropout))

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return logits `(R, B, C)` for noisy label states `labels (B, N)` at steps `t (B,)`."""
        return self._anchor.applied(self._engine.noisy_rows(denoiser, labels, t, rows, dropout, draw), rows)

    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it."""
        ask, anchor = self._engine.denoise(denoiser), self._anchor

        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            return anchor.applied(ask(labels, t, chain, node), node)

        return denoise

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Pass on which rows will be asked about next."""
        self._engine.announce(rows, depth, draw)
