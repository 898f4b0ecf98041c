"""A force layout of one connected graph: neighbours pull, all nodes push each other away.

Fruchterman and Reingold (1991) with one change: the push of all pairs is read from a field. Nodes are laid on a grid,
the field of their masses is one convolution by FFT, and each node reads it where it stands. A step costs
O(E + N + G log G) for G grid cells, so that ten thousand nodes take seconds.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse
from scipy.sparse.linalg import lobpcg
from scipy.spatial import cKDTree

_EXACT = 400
"""Up to so many nodes all pairs are computed: the field would be coarser and no faster."""

_STEPS = 120
_FIRST_STEP = 0.05  # of the drawing's side
_ROUNDS = 800


def spread(adjacency: Any, rng: np.random.Generator) -> np.ndarray:
    """Place the nodes of a connected graph; `adjacency` is sparse `(n, n)`, the places `(n, 2)` lie in [-1, 1]."""
    source, target = scipy.sparse.triu(adjacency, k=1).nonzero()
    places = _spectral_start(adjacency, rng)
    degree = np.asarray(adjacency.sum(axis=1))
    mass, length = (1 + degree) / (1 + degree.mean()), 2 / np.sqrt(len(places))
    push = pairwise_push if len(places) <= _EXACT else Field(len(places))
    for step in np.linspace(2 * _FIRST_STEP, 0, min(_STEPS, 40 + len(places)), endpoint=False):
        force = length**2 * push(places, mass) - _pull(places, source, target) / length
        size = np.linalg.norm(force, axis=1, keepdims=True)
        places = places + force * np.minimum(step / np.maximum(size, 1e-12), 1.0)
    return _apart(fit_square(places))


def fit_square(places: np.ndarray) -> np.ndarray:
    """Centre places and scale them so that the larger side fills [-1, 1]."""
    low, high = places.min(0), places.max(0)
    half = (high - low).max() / 2
    return np.clip((places - (low + high) / 2) / (half if half > 0 else 1.0), -1, 1)


def _spectral_start(adjacency: Any, rng: np.random.Generator) -> np.ndarray:
    """Return the ranks `(n, 2)` of nodes along the graph's two slowest directions, which unfold chains and grids.

    Ranks in place of values, since eigenvectors often pile most nodes onto one spot.
    """
    root = np.sqrt(np.asarray(adjacency.sum(axis=1)))
    normal = scipy.sparse.diags_array(1 / root) @ adjacency @ scipy.sparse.diags_array(1 / root)
    noise = rng.normal(size=(len(root), 2))
    directions = _slowest(normal, root, noise) / root[:, None]
    ranks = directions.argsort(axis=0).argsort(axis=0)
    return 2 * ranks / (len(root) - 1) - 1 + noise / (10 * len(root))


def _slowest(normal: Any, first: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the eigenvectors `(n, 2)` after the first, or, in a large graph, what some rounds from noise make of them.

    The rounds are on a block: methods on single vectors miss one of two equal directions, as a ring has them.
    """
    if len(first) <= _EXACT:
        return np.linalg.eigh(normal.toarray())[1][:, [-2, -3]]
    with warnings.catch_warnings():  # a start need not be converged
        warnings.simplefilter("ignore", UserWarning)
        return lobpcg(normal, noise, Y=first[:, None], tol=1e-6, maxiter=_ROUNDS)[1]


def _pull(places: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return what neighbours pull a node by `(n, 2)`: the square of each edge's length, along it."""
    along = places[source] - places[target]
    along *= np.linalg.norm(along, axis=1, keepdims=True)
    count = len(places)
    parts = [np.bincount(source, along[:, axis], count) - np.bincount(target, along[:, axis], count) for axis in (0, 1)]
    return np.stack(parts, axis=1)


def pairwise_push(places: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return the sum over all other nodes of both masses over the distance, away from them, `(n, 2)`."""
    away = places[:, None] - places[None]
    strength = mass[:, None] * mass / np.maximum((away**2).sum(-1), 1e-9)
    return (away * strength[..., None]).sum(1)


class Field:
    """The same push, from a grid: exact far away, softened between nodes of one cell, and zero on oneself."""

    def __init__(self, count: int) -> None:
        self.side = int(np.clip(2 ** np.ceil(np.log2(2 * np.sqrt(count))), 64, 512))
        offset = np.arange(-self.side, self.side)
        down, right = np.meshgrid(offset, offset, indexing="ij")
        square = np.maximum(down**2 + right**2, 1)
        self._kernels = [scipy.fft.rfft2(np.fft.ifftshift(part / square)) for part in (down, right)]

    def __call__(self, places: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return what `pairwise_push` does, `(n, 2)`, to within the width of a cell."""
        low = places.min(0)
        cell = max(float((places - low).max()) / (self.side - 1.001), 1e-12)
        corners, weights = self._corners((places - low) / cell)
        laid = np.bincount(corners.ravel(), (mass * weights).ravel(), self.side**2).reshape(self.side, self.side)
        spectrum, size = scipy.fft.rfft2(laid, (2 * self.side, 2 * self.side)), self.side
        fields = [scipy.fft.irfft2(spectrum * kernel)[:size, :size].ravel() for kernel in self._kernels]
        return np.stack([mass * (weights * field[corners]).sum(0) for field in fields], axis=1) / cell

    def _corners(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the four cells around each place and its share in each, both `(4, n)`."""
        first = np.floor(places).astype(np.int64)
        row, column = first.T
        down, right = (places - first).T
        corners = row * self.side + column + np.array([[0], [1], [self.side], [self.side + 1]])
        return corners, np.stack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])


def _apart(places: np.ndarray, rounds: int = 15) -> np.ndarray:
    """Push nodes that all but cover each other apart, to about a third of the distance that even spacing would give."""
    count = len(places)
    wanted, near = 0.6 / np.sqrt(count), min(7, count)
    for _ in range(rounds):
        distance, other = cKDTree(places).query(places, k=near)
        away = places[:, None] - places[other]
        lacking = np.clip(wanted - distance, 0, None) / np.maximum(distance, 1e-9)
        places = places + 0.35 * (away * lacking[..., None]).sum(1)
    return fit_square(places)
