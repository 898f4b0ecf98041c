"""The E-step: infer pseudo-labels by labelled-first sampling (Section 3.3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from redisc.clock import Told
from redisc.diffusion import CHAINS_AT_ONCE, MASKED, ReverseProcess, Schedule, State, get_routing
from redisc.em.config import EMConfig
from redisc.engine import Engine
from redisc.nn import Denoiser
from redisc.problem import Problem, Validation
from redisc.seeds import derive_seed
from redisc.world import World, world


class RevealedProbabilities:
    """Observer that keeps the denoiser's own probabilities of each node at the moment it was revealed.

    Known nodes have their label for certain. `mean` averages over the chains seen so far: `(N, C)`.
    """

    def __init__(self, known: Tensor, num_classes: int) -> None:
        self._known = known
        self._total = torch.zeros(len(known), num_classes, dtype=torch.float64, device=known.device)
        self._times = torch.zeros(len(known), dtype=torch.int64, device=known.device)

    def __call__(self, state: State) -> State:
        """Record what the last step revealed."""
        if state.revealed is not None:
            node = state.revealed.node
            self._total.index_add_(0, node, state.revealed.logits.double().softmax(1))
            self._times.index_add_(0, node, torch.ones_like(node))
        return state

    def mean(self, together: World) -> Tensor:
        """Return mean probabilities `(N, C)` over the chains of all processes."""
        labelled = self._known != MASKED
        mean = together.sum(self._total) / together.sum(self._times).clamp_min(1)[:, None]
        mean[labelled] = 0
        mean[labelled, self._known[labelled]] = 1
        return mean


@dataclass(frozen=True)
class Sampled:
    """Samples `labels (n, N)`, and the mean over them of the probabilities at reveal `(N, C)`."""

    labels: Tensor
    probabilities: Tensor


def draw_samples(
    process: ReverseProcess,
    chains: Tensor,
    num_classes: int,
    group: int = CHAINS_AT_ONCE,
    alone: bool = False,
    told: Told | None = None,
) -> Sampled:
    """Run chains in groups of `group`, which bounds memory and changes no sample.

    Several processes share the groups, unless this one is asked `alone`.
    """
    together = World() if alone else world()
    observer = RevealedProbabilities(process.known, num_classes)
    parts = list(together.share(chains.split(group)))
    mine = [watched(process, told, k, len(parts)).run(part, observer) for k, part in enumerate(parts)]
    return Sampled(torch.cat(together.gather(mine)), observer.mean(together))


def watched(process: ReverseProcess, told: Told | None, place: int = 0, count: int = 1) -> ReverseProcess:
    """Let someone know how far the group of chains at this place of `count` is."""
    if told is None:
        return process
    return replace(process, watch=lambda done, total: told("chains", place * total + done, count * total))


def draw_one(process: ReverseProcess, chain: int, problem: Problem) -> tuple[Tensor, Tensor | None]:
    """Run one chain in this process: labels `(N,)`, and probabilities `(N, C)` where the metric reads them.

    On millions of nodes probabilities take gigabytes.
    """
    if not problem.validation.reads_probabilities:
        return process.run(torch.tensor([chain]))[0], None
    sampled = draw_samples(process, torch.tensor([chain]), problem.num_classes, alone=True)
    return sampled.labels[0], sampled.probabilities


class EStep:
    """Draws samples from the current model and gives each its priority."""

    def __init__(self, problem: Problem, engine: Engine, schedule: Schedule, config: EMConfig, seed: int) -> None:
        self.problem, self.engine, self.schedule, self.config = problem, engine, schedule, config
        self._seed = derive_seed(seed, "e-step")
        self._fold_of = self._assign_folds(np.random.default_rng(derive_seed(seed, "folds")))

    def __call__(self, denoiser: Denoiser, round_: int, told: Told | None = None) -> list[tuple[Tensor, float | None]]:
        """Return `e_step_samples` samples `(N,)`, known labels in place, each with its priority."""
        held_out = self._held_out(round_)
        known = torch.where(held_out, MASKED, self.problem.known)
        process = ReverseProcess(
            self.engine.denoise(denoiser),
            self.schedule,
            get_routing(self.config.e_step_routing),
            known,
            derive_seed(self._seed, round_),
            self.config.e_step_temperature,
        )
        mine = list(world().share(range(self.config.e_step_samples)))
        watching = [watched(process, told, k, len(mine)) for k in range(len(mine))]
        return world().gather([self._scored(one, c, held_out) for one, c in zip(watching, mine, strict=True)])

    def _scored(self, process: ReverseProcess, chain: int, held_out: Tensor) -> tuple[Tensor, float | None]:
        labels, probabilities = draw_one(process, chain, self.problem)
        priority = self._priority(labels, probabilities, held_out)
        known = self.problem.known
        return torch.where(known != MASKED, known, labels), priority

    def _priority(self, labels: Tensor, probabilities: Tensor | None, held_out: Tensor) -> float | None:
        if self.config.priority == "validation":
            return self.problem.validation.score(labels, probabilities)
        if self.config.priority == "train-cv" and held_out.any():
            return self._fold(held_out).score(labels, probabilities)
        return None

    def _fold(self, held_out: Tensor) -> Validation:
        nodes = held_out.nonzero().squeeze(1)
        labels = self.problem.known[nodes].cpu().numpy()
        return Validation(nodes.cpu().numpy(), labels, self.problem.validation.metric)

    def _assign_folds(self, generator: np.random.Generator) -> Tensor:
        """Give each labelled node a fold at random, -1 to the others."""
        labelled = (self.problem.known != MASKED).nonzero().squeeze(1)
        fold = torch.full_like(self.problem.known, -1)
        order = torch.from_numpy(generator.permutation(len(labelled))).to(fold.device)
        fold[labelled] = order % self.config.folds
        return fold

    def _held_out(self, round_: int) -> Tensor:
        """Known nodes whose labels this round hides from its own chains: one fold for train-cv, else none."""
        if self.config.priority != "train-cv":
            return torch.zeros_like(self._fold_of, dtype=torch.bool)
        return self._fold_of == round_ % self.config.folds
