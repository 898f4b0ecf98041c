"""Lines 1 to 8 of Algorithm 1: train the mean-field GNN (Eq. 2) and draw the samples that fill the queue (Eq. 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.clock import Clock, Ticking
from redisc.diffusion.masking import MASKED
from redisc.em.batches import Batches, places_for
from redisc.em.class_shares import class_shift
from redisc.em.config import EMConfig
from redisc.em.consistency import disagreement
from redisc.em.generations import imitation
from redisc.em.teaching import teach_reader
from redisc.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import Committee, MeanField
from redisc.problem import Problem
from redisc.seeds import derive_seed
from redisc.state import State
from redisc.training import Pace, Training

MEAN_FIELD = "mean-field"


@dataclass(frozen=True)
class WarmStart:
    """The trained mean-field GNNs' probabilities `(N, C)`, with their reader's say, the validation score, and epochs.

    Where the classes' shares in the graph were estimated, GNNs' logits are `shift (C,)` above those that they learned.
    """

    probabilities: Tensor
    validation: float
    epochs: int
    shift: Tensor | None = None

    def state(self) -> State:
        """Return all of it."""
        tensors = {"probabilities": self.probabilities} | ({} if self.shift is None else {"shift": self.shift})
        return State({"validation": self.validation, "epochs": self.epochs}, tensors)

    @classmethod
    def restored(cls, state: State) -> WarmStart:
        """Return what `state` was taken of."""
        return cls(state.tensors["probabilities"], **state.figures, shift=state.tensors.get("shift"))


def train_mean_field(
    model: MeanField,
    engine: Engine,
    problem: Problem,
    config: EMConfig,
    dropout: Dropout,
    batch_seed: int,
    clock: Clock,
) -> WarmStart:
    """Train one mean-field GNN in place and return its answers."""
    epochs = MeanFieldTraining(model, engine, problem, config, dropout, batch_seed).run(clock)
    return ask_mean_field(model, engine, problem, config, epochs)


def ask_mean_field(
    model: MeanField | Committee, engine: Engine, problem: Problem, config: EMConfig, epochs: int
) -> WarmStart:
    """Return what trained networks answer; where class shares are to be estimated, their logits are shifted first.

    A reader of features learns from these answers, and has its say in what is returned.
    """
    answers = engine.answers(model)
    shift = class_shift(answers, problem.known) if config.class_shares == "estimated" else None
    if shift is not None:
        model.shift(shift)
        answers = engine.answers(model)
    probabilities = teach_reader(model, engine, answers, problem.known, config.mean_field_reader_decay)
    score = problem.validation.score(probabilities.argmax(1), probabilities)
    return WarmStart(probabilities, score, epochs, shift)


class MeanFieldTraining:
    """Minimises the cross-entropy of known labels (Eq. 2), and by `mean_field_consistency` the views' disagreement.

    Where an earlier generation of networks left its answers, `taught (N, C)`, these are imitated too.
    """

    def __init__(
        self,
        model: MeanField,
        engine: Engine,
        problem: Problem,
        config: EMConfig,
        dropout: Dropout,
        batch_seed: int,
        taught: Tensor | None = None,
    ) -> None:
        self.model, self.engine, self.problem, self.config, self.dropout = model, engine, problem, config, dropout
        self.taught = taught
        labelled = (problem.known != MASKED).nonzero().squeeze(1)
        self._batches = Batches(labelled, config.batch_size or len(labelled), batch_seed, places_for(engine, config))
        self._batch_seed = batch_seed
        self._judged = torch.from_numpy(problem.validation.nodes).to(labelled.device)
        pace = Pace(
            config.mean_field_epochs,
            config.mean_field_patience,
            config.mean_field_learning_rate,
            config.mean_field_weight_decay,
        )
        self._training = Training(model, pace)

    def run(self, clock: Ticking, after_epoch: Callable[[], None] | None = None) -> int:
        """Train until the validation score stops rising, restore the best weights and return how many epochs it took.

        `after_epoch` is called after every epoch but the last.
        """
        loops = (clock, MEAN_FIELD, after_epoch, self._batches.per_round)
        return self._training.run(self.loss, self.validate, *loops).epochs

    def state(self) -> State:
        """Return all that the training needs to go on from here."""
        reached = State({"dropout": self.dropout.state(), "batches": self._batches.position})
        return reached.joined(training=self._training.state())

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._training.restore(state.part("training"))
        self.dropout.restore(state.figures["dropout"])
        self._batches.position = state.figures["batches"]

    def loss(self) -> Tensor:
        """Return the loss of the next batch of labelled nodes."""
        engine, config, problem, batches = self.engine, self.config, self.problem, self._batches
        rows, upcoming = next(batches), batches.peek()
        if config.mean_field_consistency or self.taught is not None:
            passes = config.mean_field_views if config.mean_field_consistency else 1
            views = torch.stack([engine.mean_field(self.model, self.dropout) for _ in range(passes)])
            return loss_of_views(views, rows, problem, config.mean_field_consistency, self.taught)
        logits = engine.mean_field_rows(self.model, rows, self.dropout, self._draw(batches.position))
        if upcoming is not None:
            engine.announce(upcoming, self.model.depth, self._draw(batches.position + 1))
        return F.cross_entropy(logits, problem.known[rows], weight=problem.class_weight)

    def validate(self) -> float:
        """Score the answers on the validation nodes."""
        with torch.no_grad():
            pieces = self._judged.split(self.config.batch_size or len(self._judged))
            probabilities = torch.cat([self.engine.mean_field_rows(self.model, rows) for rows in pieces]).softmax(1)
        return self.problem.validation.score_rows(probabilities.argmax(1), probabilities)

    def _draw(self, position: int) -> int:
        """Return the seed of the neighbours that the batch at a position samples."""
        return derive_seed(self._batch_seed, position)


def loss_of_views(
    views: Tensor, rows: Tensor, problem: Problem, consistency: float = 0.0, taught: Tensor | None = None
) -> Tensor:
    """Cross-entropy of the labels of `rows (R,)` in all `views (V, N, C)`, and what all nodes are to follow.

    That is `consistency` times the views' disagreement, and the answers `taught (N, C)` where there are any.
    """
    targets = problem.known[rows].expand(len(views), -1)
    loss = F.cross_entropy(views[:, rows].flatten(0, 1), targets.flatten(), weight=problem.class_weight)
    if consistency:
        loss = loss + consistency * disagreement(views)
    return loss if taught is None else loss + imitation(views, taught)


def sample_mean_field(
    probabilities: Tensor, known: Tensor, n: int, temperature: float, generator: np.random.Generator
) -> Iterator[Tensor]:
    """Draw `n` samples `(N,)`, every node on its own, known labels put in (Algorithm 1, lines 5 and 6)."""
    # In place where it can be: on millions of nodes every copy is a gigabyte.
    heat = probabilities.to(torch.float64, copy=True).clamp_min_(1e-30).log_().div_(temperature)
    cumulative = heat.softmax(1).cumsum_(1)
    del heat
    for _ in range(n):
        uniforms = torch.from_numpy(generator.random(len(known))).to(cumulative.device)
        drawn = (cumulative <= (uniforms * cumulative[:, -1])[:, None]).sum(1)
        yield torch.where(known != MASKED, known, drawn.clamp_max(probabilities.shape[1] - 1))
