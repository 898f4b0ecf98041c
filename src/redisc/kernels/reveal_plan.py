"""When each node is revealed, for routings that do not look at the denoiser: computed ahead for a whole sample.

The numbers are those of `counter_random`, and the choices those of `diffusion.routing`, to the bit; only masked
nodes are looked at, so a plan costs about T/2 random numbers a node instead of a dozen array operations a step.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import launch, serial, threaded
from redisc.kernels.counter_random import Stream, mix_bits, stream_key, to_uniform


def plan_reveals(seed: int, chains: Tensor, rates: Tensor, labelled: Tensor, labelled_first: bool) -> Tensor:
    """Return the step at which each node is revealed, `(chains, N)`.

    `rates (T+1,)` or `(T+1, N)` holds lambda'(t-1) at place t; `labelled (N,)` are the nodes that labelled-first
    routing prefers.
    """
    table = rates.numpy() if rates.dim() == 2 else rates[:, None].expand(-1, 1).contiguous().numpy()
    keys = np.array([stream_key(seed, Stream.ROUTE, t) for t in range(len(table))], dtype=np.uint64)
    plan = np.zeros((len(chains), len(labelled)), np.int64)
    first = labelled.numpy() if labelled_first else np.zeros(len(labelled), np.bool_)
    work = plan.size * len(table) // 2
    launch(_plan, work, keys, chains.numpy().astype(np.uint64), table, first, plan)
    return torch.from_numpy(plan)


@threaded
def _plan(keys, chains, rates, first, plan):  # type: ignore[no-untyped-def]
    for c in prange(len(chains)):
        _plan_chain(keys, chains[c], rates, first, plan[c])


@serial
def _plan_chain(keys, chain, rates, first, plan):  # type: ignore[no-untyped-def]
    """Fill the plan of one chain; arrays that the parallel loop itself allocates could be shared by its threads."""
    left = np.concatenate((np.flatnonzero(first), np.flatnonzero(~first)))
    preferred = int(first.sum())
    for t in range(len(keys) - 1, 0, -1):
        key = mix_bits(keys[t] + chain * np.uint64(0x9E3779B97F4A7C15))
        late = np.empty(len(left))
        budget = 0
        for k in range(len(left)):
            rate = rates[t, left[k]] if rates.shape[1] > 1 else rates[t, 0]
            late[k] = to_uniform(key, left[k]) / rate if rate > 0 else np.inf
            budget += late[k] < 1
        left, preferred = _spend(left, late, budget, preferred, t, plan)


@serial
def _spend(left, late, budget, preferred, t, plan):  # type: ignore[no-untyped-def]
    """Give step t to the chosen nodes and return those that stay masked, preferred ones first."""
    taken = np.zeros(len(left), np.bool_)
    if preferred == 0:
        taken[:] = late < 1
    elif budget < preferred:
        taken[np.argsort(late[:preferred], kind="mergesort")[:budget]] = True
    else:
        taken[:preferred] = True
        taken[preferred + np.argsort(late[preferred:], kind="mergesort")[: budget - preferred]] = True
    for k in range(len(left)):
        if taken[k]:
            plan[left[k]] = t
    return left[~taken], preferred - int(taken[:preferred].sum())
