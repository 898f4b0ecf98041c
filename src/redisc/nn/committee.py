"""Several mean-field GNNs that answer together: what chance did to one of them, the others outvote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor, nn

from redisc.nn.mean_field import MeanField


class Committee(nn.Module):
    """Mean-field GNNs of one shape with weights of their own; their answer is the mean of their probabilities."""

    def __init__(self, members: Iterable[MeanField]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def shift(self, by: Tensor) -> None:
        """Add `by (C,)` to the logits of every member and node from now on."""
        for member in members_of(self):
            member.shift(by)


def members_of(model: MeanField | Committee) -> Sequence[MeanField]:
    """Return the networks that answer: the committee's, or the one there is."""
    members: Any = model.members if isinstance(model, Committee) else [model]
    return list(members)


def mean_probabilities(model: MeanField | Committee, logits_of: Callable[[MeanField], Tensor]) -> Tensor:
    """Return the mean over members of their probabilities, `(N, C)`."""
    first, *others = members_of(model)
    total = logits_of(first).softmax(1)
    for member in others:
        total += logits_of(member).softmax(1)
    return total.div_(1 + len(others)) if others else total
