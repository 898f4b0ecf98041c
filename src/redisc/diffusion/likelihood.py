"""How probable a given labelling is: the reverse process, made to reveal it.

The steps at which nodes are revealed, τ, are drawn before any label is. Given them a chain that is made to reveal y has
probability `p(y | τ) = Π_i p(y_i | Y(τ_i), τ_i)`, where Y(t) shows the nodes of y with τ > t. Hence

    log p(y) = log E_τ p(y | τ)  >=  E_τ log p(y | τ),

and under uniform routing the right side is the ELBO of the paper (Eq. 6): node i is masked in Y(t) with probability
1 - α(t), as under q, and revealed there with probability λ'(t-1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import ReverseProcess, State
from redisc.errors import ConfigError
from redisc.kernels.counter_random import Stream, uniform


@dataclass(frozen=True)
class LogLikelihood:
    """Log-likelihoods in nats of one labelling along `n` chains, `values (n,)`, and what they say together.

    `value` is what was asked for: the ELBO, or the chain-rule estimate.
    """

    value: float
    values: np.ndarray
    nodes: int  # how many labels are judged: those that are not known

    def __float__(self) -> float:
        return self.value

    @property
    def bound(self) -> float:
        """The mean of the values: in expectation a lower bound on the log-likelihood."""
        return float(self.values.mean())

    @property
    def bound_error(self) -> float:
        """Standard error of the bound; NaN where there is one chain."""
        return float(self.values.std(ddof=1) / math.sqrt(len(self.values))) if len(self.values) > 1 else math.nan

    @property
    def estimate(self) -> float:
        """Log of the mean likelihood: tends to the log-likelihood from below as chains are added."""
        highest = self.values.max()
        return float(highest + np.log(np.exp(self.values - highest).mean()))


def elbo(process: ReverseProcess, labels: Tensor, chains: Tensor) -> Tensor:
    """Return log p(y | τ) of `labels (N,)` for each chain's own τ, `(chains,)`; their mean estimates the ELBO.

    Each node is denoised once a chain. Known labels are given: they are not judged.
    """
    forced = _Forced(labels, len(chains))
    process.run(chains, forced)
    return forced.total


def chain_rule(process: ReverseProcess, truth: Tensor, chains: Tensor) -> Tensor:
    """Return Σ_i log p(y_i | labels before i) of `truth (N,)` for each chain's own order of the nodes, `(chains,)`.

    The order is that of the chain's reveals. Nodes of one step, which the reverse process draws independently of each
    other, stand in a random order here and see those before them: as many calls of the denoiser as there are nodes.
    """
    if process.routing.needs_confidence:
        raise ConfigError("the chain rule needs an order that no label changes: use labelled-first or uniform routing")
    identities = chains.to(truth.device)

    def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
        state, logits = labels.clone(), []
        turn = _turns(uniform(process.seed, Stream.ORDER, identities[chain], t, node), chain)
        by_turn = [(turn == k).nonzero().squeeze(1) for k in range(int(turn.max()) + 1)]
        for rows in by_turn:
            logits.append(process.denoise(state, t, chain[rows], node[rows]))
            state[chain[rows], node[rows]] = truth[node[rows]]
        return torch.cat(logits)[torch.cat(by_turn).argsort()]

    return elbo(replace(process, denoise=denoise), truth, chains)


class _Forced:
    """Observer that makes chains reveal `labels (N,)` and adds up their log-probabilities, chain by chain."""

    def __init__(self, labels: Tensor, chains: int) -> None:
        self._labels = labels
        self.total = torch.zeros(chains, dtype=torch.float64, device=labels.device)

    def __call__(self, state: State) -> State:
        """Write y over what the last step drew."""
        revealed = state.revealed
        if revealed is not None:
            truth = self._labels[revealed.node]
            log_probability = revealed.logits.double().log_softmax(1).gather(1, truth[:, None])[:, 0]
            self.total.index_add_(0, revealed.chain, log_probability)
            state.labels[revealed.chain, revealed.node] = truth
        return state


def _turns(key: Tensor, chain: Tensor) -> Tensor:
    """Return the place of each row among the rows of its chain, by rising key; rows are sorted by chain."""
    order = key.argsort()
    order = order[chain[order].argsort(stable=True)]
    first = torch.searchsorted(chain, chain)
    turn = torch.empty_like(chain)
    turn[order] = torch.arange(len(chain), device=chain.device) - first
    return turn
