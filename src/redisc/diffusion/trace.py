"""A chain as it was walked: when each node was revealed, as what, and how sure the denoiser was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.diffusion.sampler import ReverseProcess, State


@dataclass(frozen=True)
class Trace:
    """One chain, node by node; every array is `(N,)`.

    A node with `revealed_at == t` is masked in Y(t) and stands in Y(t-1). `confidence` is the denoiser's own
    probability of the label when it was drawn, 1 where the label is known.
    """

    steps: int
    labels: np.ndarray
    revealed_at: np.ndarray
    confidence: np.ndarray
    known: np.ndarray

    def at(self, t: int) -> np.ndarray:
        """Return Y(t): the labels that are visible at step t, MASKED elsewhere."""
        return np.where(self.revealed_at > t, self.labels, MASKED)


class _Recorder:
    """Observer of a single chain."""

    def __init__(self, process: ReverseProcess) -> None:
        self._t = process.schedule.steps
        self.revealed_at = torch.zeros(len(process.known), dtype=torch.int64, device=process.known.device)
        self.confidence = torch.ones(len(process.known), dtype=torch.float64, device=process.known.device)

    def __call__(self, state: State) -> State:
        """Note what the last step revealed."""
        new = (state.labels[0] != MASKED) & (self.revealed_at == 0)
        self.revealed_at[new] = self._t
        if state.revealed is not None:
            own = state.revealed.logits.double().softmax(1)
            self.confidence[state.revealed.node] = own.gather(1, state.revealed.labels[:, None])[:, 0]
        self._t -= 1
        return state


def trace_chain(process: ReverseProcess, chain: int = 0) -> Trace:
    """Run one chain and keep its path."""
    recorder = _Recorder(process)
    labels: Tensor = process.run(torch.tensor([chain]), recorder)[0]
    arrays = (labels, recorder.revealed_at, recorder.confidence, process.known != MASKED)
    return Trace(process.schedule.steps, *(array.cpu().numpy() for array in arrays))
