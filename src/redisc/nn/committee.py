"""Several mean-field GNNs that answer together: what chance did to one of them, the others outvote."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from redisc.nn.mean_field import MeanField


class Committee(nn.Module):
    """Mean-field GNNs of one shape or several, with weights of their own.

    Their answer is the mean of the probabilities of those that have a voice, `voices (members,)`; the first always has.
    """

    voices: Tensor

    def __init__(self, members: Iterable[MeanField]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.register_buffer("voices", torch.ones(len(self.members), dtype=torch.bool))

    def shift(self, by: Tensor) -> None:
        """Add `by (C,)` to the logits of every member and node from now on."""
        for member in members_of(self):
            member.shift(by)


def members_of(model: MeanField | Committee) -> Sequence[MeanField]:
    """Return all networks: the committee's, or the one there is."""
    members: Any = model.members if isinstance(model, Committee) else [model]
    return list(members)


def voices_of(model: MeanField | Committee) -> Sequence[MeanField]:
    """Return the networks whose answers count."""
    first, *others = members_of(model)
    voices = model.voices[1:].tolist() if isinstance(model, Committee) else []
    return [first, *itertools.compress(others, voices)]


def mean_probabilities(model: MeanField | Committee, logits_of: Callable[[MeanField], Tensor]) -> Tensor:
    """Return the mean of the probabilities of all that have a voice, `(N, C)`."""
    first, *others = voices_of(model)
    total = logits_of(first).softmax(1)
    for member in others:
        total += logits_of(member).softmax(1)
    return total.div_(1 + len(others)) if others else total
