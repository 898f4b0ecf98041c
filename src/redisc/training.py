"""Training a network: updates, a look at the validation score after each epoch, and the best weights in the end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from redisc.clock import Clock


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


def train(
    network: nn.Module,
    loss: Callable[[], Tensor],
    validate: Callable[[], float],
    pace: Pace,
    clock: Clock,
    phase: str = "training",
    updates: int = 1,
) -> Trained:
    """Minimise `loss` by Adam, `updates` times an epoch, and restore the weights with the best validation score.

    Training ends after `patience` epochs without a better score, and when the clock's time is over.
    """
    optimiser = torch.optim.Adam(
        network.parameters(), lr=pace.learning_rate, weight_decay=pace.weight_decay, fused=True
    )
    best, best_state, best_epoch = -np.inf, copy.deepcopy(network.state_dict()), 0
    epoch = 0
    for epoch in range(1, pace.epochs + 1):
        for _ in range(updates):
            optimiser.zero_grad()
            loss().backward()
            optimiser.step()
        with torch.no_grad():
            score = validate()
        if score > best:
            best, best_state, best_epoch = score, copy.deepcopy(network.state_dict()), epoch
        clock.report(phase, epoch, pace.epochs, validation=score, best=best)
        if epoch - best_epoch >= pace.patience or clock.is_over():
            break
    network.load_state_dict(best_state)
    return Trained(float(best), epoch)
