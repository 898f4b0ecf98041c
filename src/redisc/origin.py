"""What a model was fitted to: classes, features, and the graph whose labels it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.engine import FeatureScaling, Topology
from redisc.errors import CheckpointError, FeatureError
from redisc.graph import Graph
from redisc.nn import Features


@dataclass(frozen=True)
class Origin:
    """The memory of a fit.

    `known (N,)` holds the labels of the fitted graph that predictions are conditioned on, as places in `classes`;
    `seen (N,)` tells whose labels the fit has seen, for training or selection; `fingerprint` tells that graph from
    others.
    """

    classes: np.ndarray
    known: np.ndarray
    seen: np.ndarray
    num_features: int
    fingerprint: str
    scaling: FeatureScaling
    seed: int

    @classmethod
    def of(
        cls, graph: Graph, scaling: str, classes: np.ndarray, known: np.ndarray, seen: np.ndarray, seed: int
    ) -> Origin:
        """Take down what a fit to `graph` has to remember."""
        fitted = FeatureScaling.fit(scaling, graph.x)
        return cls(classes, known, seen, graph.num_features, graph.fingerprint(), fitted, seed)

    def is_fitted_graph(self, graph: Graph) -> bool:
        """Tell whether the fit was to this graph."""
        return graph.fingerprint() == self.fingerprint

    def prepare(self, graph: Graph, dtype: torch.dtype, device: str) -> tuple[Topology, Features]:
        """Return a graph as engines take it; its features must be those of the fit, in number."""
        if graph.num_features != self.num_features:
            raise FeatureError(
                f"the model was fitted to {self.num_features} features; this graph has {graph.num_features}"
            )
        return Topology(graph, dtype, device), self.scaling.apply(graph.x, dtype, device)

    def known_for(self, graph: Graph) -> np.ndarray:
        """Return the known labels of the fitted graph; of any other graph nothing is known."""
        if self.is_fitted_graph(graph):
            return self.known
        return np.full(graph.num_nodes, MASKED)

    def to_checkpoint(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what JSON can hold, and tensors."""
        tensors = {"known": torch.from_numpy(self.known), "seen": torch.from_numpy(self.seen)}
        if self.scaling.mean is not None and self.scaling.deviation is not None:
            tensors["scaling.mean"] = torch.from_numpy(self.scaling.mean)
            tensors["scaling.deviation"] = torch.from_numpy(self.scaling.deviation)
        config = {
            "classes": self.classes.tolist(),
            "num_features": self.num_features,
            "fingerprint": self.fingerprint,
            "seed": self.seed,
        }
        return config, tensors

    @classmethod
    def from_checkpoint(cls, scaling: str, config: dict[str, Any], tensors: dict[str, Tensor]) -> Origin:
        """Read what `to_checkpoint` wrote."""
        try:
            classes, num_features = np.array(config["classes"], dtype=np.int64), int(config["num_features"])
            fingerprint, seed, known = str(config["fingerprint"]), int(config["seed"]), tensors["known"].numpy()
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise CheckpointError(f"the checkpoint lacks or garbles {fault}") from None
        seen = tensors["seen"].numpy() if "seen" in tensors else known != MASKED
        _check_labels(classes, known)
        if seen.shape != known.shape or seen.dtype != bool:
            raise CheckpointError("the checkpoint does not tell which nodes the fit has seen")
        means = [tensors[f"scaling.{k}"].numpy() if f"scaling.{k}" in tensors else None for k in ("mean", "deviation")]
        if scaling == "standard" and any(m is None or m.shape != (num_features,) for m in means):
            raise CheckpointError("the checkpoint lacks the means and deviations of feature_scaling='standard'")
        return cls(classes, known, seen, num_features, fingerprint, FeatureScaling(scaling, *means), seed)


def _check_labels(classes: np.ndarray, known: np.ndarray) -> None:
    """Raise an error where classes are not rising integers, or known labels are not places in them."""
    if classes.ndim != 1 or not len(classes) or (np.diff(classes) <= 0).any():
        raise CheckpointError("the classes of config.json are not rising integers")
    if known.ndim != 1 or known.dtype != np.int64 or ((known < MASKED) | (known >= len(classes))).any():
        raise CheckpointError("the checkpoint's known labels do not fit its classes")
