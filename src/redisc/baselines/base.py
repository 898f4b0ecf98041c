"""What all baselines share: settings as dataclass fields, one fit, one way to answer, one file format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.classifier import NodeClassifier, saved_settings
from redisc.clock import Clock, Told
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine, choose_engine, memory_kept, threads_for
from redisc.errors import CheckpointError, ConfigError, NotFittedError
from redisc.graph import Graph
from redisc.io.checkpoint import load_checkpoint, load_weights, save_checkpoint
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture
from redisc.nn.affine import reset_all
from redisc.origin import Origin
from redisc.problem import Problem
from redisc.progress import ProgressBar
from redisc.seeds import SeedLike, numpy_generator, resolve_seed, torch_generator
from redisc.settings import check_kind
from redisc.task import make_task
from redisc.training import Pace, Trained, train


@dataclass(frozen=True)
class Lesson:
    """What a method may learn from: a graph with features, known labels, a validation score, and randomness."""

    engine: FullGraphEngine
    problem: Problem
    dropout: Dropout
    clock: Clock
    seed: int

    @property
    def labelled(self) -> Tensor:
        """Which nodes have a training label, `(N,)`."""
        return self.problem.known != MASKED

    def generator(self, purpose: str) -> np.random.Generator:
        """Return a generator for one purpose."""
        return numpy_generator(self.seed, purpose)

    def validate(self, probabilities: Tensor) -> float:
        """Score probabilities `(N, C)` on the validation nodes."""
        return self.problem.validation.score(probabilities.argmax(1), probabilities)


@dataclass(eq=False, repr=False, kw_only=True)
class Baseline(NodeClassifier):
    """A method with settings as fields. A subclass says what its network is, how it learns and how it answers.

    Args:
        feature_scaling: "none", "row", "binary" or "standard".
        metric: "accuracy", "balanced_accuracy" or "roc_auc", for choosing the best weights.
        dtype: "float32" or "float64".
        device: A torch device.
        random_state: An integer makes the fit reproducible to the bit.
        verbose: Show a progress bar.
    """

    feature_scaling: str = "none"
    metric: str = "accuracy"
    dtype: str = "float32"
    device: str = "cpu"
    random_state: SeedLike = None
    verbose: bool = False

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network without weights worth having; methods without parameters have an empty one."""
        return nn.Module()

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Train the network."""
        raise NotImplementedError

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Return probabilities `(N, C)` on any graph, given labels `known (N,)` with MASKED elsewhere."""
        raise NotImplementedError

    def decide(self, network: nn.Module, engine: FullGraphEngine, known: Tensor) -> Tensor:
        """Return labels `(N,)`, as places in `classes_`."""
        return self.infer(network, engine, known, 1).argmax(1)

    def check(self) -> None:
        """Raise `ConfigError` where a setting makes no sense; extend it for settings of one's own."""

    def fit(
        self,
        graph: Any,
        train_mask: Any = None,
        val_mask: Any = None,
        *,
        split: int = 0,
        max_time: float | None = None,
    ) -> Baseline:
        """Fit to a Graph or PyG `Data`, with masks or arrays of node numbers; see `ReDiSC.fit`."""
        seed = resolve_seed(self.random_state)
        self._check_settings()
        task = make_task(graph, train_mask, val_mask, split, seed)
        origin = Origin.of(
            task.graph, self.feature_scaling, task.classes, task.known("train"), task.train | task.val, seed
        )
        network = self.network(origin.num_features, len(origin.classes))
        reset_all(network, torch_generator(seed, "weights"))
        network.to(self.device, getattr(torch, self.dtype))
        engine = self._prepare(origin, task.graph)
        with ProgressBar(self.verbose, self.metric) as bar, threads_for(task.graph.num_nodes), memory_kept():
            clock = Clock(max_time, bar.update if self.verbose else None)
            dropout = Dropout(numpy_generator(seed, "dropout"))
            trained = self.learn(network, Lesson(engine, self._problem(task), dropout, clock, seed))
        self._fit_origin, self._network = origin, network
        history = {"best_validation": trained.validation, "epochs": trained.epochs, "seconds": clock.elapsed}
        self._remember(task, engine, history)
        bar.conclude(self.verdict())
        return self

    def predict(self, graph: Any = None, labels: Any = None) -> np.ndarray:
        """Return class values `(N,)`, known labels kept; `labels (N,)` replaces the known ones for this call."""
        target, engine, known = self._resolve(graph, labels)
        given = torch.from_numpy(known).to(self.device)
        with torch.no_grad(), threads_for(target.num_nodes):
            places = self.decide(self._network, engine, given)
        return self.classes_[torch.where(given == MASKED, places, given).cpu().numpy()]

    def predict_proba(self, n_samples: int = 32, labels: Any = None, *, graph: Any = None) -> np.ndarray:
        """Return probabilities `(N, C)`, 1 for a known label; `n_samples` matters to methods that sample."""
        if n_samples < 1:
            raise ConfigError(f"n_samples={n_samples}: ask for at least one")
        target, engine, known = self._resolve(graph, labels)
        given = torch.from_numpy(known).to(self.device)
        with torch.no_grad(), threads_for(target.num_nodes):
            probabilities = self.infer(self._network, engine, given, n_samples)
        certain = F.one_hot(given.clamp_min(0), len(self.classes_)).to(probabilities.dtype)
        return torch.where((given == MASKED)[:, None], probabilities, certain).cpu().numpy()

    def num_parameters(self) -> int:
        """Count the network's parameters."""
        self._origin  # noqa: B018 (an error where nothing is fitted)
        return sum(p.numel() for p in self._network.parameters())

    def save(self, path: str | Path) -> None:
        """Write `config.json` and `model.safetensors` into the folder `path`, whole or not at all."""
        config, tensors = self._origin.to_checkpoint()
        settings = dict(self._settings)
        settings["random_state"] = settings["random_state"] if isinstance(settings["random_state"], int) else None
        weights = {f"network.{key}": value for key, value in self._network.state_dict().items()}
        described = {"method": self.name, **config, "settings": settings, "history": self.history_}
        save_checkpoint(path, described, {**tensors, **weights})

    @classmethod
    def load(cls, path: str | Path, **overrides: Any) -> Baseline:
        """Read a saved model; it holds no graph, so `predict` takes one. `overrides` are settings to change."""
        config, tensors = load_checkpoint(path)
        if config.get("method") != cls.name:
            raise CheckpointError(f"{path} holds a model of method {config.get('method')!r}, not {cls.name!r}")
        clf = cls(**{**saved_settings(config, cls._get_param_names()), **overrides})
        try:
            clf._check_settings()
            clf._fit_origin = Origin.from_checkpoint(clf.feature_scaling, config, tensors)
            clf._network = clf.network(clf._fit_origin.num_features, len(clf._fit_origin.classes))
        except (ConfigError, TypeError, ValueError, ArithmeticError, RuntimeError) as fault:
            raise CheckpointError(f"no model can be built from the settings in config.json: {fault}") from None
        load_weights(clf._network, tensors, "network")
        clf._network.to(clf.device, getattr(torch, clf.dtype))
        clf._settings = clf.get_params(deep=False)
        clf.classes_, clf.history_ = clf._fit_origin.classes, config.get("history", {})
        return clf

    def _prepare(self, origin: Origin, graph: Graph) -> FullGraphEngine:
        topology, features = origin.prepare(graph, getattr(torch, self.dtype), self.device)
        return choose_engine(topology, features, Architecture())

    def _engine_for(self, graph: Graph, told: Told | None = None) -> FullGraphEngine:
        return self._prepare(self._origin, graph)

    @property
    def _origin(self) -> Origin:
        origin: Origin | None = getattr(self, "_fit_origin", None)
        if origin is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit, or load a saved model")
        return origin

    def _check_settings(self) -> None:
        for field in fields(self):
            if isinstance(field.default, (bool, int, float, str)):
                check_kind(field.name, getattr(self, field.name), type(field.default))
        self._check_place()
        self.check()


@dataclass(eq=False, repr=False, kw_only=True)
class NeuralBaseline(Baseline):
    """A network from features to logits, trained on the whole graph with early stopping.

    The network is called as `network(engine, dropout)` and returns logits `(N, C)`; dropout is None in evaluation.

    Args:
        hidden: Width of the hidden layers.
        layers: How many layers.
        dropout: On hidden rows.
        input_dropout: On raw features.
        learning_rate: Adam's.
        weight_decay: Adam's coupled decay.
        epochs: Of training at the most.
        patience: Epochs without a better validation score before training stops.
    """

    hidden: int = 64
    layers: int = 2
    dropout: float = 0.5
    input_dropout: float = 0.5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 500
    patience: int = 100

    def check(self) -> None:
        """Refuse sizes below 1 and rates outside [0, 1)."""
        for name in ("hidden", "layers", "epochs", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it must be at least 1")
        for name in ("dropout", "input_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it must lie in [0, 1)")
        for name in ("learning_rate", "weight_decay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)}: it must be 0 or more")

    @property
    def pace(self) -> Pace:
        """How long and how fast to train."""
        return Pace(self.epochs, self.patience, self.learning_rate, self.weight_decay)

    def loss(self, network: nn.Module, lesson: Lesson) -> Tensor:
        """Cross-entropy of the known labels."""
        logits = network(lesson.engine, lesson.dropout)[lesson.labelled]
        return F.cross_entropy(logits, lesson.problem.known[lesson.labelled])

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Minimise `loss`."""
        return self.minimise(network, lesson, lambda: self.loss(network, lesson))

    def minimise(self, network: nn.Module, lesson: Lesson, loss: Callable[[], Tensor]) -> Trained:
        """Minimise a loss; keep the weights that validate best."""
        known = lesson.problem.known
        return train(
            network,
            loss,
            lambda: lesson.validate(self.infer(network, lesson.engine, known, 1)),
            self.pace,
            lesson.clock,
        )

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Return the softmax of the logits; known labels are not looked at."""
        return network(engine, None).softmax(1)
