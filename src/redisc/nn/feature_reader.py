"""A reader of features: what a node is by its own features alone, blind to its neighbours.

A hub is what its neighbours are not: a graph convolution drowns its features in theirs, and it is certain when it is
wrong. The reader learns on all nodes what the mean-field GNNs answer, as the feature half of CPF does (Yang et al.,
2021), and is heard where a node's own features contradict its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from redisc.kernels.sparse import SparseMatrix
from redisc.nn.affine import Features

_PIECE_ROWS = 1 << 16
_ROUNDING = 8
"""How many times the dtype's precision may be rounding alone."""


@dataclass(frozen=True)
class Sight:
    """Rows z as the reader sees them: z_i = g_i x_i / s - h_i m / s, of which sparse features keep the parts.

    Dense features hold z itself `(N, F)`. `silent (N,)` tells rows in which there is nothing to see: there z_i = 0.
    """

    x: Tensor | SparseMatrix
    g: Tensor | None  # (N, 1), as h; of sparse features alone
    h: Tensor | None
    silent: Tensor


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
        """Take down what the columns of the fitted graph's features are like; sums are float64."""
        total = torch.stack([_sums(piece) for piece in _pieces(x)]).sum(0)
        self.profiles.fill_(all(bool((_entries(piece) >= 0).all()) for piece in _pieces(x)))
        if self.profiles:
            centre = total / total.sum() if total.any() else total
            deviation, least = centre.sqrt(), torch.zeros_like(centre)
        else:
            centre = total / x.shape[0]
            squares = torch.stack([_squared_distances(piece, centre) for piece in _pieces(x)]).sum(0)
            deviation = (squares / x.shape[0]).sqrt()
            least = self._precision(x) * centre.abs()
        self.centre.copy_(centre)
        self.stretch.copy_(_inverse(deviation, least))

    def forward(self, x: Features) -> tuple[Tensor, Tensor]:
        """Return logits `(N, C)`, and the nodes `(N,)` of whose features nothing can be said."""
        sights = [self.see(piece) for piece in _pieces(x)]
        return torch.cat([self.read(sight) for sight in sights]), torch.cat([sight.silent for sight in sights])

    @torch.no_grad()
    def see(self, x: Features) -> Sight:
        """Look at features once, for all that is read in them."""
        return self._see_sparse(x) if isinstance(x, SparseMatrix) else self._see_dense(x.squeeze(1))

    def read(self, sight: Sight) -> Tensor:
        """Return logits `(N, C)`."""
        if sight.g is None or sight.h is None:
            return sight.x @ self.weight + self.bias
        weight = self.stretch[:, None] * self.weight
        return sight.g * (sight.x @ weight) - sight.h * (self.centre @ weight) + self.bias

    def _see_dense(self, x: Tensor) -> Sight:
        scale, empty = self._row_scale(x)
        z = torch.addcmul(-self.centre, x, scale).mul_(self.stretch)
        length = z.norm(dim=1, keepdim=True)
        inverse = _inverse(length, self._precision(x).to(length)).masked_fill_(empty, 0)
        return Sight(z.mul_(inverse), None, None, inverse.squeeze(1) == 0)

    def _see_sparse(self, x: SparseMatrix) -> Sight:
        scale, empty = self._row_scale(x)
        weight = self.stretch.square()
        squares = x.with_values(x.values.square()) @ weight[:, None]
        mixed = x @ (self.centre * weight)[:, None]
        square = scale.square() * squares - 2 * scale * mixed + (self.centre.square() * weight).sum()
        inverse = _inverse(square.clamp_min(0).sqrt(), self._precision(x).to(square)).masked_fill_(empty, 0)
        return Sight(x, scale * inverse, inverse, inverse.squeeze(1) == 0)

    def _row_scale(self, x: Tensor | SparseMatrix) -> tuple[Tensor, Tensor]:
        """Return a `(N, 1)`, and which rows are empty: a profile can't be made of words that were never seen."""
        if not self.profiles:
            ones = _entries(x).new_ones(x.shape[0], 1)
            return ones, ones == 0
        total = x @ (self.stretch > 0).to(self.weight.dtype)[:, None]
        return _inverse(total, torch.zeros_like(total)), total <= 0

    def _precision(self, x: Features) -> Tensor:
        """Return how large rounding may be beside 1; in a root of what cancels in squares it is the root of that."""
        eps = torch.tensor(_ROUNDING * torch.finfo(self.weight.dtype).eps, dtype=torch.float64)
        return (eps.sqrt() if isinstance(x, SparseMatrix) else eps).to(self.weight.device)


def _pieces(x: Features) -> Iterator[Features]:
    """Yield dense features as pieces of rows, so that copies of them need little memory; sparse ones whole."""
    yield from [x] if isinstance(x, SparseMatrix) else x.split(_PIECE_ROWS)


def _entries(x: Features) -> Tensor:
    return x.values if isinstance(x, SparseMatrix) else x


def _sums(x: Features) -> Tensor:
    """Sum the columns, in float64: `(F,)`."""
    if isinstance(x, SparseMatrix):
        return x.transpose_times(x.values.new_ones(x.shape[0], 1)).squeeze(1).double()
    return x.sum((0, 1), dtype=torch.float64)


def _squared_distances(x: Features, mean: Tensor) -> Tensor:
    """Sum each column's squared distances from its mean: `(F,)`."""
    if isinstance(x, SparseMatrix):
        return (_sums(x.with_values(x.values.square())) - x.shape[0] * mean.square()).clamp_min(0)
    return (x - mean).square().sum((0, 1))


def _inverse(x: Tensor, least: Tensor) -> Tensor:
    """Return 1 / x, and 0 where x is no larger than `least`."""
    return torch.where(x > least, x.reciprocal(), 0)
