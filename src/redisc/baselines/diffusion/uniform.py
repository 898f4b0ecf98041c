"""Discrete diffusion with uniform noise (Austin et al., 2021), and its sampler given known labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion import MASKED, Denoise, Schedule
from redisc.em import Sampled
from redisc.kernels.counter_random import Stream, uniform
from redisc.kernels.draw import draw_labels


@dataclass(frozen=True)
class UniformNoise:
    """q(y_t | y_{t-1}) = β_t y_{t-1} + (1 - β_t) / C: a label stays, or any of the C labels takes its place."""

    schedule: Schedule
    num_classes: int

    @property
    def steps(self) -> int:
        """T, the number of steps."""
        return self.schedule.steps

    def transition(self, t: int) -> Tensor:
        """Return Q_t `(C, C)`, rows from and columns to (Appendix A.2.1 of the D3PM paper)."""
        stays = self.schedule.beta(t)
        C = self.num_classes
        return stays * torch.eye(C, dtype=stays.dtype) + (1 - stays) / C

    def noised(self, labels: Tensor, t: int | Tensor, uniforms: Tensor) -> Tensor:
        """Draw from q(y_t | y_0) = α_t y_0 + (1 - α_t) / C for `labels (B, N)`, `uniforms (B, N)`, `t` or `t (B,)`."""
        alpha = self.schedule.alpha[t].to(uniforms.device).unsqueeze(-1)
        share = (uniforms - alpha) / (1 - alpha).clamp_min(torch.finfo(torch.float64).tiny)
        fresh = (share * self.num_classes).long().clamp(0, self.num_classes - 1)
        return torch.where(uniforms < alpha, labels, fresh)

    def posterior(self, state: Tensor, clean: Tensor, t: int) -> Tensor:
        """Return Σ_y clean(y) q(y_{t-1} | y_t, y_0 = y), `(R, C)`, for `state (R,)` and probabilities `clean (R, C)`.

        q(k | y_t, y) = q(y_t | k) q(k | y) / q(y_t | y) (Eq. 3 of the D3PM paper); all three factors are a constant
        plus a term on the diagonal, so a row costs O(C).
        """
        C, here = self.num_classes, F.one_hot(state, self.num_classes).to(clean.dtype)
        now, before, stays = (float(a) for a in (*self.schedule.alpha[[t, t - 1]], self.schedule.beta(t)))
        weight = clean / (now * here + (1 - now) / C).clamp_min(torch.finfo(clean.dtype).tiny)
        mixed = before * weight + (1 - before) / C * weight.sum(1, keepdim=True)
        return (stays * here + (1 - stays) / C) * mixed


@dataclass(frozen=True)
class UniformSampler:
    """Draws labels by the reverse of `UniformNoise`; known labels are noised forward to every step, and stand at 0.

    Attributes:
        denoise: Logits of y_0, asked for as ReDiSC's sampler asks.
        process: The noise.
        known: Known labels `(N,)`, MASKED elsewhere.
        seed: Of all chains.
        temperature: Divides the logits; 0 takes the most probable y_0.
    """

    denoise: Denoise
    process: UniformNoise
    known: Tensor
    seed: int
    temperature: float = 1.0

    def run(self, chains: int | Sequence[int]) -> Sampled:
        """Run chains (a number, or their identities) from uniform labels at T to 0.

        Probabilities are those of the last step.
        """
        identities = torch.tensor(range(chains) if isinstance(chains, int) else list(chains), device=self.known.device)
        labels = self._start(identities)
        for t in range(self.process.steps, 0, -1):
            labels, clean = self.step(labels, t, identities)
        return Sampled(labels, self._mean(clean, len(identities)))

    def step(self, labels: Tensor, t: int, identities: Tensor) -> tuple[Tensor, Tensor]:
        """Go from `labels (chains, N)` at t to t-1; also return the probabilities of y_0 `(R, C)` that were used."""
        chain, node = (self.known == MASKED).expand(labels.shape).nonzero(as_tuple=True)
        logits = self.denoise(labels, t, chain, node).double()
        posterior = self.process.posterior(labels[chain, node], self._sharpened(logits), t)
        after = self._given(identities, t - 1)
        after[chain, node] = draw_labels(posterior.log(), 1.0, self.seed, identities[chain], t, node)
        return after, logits.softmax(1)

    def _start(self, identities: Tensor) -> Tensor:
        T, node = self.process.steps, torch.arange(len(self.known), device=self.known.device)
        uniforms = uniform(self.seed, Stream.ROUTE, identities[:, None], T, node)
        fresh = (uniforms * self.process.num_classes).long()
        return torch.where(self.known == MASKED, fresh, self._given(identities, T))

    def _given(self, identities: Tensor, t: int) -> Tensor:
        """Noise the known labels forward to step t, `(chains, N)`; the other entries mean nothing."""
        node = torch.arange(len(self.known), device=self.known.device)
        uniforms = uniform(self.seed, Stream.MASK, identities[:, None], t, node)
        return self.process.noised(self.known.expand(uniforms.shape), t, uniforms)

    def _sharpened(self, logits: Tensor) -> Tensor:
        if self.temperature == 0:
            return F.one_hot(logits.argmax(1), logits.shape[1]).to(logits.dtype)
        return (logits / self.temperature).softmax(1)

    def _one_hot(self) -> Tensor:
        return F.one_hot(self.known.clamp_min(0), self.process.num_classes).double()

    def _mean(self, clean: Tensor, chains: int) -> Tensor:
        """Average over chains; known nodes have their label for certain."""
        mean, unknown = self._one_hot(), self.known == MASKED
        mean[unknown] = clean.view(chains, int(unknown.sum()), self.process.num_classes).mean(0)
        return mean
