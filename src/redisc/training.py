"""Training a network: updates, a look at the validation score after each epoch, and the best weights in the end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from redisc.clock import Ticking
from redisc.state import State, optimiser_state, restore_network, restore_optimiser, weights_state
from redisc.world import world


@dataclass(frozen=True)
class Pace:
    """How long and how fast to train; `weight_decay` is Adam's coupled one."""

    epochs: int
    patience: int
    learning_rate: float
    weight_decay: float


@dataclass(frozen=True)
class Trained:
    """The best validation score, and how many epochs there were."""

    validation: float
    epochs: int


class Training:
    """A training under way: a network, Adam, and the best weights so far."""

    def __init__(self, network: nn.Module, pace: Pace) -> None:
        self.network, self.pace = network, pace
        self._optimiser = torch.optim.Adam(
            network.parameters(), lr=pace.learning_rate, weight_decay=pace.weight_decay, fused=True
        )
        self._epoch = self._best_epoch = 0
        self._best, self._best_weights = -np.inf, copy.deepcopy(network.state_dict())

    def run(
        self,
        loss: Callable[[], Tensor],
        validate: Callable[[], float],
        clock: Ticking,
        phase: str,
        after_epoch: Callable[[], None] | None = None,
        updates: int = 1,
    ) -> Trained:
        """Train to the end, see `train`; `after_epoch` is called after every epoch but the last."""
        for epoch in range(self._epoch + 1, self.pace.epochs + 1):
            self._epoch = epoch
            score = self._update(loss, validate, updates)
            clock.report(phase, epoch, self.pace.epochs, validation=score, best=self._best)
            if epoch - self._best_epoch >= self.pace.patience or clock.is_over():
                break
            if after_epoch is not None:
                after_epoch()
        self.network.load_state_dict(self._best_weights)
        return Trained(float(self._best), self._epoch)

    def state(self) -> State:
        """Return the weights, the best of them, Adam's moments and the counts."""
        figures = {"epoch": self._epoch, "best_epoch": self._best_epoch, "best": float(self._best)}
        return State(figures).joined(
            network=weights_state(self.network.state_dict()),
            best_network=weights_state(self._best_weights),
            optimiser=optimiser_state(self._optimiser),
        )

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._epoch, self._best_epoch = state.figures["epoch"], state.figures["best_epoch"]
        self._best, self._best_weights = state.figures["best"], state.part("best_network").tensors
        restore_network(self.network, state.part("network"))
        restore_optimiser(self._optimiser, state.part("optimiser"))

    def _update(self, loss: Callable[[], Tensor], validate: Callable[[], float], updates: int) -> float:
        """Take an epoch's steps of Adam, score the network and keep its weights if they are the best."""
        for _ in range(updates):
            self._optimiser.zero_grad()
            loss().backward()
            self._optimiser.step()
        with torch.no_grad():
            score = world().agree(validate())
        if score > self._best:
            self._best, self._best_epoch = score, self._epoch
            self._best_weights = copy.deepcopy(self.network.state_dict())
        return score


def train(
    network: nn.Module,
    loss: Callable[[], Tensor],
    validate: Callable[[], float],
    pace: Pace,
    clock: Ticking,
    phase: str = "training",
    updates: int = 1,
) -> Trained:
    """Minimise `loss` by Adam, `updates` times an epoch, and restore the weights with the best validation score.

    Training ends after `patience` epochs without a better score, and when the clock's time is over.
    """
    return Training(network, pace).run(loss, validate, clock, phase, updates=updates)
