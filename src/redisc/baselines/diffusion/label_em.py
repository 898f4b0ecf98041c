"""Variational EM on samples of all labels, as DPM-SNC does it and ReDiSC's Algorithm 1 after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.diffusion.looks import Looks
from redisc.diffusion import Schedule, get_schedule
from redisc.em import EMConfig, Sampled
from redisc.em.replay import PriorityQueue
from redisc.em.warm_start import sample_mean_field, train_mean_field
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture, MeanField
from redisc.seeds import derive_seed, torch_generator
from redisc.training import Trained, train

_GROUP = 8
"""Chains that run at once: it bounds memory."""


class LabelSampler(Protocol):
    """What runs the chains of a method."""

    def run(self, chains: int | Sequence[int]) -> Sampled:
        """Run chains (a number, or their identities): labels `(chains, N)`, and mean probabilities `(N, C)`."""
        ...


@dataclass(eq=False, repr=False, kw_only=True)
class LabelEM(NeuralBaseline):
    """A diffusion over all labels, trained on samples of them: from a mean-field GNN at first, then its own.

    A subclass says how noisy labels are denoised (`denoising_loss`) and how chains are run (`sampler`). Samples in the
    buffer have no priorities, so validation labels choose weights and nothing else.

    Args:
        backbone: "gcn", "gat", "sage" or "gat_sep", of the denoiser and of the mean-field GNN.
        heads: Attention heads (GAT, GAT-sep); they share `hidden`.
        residual: Add a linear map of each layer's input to its output.
        normalisation: Row-wise, after hidden layers: "none", "layer", "rms" or "l2".
        self_loop: Weight of self-loops in GCN.
        steps: T, the number of diffusion steps.
        schedule: "cosine", "authors-cosine" or "linear".
        masks: Noisy label states an update.
        e_step_every: Updates between two E-steps.
        e_step_samples: Samples that an E-step pushes into the buffer.
        e_step_temperature: Of the chains of E-steps and of `predict_proba`.
        warm_iterations: Updates before the first E-step.
        queue_size: S, samples kept.
        evaluate_every: Updates between two looks at the validation metric.
        evaluation_temperature: Of the chain that is validated and that `predict` returns.
        mean_field_epochs: Epochs of the warm start at the most.
        mean_field_patience: Epochs without a gain before the warm start stops.
        mean_field_learning_rate: Adam's, for the mean-field GNN.
        mean_field_weight_decay: Adam's coupled decay, for the mean-field GNN.
        mean_field_temperature: Of the samples that first fill the buffer.
    """

    backbone: str = "gcn"
    heads: int = 8
    residual: bool = False
    normalisation: str = "none"
    self_loop: float = 1.0
    steps: int = 80
    schedule: str = "authors-cosine"
    masks: int = 8
    e_step_every: int = 50
    e_step_samples: int = 3
    e_step_temperature: float = 0.3
    warm_iterations: int = 200
    queue_size: int = 50
    evaluate_every: int = 50
    weight_decay: float = 5e-3
    epochs: int = 1000
    patience: int = 500
    evaluation_temperature: float = 0.02
    mean_field_epochs: int = 500
    mean_field_patience: int = 100
    mean_field_learning_rate: float = 0.01
    mean_field_weight_decay: float = 5e-4
    mean_field_temperature: float = 0.5

    def sampler(
        self, network: nn.Module, engine: FullGraphEngine, known: Tensor, seed: int, temperature: float = 1.0
    ) -> LabelSampler:
        """Return what runs chains of the trained network, given labels `known (N,)` with MASKED elsewhere."""
        raise NotImplementedError

    def denoising_loss(
        self, network: nn.Module, lesson: Lesson, clean: Tensor, t: Tensor, generator: np.random.Generator
    ) -> Tensor:
        """Return the M-step's objective for label samples `clean (B, N)` at steps `t (B,)`."""
        raise NotImplementedError

    def architecture(self, head_layers: int = 0) -> Architecture:
        """Return the shape of the networks."""
        return Architecture(
            self.backbone,
            self.hidden,
            self.layers,
            self.heads,
            self.dropout,
            self.input_dropout,
            self.residual,
            normalisation=self.normalisation,  # type: ignore[arg-type]
            head_layers=head_layers,
            self_loop=self.self_loop,
        )

    def em_config(self) -> EMConfig:
        """Return the settings that ReDiSC's EM has too; it checks them."""
        names = {field.name for field in fields(EMConfig)} - {"patience"}
        return EMConfig(**{f.name: getattr(self, f.name) for f in fields(self) if f.name in names})

    def noise_schedule(self) -> Schedule:
        """Return alpha."""
        return get_schedule(self.schedule, self.steps)

    def check(self) -> None:
        """Leave the checks to the parts that the settings are for."""
        super().check()
        self.architecture()
        self.em_config()
        self.noise_schedule()

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Warm-start the buffer, then alternate E-steps and M-steps."""
        alternation = Alternation(self, network, lesson, self._warm_start(lesson))
        looks = Looks(alternation.score, self.evaluate_every, self.epochs, lesson.clock)
        return train(network, alternation.loss, looks, self.pace, lesson.clock, "diffusion")

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Average `n_samples` chains."""
        seed = derive_seed(self._origin.seed, "samples")
        return self.draw(network, engine, known, seed, self.e_step_temperature, n_samples).probabilities

    def decide(self, network: nn.Module, engine: FullGraphEngine, known: Tensor) -> Tensor:
        """Return the labels of the chain that was validated."""
        seed = derive_seed(self._origin.seed, "evaluation")
        return self.draw(network, engine, known, seed, self.evaluation_temperature).labels[0]

    def draw(
        self,
        network: nn.Module,
        engine: FullGraphEngine,
        known: Tensor,
        seed: int,
        temperature: float,
        chains: int = 1,
    ) -> Sampled:
        """Run chains in groups, which bounds memory."""
        sampler = self.sampler(network, engine, known, seed, temperature)
        parts = [sampler.run(range(k, min(k + _GROUP, chains))) for k in range(0, chains, _GROUP)]
        total = torch.stack([part.probabilities * len(part.labels) for part in parts]).sum(0)
        return Sampled(torch.cat([part.labels for part in parts]), total / chains)

    def _warm_start(self, lesson: Lesson) -> PriorityQueue:
        """Train the mean-field GNN and fill the buffer with samples of it."""
        problem, topology, config = lesson.problem, lesson.engine.topology, self.em_config()
        model = MeanField(self.architecture(), lesson.engine.features.shape[-1], problem.num_classes)
        model.reset_parameters(torch_generator(lesson.seed, "mean-field"))
        model.to(topology.device, topology.dtype)
        dropout = Dropout(lesson.generator("mean-field dropout"))
        batches = derive_seed(lesson.seed, "mean-field batches")
        warm = train_mean_field(model, lesson.engine, problem, config, dropout, batches, lesson.clock)
        queue = PriorityQueue(self.queue_size, 1.0, problem.num_classes)
        chosen = (self.queue_size, self.mean_field_temperature, lesson.generator("warm start"))
        for labels in sample_mean_field(warm.probabilities, problem.known, *chosen):
            queue.push(labels, None)
        return queue


class Alternation:
    """M-steps on samples from the buffer, with E-steps between them when they are due."""

    def __init__(self, method: LabelEM, network: nn.Module, lesson: Lesson, buffer: PriorityQueue) -> None:
        self.method, self.network, self.lesson, self.buffer = method, network, lesson, buffer
        self._generator = lesson.generator("m-step")
        self._updates = 0

    def loss(self) -> Tensor:
        """Take an E-step where one is due; return the objective of samples from the buffer."""
        method, known = self.method, self.lesson.problem.known
        since_warm = self._updates - method.warm_iterations
        if since_warm >= 0 and since_warm % method.e_step_every == 0:
            self._e_step(since_warm // method.e_step_every)
        self._updates += 1
        clean = self.buffer.draw(method.masks, self._generator).to(known.device)
        t = torch.from_numpy(self._generator.integers(1, method.steps + 1, size=method.masks)).to(known.device)
        return method.denoising_loss(self.network, self.lesson, clean, t, self._generator)

    def score(self) -> float:
        """Score the evaluation chain, which has the same random numbers every time."""
        seed = derive_seed(self.lesson.seed, "evaluation")
        sampled = self._draw(seed, self.method.evaluation_temperature, 1)
        return self.lesson.problem.validation.score(sampled.labels[0], sampled.probabilities)

    def _e_step(self, round_: int) -> None:
        seed = derive_seed(self.lesson.seed, "e-step", round_)
        for labels in self._draw(seed, self.method.e_step_temperature, self.method.e_step_samples).labels:
            self.buffer.push(labels, None)

    def _draw(self, seed: int, temperature: float, chains: int) -> Sampled:
        known = self.lesson.problem.known
        return self.method.draw(self.network, self.lesson.engine, known, seed, temperature, chains)
