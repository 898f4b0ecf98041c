"""The noise-prediction network of DPM-SNC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import Affine, Architecture, Block, ConvStack, Features, Projected, TimeEncoder
from redisc.nn.activation import Activation
from redisc.nn.affine import reset_all
from redisc.nn.time_gate import TIME_WIDTH


class SilentAffine(Affine):
    """An affine map that starts at zero."""

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero all parameters."""
        for parameter in self.parameters():
            nn.init.zeros_(parameter)


class ScoreNetwork(nn.Module):
    """ε_θ(y_t, t, G) for real-valued labels `(N, copies, C)`.

    Noisy labels stand beside the input of every layer, `[h || y] W = h W_1 + y W_2`, that of the first head layer
    included; the transformed time is added to every convolution's output. The output starts at zero, as in the DDPM
    paper's code: with Glorot weights there, the first updates on Cora silence every rectified unit for 600 more.
    """

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int, steps: int) -> None:
        super().__init__()
        if architecture.predicts_first:
            raise ConfigError("DPM-SNC can't have the backbone appnp: its head stands behind the convolutions")
        self.steps, self.num_classes = steps, num_classes
        self.stack = ConvStack(architecture, num_features, num_classes)
        self.time = TimeEncoder()
        self.stack.head[-1] = SilentAffine(architecture.hidden, num_classes)
        joined = architecture.hidden if architecture.head_layers > 1 else num_classes
        parts = [Affine(num_classes, layer.conv.width, bias=False) for layer in self.stack.layers]
        self.labels = nn.ModuleList([*parts, SilentAffine(num_classes, joined, bias=False)])
        self.shifts = nn.ModuleList(Affine(TIME_WIDTH, layer.out_width) for layer in self.stack.layers)

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw every parameter anew."""
        reset_all(self, generator)

    def project(self, x: Features, dropout: Dropout | None = None) -> Projected:
        """Multiply raw features with the weights that meet them: they depend on neither labels nor time."""
        return self.stack.project(x, dropout)

    def forward(
        self, block: Block, projected: Projected, noisy: Tensor, t: Tensor, dropout: Dropout | None = None
    ) -> Tensor:
        """Return the noise `(N, copies, C)` in `noisy (N, copies, C)` at steps `t (copies,)`."""
        time = F.elu(self.time(t, self.steps))
        activation = Activation(self.stack.layers[0].conv.activation, self.stack.architecture.dropout, dropout)
        for k, layer in enumerate(self.stack.layers):
            given = replace(projected, z=projected.z + self.labels[k](noisy))
            h = layer(block, given, None, self.shifts[k](time), activation)
            if k + 1 < len(self.stack.layers):
                projected = self.stack.layers[k + 1].project(h, projected.initial)
        return self._emit(h, noisy, activation)

    def _emit(self, h: Tensor, noisy: Tensor, activation: Activation) -> Tensor:
        head: Sequence[nn.Module] = list(self.stack.head)
        out = head[0](h) + self.labels[-1](noisy)
        for layer in head[1:]:
            out = layer(activation(out))
        return out
