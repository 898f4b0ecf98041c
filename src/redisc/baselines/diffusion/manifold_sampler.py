"""Manifold-constrained sampling (Chung et al., 2022), the E-step of DPM-SNC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.baselines.diffusion.gaussian import GaussianDiffusion
from redisc.diffusion import MASKED
from redisc.em import Sampled
from redisc.seeds import torch_generator


@dataclass(frozen=True)
class ManifoldSampler:
    """Draws one-hot labels given the observed ones, by a full pass forward and backward at every step.

    From y_t it takes an ancestral step, moves it against the gradient of the observed labels' error
    `‖y_L - ŷ_0(y_t)_L‖²` through the network, and sets the observed entries to their forward-noised values.

    Attributes:
        denoise: From states `(N, chains, C)` and a step to the noise in them.
        process: The noise.
        known: Observed labels `(N,)`, MASKED elsewhere; they stand in every sample.
        num_classes: C.
        seed: Of all chains; each has a stream of its own.
        temperature: Scales every random number; 0 is the deterministic chain.
        guidance: Length of the gradient's step, in units of the inverse squared error.
        dtype: Of the states.
    """

    denoise: Callable[[Tensor, int], Tensor]
    process: GaussianDiffusion
    known: Tensor
    num_classes: int
    seed: int
    temperature: float = 1.0
    guidance: float = 1.0
    dtype: torch.dtype = torch.float32

    def run(self, chains: int | Sequence[int]) -> Sampled:
        """Run chains (a number, or their identities) and take the largest entry as the label.

        The last ŷ_0 is a mean of one-hot labels, so its positive part, normalised, stands for probabilities.
        """
        states = self.states(chains)
        share = states.double().clamp_min(0) + torch.finfo(self.dtype).eps
        return Sampled(states.argmax(2).T, (share / share.sum(2, keepdim=True)).mean(1))

    def states(self, chains: int | Sequence[int]) -> Tensor:
        """Run chains from T to 0: `(N, chains, C)`, one-hot on observed nodes."""
        identities = range(chains) if isinstance(chains, int) else chains
        generators = [torch_generator(self.seed, "chain", int(chain)) for chain in identities]
        state = self._observe(self._noise(generators), self.process.steps, generators)
        for t in range(self.process.steps, 0, -1):
            state = self.step(state, t, generators)
        return state

    def step(self, state: Tensor, t: int, generators: list[torch.Generator]) -> Tensor:
        """Go from y_t to y_{t-1}."""
        clean, correction = self.guide(state, t)
        clean = clean.clamp(0, 1)
        mean, deviation = self.process.posterior(state, clean, t)
        moved = mean - correction
        if t > 1:
            moved = moved + deviation * self._noise(generators)
        return self._observe(moved, t - 1, generators)

    def guide(self, state: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Return ŷ_0(y_t), and the scaled gradient of the observed labels' error in y_t."""
        if not self._observed.any() or not self.guidance:
            with torch.no_grad():
                return self.process.clean(state, self.denoise(state, t), t), torch.zeros_like(state)
        with torch.enable_grad():
            state = state.detach().requires_grad_()
            clean = self.process.clean(state, self.denoise(state, t), t)
            error = (clean - self._labels)[self._observed].square().sum((0, 2))
            (gradient,) = torch.autograd.grad(error.sum(), state)
        scale = self.guidance / error.detach().clamp_min(torch.finfo(self.dtype).tiny)
        return clean.detach(), gradient * scale[:, None]

    def _observe(self, state: Tensor, t: int, generators: list[torch.Generator]) -> Tensor:
        """Put q(y_t | y_0) in the place of the observed nodes; at step 0 that is their label."""
        given = self._labels if t == 0 else self.process.noised(self._labels, t, self._noise(generators))
        return torch.where(self._observed[:, None, None], given, state)

    def _noise(self, generators: list[torch.Generator]) -> Tensor:
        shape = (len(self.known), self.num_classes)
        drawn = [torch.randn(shape, generator=generator, dtype=self.dtype) for generator in generators]
        return self.temperature * torch.stack(drawn, dim=1).to(self.known.device)

    @property
    def _observed(self) -> Tensor:
        return self.known != MASKED

    @property
    def _labels(self) -> Tensor:
        return F.one_hot(self.known.clamp_min(0), self.num_classes).to(self.dtype).unsqueeze(1)
