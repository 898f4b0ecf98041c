"""The denoiser D_θ(Y(t), t, G) of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.kernels.dropout import Dropout
from redisc.nn.affine import Affine, Features, reset_all
from redisc.nn.architecture import Architecture
from redisc.nn.block import Block
from redisc.nn.stack import ConvStack, Projected
from redisc.nn.time_gate import TIME_WIDTH, Gate, TimeEncoder, TimeGate


@dataclass(frozen=True)
class Conditioning:
    """What the layers get of time: a label table and, in vanilla layers, a shift for each of them, `(copies, ...)`."""

    tables: list[Tensor]
    shifts: list[Tensor] | None

    def copy(self, k: int) -> Conditioning:
        """Return copy `k` alone."""
        shifts = None if self.shifts is None else [shift[k : k + 1] for shift in self.shifts]
        return Conditioning([table[k : k + 1] for table in self.tables], shifts)


class Denoiser(nn.Module):
    """Predicts clean labels from noisy ones, the step and the graph.

    Time-aware layers gate the label embedding of every layer by γ(t, y). With gate "none" the layers are vanilla:
    labels are concatenated to every layer's input, and the transformed time is added to every layer's output
    (DPM-SNC's form).
    """

    def __init__(
        self,
        architecture: Architecture,
        num_features: int,
        num_classes: int,
        steps: int,
        gate: Gate = "vector",
    ) -> None:
        super().__init__()
        self.steps, self.num_classes = steps, num_classes
        self.stack = ConvStack(architecture, num_features, num_classes)
        self.time = TimeEncoder()
        self.gates = nn.ModuleList(TimeGate(num_classes, layer.conv.table_width, gate) for layer in self.stack.layers)
        vanilla = gate == "none"
        self.shifts = (
            nn.ModuleList(Affine(TIME_WIDTH, layer.out_width) for layer in self.stack.layers) if vanilla else None
        )

    @property
    def depth(self) -> int:
        """K: how many Blocks a pass takes."""
        return len(self.stack.layers)

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw every parameter anew."""
        reset_all(self, generator)

    def project(self, x: Features, dropout: Dropout | None = None) -> Projected:
        """Multiply raw features with the weights that meet them; see `ConvStack.project`."""
        return self.stack.project(x, dropout)

    def condition(self, t: Tensor) -> Conditioning:
        """Make the tables and shifts of steps `t (copies,)`: small, and the same for all nodes."""
        time = self.time(t, self.steps)
        shifts = None if self.shifts is None else [shift(F.elu(time)) for shift in self.shifts]
        return Conditioning([gate(time) for gate in self.gates], shifts)

    def forward(
        self, blocks: Sequence[Block], projected: Projected, time: Conditioning, dropout: Dropout | None = None
    ) -> Tensor:
        """Return logits `(targets, copies, C)` for the Blocks' noisy labels; `time` has as many copies, or one."""
        return self.stack(blocks, projected, time.tables, time.shifts, dropout)
