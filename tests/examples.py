"""Small graphs, hand-made denoisers and fast settings that the tests share."""

import numpy as np
import torch

from redisc import Graph

FAST = {
    "hidden": 16,
    "heads": 2,
    "iterations": 60,
    "warm_iterations": 20,
    "e_step_every": 20,
    "evaluate_every": 20,
    "mean_field_epochs": 40,
    "queue_size": 10,
    "masks": 4,
    "steps": 10,
}
"""Settings for a fit of about a second."""


def random_graph(
    seed: int, nodes: int = 12, features: int = 5, classes: int = 3, edges: int = 20, weighted: bool = False
) -> Graph:
    """A random graph, as a rule with isolated nodes; every class has a label."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(nodes, size=(2, edges))
    pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
    weight = rng.uniform(0.5, 2, pairs.shape[1]) if weighted else None
    y = np.concatenate([np.arange(classes), rng.integers(classes, size=nodes - classes)])
    return Graph(x=rng.normal(size=(nodes, features)), edge_index=pairs, y=y, edge_weight=weight)


class HandMadeDenoiser:
    """Logits of a node: its own bias, plus an affinity to each neighbour's current label, plus a drift in time."""

    def __init__(self, adjacency: np.ndarray, classes: int, coupling: float, seed: int = 0, steps: int = 4) -> None:
        rng = np.random.default_rng(seed)
        self.adjacency, self.steps = adjacency, steps
        self.bias = rng.normal(size=(len(adjacency), classes)) * 0.5
        self.affinity = np.vstack(
            [coupling * np.eye(classes) + 0.3 * rng.normal(size=(classes, classes)), np.zeros(classes)]
        )
        self.drift = rng.normal(size=classes) * 0.3
        self.calls = 0

    def logits(self, labels: np.ndarray, t: int) -> np.ndarray:
        """`labels (chains, N)` -> `(chains, N, C)`."""
        return self.bias + self.adjacency @ self.affinity[labels] + self.drift * t / self.steps

    def probabilities(self, state: tuple[int, ...], t: int) -> np.ndarray:
        """What the enumeration asks for."""
        heat = np.exp(self.logits(np.array([state]), t)[0])
        return heat / heat.sum(1, keepdims=True)

    def __call__(self, labels: torch.Tensor, t: int, chain: torch.Tensor, node: torch.Tensor) -> torch.Tensor:
        """What the sampler asks for."""
        self.calls += 1
        return torch.from_numpy(self.logits(labels.numpy(), t))[chain, node]


def path(nodes: int) -> np.ndarray:
    """Adjacency matrix of a path."""
    a = np.zeros((nodes, nodes))
    a[np.arange(nodes - 1), np.arange(1, nodes)] = 1
    return a + a.T
