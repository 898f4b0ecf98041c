"""Jumping knowledge network (Xu et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features
from redisc.nn.convs import GCNConv

_MODES = ("concat", "max")


class JKNetwork(nn.Module):
    """Graph convolutions, and an affine map of what all of them say."""

    def __init__(self, num_features: int, num_classes: int, settings: JKNet) -> None:
        super().__init__()
        self.dropout, self.input_dropout, self.mode = settings.dropout, settings.input_dropout, settings.mode
        widths = [num_features] + [settings.hidden] * (settings.layers - 1)
        self.convs = nn.ModuleList(GCNConv(width, settings.hidden) for width in widths)
        joined = settings.hidden * (settings.layers if settings.mode == "concat" else 1)
        self.head = Affine(joined, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        block = engine.block(engine.topology)
        activation = Activation(F.relu, self.dropout, dropout)
        h, outputs = drop_features(engine.features, dropout, self.input_dropout), []
        for conv in self.convs:
            h = conv.activated(block, conv.project(h), None, activation)  # type: ignore[operator]
            outputs.append(h)
        return self.head(self._join(outputs)).squeeze(1)

    def _join(self, outputs: list[Tensor]) -> Tensor:
        return torch.cat(outputs, -1) if self.mode == "concat" else torch.stack(outputs).amax(0)


@dataclass(eq=False, repr=False, kw_only=True)
class JKNet(NeuralBaseline):
    """Jumping knowledge network: a classifier reads the outputs of all graph convolutions, not of the last alone.

    The layer aggregations of Section 4 of its paper are here by concatenation and by the largest value; the one by
    an LSTM is left out.

    Args:
        mode: How layers are joined: "concat" or "max".
    """

    name = "jknet"
    title = "JKNet"
    citation = "Xu et al., 2018: Representation Learning on Graphs with Jumping Knowledge Networks"
    family = "gnn"
    cost = "O(N d^2 + E d) an epoch"

    layers: int = 4
    mode: str = "concat"

    def check(self) -> None:
        """Refuse an unknown mode."""
        super().check()
        if self.mode not in _MODES:
            raise ConfigError(f"mode={self.mode!r}: choose one of {', '.join(_MODES)}")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the convolutions."""
        return JKNetwork(num_features, num_classes, self)
