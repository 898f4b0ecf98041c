"""Noise schedules: alpha, beta and lambda' (Sections 2 and 3.2.1 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from redisc.errors import ConfigError


@dataclass(frozen=True)
class Schedule:
    """The share of labels that are still intact after t steps, for t = 0..T.

    `alpha` has shape `(T+1,)`, or `(T+1, N)` where each node has a schedule of its own (the paper's subscript i).
    It starts at 1, never rises, and ends at 0 or close to it. All three methods answer for the step from t to t-1.
    """

    alpha: Tensor

    def __post_init__(self) -> None:
        alpha = torch.as_tensor(self.alpha, dtype=torch.float64)
        object.__setattr__(self, "alpha", alpha)
        if alpha.dim() not in (1, 2) or alpha.shape[0] < 2:
            raise ConfigError(f"a schedule needs shape (T+1,) or (T+1, N) with T >= 1, not {tuple(alpha.shape)}")
        if not torch.isfinite(alpha).all() or (alpha[0] != 1).any():
            raise ConfigError("a schedule must be finite and start at alpha(0) = 1")
        if (alpha.diff(dim=0) > 0).any() or (alpha[-1] < 0).any() or (alpha[-1] > 0.05).any():
            raise ConfigError("a schedule must never rise and must end between 0 and 0.05")

    @property
    def steps(self) -> int:
        """T, the number of steps."""
        return self.alpha.shape[0] - 1

    def beta(self, t: int) -> Tensor:
        """Probability that a label intact at t-1 is intact at t: alpha(t) / alpha(t-1)."""
        return self.alpha[t] / self.alpha[t - 1].clamp_min(torch.finfo(torch.float64).tiny)

    def reveal_rate(self, t: int | Tensor) -> Tensor:
        """Return lambda'(t-1) = (alpha(t-1) - alpha(t)) / (1 - alpha(t)), the chance of a masked node to be revealed.

        Where alpha(t) = 1 no node is masked and any value would do; it is 1. `t` may be a tensor of steps.
        """
        masked = 1 - self.alpha[t]
        rate = (self.alpha[t - 1] - self.alpha[t]) / masked.clamp_min(torch.finfo(torch.float64).tiny)
        return torch.where(masked > 0, rate, torch.ones_like(rate))

    def reveal_rates(self) -> Tensor:
        """Return lambda'(t-1) at place t for all t = 1..T, `(T+1,)` or `(T+1, N)`; place 0 is not used."""
        return torch.cat([torch.ones_like(self.alpha[:1]), self.reveal_rate(torch.arange(1, self.steps + 1))])

    @classmethod
    def from_function(cls, alpha: Callable[[float], float], steps: int) -> Schedule:
        """Tabulate any falling function on [0, 1] with alpha(0) = 1 and alpha(1) = 0."""
        return cls(torch.tensor([alpha(t / steps) for t in range(steps + 1)], dtype=torch.float64))

    @classmethod
    def cosine(cls, steps: int, offset: float = 0.008, clamp: float = 0.0) -> Schedule:
        """Build the cosine schedule of Nichol & Dhariwal (2021).

        alpha(t) = f(t) / f(0) with f(t) = cos²(π/2 (t/T + s) / (1 + s)) and s the `offset`.

        `clamp` keeps every beta within [clamp, 1 - clamp]; the authors' code has offset 0.015 and clamp 0.001.
        """
        fraction = torch.arange(steps + 1, dtype=torch.float64) / steps
        curve = torch.cos((fraction + offset) / (1 + offset) * math.pi / 2) ** 2
        curve[-1] = 0
        if not clamp:
            return cls(curve / curve[0])
        beta = (curve[1:] / curve[:-1]).clamp(clamp, 1 - clamp)
        return cls(torch.cat([torch.ones(1, dtype=torch.float64), beta.cumprod(0)]))

    @classmethod
    def linear(cls, steps: int) -> Schedule:
        """Build alpha(t) = 1 - t/T: the same expected number of nodes is revealed at every step."""
        return cls.from_function(lambda fraction: 1 - fraction, steps)

    def per_node(self, powers: Tensor) -> Schedule:
        """Give node i the schedule alpha ** powers[i]: above 1 it is masked earlier and revealed later."""
        if self.alpha.dim() != 1 or (powers <= 0).any():
            raise ConfigError("per-node schedules need a shared schedule and positive powers")
        return Schedule(self.alpha[:, None] ** powers.to(torch.float64))


def get_schedule(schedule: str | Callable[[float], float] | Schedule, steps: int) -> Schedule:
    """Turn a name ("cosine", "authors-cosine", "linear"), a function on [0, 1] or a Schedule into a Schedule."""
    if isinstance(schedule, Schedule):
        if schedule.steps != steps:
            raise ConfigError(f"the schedule has {schedule.steps} steps, but steps={steps}: make them agree")
        return schedule
    if steps < 1:
        raise ConfigError(f"steps={steps}: the diffusion needs at least one step")
    if callable(schedule):
        return Schedule.from_function(schedule, steps)
    named = {
        "cosine": Schedule.cosine,
        "authors-cosine": lambda T: Schedule.cosine(T, offset=0.015, clamp=0.001),
        "linear": Schedule.linear,
    }
    if schedule not in named:
        raise ConfigError(f"unknown schedule {schedule!r}; choose one of {', '.join(named)} or pass a function")
    return named[schedule](steps)
