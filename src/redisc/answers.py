"""What a fitted joint model answers: one labelling, many of them, probabilities, and the path of a chain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from redisc.classifier import NodeClassifier
from redisc.clock import Clock, Told
from redisc.diffusion import Trace, trace_chain
from redisc.em import Sampled
from redisc.engine import Engine, threads_for
from redisc.errors import ConfigError, NotFittedError
from redisc.graph import Graph
from redisc.model import JointModel
from redisc.origin import Origin
from redisc.progress import ProgressBar
from redisc.scale.label_in_parts import label_in_parts
from redisc.task import as_graph
from redisc.world import world


class JointAnswers(NodeClassifier):
    """The questions that a fitted `ReDiSC` takes; fitting and settings are `ReDiSC`'s own."""

    _model: JointModel
    verbose: bool

    @abstractmethod
    def _setting(self, name: str) -> Any:
        """Return a setting as it is in force."""

    def predict(self, graph: Any = None, labels: Any = None) -> np.ndarray:
        """Return one joint assignment `(N,)` of class values: a nearly greedy chain, the same on every call.

        `labels (N,)` with -1 for unknown replaces the known labels for this call. Another graph with the same
        features may be given; on it nothing is known but `labels`.
        """
        sampled = self._draw(graph, labels, 1, self._setting("evaluation_temperature"), "evaluation")
        return self.classes_[sampled.labels[0].cpu().numpy()]

    def predict_in_parts(self, graph: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return what `predict` does, `(N,)`, and its confidence `(N,)`, with the graph shared by all processes.

        Every process of `torchrun` computes its own nodes and reads only their part of a graph on disk; boundary rows
        travel at every layer. A node's confidence is the denoiser's own probability when it is revealed, 1 where it
        is known.
        """
        target = getattr(self, "graph_", None) if graph is None else as_graph(graph)
        if target is None:
            raise NotFittedError("a loaded model holds no graph: pass one, as in predict_in_parts(graph)")
        choice = (self._setting("evaluation_temperature"), self._setting("routing"))
        places, confidence = label_in_parts(self._fitted(), target, *choice)
        return self.classes_[places], confidence

    def sample(
        self,
        n: int = 16,
        labels: Any = None,
        temperature: float = 1.0,
        *,
        graph: Any = None,
        random_state: int = 0,
    ) -> np.ndarray:
        """Return joint samples `(n, N)` of class values by labelled-first inference, known labels kept.

        The same `random_state` gives the same samples, and the first of many are those of few.
        """
        if n < 1:
            raise ConfigError(f"n={n}: ask for at least one sample")
        sampled = self._draw(graph, labels, n, temperature, f"sample {random_state}")
        return self.classes_[sampled.labels.cpu().numpy()]

    def predict_proba(self, n_samples: int = 32, labels: Any = None, *, graph: Any = None) -> np.ndarray:
        """Return probabilities `(N, C)`: the denoiser's own when a node is revealed, averaged over chains."""
        if n_samples < 1:
            raise ConfigError(f"n_samples={n_samples}: ask for at least one")
        return self._draw(graph, labels, n_samples, 1.0, "probabilities").probabilities.cpu().numpy()

    def mean_field_proba(self, graph: Any = None) -> np.ndarray:
        """Return the warm start's probabilities `(N, C)`: what the backbone says of every node on its own."""
        model = self._fitted()
        with torch.no_grad():
            logits = self._resolve(graph)[1].mean_field(model.mean_field)
        return logits.softmax(1).cpu().numpy()

    def trace(self, graph: Any = None, labels: Any = None) -> Trace:
        """Return the path of the chain that `predict` returns: when each node was revealed, as what, how surely."""
        model = self._fitted()
        target, engine, known = self._resolve(graph, labels)
        choice = (self._setting("evaluation_temperature"), "evaluation", self._setting("routing"))
        with threads_for(target.num_nodes):
            walked = trace_chain(model.process(engine.denoise(model.denoiser), known, *choice))
        return replace(walked, labels=self.classes_[walked.labels])

    def _draw(self, graph: Any, labels: Any, n: int, temperature: float, purpose: str) -> Sampled:
        model = self._fitted()
        with self._telling() as told:
            target, engine, known = self._resolve(graph, labels, told)
            with threads_for(target.num_nodes):
                return model.draw(engine, known, n, temperature, purpose, self._setting("routing"), told)

    @contextmanager
    def _telling(self) -> Iterator[Told | None]:
        """Show how far a long answer is, where the settings ask for it."""
        if not (self.verbose and world().leads):
            yield None
            return
        with ProgressBar(True, self.metric) as bar:
            yield Clock(listener=bar.update).aside

    def _fitted(self) -> JointModel:
        model: JointModel | None = getattr(self, "_model", None)
        if model is None:
            raise NotFittedError("this ReDiSC is not fitted yet: call fit, or load a saved model")
        return model

    def _engine_for(self, graph: Graph, told: Told | None = None) -> Engine:
        return self._fitted().engine(graph, told)

    @property
    def _origin(self) -> Origin:
        return self._fitted().origin
