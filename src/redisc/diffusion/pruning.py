"""The exact sampler of p(Y | G, Y_L) that the paper describes first (Section 3.3.1): simulate freely, prune.

Its cost grows as one over the probability of the observed labels, so it is an oracle for tiny graphs.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.diffusion.sampler import ReverseProcess, State
from redisc.errors import ConfigError


def prune_sample(process: ReverseProcess, n: int, batch: int = 4096, max_chains: int = 10_000_000) -> Tensor:
    """Draw `n` samples `(n, N)` of the process's own posterior given its known labels.

    Chains draw labels for known nodes too, and are dropped as soon as one contradicts an observation.
    """
    known = process.known
    free = replace(process, known=torch.full_like(known, MASKED))

    def drop_contradicted(state: State) -> State:
        agrees = (state.labels == MASKED) | (known == MASKED) | (state.labels == known)
        return state.keep(agrees.all(1))

    kept: list[Tensor] = []
    started = 0
    while sum(map(len, kept)) < n:
        if started >= max_chains:
            raise ConfigError(f"pruning kept {sum(map(len, kept))} of {started} chains; {n} were asked for")
        kept.append(free.run(torch.arange(started, started + batch), drop_contradicted))
        started += batch
    return torch.cat(kept)[:n]
