"""Algorithm 1 of the paper: warm start, then E-steps and M-steps until the validation metric stops rising."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from redisc.clock import Clock
from redisc.diffusion import ReverseProcess, Schedule, get_routing
from redisc.em.config import EMConfig
from redisc.em.e_step import EStep, Sampled, draw_samples
from redisc.em.m_step import MStep
from redisc.em.replay import PriorityQueue
from redisc.em.warm_start import WarmStart, sample_mean_field, train_mean_field
from redisc.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import Denoiser, MeanField
from redisc.problem import Problem
from redisc.seeds import derive_seed, numpy_generator, torch_generator


@dataclass
class History:
    """Curves and timings of a fit; every list has one entry a look at the validation metric."""

    iteration: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    elapsed: list[float] = field(default_factory=list)
    mean_field_validation: float = float("nan")
    mean_field_epochs: int = 0
    mean_field_seconds: float = 0.0
    best_iteration: int = 0
    best_validation: float = float("-inf")
    stopped_by: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the history as plain lists and numbers."""
        return dict(self.__dict__)


class Trainer:
    """Fits a denoiser to a problem. The models handed in are trained in place and end with their best weights."""

    def __init__(
        self,
        denoiser: Denoiser,
        mean_field: MeanField,
        engine: Engine,
        problem: Problem,
        schedule: Schedule,
        config: EMConfig,
        seed: int,
    ) -> None:
        self.denoiser, self.mean_field, self.engine = denoiser, mean_field, engine
        self.problem, self.schedule, self.config, self.seed = problem, schedule, config, seed
        self.queue = PriorityQueue(config.queue_size, config.queue_temperature, problem.num_classes)
        self.history = History()
        self._done = self._last_gain = 0

    def fit(self, clock: Clock) -> WarmStart:
        """Run Algorithm 1 and return what the warm start found.

        An interrupt during the alternation ends it early and keeps the best weights so far.
        """
        warm = self._warm_start(clock)
        self.denoiser.reset_parameters(torch_generator(self.seed, "denoiser"))
        self._best = copy.deepcopy(self.denoiser.state_dict())
        try:
            self.history.stopped_by = self._alternate(clock)
        except KeyboardInterrupt:
            self.history.stopped_by = "interrupt"
            if not self.history.iteration:
                self._look(self._done, float("nan"), clock)
        self.denoiser.load_state_dict(self._best)
        return warm

    def _warm_start(self, clock: Clock) -> WarmStart:
        """Lines 1 to 8: fill the queue with S samples of the mean-field GNN."""
        self.mean_field.reset_parameters(torch_generator(self.seed, "mean-field"))
        dropout = Dropout(numpy_generator(self.seed, "mean-field dropout"))
        batches = numpy_generator(self.seed, "mean-field batches")
        warm = train_mean_field(self.mean_field, self.engine, self.problem, self.config, dropout, batches, clock)
        samples = sample_mean_field(
            warm.probabilities,
            self.problem.known,
            self.config.queue_size,
            self.config.mean_field_temperature,
            numpy_generator(self.seed, "warm start"),
        )
        scored = self.config.priority == "validation"
        for labels in samples:
            self.queue.push(labels, self._score(labels, warm.probabilities) if scored else None)
        self.history.mean_field_validation = warm.validation
        self.history.mean_field_epochs, self.history.mean_field_seconds = warm.epochs, clock.elapsed
        return warm

    def _alternate(self, clock: Clock) -> str:
        """Lines 10 to 17: E-steps and M-steps; returns what ended them."""
        config, shared = self.config, (self.problem, self.engine, self.schedule, self.config, self.seed)
        e_step, m_step = EStep(*shared), MStep(self.denoiser, *shared)
        losses: list[float] = []
        for iteration in range(1, config.iterations + 1):
            since_warm = iteration - 1 - config.warm_iterations
            if since_warm >= 0 and since_warm % config.e_step_every == 0:
                for labels, priority in e_step(self.denoiser, since_warm // config.e_step_every):
                    self.queue.push(labels, priority)
            losses.append(m_step(self.queue))
            self._done = iteration
            self._report(clock, iteration, losses[-1])
            if iteration % config.evaluate_every == 0 or iteration == config.iterations or clock.is_over():
                self._look(iteration, sum(losses) / len(losses), clock)
                losses.clear()
                if clock.is_over():
                    return "max_time"
                if iteration - self._last_gain >= config.patience * config.evaluate_every:
                    return "patience"
        return "iterations"

    def _look(self, iteration: int, loss: float, clock: Clock) -> None:
        """Score one chain on the validation set and keep the weights if it is the best; of equals the later wins."""
        sampled = self.evaluate()
        score, history = self._score(sampled.labels[0], sampled.probabilities), self.history
        if score > history.best_validation:
            self._last_gain = iteration
        if score >= history.best_validation:
            history.best_validation, history.best_iteration = score, iteration
            self._best = copy.deepcopy(self.denoiser.state_dict())
        history.iteration.append(iteration)
        history.loss.append(loss)
        history.validation.append(score)
        history.elapsed.append(clock.elapsed)

    def evaluate(self) -> Sampled:
        """Run the evaluation chain: at a low temperature, the same random numbers every time."""
        process = ReverseProcess(
            self.engine.denoise(self.denoiser),
            self.schedule,
            get_routing(self.config.routing),
            self.problem.known,
            derive_seed(self.seed, "evaluation"),
            self.config.evaluation_temperature,
        )
        return draw_samples(process, torch.arange(1), self.problem.num_classes)

    def _score(self, labels: Tensor, probabilities: Tensor) -> float:
        return self.problem.validation.score(labels, probabilities)

    def _report(self, clock: Clock, iteration: int, loss: float) -> None:
        history = self.history
        latest = history.validation[-1] if history.validation else float("nan")
        best = max(history.best_validation, 0.0)
        clock.report("diffusion", iteration, self.config.iterations, loss=loss, validation=latest, best=best)
