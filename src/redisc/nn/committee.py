"""Several mean-field GNNs that answer together: what chance did to one of them, the others outvote.

A reader of features may sit with them, whose voice is heard where a node's neighbours mislead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from redisc.nn.feature_reader import FeatureReader
from redisc.nn.mean_field import MeanField
from redisc.nn.pooling import Nodes, Pooling, pooled


class Committee(nn.Module):
    """Mean-field GNNs of one shape or several, with weights of their own.

    Their answer is the mean of the probabilities of those that have a voice, `voices (members,)`; the first always has.
    With a `reader` the committee's answer is theirs and the reader's, pooled.
    """

    voices: Tensor

    def __init__(
        self, members: Iterable[MeanField], reader: FeatureReader | None = None, pooling: Pooling | None = None
    ) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.reader, self.pooling = reader, pooling or Pooling()
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


def with_reader(model: MeanField | Committee, answers: Tensor, nodes: Nodes) -> Tensor:
    """Return the networks' answers `(N, C)`, and where a reader sits with them what both say together.

    Where it can't say anything of a node's features the answer is the networks' own.
    """
    if not isinstance(model, Committee) or model.reader is None:
        return answers
    logits, silent = model.reader(nodes.own_features)
    return torch.where(silent[:, None], answers, pooled(answers, logits, model.pooling.share(nodes)))
