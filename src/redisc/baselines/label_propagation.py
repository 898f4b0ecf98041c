"""Label propagation with clamped labels (Zhu & Ghahramani, 2002)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from redisc.baselines.propagation import PropagationBaseline, spread_clamped
from redisc.engine import FullGraphEngine
from redisc.nn.block import Weighting


@dataclass(eq=False, repr=False, kw_only=True)
class LabelPropagation(PropagationBaseline):
    """Label propagation: F <- P F with P = D^-1 A, labelled rows put back each time (Section 2.2 of its paper).

    The limit is the harmonic function F_U = (I - P_UU)^-1 P_UL Y_L: a random walk's chances to meet each class first.
    """

    name = "lp"
    title = "LP"
    citation = "Zhu & Ghahramani, 2002: Learning from Labeled and Unlabeled Data with Label Propagation"
    family = "propagation"
    cost = "O(E C) an iteration"

    def propagate(self, engine: FullGraphEngine, labels: Tensor, labelled: Tensor) -> Tensor:
        """Iterate until the labels settle."""
        walk = engine.topology.propagator(Weighting("mean"))
        return spread_clamped(walk, labels, labelled, self.iterations, self.tolerance)
