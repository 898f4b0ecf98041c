"""The M-step: one update of the denoiser on cached samples (Section 3.2 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from redisc.diffusion import MASKED, Schedule, mask_labels, node_weights, weighted_cross_entropy
from redisc.em.batches import Batches, places_for
from redisc.em.config import EMConfig
from redisc.em.replay import PriorityQueue
from redisc.engine import Engine
from redisc.errors import ConfigError
from redisc.kernels.counter_random import Stream, uniform
from redisc.kernels.dropout import Dropout
from redisc.nn import Denoiser
from redisc.problem import Problem
from redisc.seeds import derive_seed, generator_state, numpy_generator, restore_generator
from redisc.state import State, optimiser_state, restore_optimiser
from redisc.world import world


@dataclass(frozen=True)
class MaskedStates:
    """Clean labels `(B, N)`, the steps `t (B,)` they are masked at, what is left of them, and the nodes' weights.

    `number` tells draws apart.
    """

    number: int
    clean: Tensor
    t: Tensor
    noisy: Tensor
    weights: Tensor

    def copies(self, which: Tensor) -> MaskedStates:
        """Return some of the B states."""
        return MaskedStates(self.number, self.clean[which], self.t[which], self.noisy[which], self.weights[which])


@dataclass(frozen=True)
class DrawnStates(MaskedStates):
    """Masked states that serve several mini-batches."""

    batches: Batches


class _Loss(nn.Module):
    """The objective as a module around the denoiser, which is what PyTorch shares between processes."""

    def __init__(self, denoiser: Denoiser, compute: Callable[..., Tensor]) -> None:
        super().__init__()
        self.denoiser, self._compute = denoiser, compute

    def forward(self, *arguments: Any) -> Tensor:
        """Return the loss of some masked states."""
        return self._compute(*arguments)


class MStep:
    """Draws Y(0) from the queue, masks it at B steps, and takes one Adam step on the objective (Eq. 12)."""

    def __init__(
        self,
        denoiser: Denoiser,
        problem: Problem,
        engine: Engine,
        schedule: Schedule,
        config: EMConfig,
        seed: int,
    ) -> None:
        self.denoiser, self.problem, self.engine = denoiser, problem, engine
        self.schedule, self.config = schedule, config
        self._generator = numpy_generator(seed, "m-step")
        self._dropout = Dropout(numpy_generator(seed, "dropout"))
        self._mask_seed = derive_seed(seed, "mask")
        self._optimiser = torch.optim.Adam(
            denoiser.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.shift: Tensor | None = None  # (C,), log(π / d) where the classes' shares in the graph were estimated
        self._labelled = problem.known != MASKED
        self._count = 0
        self._kept: tuple[int, Tensor] | None = None
        self._drawn: DrawnStates | None = None
        self._world = world()
        shared = "batch_size" if config.batch_size else "masks"
        if self._world.size > getattr(config, shared):
            raise ConfigError(f"{shared}={getattr(config, shared)} can't be shared by {self._world.size} processes")
        self._objective = self._world.parallel(_Loss(denoiser, self.loss))

    def __call__(self, queue: PriorityQueue) -> float:
        """Update the denoiser once and return the loss; of several processes each returns its own share's."""
        self._count += 1
        self._optimiser.zero_grad()
        if self._world.size > 1:
            self._dropout = Dropout(numpy_generator(self._mask_seed, "dropout", self._world.rank, self._count))
        loss = self._batch_loss(queue) if self.config.batch_size else self._whole_loss(queue)
        with self._world.speaking():
            loss.backward()
        self._optimiser.step()
        return float(loss.detach())

    def state(self) -> State:
        """Return Adam's moments, where the generators stand, the count and the draw that is kept."""
        figures = {
            "count": self._count,
            "generator": generator_state(self._generator),
            "dropout": self._dropout.state(),
            "kept": None if self._kept is None else self._kept[0],
        }
        tensors = {} if self._kept is None else {"kept": self._kept[1].to(torch.int32)}
        if self._drawn is not None:
            figures |= {"drawn": self._drawn.number, "served": self._drawn.batches.position}
            tensors |= {"clean": self._drawn.clean.to(torch.int32), "t": self._drawn.t}
        return State(figures, tensors).joined(optimiser=optimiser_state(self._optimiser))

    def restore(self, state: State) -> None:
        """Go on from a state; the denoiser's weights are not part of it."""
        self._count, pushed = state.figures["count"], state.figures["kept"]
        restore_generator(self._generator, state.figures["generator"])
        self._dropout.restore(state.figures["dropout"])
        self._kept = None if pushed is None else (pushed, state.tensors["kept"].long())
        if "drawn" in state.figures:
            clean, t = state.tensors["clean"].long(), state.tensors["t"]
            self._drawn = self._cut(self._masked(clean, t, state.figures["drawn"]))
            self._drawn.batches.position = state.figures["served"]
        restore_optimiser(self._optimiser, state.part("optimiser"))

    def _whole_loss(self, queue: PriorityQueue) -> Tensor:
        """Take this process's share of the masked states; gradients are averaged over processes."""
        state, size = self.new_state(queue), self._world.size
        if size == 1:
            return self._objective(state)
        mine = torch.arange(self.config.masks)[self._world.rank :: size]
        return self._objective(state.copies(mine)) * (len(mine) * size / self.config.masks)

    def _batch_loss(self, queue: PriorityQueue) -> Tensor:
        """Take the next mini-batch; one draw of masked states serves several."""
        if self._drawn is None or self._drawn.batches.position >= self.config.batches_per_draw:
            self._drawn = self._cut(self.new_state(queue))
        batches, world = self._drawn.batches, self._world
        rows, upcoming = next(batches), batches.peek()
        loss: Tensor = self._objective(self._drawn, rows[world.rank :: world.size], world.size * batches.per_round)
        if upcoming is not None:
            ahead = upcoming[world.rank :: world.size]
            self.engine.announce(ahead, self.denoiser.depth, self._neighbours(self._count + 1))
        return loss

    def _neighbours(self, update: int) -> int:
        """Name the draw of neighbours of an update."""
        return derive_seed(self._mask_seed, "neighbours", update)

    def _cut(self, state: MaskedStates) -> DrawnStates:
        """Cut the nodes that count in any of the states into mini-batches."""
        seen = (state.weights.sum(0) > 0).nonzero().squeeze(1)
        seed, place = derive_seed(self._mask_seed, state.number), places_for(self.engine, self.config)
        batches = Batches(seen, self.config.batch_size, seed, place)
        return DrawnStates(**state.__dict__, batches=batches)

    def new_state(self, queue: PriorityQueue) -> MaskedStates:
        """Draw Y(0) from the queue and B masked states of it."""
        clean = self._draw(queue).to(self.problem.known.device)
        return self._masked(clean, self._draw_steps(), self._count)

    def _masked(self, clean: Tensor, t: Tensor, number: int) -> MaskedStates:
        noisy = self._mask(clean, t, number)
        weights = node_weights(self.config.objective, self.schedule, t, noisy, self._labelled)
        return MaskedStates(number, clean, t, noisy, weights)

    def loss(self, state: MaskedStates, rows: Tensor | None = None, parts: int = 1) -> Tensor:
        """Mean objective over B masked states; of `rows` alone, which are one of `parts` parts of all that count."""
        class_weight = self.problem.class_weight
        if rows is None:
            logits = self.engine.noisy_logits(self.denoiser, state.noisy, state.t, self._dropout)
            return weighted_cross_entropy(self._unshifted(logits), state.clean, state.weights, class_weight)
        asked = (state.noisy, state.t, rows, self._dropout, self._neighbours(self._count))
        logits = self._unshifted(self.engine.noisy_rows(self.denoiser, *asked), rows)
        return parts * weighted_cross_entropy(logits, state.clean[:, rows], state.weights[:, rows], class_weight)

    def _unshifted(self, logits: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        """Take the shift off the logits `(rows, B, C)` of labelled nodes, whose labels were drawn class by class."""
        if self.shift is None:
            return logits
        return logits - self._labelled[rows, None, None] * self.shift

    def _draw(self, queue: PriorityQueue) -> Tensor:
        """Draw Y(0), `(B, N)`: anew at every update, or once for every change of the queue where draws are kept."""
        if self._kept is not None and self._kept[0] == queue.pushed:
            return self._kept[1]
        drawn = queue.draw(self.config.masks, self._generator)
        if self.config.keep_draw:
            self._kept = queue.pushed, drawn
        return drawn

    def _mask(self, clean: Tensor, t: Tensor, number: int) -> Tensor:
        copies, nodes = torch.arange(len(t)), torch.arange(clean.shape[1])
        uniforms = uniform(self._mask_seed, Stream.MASK, copies[:, None], number, nodes[None])
        alpha = self.schedule.alpha[t]
        alpha = alpha if alpha.dim() == 2 else alpha[:, None]
        return mask_labels(clean, alpha.to(clean.device), uniforms.to(clean.device))

    def _draw_steps(self) -> Tensor:
        """Draw t uniformly from 1..T, in pairs (t, T+1-t) where asked: each pair averages early and late steps."""
        T, B = self.schedule.steps, self.config.masks
        if not self.config.antithetic:
            return torch.from_numpy(self._generator.integers(1, T + 1, size=B)).to(self.problem.known.device)
        half = self._generator.integers(1, T + 1, size=(B + 1) // 2)
        t = np.concatenate([half, T + 1 - half])[:B]
        return torch.from_numpy(t).to(self.problem.known.device)
