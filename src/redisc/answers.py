"""What a fitted joint model answers: one labelling, many of them, probabilities, and the path of a chain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from redisc.classifier import NodeClassifier
from redisc.clock import Clock, Told
from redisc.diffusion import MASKED, LogLikelihood, Trace, trace_chain
from redisc.em import Sampled, watched
from redisc.engine import Engine, threads_for
from redisc.errors import ConfigError, NotFittedError
from redisc.graph import Graph
from redisc.model import JointModel
from redisc.origin import Origin
from redisc.progress import ProgressBar
from redisc.scale.label_in_parts import label_in_parts
from redisc.seeds import numpy_generator
from redisc.task import as_graph, complete_labels, node_numbers
from redisc.uncertainty import Drivers, JointTable, find_drivers, joint_table
from redisc.world import world

Decode = Literal["sample", "confident", "best-of-n"]
Judgement = Literal["elbo", "chain-rule"]

_CANDIDATES = 0.5
"""Temperature of the chains among which "best-of-n" chooses."""

_PLANS = 8
"""Chains by which "best-of-n" judges a candidate."""


class JointAnswers(NodeClassifier):
    """The questions that a fitted `ReDiSC` takes; fitting and settings are `ReDiSC`'s own."""

    _model: JointModel
    verbose: bool

    @abstractmethod
    def _setting(self, name: str) -> Any:
        """Return a setting as it is in force."""

    def predict(
        self, graph: Any = None, labels: Any = None, *, decode: Decode = "sample", n_samples: int = 16
    ) -> np.ndarray:
        """Return one joint assignment `(N,)` of class values, the same on every call.

        `labels (N,)` with -1 for unknown replaces the known labels for this call. Another graph with the same
        features may be given; on it nothing is known but `labels`.

        `decode` is "sample": a nearly greedy chain, the one that the fit was selected by; "confident": the same, but
        the nodes that the denoiser is surest of are revealed first; or "best-of-n": of `n_samples` chains, of which the
        first is nearly greedy, the one with the highest bound on its log-likelihood.
        """
        if decode not in get_args(Decode):
            raise ConfigError(f"decode={decode!r}: choose one of {', '.join(get_args(Decode))}")
        if decode == "best-of-n":
            places = self._best_of(n_samples, graph, labels)
        else:
            routing = "confident-first" if decode == "confident" else self._setting("routing")
            places = self._greedy(graph, labels, routing)
        return self.classes_[places]

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
        _check_at_least_one("n_samples", n_samples)
        return self._draw(graph, labels, n_samples, 1.0, "probabilities").probabilities.cpu().numpy()

    def mean_field_proba(self, graph: Any = None) -> np.ndarray:
        """Return the warm start's probabilities `(N, C)`: what is said of every node on its own, also by a reader."""
        engine: Engine = self._resolve(graph)[1]
        return engine.opinion(self._fitted().mean_field).cpu().numpy()

    def trace(self, graph: Any = None, labels: Any = None) -> Trace:
        """Return the path of the chain that `predict` returns: when each node was revealed, as what, how surely."""
        model = self._fitted()
        target, engine, known = self._resolve(graph, labels)
        choice = (self._setting("evaluation_temperature"), "evaluation", self._setting("routing"))
        with threads_for(target.num_nodes):
            walked = trace_chain(model.process(engine.denoise(model.denoiser), known, *choice))
        return replace(walked, labels=self.classes_[walked.labels])

    def log_likelihood(
        self,
        y: Any,
        *,
        method: Judgement = "elbo",
        n_samples: int = 32,
        labels: Any = None,
        graph: Any = None,
        random_state: int = 0,
    ) -> LogLikelihood:
        """Return how probable the model finds the class values `y (N,)` together, in nats, given the known labels.

        "elbo" is the diffusion's own bound, from `n_samples` chains that are made to reveal y; "chain-rule" adds up the
        conditional log-probabilities of one node after the other, over as many random orders, and takes the log of
        their mean likelihood (N calls of the denoiser, so slower). `float()` gives the value; see `LogLikelihood`.
        `labels` with -1 everywhere judges all nodes, the known ones too.
        """
        if method not in get_args(Judgement):
            raise ConfigError(f"method={method!r}: choose one of {', '.join(get_args(Judgement))}")
        _check_at_least_one("n_samples", n_samples)
        target, engine, known = self._resolve(graph, labels)
        places = complete_labels(y, self.classes_, known, target)
        purpose = f"likelihood {random_state}"
        with threads_for(target.num_nodes), self._telling() as told:
            values = self._fitted().judge(engine, known, places, n_samples, purpose, method, "labelled-first", told)
        judged = int((known == MASKED).sum())
        result = LogLikelihood(float(values.mean()), values, judged)
        return result if method == "elbo" else replace(result, value=result.estimate)

    def joint_proba(self, nodes: Any, n_samples: int = 256, labels: Any = None, *, graph: Any = None) -> JointTable:
        """Return what some nodes are together: their joint probabilities from `n_samples` chains.

        A pair has `.matrix()`; a neighbourhood is `joint_proba(clf.graph_.neighbourhood(node))`.
        """
        model = self._fitted()
        target, engine, known = self._resolve(graph, labels)
        chosen = node_numbers(nodes, target.num_nodes)
        _check_at_least_one("n_samples", n_samples)
        denoise = engine.denoise(model.denoiser)
        process = model.process(denoise, known, 1.0, "probabilities", self._setting("routing"))
        with threads_for(target.num_nodes):
            return joint_table(process, chosen, self.classes_, n_samples)

    def drivers(
        self,
        nodes: Any = None,
        *,
        n_samples: int = 8,
        groups: int = 64,
        top: int = 5,
        reach: int | None = None,
        labels: Any = None,
        graph: Any = None,
    ) -> Drivers:
        """Return which known labels drive the nodes (all of them by default): see `Drivers`.

        Known labels within `reach` hops (twice the number of layers by default) are masked, and the change of the
        probability of the label that `predict` gives is measured with `n_samples` chains that share their random
        numbers. With more labels than `groups` they are masked in groups, which is faster and less exact;
        `Drivers.alone` tells.
        """
        for name, value in (("n_samples", n_samples), ("groups", groups), ("top", top)):
            _check_at_least_one(name, value)
        model = self._fitted()
        target, engine, known = self._resolve(graph, labels)
        chosen = np.arange(target.num_nodes) if nodes is None else node_numbers(nodes, target.num_nodes)
        hops = 2 * int(self._setting("layers")) if reach is None else reach
        if hops < 0:
            raise ConfigError(f"reach={reach}: it must be 0 or more")

        def probabilities(given: np.ndarray) -> np.ndarray:
            sampled = model.draw(engine, given, n_samples, 1.0, "probabilities", self._setting("routing"))
            return sampled.probabilities.cpu().numpy()

        answers = self._greedy(graph, labels, self._setting("routing"))[chosen]
        generator = numpy_generator(model.origin.seed, "drivers")
        with threads_for(target.num_nodes), self._telling() as told:
            return find_drivers(target, known, probabilities, chosen, answers, hops, groups, top, generator, told)

    def _best_of(self, n: int, graph: Any, labels: Any) -> np.ndarray:
        """Return the candidate `(N,)` with the highest bound; all are judged along the same few plans of reveals."""
        _check_at_least_one("n_samples", n)
        model = self._fitted()
        target, engine, known = self._resolve(graph, labels)
        greedy = self._greedy(graph, labels, self._setting("routing"))
        candidates = [greedy]
        if n > 1:
            candidates += list(self._draw(graph, labels, n - 1, _CANDIDATES, "candidates").labels.cpu().numpy())
        with threads_for(target.num_nodes):
            asked = (_PLANS, "judge", "elbo", self._setting("routing"))
            bounds = [model.judge(engine, known, y, *asked).mean() for y in candidates]
        return candidates[int(np.argmax(bounds))]

    def _greedy(self, graph: Any, labels: Any, routing: str) -> np.ndarray:
        """Return the nearly greedy chain `(N,)`, and nothing that would take memory beside it."""
        model = self._fitted()
        with self._telling() as told:
            target, engine, known = self._resolve(graph, labels, told)
            choice = (self._setting("evaluation_temperature"), "evaluation", routing)
            process = watched(model.process(engine.denoise(model.denoiser), known, *choice), told)
            with threads_for(target.num_nodes):
                return process.run(1)[0].cpu().numpy()

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
        return self._fitted().fitted_engine(graph, told)

    @property
    def _origin(self) -> Origin:
        return self._fitted().origin


def _check_at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ConfigError(f"{name}={value}: ask for at least one")
