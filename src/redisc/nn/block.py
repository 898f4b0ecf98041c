"""The cut between layers and graphs: layers touch only the last dimension, a Block owns the others.

Every tensor that a layer sees is `(rows, copies, d)`: rows are nodes (or places of nodes), copies are independent
label states (the masks of an M-step, the chains of an E-step). A dimension of copies may be 1 where a value is the
same for all of them; it broadcasts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from redisc.nn.activation import Activation


@dataclass(frozen=True)
class Weighting:
    """Fixed edge weights: "sym" is D^-1/2 (A + sI) D^-1/2, "mean" is D^-1 (A + sI), "sum" is A + sI.

    D are the degrees of A + sI.
    """

    kind: Literal["sym", "mean", "sum"]
    self_loop: float = 0.0


class Block(ABC):
    """One hop of message passing: target rows, source rows (the targets come first) and the edges between them.

    Degrees are those of the whole graph, whatever part of it the Block holds. A Block also knows the current label
    of each source row; a *table* `(copies, C+1, d)` gives a vector for each label, its last row the one of a masked
    label.
    """

    @abstractmethod
    def own(self, h: Tensor) -> Tensor:
        """Return the targets' own rows of `h (sources, copies, d)`."""

    def lookup(self, table: Tensor) -> Tensor:
        """Return the table's row for each source's current label: `(sources, copies, d)`."""
        raise self._lacks("labels of its rows")

    def lookup_own(self, table: Tensor) -> Tensor:
        """Return the table's row for each target's current label: `(targets, copies, d)`."""
        raise self._lacks("labels of its rows")

    def fuse(self, z: Tensor, table: Tensor | None) -> Tensor:
        """Return `z + lookup(table)`: the paper's H~ = X~ + γ ∘ Y~, row by row."""
        return z if table is None else z + self.lookup(table)

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Sum `z (sources, copies, d)` and `lookup(table)` over each target's edges with fixed weights; add a bias.

        Features and labels travel apart: labels are counted, so no product of width copies * d runs over the edges for
        them, and counts need no gradient.
        """
        raise self._lacks("edges")

    def propagate_activated(
        self, z: Tensor, weighting: Weighting, table: Tensor | None, bias: Tensor, activation: Activation
    ) -> Tensor:
        """Return `activation(propagate(...))`."""
        return activation(self.propagate(z, weighting, table, bias))

    def label_hop(self, table: Tensor, weighting: Weighting, hop: int) -> Tensor:
        """Return the hop-th power of the propagation, applied to `lookup(table)`: `(targets, copies, d)`, by counts."""
        raise self._lacks("label counts of further hops")

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Softmax over each target's edges of LeakyReLU(source + target score), scores `(rows, copies, heads)`."""
        raise self._lacks("edges")

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum `values (sources, copies, heads, d)` over each target's edges with the weights of `attention`."""
        raise self._lacks("edges")

    def dot_attention(self, query: Tensor, key: Tensor, self_loops: bool) -> Tensor:
        """Softmax over each target's edges of <target's query, source's key>, rows `(rows, copies, heads, d)`."""
        raise self._lacks("the whole graph")

    def edge_index(self) -> Tensor:
        """Return the edges `(2, E)`, source above target, for modules that are not written against Blocks."""
        raise self._lacks("the whole graph")

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not hold {what}")
