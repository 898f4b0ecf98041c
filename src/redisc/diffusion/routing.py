"""Routing: who is revealed at a step of the reverse process (Section 3.3.1 of the paper).

All routings spend the same budget: as many nodes as the routing variables v' of Eq. 10 chose. They differ in whom
they spend it on. A node's *lateness* is its uniform divided by its rate lambda'; v' = 1 where lateness < 1. Ranking
by lateness is a uniform draw where nodes share a rate, and it makes every routing fall back to v' itself when no
group has priority.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from redisc.diffusion.schedule import Schedule
from redisc.errors import ConfigError
from redisc.kernels.reveal_plan import plan_reveals


class Routing(Protocol):
    """Chooses the masked nodes to reveal; every tensor is `(chains, N)`."""

    needs_confidence: bool

    def __call__(self, lateness: Tensor, masked: Tensor, labelled: Tensor, confidence: Tensor | None) -> Tensor:
        """Return the nodes to reveal as a boolean tensor, a subset of `masked`."""
        ...

    def plan(self, seed: int, chains: Tensor, schedule: Schedule, labelled: Tensor) -> Tensor | None:
        """Return the step that reveals each node, `(chains, N)`: what repeated calls would choose.

        None where that depends on the denoiser.
        """
        ...


class Uniform:
    """Every masked node whose routing variable came up (Eq. 10 as it stands)."""

    needs_confidence = False

    def __call__(self, lateness: Tensor, masked: Tensor, labelled: Tensor, confidence: Tensor | None) -> Tensor:
        """Return v' on the masked nodes."""
        return masked & (lateness < 1)

    def plan(self, seed: int, chains: Tensor, schedule: Schedule, labelled: Tensor) -> Tensor | None:
        """Draw all steps' routing variables at once."""
        return plan_reveals(seed, chains, schedule.reveal_rates(), labelled, labelled_first=False)


class LabelledFirst:
    """The budget goes to masked labelled nodes first, the rest to unlabelled ones, uniformly within each group."""

    needs_confidence = False

    def __call__(self, lateness: Tensor, masked: Tensor, labelled: Tensor, confidence: Tensor | None) -> Tensor:
        """Spend the budget on labelled nodes, then on the others."""
        came_up = masked & (lateness < 1)
        if not (masked & labelled).any():
            return came_up
        return _spend(came_up.sum(1), masked, [(~labelled).to(lateness), lateness])

    def plan(self, seed: int, chains: Tensor, schedule: Schedule, labelled: Tensor) -> Tensor | None:
        """Spend all steps' budgets at once."""
        return plan_reveals(seed, chains, schedule.reveal_rates(), labelled, labelled_first=True)


class ConfidentFirst:
    """The budget goes to the nodes that the denoiser is surest of (RDM's certainty-first); a known label is certain."""

    needs_confidence = True

    def __call__(self, lateness: Tensor, masked: Tensor, labelled: Tensor, confidence: Tensor | None) -> Tensor:
        """Spend the budget on labelled nodes, then by falling confidence (the denoiser's highest probability)."""
        if confidence is None:
            raise ConfigError("confident-first routing needs the denoiser's confidence")
        budget = (masked & (lateness < 1)).sum(1)
        return _spend(budget, masked, [(~labelled).to(lateness), -confidence.to(lateness), lateness])

    def plan(self, seed: int, chains: Tensor, schedule: Schedule, labelled: Tensor) -> Tensor | None:
        """Return None: confidence is not known ahead."""
        return None


def _spend(budget: Tensor, masked: Tensor, keys: list[Tensor]) -> Tensor:
    """Choose the first `budget (chains,)` masked nodes of each row in the order of `keys`, the first key first."""
    order = torch.arange(masked.shape[1], device=masked.device).expand(masked.shape)
    for key in [*reversed(keys), (~masked).to(torch.uint8)]:
        order = order.gather(1, key.gather(1, order).argsort(dim=1, stable=True))
    chosen = torch.arange(masked.shape[1], device=masked.device) < budget[:, None]
    return torch.zeros_like(masked).scatter(1, order, chosen)


_ROUTINGS: dict[str, type[Routing]] = {
    "uniform": Uniform,
    "labelled-first": LabelledFirst,
    "confident-first": ConfidentFirst,
}


def get_routing(routing: str | Routing) -> Routing:
    """Turn a name ("uniform", "labelled-first", "confident-first") into a routing."""
    if not isinstance(routing, str):
        return routing
    if routing not in _ROUTINGS:
        raise ConfigError(f"unknown routing {routing!r}; choose one of {', '.join(_ROUTINGS)}")
    return _ROUTINGS[routing]()
