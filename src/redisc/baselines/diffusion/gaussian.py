"""Gaussian diffusion (Ho, Jain & Abbeel, 2020), on one-hot labels or on latents."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from redisc.diffusion import Schedule


@dataclass(frozen=True)
class GaussianDiffusion:
    """q(y_t | y_{t-1}) = N(sqrt(β_t) y_{t-1}, (1 - β_t) I), with β_t = α_t / α_{t-1} of the schedule.

    α_t is what the DDPM paper writes as a product up to t (its ᾱ_t), so that α_0 = 1. States are
    `(..., copies, width)`; a step `t` is an integer, or `(copies,)`.
    """

    schedule: Schedule

    @property
    def steps(self) -> int:
        """T, the number of steps."""
        return self.schedule.steps

    def noised(self, clean: Tensor, t: int | Tensor, noise: Tensor) -> Tensor:
        """Draw from q(y_t | y_0) = N(sqrt(α_t) y_0, (1 - α_t) I) (Eq. 4 of the DDPM paper)."""
        alpha = self._alpha(t, noise)
        return alpha.sqrt() * clean + (1 - alpha).sqrt() * noise

    def clean(self, state: Tensor, noise: Tensor, t: int | Tensor) -> Tensor:
        """Return the y_0 from which `noise` leads to `state` at step t: the inverse of `noised`."""
        alpha = self._alpha(t, state)
        return (state - (1 - alpha).sqrt() * noise) / alpha.sqrt()

    def noise(self, state: Tensor, clean: Tensor, t: int | Tensor) -> Tensor:
        """Return the noise that leads from `clean` to `state` at step t: the other inverse of `noised`."""
        alpha = self._alpha(t, state)
        return (state - alpha.sqrt() * clean) / (1 - alpha).sqrt()

    def posterior(self, state: Tensor, clean: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation of q(y_{t-1} | y_t, y_0) (Eqs. 6 and 7 of the DDPM paper)."""
        now, before = self._alpha(t, state), self._alpha(t - 1, state)
        kept = self.schedule.beta(t).to(state)
        weight = before.sqrt() * (1 - kept) / (1 - now)
        mean = weight * clean + kept.sqrt() * (1 - before) / (1 - now) * state
        return mean, ((1 - kept) * (1 - before) / (1 - now)).sqrt()

    def _alpha(self, t: int | Tensor, like: Tensor) -> Tensor:
        return self.schedule.alpha[t].to(like).unsqueeze(-1)
