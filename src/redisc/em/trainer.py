"""Algorithm 1 of the paper: warm start, then E-steps and M-steps until the validation metric stops rising."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from redisc.clock import Clock, Told
from redisc.diffusion import ReverseProcess, Schedule, get_routing
from redisc.em.class_shares import drawn_shares
from redisc.em.committee import train_committee
from redisc.em.config import EMConfig
from redisc.em.e_step import EStep, draw_one, watched
from redisc.em.keeper import Keeper
from redisc.em.m_step import MStep
from redisc.em.replay import PriorityQueue
from redisc.em.warm_start import WarmStart, sample_mean_field
from redisc.engine import Anchor, AnchoredEngine, Engine
from redisc.io.scratch import Allocate
from redisc.nn import Committee, Denoiser, MeanField
from redisc.problem import Problem
from redisc.seeds import derive_seed, numpy_generator, torch_generator
from redisc.state import State, restore_network, weights_state
from redisc.world import world

DIFFUSION = "diffusion"


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
    class_shares: list[float] = field(default_factory=list)  # of the unlabelled nodes, where they were estimated
    best_iteration: int = 0
    best_validation: float = float("-inf")
    stopped_by: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the history as plain lists and numbers."""
        return dict(self.__dict__)


class Trainer:
    """Fits a denoiser to a problem. The models handed in are trained in place and end with their best weights.

    `engine` answers for the denoiser as it was trained: after the warm start it may be anchored.
    """

    def __init__(
        self,
        denoiser: Denoiser,
        mean_field: MeanField | Committee,
        engine: Engine,
        problem: Problem,
        schedule: Schedule,
        config: EMConfig,
        seed: int,
        allocate: Allocate = np.empty,
    ) -> None:
        self.denoiser, self.mean_field, self.engine = denoiser, mean_field, engine
        self._plain_engine = engine
        self.problem, self.schedule, self.config, self.seed = problem, schedule, config, seed
        self.queue = PriorityQueue(config.queue_size, config.queue_temperature, problem.num_classes, allocate)
        self.history = History()
        shared = (problem, engine, schedule, config, seed)
        self._e_step, self._m_step = EStep(*shared), MStep(denoiser, *shared)
        self._done = self._last_gain = 0
        self._losses: list[float] = []  # since the last look

    def fit(self, clock: Clock, keeper: Keeper | None = None) -> WarmStart:
        """Run Algorithm 1 and return what the warm start found.

        An interrupt during the alternation ends it early and keeps the best weights so far. A `keeper` is given the
        state at the end of the warm start and now and then; where it found one, the fit goes on from there.
        """
        if keeper is None or not self._resume(clock, keeper):
            self._warm = self._warm_start(clock, keeper)
            self.denoiser.reset_parameters(torch_generator(self.seed, "denoiser"))
            self._best = copy.deepcopy(self.denoiser.state_dict())
            self._start_from(self._warm)
            if keeper is not None:
                keeper.save(DIFFUSION, clock, self.state())
        try:
            self.history.stopped_by = self._alternate(clock, keeper)
        except KeyboardInterrupt:
            self.history.stopped_by = "interrupt"
            if not self.history.iteration:
                self._look(self._done, float("nan"), clock)
        self.denoiser.load_state_dict(self._best)
        return self._warm

    def state(self) -> State:
        """Return all that the alternation needs to go on from here."""
        figures = {
            "done": self._done,
            "last_gain": self._last_gain,
            "losses": self._losses,
            "history": self.history.as_dict(),
        }
        return State(figures).joined(
            warm_start=self._warm.state(),
            mean_field=weights_state(self.mean_field.state_dict()),
            denoiser=weights_state(self.denoiser.state_dict()),
            best_denoiser=weights_state(self._best),
            queue=self.queue.state(),
            m_step=self._m_step.state(),
        )

    def restore(self, state: State) -> None:
        """Go on from a state."""
        figures = state.figures
        self._done, self._last_gain = figures["done"], figures["last_gain"]
        self._losses, self.history = list(figures["losses"]), History(**figures["history"])
        self._warm = WarmStart.restored(state.part("warm_start"))
        restore_network(self.mean_field, state.part("mean_field"))
        restore_network(self.denoiser, state.part("denoiser"))
        self._best = state.part("best_denoiser").tensors
        self.queue.restore(state.part("queue"))
        self._m_step.restore(state.part("m_step"))
        self._start_from(self._warm)

    def _resume(self, clock: Clock, keeper: Keeper) -> bool:
        """Take over a state of the alternation; tell whether there was one."""
        with keeper.reading():
            state = keeper.found(DIFFUSION, clock)
            if state is not None:
                self.restore(state.to(self.problem.known.device))
        return state is not None

    def _warm_start(self, clock: Clock, keeper: Keeper | None) -> WarmStart:
        """Lines 1 to 8: fill the queue with S samples of the mean-field GNN."""
        warm = train_committee(self.mean_field, self.engine, self.problem, self.config, self.seed, clock, keeper)
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
        if warm.shift is not None:
            drawn = drawn_shares(self.problem.known, self.problem.num_classes)
            self.history.class_shares = (drawn * warm.shift.double().exp()).tolist()
        self.history.mean_field_validation = warm.validation
        self.history.mean_field_epochs, self.history.mean_field_seconds = warm.epochs, clock.elapsed
        return warm

    def _start_from(self, warm: WarmStart) -> None:
        """Hand the steps what the warm start found: the classes' shift, and the answer that denoisers start from."""
        self._m_step.shift = warm.shift
        if self.config.anchor:
            calm = self.config.pooling.calm(self._plain_engine)
            self.engine = AnchoredEngine(self._plain_engine, Anchor.of(warm.probabilities, self.config.anchor, calm))
            self._e_step.engine = self._m_step.engine = self.engine

    def _alternate(self, clock: Clock, keeper: Keeper | None) -> str:
        """Lines 10 to 17: E-steps and M-steps from where the fit stands; returns what ended them."""
        config = self.config
        for iteration in range(self._done + 1, config.iterations + 1):
            self._update(iteration, clock)
            self._report(clock, iteration, self._losses[-1])
            if iteration % config.evaluate_every == 0 or iteration == config.iterations or clock.is_over():
                self._look(iteration, sum(self._losses) / len(self._losses), clock)
                self._losses.clear()
                if clock.is_over():
                    return "max_time"
                if iteration - self._last_gain >= config.patience * config.evaluate_every:
                    return "patience"
            if keeper is not None and keeper.is_due():
                keeper.save(DIFFUSION, clock, self.state())
        return "iterations"

    def _update(self, iteration: int, clock: Clock) -> None:
        """Take an M-step, and an E-step before it where one is due."""
        config = self.config
        since_warm = iteration - 1 - config.warm_iterations
        if since_warm >= 0 and since_warm % config.e_step_every == 0:
            for labels, priority in self._e_step(self.denoiser, since_warm // config.e_step_every, clock.aside):
                self.queue.push(labels, priority)
        self._losses.append(self._m_step(self.queue))
        self._done = iteration

    def _look(self, iteration: int, loss: float, clock: Clock) -> None:
        """Score one chain on the validation set and keep the weights if it is the best; of equals the later wins."""
        score, history = world().agree(self._score(*self.evaluate(clock.aside))), self.history
        if score > history.best_validation:
            self._last_gain = iteration
        if score >= history.best_validation:
            history.best_validation, history.best_iteration = score, iteration
            self._best = copy.deepcopy(self.denoiser.state_dict())
        history.iteration.append(iteration)
        history.loss.append(loss)
        history.validation.append(score)
        history.elapsed.append(clock.elapsed)

    def evaluate(self, told: Told | None = None) -> tuple[Tensor, Tensor | None]:
        """Run the evaluation chain: at a low temperature, the same random numbers every time."""
        process = ReverseProcess(
            self.engine.denoise(self.denoiser),
            self.schedule,
            get_routing(self.config.routing),
            self.problem.known,
            derive_seed(self.seed, "evaluation"),
            self.config.evaluation_temperature,
        )
        return draw_one(watched(process, told), 0, self.problem)

    def _score(self, labels: Tensor, probabilities: Tensor | None) -> float:
        return self.problem.validation.score(labels, probabilities)

    def _report(self, clock: Clock, iteration: int, loss: float) -> None:
        history = self.history
        latest = history.validation[-1] if history.validation else float("nan")
        best = max(history.best_validation, 0.0)
        clock.report(DIFFUSION, iteration, self.config.iterations, loss=loss, validation=latest, best=best)
