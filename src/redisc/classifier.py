"""What every method has in common: the interface that users and experiments see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from sklearn.base import BaseEstimator

from redisc import metrics
from redisc.clock import Told
from redisc.diffusion.masking import MASKED
from redisc.engine import Engine
from redisc.errors import CheckpointError, ConfigError, MaskError, NotFittedError
from redisc.graph import Graph, as_mask
from redisc.origin import Origin
from redisc.problem import Problem, Validation
from redisc.seeds import numpy_generator
from redisc.settings import check_kind
from redisc.task import Task, as_graph, check_length, encode_labels
from redisc.uncertainty import PredictionSets, conformal_sets, split_for_calibration

Family = Literal["propagation", "gnn", "heterophily", "diffusion", "structured"]


class NodeClassifier(BaseEstimator, ABC):
    """Completes the labels of a partially labelled graph.

    Attributes:
        classes_: Class values; the columns of `predict_proba`.
        known_: Labels `(N,)` that predictions are conditioned on, -1 elsewhere.
        history_: Figures of the fit.
        graph_, train_mask_, val_mask_: The graph that was fitted and the masks that were used (absent after `load`).
    """

    name: ClassVar[str]
    title: ClassVar[str]  # the name in print
    citation: ClassVar[str]
    family: ClassVar[Family]
    heterophilic: ClassVar[bool] = False  # whether it claims graphs whose neighbours differ
    cost: ClassVar[str]  # of training, in N nodes, E edges, d hidden units, C classes

    metric: str
    dtype: str
    device: str
    classes_: np.ndarray
    history_: dict[str, Any]
    train_mask_: np.ndarray
    val_mask_: np.ndarray
    _copy: tuple[NodeClassifier, np.ndarray] | None  # see `sets`
    _asked: tuple[Graph, Engine] | None  # the last graph that was not the fitted one
    _settings: dict[str, Any]  # of the fit, whatever has been set since

    @abstractmethod
    def fit(
        self,
        graph: Any,
        train_mask: Any = None,
        val_mask: Any = None,
        *,
        split: int = 0,
        max_time: float | None = None,
    ) -> NodeClassifier:
        """Fit to a Graph or PyG `Data`, with masks or arrays of node numbers."""

    @abstractmethod
    def predict(self, graph: Any = None, labels: Any = None) -> np.ndarray:
        """Return class values `(N,)`; known labels stand."""

    @abstractmethod
    def predict_proba(self, n_samples: int = 32, labels: Any = None, *, graph: Any = None) -> np.ndarray:
        """Return probabilities `(N, C)`; `n_samples` matters to methods that sample."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write `config.json` and `model.safetensors` into the folder `path`, whole or not at all."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path) -> NodeClassifier:
        """Read a saved model; it holds no graph, so `predict` takes one."""

    @abstractmethod
    def num_parameters(self) -> int:
        """Count what was learned."""

    @abstractmethod
    def _engine_for(self, graph: Graph, told: Told | None = None) -> Engine:
        """Prepare another graph than the fitted one for questions; `told` hears how far that is."""

    @property
    @abstractmethod
    def _origin(self) -> Origin:
        """What the model was fitted to; an error where it is not fitted."""

    def verdict(self) -> str:
        """Say in one line how the fit ended."""
        if self.history_.get("nothing_held_out"):
            return f"no training node was held out for validation, so how good {self.title} is was not measured"
        return f"validation {self.metric.replace('_', ' ')}: {self.title} {self.history_['best_validation']:.4f}"

    def score(self, graph: Any = None, labels: Any = None, *, mask: Any = None) -> float:
        """Return node accuracy on `mask`, whose labels are hidden from the model; by default on all nodes not known."""
        target, _, known = self._resolve(graph, labels)
        chosen = (target.y != MASKED) & (known == MASKED) if mask is None else as_mask(mask, target.num_nodes)
        hidden = np.where(chosen | (known == MASKED), MASKED, self.classes_[known])
        return metrics.node_accuracy(target.y, self.predict(graph, hidden), chosen)

    def sets(
        self,
        alpha: float = 0.1,
        calibration_mask: Any = None,
        *,
        n_samples: int = 32,
        labels: Any = None,
        graph: Any = None,
    ) -> PredictionSets:
        """Return conformal prediction sets: a set holds the true label with probability 1 - `alpha` or more.

        They are calibrated on the labelled nodes of `calibration_mask`, which the fit must not have seen and whose
        labels this call hides from the model. The promise is for nodes that were drawn like them: at random from the
        same graph, not, say, as many of each class.

        Without a mask half of the validation nodes are set aside and a copy of the model is fitted to the same graph
        without them, once, which takes as long as the fit did; the sets are then those of the copy.
        """
        if calibration_mask is None:
            if graph is not None and not self._origin.is_fitted_graph(as_graph(graph)):
                raise MaskError("sets of another graph need calibration nodes there: pass calibration_mask=")
            copy, aside = self._calibrated()
            known = np.where(aside, MASKED, self.known_) if labels is None else labels
            return copy.sets(alpha, aside, n_samples=n_samples, labels=known)
        target, _, known = self._resolve(graph, labels)
        chosen = as_mask(calibration_mask, target.num_nodes, "calibration mask")
        self._check_unseen(target, chosen)
        hidden = np.where(chosen | (known == MASKED), MASKED, self.classes_[known])
        probabilities = self.predict_proba(n_samples, hidden, graph=graph)
        nodes = np.flatnonzero(chosen)
        return conformal_sets(probabilities, self.classes_, nodes, target.y[nodes], alpha)

    def _calibrated(self) -> tuple[NodeClassifier, np.ndarray]:
        """Return a copy that was fitted without half of the validation nodes, and those nodes."""
        fitted: Graph | None = getattr(self, "graph_", None)
        if fitted is None:
            raise NotFittedError("sets need nodes that the fit has not seen: pass them as calibration_mask=")
        kept: tuple[NodeClassifier, np.ndarray] | None = getattr(self, "_copy", None)
        if kept is None:
            if (self.train_mask_ & self.val_mask_).any():
                raise MaskError("the fit had no validation nodes of its own to set aside: pass calibration_mask=")
            rest, aside = split_for_calibration(self.val_mask_, numpy_generator(self._origin.seed, "calibration"))
            copy = type(self)(**self._settings)
            kept = copy.fit(fitted, self.train_mask_, rest, max_time=getattr(self, "_max_time", None)), aside
            self._copy = kept
        return kept

    def _check_unseen(self, target: Graph, chosen: np.ndarray) -> None:
        """Refuse calibration nodes without a label, and those that the fit has seen."""
        if not chosen.any() or (target.y[chosen] == MASKED).any():
            raise MaskError("the calibration mask must hold nodes, and each of them must have a label")
        both = chosen & self._origin.seen if self._origin.is_fitted_graph(target) else np.zeros_like(chosen)
        if both.any():
            count, node = int(both.sum()), int(both.argmax())
            raise MaskError(
                f"the fit has seen {count} of the calibration nodes (node {node} is one): "
                "choose nodes outside its training and validation masks"
            )

    @property
    def known_(self) -> np.ndarray:
        """Labels `(N,)` of the fitted graph that predictions are conditioned on, -1 elsewhere."""
        known = self._origin.known
        return np.where(known == MASKED, MASKED, self.classes_[known])

    def _resolve(self, graph: Any, labels: Any = None, told: Told | None = None) -> tuple[Graph, Any, np.ndarray]:
        """Return the graph that is meant, its engine, and the labels that are known on it (places in `classes_`)."""
        origin = self._origin
        fitted: Graph | None = getattr(self, "graph_", None)
        if graph is None and fitted is None:
            raise NotFittedError("a loaded model holds no graph: pass one, as in predict(graph)")
        target = fitted if graph is None else as_graph(graph)
        assert target is not None
        engine = self._engine if target is fitted else self._other_engine(target, told)
        if labels is None:
            return target, engine, origin.known_for(target)
        known = encode_labels(labels, self.classes_)
        check_length(known, target)
        return target, engine, known

    def _other_engine(self, graph: Graph, told: Told | None) -> Engine:
        """Prepare another graph than the fitted one, once for questions in a row."""
        asked: tuple[Graph, Engine] | None = getattr(self, "_asked", None)
        if asked is None or asked[0] is not graph:
            asked = graph, self._engine_for(graph, told)
            self._asked = asked
        return asked[1]

    def _remember(self, task: Task, engine: Engine, history: dict[str, Any]) -> None:
        """Keep what questions need after a fit."""
        self._copy = self._asked = None  # an older fit's
        self._engine, self._settings, self.graph_ = engine, self.get_params(deep=False), task.graph
        self.train_mask_, self.val_mask_ = task.train, task.val
        self.classes_, self.history_ = task.classes, {**history, "nothing_held_out": task.nothing_held_out}

    def _problem(self, task: Task, class_weight: str | Mapping[Any, float] | None = None) -> Problem:
        """Hand training labels to the trainer as known and validation labels as a score."""
        nodes = np.flatnonzero(task.val)
        validation = Validation(nodes, task.labels[nodes], self.metric)
        if self.metric == "roc_auc" and len(np.unique(validation.labels)) < 2:
            raise ConfigError("metric='roc_auc' needs validation nodes of at least two classes: choose another metric")
        known = torch.from_numpy(np.where(task.train, task.labels, MASKED)).to(self.device)
        weights = _class_weights(task, class_weight)
        given = None if weights is None else torch.from_numpy(weights).to(self.device, getattr(torch, self.dtype))
        return Problem(known, len(task.classes), validation, given)

    def _check_place(self) -> None:
        """Check metric, dtype and device."""
        if self.dtype not in ("float32", "float64"):
            raise ConfigError(f"dtype={self.dtype!r}: choose float32 or float64")
        Validation(np.empty(0), np.empty(0), self.metric)
        try:
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError) as fault:
            raise ConfigError(f"device={self.device!r} can't be used: {str(fault).splitlines()[0]}") from None


def _class_weights(task: Task, class_weight: str | Mapping[Any, float] | None) -> np.ndarray | None:
    """Return one weight a class; "balanced" is inverse frequency among training nodes, with mean 1 over them."""
    if class_weight is None:
        return None
    counts = np.bincount(task.labels[task.train], minlength=len(task.classes))
    if isinstance(class_weight, str):
        present = np.count_nonzero(counts)
        return np.where(counts > 0, counts.sum() / (present * np.maximum(counts, 1)), 1.0)
    strangers = set(class_weight) - set(task.classes.tolist())
    if strangers:
        raise ConfigError(f"class_weight names classes that no label has: {sorted(strangers, key=str)}")
    for name, weight in class_weight.items():
        check_kind(f"class_weight[{name!r}]", weight, float)
        if weight < 0:
            raise ConfigError(f"class_weight[{name!r}]={weight}: it must be 0 or more")
    return np.array([float(class_weight.get(c, 1.0)) for c in task.classes.tolist()])


def saved_settings(config: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the settings of a checkpoint's config; strangers are refused."""
    settings = config.get("settings")
    if not isinstance(settings, dict):
        raise CheckpointError("config.json holds no settings")
    strangers = set(settings) - set(names)
    if strangers:
        raise CheckpointError(f"config.json has settings that this library does not know: {sorted(strangers)}")
    return settings
