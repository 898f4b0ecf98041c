"""Random graphs with planted classes: edges, degrees and features, vectorised over nodes and edges.

Nodes are laid out in *positions* sorted by class and community, so that "a partner inside the
class" is a draw from one interval of the cumulated weights and "outside" a draw from the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redisc.errors import DatasetError

# Each round places most of the missing edges; a graph that needs more rounds than this is nearly complete.
_MAX_ROUNDS = 100


@dataclass(frozen=True)
class Layout:
    """Positions sorted by class, then community, and how strongly each attracts edges."""

    label: NDArray[np.int64]
    """Class of each position, ascending (N,)."""
    community: NDArray[np.int64]
    """Community of each position, ascending; a community lies inside one class (N,)."""
    cumulative: NDArray[np.float64]
    """Weights of the positions before each one, and the total at the end (N + 1,)."""


def lay_out(nodes: int, classes: int, communities: int, weights: NDArray[np.float64]) -> Layout:
    """Cut positions into equal communities and give the classes equal numbers of communities.

    Sizes differ by one at most in either step; `weights` (N,) are the expected degrees up to scale.
    """
    community = np.arange(nodes) * communities // nodes
    label = community * classes // communities
    return Layout(label, community, np.concatenate([[0.0], np.cumsum(weights)]))


def sample_edges(
    layout: Layout, num_edges: int, homophily: float, locality: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw distinct edges (2, E) between positions; the share `homophily` of them is inside classes.

    An edge inside a class stays in its community with probability `locality`, before duplicates are rejected.
    """
    inside, draws = round(num_edges * homophily), EdgeDraws.of(layout, locality)
    keys = [
        _distinct(lambda count: draws.inside(count, rng), inside),
        _distinct(lambda count: draws.outside(count, rng), num_edges - inside),
    ]
    return np.stack(np.divmod(np.concatenate(keys), layout.label.size))


@dataclass(frozen=True)
class EdgeDraws:
    """Independent draws of edges, as keys low * N + high; `near` and `home` tell where blocks begin and end."""

    layout: Layout
    locality: float
    near: tuple[NDArray[np.float64], NDArray[np.float64]]
    home: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, layout: Layout, locality: float) -> EdgeDraws:
        """Prepare draws on a layout."""
        return cls(layout, locality, _intervals(layout, layout.community), _intervals(layout, layout.label))

    def inside(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw up to `count` edges inside classes, duplicates included."""
        first = _locate(self.layout, rng.random(count) * self.layout.cumulative[-1])
        local = rng.random(count) < self.locality
        low, high = (np.where(local, a[first], b[first]) for a, b in zip(self.near, self.home, strict=True))
        return _keys(self.layout, first, low + rng.random(count) * (high - low), same_class=True)

    def outside(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw up to `count` edges between classes, duplicates included."""
        first = _locate(self.layout, rng.random(count) * self.layout.cumulative[-1])
        low, width = self.home[0][first], self.home[1][first] - self.home[0][first]
        point = rng.random(count) * (self.layout.cumulative[-1] - width)
        return _keys(self.layout, first, point + np.where(point >= low, width, 0.0), same_class=False)


def power_law_weights(nodes: int, exponent: float, mean_degree: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw degree weights with density w^-exponent, cut at an expected degree of sqrt(N * mean degree).

    Beyond that cut two hubs would expect more than one edge between them, which a simple graph cannot have.
    """
    weights = (1.0 - rng.random(nodes)) ** (-1.0 / (exponent - 1.0))
    return np.minimum(weights, weights.mean() * max(1.0, np.sqrt(nodes / mean_degree)))


def class_features(
    y: NDArray[np.int64], classes: int, features: int, noise: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw features (N, F): the class mean plus Gaussian noise with standard deviation `noise`.

    Class means lie at distance 1 from each other (on average, where there are fewer features than classes).
    """
    means = class_means(classes, features, rng)
    return noisy_rows(means, y, noise, rng)


def class_means(classes: int, features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the class means (C, F)."""
    if features >= classes:
        return np.asarray(np.linalg.qr(rng.standard_normal((features, classes)))[0].T / np.sqrt(2.0))
    means = rng.standard_normal((classes, features))
    means /= np.sqrt(2.0 * means.var(axis=0, ddof=1).sum())
    return means


def noisy_rows(
    means: NDArray[np.float64], y: NDArray[np.int64], noise: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw the features (n, F) of nodes with labels `y` (n,)."""
    x = rng.standard_normal((y.size, means.shape[1]), dtype=np.float32)
    x *= np.float32(noise)
    x += means.astype(np.float32)[y]
    return x


def _intervals(layout: Layout, blocks: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each position where its block begins and ends on the axis of cumulated weights."""
    sizes = np.bincount(blocks)
    ends = np.cumsum(sizes)
    return layout.cumulative[ends - sizes][blocks], layout.cumulative[ends][blocks]


def _locate(layout: Layout, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the position under each point of the axis of cumulated weights."""
    found = np.searchsorted(layout.cumulative, points, side="right") - 1
    return np.clip(found, 0, layout.label.size - 1)


def _keys(
    layout: Layout, first: NDArray[np.int64], points: NDArray[np.float64], *, same_class: bool
) -> NDArray[np.int64]:
    """Number the undirected edges; self-loops and partners that rounding put into a wrong class drop out."""
    second = _locate(layout, points)
    valid = (first != second) & ((layout.label[first] == layout.label[second]) == same_class)
    low, high = np.minimum(first, second)[valid], np.maximum(first, second)[valid]
    return low * layout.label.size + high


def _sorted_distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort and drop duplicates: 0.2 s for 4 million keys, where `np.unique` of numpy 2.4 takes 5 s."""
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=-1) != 0]


def _distinct(draw: Callable[[int], NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """Draw until there are `count` different keys; redrawing only what is missing keeps the draw fair."""
    keys = np.empty(0, dtype=np.int64)
    for _ in range(_MAX_ROUNDS):
        if keys.size == count:
            return keys
        keys = _sorted_distinct(np.concatenate([keys, draw(count - keys.size)]))
    raise too_many_edges(count)


def too_many_edges(count: int) -> DatasetError:
    """The error for a graph that has no room for its edges."""
    return DatasetError(
        f"{count} different edges of one kind do not fit: give more nodes, a lower mean_degree, "
        "or a homophily further from 0 and 1."
    )
