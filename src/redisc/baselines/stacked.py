"""Baselines whose network is the mean-field GNN of one backbone: ReDiSC's own warm start, alone."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture, MeanField


class StackNetwork(nn.Module):
    """A mean-field GNN that is called with an engine."""

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.gnn = MeanField(architecture, num_features, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        return engine.mean_field(self.gnn, dropout)


@dataclass(eq=False, repr=False, kw_only=True)
class StackedBaseline(NeuralBaseline):
    """A stack of the project's own convolutions.

    Args:
        residual: Add a linear map of each layer's input to its output.
        normalisation: Row-wise, after hidden layers: "none", "layer", "rms" or "l2".
        head_layers: Row-wise layers after the convolutions.
    """

    residual: bool = False
    normalisation: str = "none"
    head_layers: int = 0

    def architecture(self) -> Architecture:
        """Return the shape of the network."""
        shape = (self.hidden, self.layers, getattr(self, "heads", 1), self.dropout, self.input_dropout, self.residual)
        extras = {"normalisation": self.normalisation, "head_layers": self.head_layers}
        return Architecture(getattr(self, "backbone", self.name), *shape, **extras)  # type: ignore[arg-type]

    def check(self) -> None:
        """Leave the shape's checks to `Architecture`."""
        super().check()
        self.architecture()

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the mean-field GNN."""
        return StackNetwork(self.architecture(), num_features, num_classes)
