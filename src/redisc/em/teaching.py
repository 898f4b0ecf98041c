"""Teaching the reader of features what the mean-field GNNs answer."""

from __future__ import annotations

import torch
from torch import Tensor

from redisc.em.generations import handed_down
from redisc.nn import Committee, FeatureReader, Features, MeanField, Nodes, with_reader

_ROUNDS = 150
"""Steps of L-BFGS at the most; a convex problem of some thousand weights is solved by then."""


def teach_reader(model: MeanField | Committee, nodes: Nodes, answers: Tensor, known: Tensor, decay: float) -> Tensor:
    """Fit a committee's reader, if it has one, to its members' `answers (N, C)` and to the labels `known (N,)`.

    Returns what members and reader say together.
    """
    if isinstance(model, Committee) and model.reader is not None:
        fit_reader(model.reader, nodes.own_features, handed_down(answers, known), decay)
    with torch.no_grad():
        return with_reader(model, answers, nodes)


def fit_reader(reader: FeatureReader, x: Features, taught: Tensor, decay: float) -> None:
    """Minimise the mean cross-entropy against `taught (N, C)` plus `decay` times the squared weights, from zero.

    Dense features are held a second time while this takes.
    """
    reader.measure(x)
    sight = reader.see(x)
    for parameter in reader.parameters():
        torch.nn.init.zeros_(parameter)
    optimiser = torch.optim.LBFGS(list(reader.parameters()), max_iter=_ROUNDS, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimiser.zero_grad()
        with torch.enable_grad():
            log_likelihood = (taught * reader.read(sight).log_softmax(1)).sum(1).mean()
            value = decay * reader.weight.square().sum() - log_likelihood
        value.backward()
        return float(value.detach())

    optimiser.step(loss)
    for parameter in reader.parameters():
        parameter.grad = None
