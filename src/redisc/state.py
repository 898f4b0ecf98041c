"""The state of something under way: what is needed to go on later to the same bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class State:
    """Figures that JSON can hold, and tensors by name."""

    figures: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def joined(self, **parts: State) -> State:
        """Return this state with others as named parts of it."""
        figures = {name: part.figures for name, part in parts.items()}
        tensors = {f"{name}.{key}": value for name, part in parts.items() for key, value in part.tensors.items()}
        return State({**self.figures, **figures}, {**self.tensors, **tensors})

    def part(self, name: str) -> State:
        """Return a part by the name that it was joined under."""
        start = f"{name}."
        tensors = {key[len(start) :]: value for key, value in self.tensors.items() if key.startswith(start)}
        return State(self.figures[name], tensors)

    def to(self, device: torch.device) -> State:
        """Return the state with its tensors on `device`."""
        return State(self.figures, {name: value.to(device) for name, value in self.tensors.items()})


def weights_state(weights: dict[str, Tensor]) -> State:
    """Return a copy of a network's `state_dict()`; tied weights are copied one by one."""
    return State(tensors={name: value.detach().clone() for name, value in weights.items()})


def optimiser_state(optimiser: torch.optim.Optimizer) -> State:
    """Return the moments and step counts of an optimiser; its settings are not part of it."""
    moments = optimiser.state_dict()["state"]
    return State(tensors={f"{k}.{name}": value for k, row in moments.items() for name, value in row.items()})


def restore_optimiser(optimiser: torch.optim.Optimizer, state: State) -> None:
    """Give an optimiser of the same parameters what `optimiser_state` returned."""
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in state.tensors.items():
        number, _, name = key.partition(".")
        moments.setdefault(int(number), {})[name] = value.clone()
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})


def restore_network(network: nn.Module, state: State) -> None:
    """Copy weights into a network; a name or shape that does not fit is an error."""
    network.load_state_dict(state.tensors)
