"""FSGNN (Maurya et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Features, Weighting
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features
from redisc.settings import check_count

_WEIGHTINGS = (Weighting("sym"), Weighting("sym", 1.0))


def propagate_each(matrix: SparseMatrix, rows: Sequence[Tensor]) -> list[Tensor]:
    """Return `[P z_1, P^2 z_2, ...]` for rows z_k of one width; those that still travel do so side by side."""
    width, travelling, arrived = rows[0].shape[1], torch.cat(list(rows), 1), []
    for _ in rows:
        travelling = matrix @ travelling
        arrived.append(travelling[:, :width])
        travelling = travelling[:, width:]
    return arrived


def map_powers(matrix: SparseMatrix, x: Features, maps: Sequence[Affine]) -> list[Tensor]:
    """Return `[P X W_1, P^2 X W_2, ...]`, `(N, d)` each; what is narrower travels, and sparse features never do."""
    if isinstance(x, SparseMatrix) or x.shape[-1] > maps[0].weight.shape[1]:
        return propagate_each(matrix, [affine(x).squeeze(1) for affine in maps])
    rows, mapped = x.squeeze(1), []
    for affine in maps:
        rows = matrix @ rows
        mapped.append(affine(rows))
    return mapped


class HopSelection(nn.Module):
    """Each hop's rows at unit length, times the softmax over hops of one learnt number a hop."""

    def __init__(self, hops: int, width: int) -> None:
        super().__init__()
        self.attention = nn.Parameter(torch.empty(hops))
        self.bias = nn.Parameter(torch.empty(hops, width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start with equal weights and no bias."""
        nn.init.ones_(self.attention)
        nn.init.zeros_(self.bias)

    def forward(self, rows: Sequence[Tensor]) -> Tensor:
        """Return the hops `(N, d)` side by side: `(N, hops d)`."""
        shares = self.attention.softmax(0)
        parts = zip(shares, rows, self.bias, strict=True)
        return torch.cat([share * F.normalize(row + bias, dim=1) for share, row, bias in parts], 1)


class FSGNNNetwork(nn.Module):
    """A linear map a hop, their selection, and linear layers on all hops."""

    def __init__(self, num_features: int, num_classes: int, settings: FSGNN) -> None:
        super().__init__()
        self.hops, self.dropout, self.input_dropout = settings.hops, settings.dropout, settings.input_dropout
        count, width = 1 + len(_WEIGHTINGS) * settings.hops, settings.hidden
        self.maps = nn.ModuleList(Affine(num_features, width, bias=False) for _ in range(count))
        self.selection = HopSelection(count, width)
        self.classifier = Affine(count * width, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        x = drop_features(engine.features, dropout, self.input_dropout)
        return self.classifier(Activation(F.relu, self.dropout, dropout)(self.select(engine, x)))

    def select(self, engine: FullGraphEngine, x: Features) -> Tensor:
        """Return all hops of the features, mapped and weighted: `(N, (2K + 1) d)`."""
        maps: list[Affine] = list(self.maps)  # type: ignore[arg-type]
        rows = [maps[0](x).squeeze(1)]
        for k, weighting in enumerate(_WEIGHTINGS):
            first = 1 + k * self.hops
            rows += map_powers(engine.topology.propagator(weighting), x, maps[first : first + self.hops])
        return self.selection(rows)


@dataclass(eq=False, repr=False, kw_only=True)
class FSGNN(NeuralBaseline):
    """FSGNN: which hops of the features matter is learnt, apart from what is learnt of them.

    The features X, P^k X and Q^k X for k = 1..K, with P = D^-1/2 A D^-1/2 and Q the same of A + I, each have their own
    linear map, are brought to unit length and weighted: with Z_k = X_k W_k + b_k, logits are
    relu([softmax(a)_0 Z_0 / |Z_0| || softmax(a)_1 Z_1 / |Z_1| || ...]) W + b. There are always two linear layers;
    `layers` has no meaning here.

    Args:
        hops: K.
    """

    name = "fsgnn"
    title = "FSGNN"
    citation = "Maurya et al., 2021: Simplifying Approach to Node Classification in Graph Neural Networks"
    family = "heterophily"
    heterophilic = True
    cost = "O(K N F d + K E min(F, K d)) an epoch, K hops, F features"

    input_dropout: float = 0.0
    weight_decay: float = 1e-5
    hops: int = 3

    def check(self) -> None:
        """Refuse fewer than one hop."""
        super().check()
        check_count("hops", self.hops)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return FSGNNNetwork(num_features, num_classes, self)
