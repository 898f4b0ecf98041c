"""Time in the denoiser: the sinusoidal encoding and the gate γ(t, y) (Section 3.2.2 of the paper)."""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.errors import ConfigError
from redisc.nn.affine import Affine

Gate = Literal["vector", "scalar", "added", "none"]

TIME_WIDTH = 128
_TIME_SCALE = 320.0


def sinusoidal_encoding(t: Tensor, steps: int, width: int = TIME_WIDTH) -> Tensor:
    """Encode steps `t (copies,)` of T as sines and cosines `(copies, width)`.

    Time is t/T scaled by 320, the authors' 4 t at their T = 80, so that a step means the same share of the process
    for every T.
    """
    half = width // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64, device=t.device) * (-math.log(10_000) / (half - 1)))
    angles = (t.to(rates.dtype) * (_TIME_SCALE / steps))[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def check_gate(gate: str) -> None:
    """Raise an error where there is no such gate."""
    if gate not in get_args(Gate):
        raise ConfigError(f"unknown gate {gate!r}; choose vector, scalar, added or none")


class TimeEncoder(nn.Module):
    """The transformed encoding that all layers of a denoiser share."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = Affine(TIME_WIDTH, TIME_WIDTH), Affine(TIME_WIDTH, TIME_WIDTH)

    def forward(self, t: Tensor, steps: int) -> Tensor:
        """Map steps `(copies,)` to `(copies, TIME_WIDTH)`."""
        encoding = sinusoidal_encoding(t, steps).to(self.inner.weight.dtype)
        return self.outer(F.elu(self.inner(encoding)))


class TimeGate(nn.Module):
    """Makes the table `γ(t, c) ∘ V_c` of one layer, where γ = sigmoid(U [time || one-hot label]).

    γ depends on a node only through its label, so C+1 rows a step stand for all nodes; a masked label is a zero
    vector and V has no bias, so its row is zero. "vector" is the paper's γ in [0, 1]^d'; "scalar" has one γ a
    label; "added" is V_c + γ (what the authors' GraphSAGE does); "none" leaves time out: the vanilla layer, which
    concatenates labels.
    """

    def __init__(self, num_classes: int, width: int, gate: Gate = "vector") -> None:
        super().__init__()
        check_gate(gate)
        self.gate = gate
        self.embedding = Affine(num_classes, width, bias=False)
        gate_width = 1 if gate == "scalar" else width
        self.time = Affine(TIME_WIDTH, gate_width) if gate != "none" else None
        self.label = Affine(num_classes, gate_width, bias=False) if gate != "none" else None

    def forward(self, time: Tensor) -> Tensor:
        """Map encoded time `(copies, TIME_WIDTH)` to a table `(copies, C+1, width)`."""
        embedding = F.pad(self.embedding.weight, (0, 0, 0, 1))
        if self.time is None or self.label is None:
            return embedding.expand(len(time), -1, -1)
        gamma = torch.sigmoid(self.time(time)[:, None] + F.pad(self.label.weight, (0, 0, 0, 1)))
        return embedding + gamma if self.gate == "added" else embedding * gamma
