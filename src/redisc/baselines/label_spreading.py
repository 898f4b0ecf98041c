"""Label spreading, or learning with local and global consistency (Zhou et al., 2004)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from redisc.baselines.propagation import PropagationBaseline, spread
from redisc.engine import FullGraphEngine
from redisc.nn.block import Weighting
from redisc.settings import check_share


@dataclass(eq=False, repr=False, kw_only=True)
class LabelSpreading(PropagationBaseline):
    """Label spreading: F <- λ S F + (1-λ) Y with S = D^-1/2 A D^-1/2, whose limit is (1-λ) (I - λS)^-1 Y.

    This minimises (1-λ) |F - Y|^2 + λ tr(F^T (I - S) F), the label propagation objective of the ReDiSC paper (its
    Section 2). Labels are evidence and not clamped: a neighbourhood can outvote one.

    Args:
        damping: λ, the share that comes from the neighbours.
    """

    name = "label_spreading"
    title = "Label Spreading"
    citation = "Zhou et al., 2004: Learning with Local and Global Consistency"
    family = "propagation"
    cost = "O(E C) an iteration"

    damping: float = 0.9

    def check(self) -> None:
        """Refuse a damping that is no share."""
        super().check()
        check_share("damping", self.damping)

    def propagate(self, engine: FullGraphEngine, labels: Tensor, labelled: Tensor) -> Tensor:
        """Iterate until the labels settle."""
        smoother = engine.topology.propagator(Weighting("sym"))
        return spread(smoother, labels, self.damping, self.iterations, self.tolerance)
