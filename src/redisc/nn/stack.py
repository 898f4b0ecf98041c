"""A stack of convolutions with what stands around them: residuals, normalisation, activation, dropout, head."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from redisc.kernels.dropout import Dropout
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, Features, drop_features
from redisc.nn.architecture import Architecture
from redisc.nn.block import Block
from redisc.nn.convs import Conv
from redisc.nn.normalisation import RowNorm


@dataclass(frozen=True)
class Projected:
    """A layer's input after the products that do not look at the graph, `(rows, copies, d)` each."""

    z: Tensor  # the convolution's projection
    skip: Tensor | None = None  # the residual connection
    initial: Tensor | None = None  # the first embedding (GCNII) or prediction (APPNP), carried through all layers


class StackLayer(nn.Module):
    """One convolution with its residual connections and its normalisation."""

    def __init__(self, architecture: Architecture, in_width: int, out_width: int, emits_logits: bool) -> None:
        super().__init__()
        a, self.emits_logits, self.out_width = architecture, emits_logits, out_width
        self.initial_share = 0.0 if emits_logits and not a.predicts_first else a.initial_residual
        self.conv: Conv = a.conv(in_width, out_width, emits_logits)
        self.skip = Affine(in_width, out_width, bias=False) if a.residual and not a.predicts_first else None
        plain = emits_logits or a.predicts_first or a.normalisation == "none"
        self.norm = None if plain else RowNorm(a.normalisation, out_width)

    def project(self, h: Features, initial: Tensor | None) -> Projected:
        """Multiply the layer's input with its weights, row by row."""
        return Projected(self.conv.project(h), None if self.skip is None else self.skip(h), initial)

    def forward(
        self,
        block: Block,
        projected: Projected,
        table: Tensor | None,
        shift: Tensor | None,
        activation: Activation | None,
    ) -> Tensor:
        """Return `(targets, copies, out_width)`: convolution, residuals, time shift, norm, activation."""
        if activation is None:
            return self._mix(block, projected, table, shift)
        if self.skip is None and shift is None and not self.initial_share and self.norm is None:
            return self.conv.activated(block, projected.z, table, activation)
        return activation(self._mix(block, projected, table, shift))

    def _mix(self, block: Block, projected: Projected, table: Tensor | None, shift: Tensor | None) -> Tensor:
        m = self.conv(block, projected.z, table)
        m = m if projected.skip is None else m + block.own(projected.skip)
        m = m if shift is None else m + shift
        if self.initial_share and projected.initial is not None:
            m = torch.lerp(m, block.own(projected.initial).expand_as(m), self.initial_share)
        return m if self.norm is None else self.norm(m)


class ConvStack(nn.Module):
    """K convolutions over K Blocks, from features to logits; row-wise layers stand behind them, or ahead (APPNP).

    Label tables and time shifts come from outside (the denoiser); without them the stack is an ordinary GNN. Raw
    features enter through `project` alone: their products depend on neither labels nor time, so whoever holds many
    label states of one graph pays for them once.
    """

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.architecture = a = architecture
        raw = num_features * (a.hops + 1)
        self.embedding = Affine(raw, a.hidden) if a.initial_residual > 0 or a.predicts_first else None
        headless = a.row_layers == 0 or a.predicts_first
        inner = num_classes if a.predicts_first else a.hidden
        widths = [inner if self.embedding else raw] + [inner] * a.convolutions
        widths[-1] = num_classes if headless else a.hidden
        self.layers: Sequence[StackLayer] = nn.ModuleList(  # type: ignore[assignment]
            StackLayer(a, i, o, emits_logits=headless and k == a.convolutions - 1)
            for k, (i, o) in enumerate(itertools.pairwise(widths))
        )
        head = [a.hidden] * a.row_layers + [num_classes]
        self.head = nn.ModuleList(Affine(i, o) for i, o in itertools.pairwise(head))

    def shift_logits(self, by: Tensor) -> None:
        """Add `by (C,)` to the logits of every node from now on."""
        final = self.layers[-1]
        last: Any = final.conv if final.emits_logits else self.head[-1]
        kept = 1 - final.initial_share if final.emits_logits else 1.0
        with torch.no_grad():
            last.bias.add_(by / kept)

    def project(self, x: Features, dropout: Dropout | None = None) -> Projected:
        """Multiply the raw features with every weight that meets them: `(N, 1, d)`."""
        x = drop_features(x, dropout, self.architecture.input_dropout)
        if self.embedding is None:
            return self.layers[0].project(x, None)
        initial = self._activation(dropout)(self.embedding(x))
        if self.architecture.predicts_first:
            initial = self._emit(initial, dropout)
        return self.layers[0].project(initial, initial)

    def forward(
        self,
        blocks: Sequence[Block],
        projected: Projected,
        tables: Sequence[Tensor | None] | None = None,
        shifts: Sequence[Tensor | None] | None = None,
        dropout: Dropout | None = None,
    ) -> Tensor:
        """Return logits `(targets of the last Block, copies, C)`.

        `tables[k] (copies, C+1, width)` and `shifts[k] (copies, out_width)` belong to layer k.
        """
        absent = [None] * len(self.layers)
        out: Projected | Tensor = projected
        for k, block in enumerate(blocks):
            assert isinstance(out, Projected)
            out = self.step(k, block, out, (tables or absent)[k], (shifts or absent)[k], dropout)
        assert isinstance(out, Tensor)
        return out

    def step(
        self,
        k: int,
        block: Block,
        projected: Projected,
        table: Tensor | None = None,
        shift: Tensor | None = None,
        dropout: Dropout | None = None,
    ) -> Projected | Tensor:
        """Run layer k over its Block: returns the next layer's input, or logits after the last."""
        layer = self.layers[k]
        linear = layer.emits_logits or self.architecture.predicts_first
        h = layer(block, projected, table, shift, None if linear else self._activation(dropout))
        if layer.emits_logits:
            return h
        if k + 1 == len(self.layers):
            return self._emit(h, dropout)
        initial = None if projected.initial is None else block.own(projected.initial)
        return self.layers[k + 1].project(h, initial)

    def _activation(self, dropout: Dropout | None) -> Activation:
        return Activation(self.layers[0].conv.activation, self.architecture.dropout, dropout)

    def _emit(self, h: Tensor, dropout: Dropout | None) -> Tensor:
        for layer in self.head[:-1]:
            h = self._activation(dropout)(layer(h))
        return self.head[-1](h)
