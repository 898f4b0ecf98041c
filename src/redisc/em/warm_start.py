"""Lines 1 to 8 of Algorithm 1: train the mean-field GNN (Eq. 2) and draw the samples that fill the queue (Eq. 1)."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.em.clock import Clock
from redisc.em.config import EMConfig
from redisc.em.problem import Problem
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn import MeanField


@dataclass(frozen=True)
class WarmStart:
    """The trained mean-field GNN's probabilities `(N, C)`, its validation score, and how long it trained."""

    probabilities: Tensor
    validation: float
    epochs: int


def train_mean_field(
    model: MeanField,
    engine: FullGraphEngine,
    problem: Problem,
    config: EMConfig,
    dropout: Dropout,
    clock: Clock,
) -> WarmStart:
    """Minimise the cross-entropy of known labels (Eq. 2); restore the weights with the best validation score."""
    decay = config.mean_field_weight_decay
    optimiser = torch.optim.Adam(model.parameters(), config.mean_field_learning_rate, weight_decay=decay, fused=True)
    best, best_state, best_epoch = -np.inf, copy.deepcopy(model.state_dict()), 0
    epoch = 0
    for epoch in range(1, config.mean_field_epochs + 1):
        _epoch(model, engine, problem, optimiser, dropout)
        score = _validate(model, engine, problem)[0]
        if score > best:
            best, best_state, best_epoch = score, copy.deepcopy(model.state_dict()), epoch
        clock.report("mean-field", epoch, config.mean_field_epochs, validation=score, best=best)
        if epoch - best_epoch >= config.mean_field_patience or clock.is_over():
            break
    model.load_state_dict(best_state)
    score, probabilities = _validate(model, engine, problem)
    return WarmStart(probabilities, score, epoch)


def _epoch(
    model: MeanField,
    engine: FullGraphEngine,
    problem: Problem,
    optimiser: torch.optim.Optimizer,
    dropout: Dropout,
) -> None:
    labelled = problem.known != MASKED
    optimiser.zero_grad()
    logits = engine.mean_field(model, dropout)[labelled]
    loss = F.cross_entropy(logits, problem.known[labelled], weight=problem.class_weight)
    loss.backward()
    optimiser.step()


@torch.no_grad()
def _validate(model: MeanField, engine: FullGraphEngine, problem: Problem) -> tuple[float, Tensor]:
    probabilities = engine.mean_field(model).softmax(1)
    labels = probabilities.argmax(1)
    return problem.validation.score(labels, probabilities), probabilities


def sample_mean_field(
    probabilities: Tensor, known: Tensor, n: int, temperature: float, generator: np.random.Generator
) -> Tensor:
    """Draw `n` samples `(n, N)`, every node on its own, known labels put in (Algorithm 1, lines 5 and 6)."""
    sharpened = (probabilities.double().clamp_min(1e-30).log() / temperature).softmax(1)
    cumulative = sharpened.cumsum(1)
    uniforms = torch.from_numpy(generator.random((n, len(known)))).to(cumulative.device)
    drawn = (cumulative[None] <= (uniforms * cumulative[:, -1])[..., None]).sum(2)
    return torch.where(known != MASKED, known, drawn.clamp_max(probabilities.shape[1] - 1))
