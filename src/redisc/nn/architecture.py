"""The shape of a network: which layer, how many, how wide, with what around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from redisc.errors import ConfigError
from redisc.nn.convs import Conv, GATConv, GATSepConv, GCNConv, HopConv, PropagationConv, SAGEConv
from redisc.settings import check_kinds


@dataclass(frozen=True)
class Architecture:
    """One stack of graph convolutions: mean-field GNNs and the denoiser are built from the same or from several."""

    backbone: str = "gcn"  # gcn, gat, sage, gat_sep, appnp or hops
    hidden: int = 64  # width of the hidden layers; attention splits it over the heads
    layers: int = 2  # K, the number of convolutions; of hops where they are computed ahead
    heads: int = 8  # attention heads
    dropout: float = 0.5  # on hidden rows
    input_dropout: float = 0.0  # on raw features
    residual: bool = False  # add a linear map of the layer's input to its output (not in APPNP)
    initial_residual: float = 0.0  # share of the first embedding (GCNII) or prediction (APPNP) in every layer's output
    normalisation: Literal["none", "layer", "rms", "l2"] = "none"  # row-wise, after each hidden layer (not in APPNP)
    head_layers: int = 0  # row-wise layers after the convolutions (hops: 1 at least), or before them (APPNP: 1 more)
    self_loop: float = 1.0  # weight of a self-loop in GCN and APPNP

    def __post_init__(self) -> None:
        check_kinds(self)
        if self.backbone not in _CONVS:
            raise ConfigError(f"unknown backbone {self.backbone!r}; choose one of {', '.join(_CONVS)}")
        for name in ("hidden", "layers", "heads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it must be at least 1")
        for name in ("dropout", "input_dropout", "initial_residual"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it must lie in [0, 1)")
        if self.head_layers < 0 or self.self_loop < 0:
            raise ConfigError("head_layers and self_loop must be 0 or more")

    @property
    def hops(self) -> int:
        """How many hops of the features are computed ahead."""
        return self.layers if self.backbone == "hops" else 0

    @property
    def convolutions(self) -> int:
        """How many convolutions stand in the stack: all hops are one."""
        return 1 if self.hops else self.layers

    @property
    def predicts_first(self) -> bool:
        """Whether the row-wise layers stand ahead of the convolutions, which then spread their logits."""
        return self.backbone == "appnp"

    @property
    def row_layers(self) -> int:
        """How many row-wise layers lead to logits; hops and predictions that are spread need one at least."""
        if self.predicts_first:
            return 1 + self.head_layers
        return max(1, self.head_layers) if self.hops else self.head_layers

    def with_changes(self, changes: Mapping[str, Any]) -> Architecture:
        """Return this architecture with some fields changed; both have to read features in the same form."""
        known = [field.name for field in fields(self)]
        strangers = sorted(set(map(str, changes)) - set(known))
        if strangers:
            raise ConfigError(f"an architecture has no field {', '.join(strangers)}; it has {', '.join(known)}")
        other = replace(self, **changes)
        if other.hops != self.hops:
            raise ConfigError("both networks read hops that are computed ahead: leave backbone and layers as they are")
        return other

    def conv(self, in_width: int, out_width: int, emits_logits: bool) -> Conv:
        """Build one convolution; `emits_logits` is true for a last layer without a head behind it."""
        return _CONVS[self.backbone](self, in_width, out_width, emits_logits)


_CONVS: dict[str, Callable[[Architecture, int, int, bool], Conv]] = {
    "gcn": lambda a, i, o, logits: GCNConv(i, o, a.self_loop),
    "gat": lambda a, i, o, logits: GATConv(i, o, a.heads, concatenate=not logits),
    "sage": lambda a, i, o, logits: SAGEConv(i, o),
    "gat_sep": lambda a, i, o, logits: GATSepConv(i, o, a.heads, width=a.hidden),
    "appnp": lambda a, i, o, logits: PropagationConv(o, a.self_loop),
    "hops": lambda a, i, o, logits: HopConv(i, o, a.layers),
}

BACKBONES = tuple(name for name in _CONVS if name != "hops")
"""Layers that pass messages; `Architecture.backbone` takes "hops" beside them."""
