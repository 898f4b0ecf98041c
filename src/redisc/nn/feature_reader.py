"""A reader of features: what a node is by its own features alone, blind to its neighbours.

A hub is what its neighbours are not: a graph convolution drowns its features in theirs, and it is certain when it is
wrong. The reader learns on all nodes what the mean-field GNNs answer, as the feature half of CPF does (Yang et al.,
2021), and is heard where a node's own features contradict its neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.kernels.sparse import SparseMatrix
from redisc.nn.affine import Features

_PIECE_ROWS = 1 << 16
_FLAT = 1e-6
"""Deviation of a column, or length of a row, below which there is nothing but rounding in it."""


class FeatureReader(nn.Module):
    """Softmax regression on z_i = (a_i x_i - m) / s, made a unit vector.

    Features without negative entries, such as words, are profiles: a_i makes rows sum to 1, m is the mean profile and
    s its square root, as in correspondence analysis. A node that has nearly every word is then told by those that it
    lacks. Others are standardised: a_i = 1, m and s are the columns' means and deviations.

    Buffers: `centre (F,)` is m, `stretch (F,)` 1 / s (0 for columns that tell nothing), `profiles ()` says which kind.
    """

    centre: Tensor
    stretch: Tensor
    profiles: Tensor

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_features, num_classes))
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.register_buffer("centre", torch.zeros(num_features))
        self.register_buffer("stretch", torch.zeros(num_features))
        self.register_buffer("profiles", torch.zeros((), dtype=torch.bool))

    @torch.no_grad()
    def measure(self, x: Features) -> None:
        """Take down what the columns of the fitted graph's features are like."""
        pieces = _pieces(x)
        total = torch.stack([_sums(piece) for piece in pieces]).sum(0)
        self.profiles.fill_(all(bool((_entries(piece) >= 0).all()) for piece in pieces))
        if self.profiles:
            self.centre.copy_(total / total.sum().clamp_min(_FLAT))
            self.stretch.copy_(_inverse(self.centre.sqrt()))
            return
        rows = sum(piece.shape[0] for piece in pieces)
        mean = total / rows
        square = torch.stack([_squared_distances(piece, mean) for piece in pieces]).sum(0)
        self.centre.copy_(mean)
        self.stretch.copy_(_inverse((square / rows).sqrt()))

    def forward(self, x: Features) -> Tensor:
        """Return logits `(N, C)`."""
        return self.read(x, *self.focus(x))

    @torch.no_grad()
    def focus(self, x: Features) -> tuple[Tensor, Tensor]:
        """Return g and h `(N, 1)` with z_i = (g_i x_i - h_i m) / s."""
        g, h = zip(*(self._focus(piece) for piece in _pieces(x)), strict=True)
        return torch.cat(g), torch.cat(h)

    def _focus(self, x: Features) -> tuple[Tensor, Tensor]:
        a, empty = _row_scale(x, bool(self.profiles))
        weight = self.stretch.square()
        squares = _times(_squared(x), weight[:, None])
        mixed = _times(x, (self.centre * weight)[:, None])
        length = (a.square() * squares - 2 * a * mixed + (self.centre.square() * weight).sum()).clamp_min(0).sqrt()
        inverse = _inverse(length).masked_fill(empty, 0)
        return a * inverse, inverse

    def read(self, x: Features, g: Tensor, h: Tensor) -> Tensor:
        """Return logits `(N, C)` of rows that `focus` has looked at."""
        weight = self.stretch[:, None] * self.weight
        return g * _times(x, weight) - h * (self.centre @ weight) + self.bias


def _pieces(x: Features) -> list[Features]:
    """Return dense features as pieces of rows, so that their squares need little memory; sparse ones whole."""
    return [x] if isinstance(x, SparseMatrix) else list(x.split(_PIECE_ROWS))


def _times(x: Features, weight: Tensor) -> Tensor:
    """Product of features with `weight (F, width)`: `(N, width)`."""
    return x @ weight if isinstance(x, SparseMatrix) else x.squeeze(1) @ weight


def _entries(x: Features) -> Tensor:
    return x.values if isinstance(x, SparseMatrix) else x


def _squared(x: Features) -> Features:
    return x.with_values(x.values.square()) if isinstance(x, SparseMatrix) else x.square()


def _sums(x: Features) -> Tensor:
    """Sum the columns: `(F,)`."""
    if isinstance(x, SparseMatrix):
        return x.transpose_times(x.values.new_ones(x.shape[0], 1)).squeeze(1)
    return x.sum((0, 1))


def _squared_distances(x: Features, mean: Tensor) -> Tensor:
    """Sum each column's squared distances from its mean: `(F,)`."""
    if isinstance(x, SparseMatrix):
        return (_sums(_squared(x)) - x.shape[0] * mean.square()).clamp_min(0)
    return (x - mean).square().sum((0, 1))


def _row_scale(x: Features, profiles: bool) -> tuple[Tensor, Tensor]:
    """Return a `(N, 1)`, and which rows are empty: a profile can't be made of nothing."""
    ones = _entries(x).new_ones
    if not profiles:
        return ones(x.shape[0], 1), ones(x.shape[0], 1) == 0
    total = _times(x, ones(x.shape[-1], 1))
    return _inverse(total), total <= _FLAT


def _inverse(x: Tensor) -> Tensor:
    """Return 1 / x, and 0 where there is nothing but rounding."""
    return torch.where(x > _FLAT, x.clamp_min(_FLAT).reciprocal(), 0)
