"""Teaching the reader of features what the mean-field GNNs answer."""

from __future__ import annotations

import torch
from torch import Tensor

from redisc.em.generations import handed_down
from redisc.engine import Engine
from redisc.nn import Committee, FeatureReader, Features, MeanField

_ROUNDS = 150
"""Steps of L-BFGS at the most; a convex problem of some thousand weights is solved by then."""


def teach_reader(model: MeanField | Committee, engine: Engine, known: Tensor, decay: float) -> None:
    """Fit a committee's reader, if it has one, to what its members answer, and to labels `known (N,)`."""
    if isinstance(model, Committee) and model.reader is not None:
        fit_reader(model.reader, engine.own_features, handed_down(engine.answers(model), known), decay)


def fit_reader(reader: FeatureReader, x: Features, taught: Tensor, decay: float) -> None:
    """Minimise the mean cross-entropy against `taught (N, C)` plus `decay` times the squared weights, from zero."""
    reader.measure(x)
    g, h = reader.focus(x)
    for parameter in reader.parameters():
        torch.nn.init.zeros_(parameter)
    optimiser = torch.optim.LBFGS(list(reader.parameters()), max_iter=_ROUNDS, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimiser.zero_grad()
        with torch.enable_grad():
            log_likelihood = (taught * reader.read(x, g, h).log_softmax(1)).sum(1).mean()
            value = decay * reader.weight.square().sum() - log_likelihood
        value.backward()
        return float(value.detach())

    optimiser.step(loss)
    for parameter in reader.parameters():
        parameter.grad = None
