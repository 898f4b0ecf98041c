"""DPM-SNC: Gaussian diffusion on one-hot labels (Jang et al., 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson
from redisc.baselines.diffusion.gaussian import GaussianDiffusion
from redisc.baselines.diffusion.label_em import LabelEM
from redisc.baselines.diffusion.manifold_sampler import ManifoldSampler
from redisc.baselines.diffusion.score_network import ScoreNetwork
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError


@dataclass(eq=False, repr=False, kw_only=True)
class DPMSNC(LabelEM):
    """Gaussian diffusion on one-hot labels, with manifold-constrained sampling given the observed ones.

    Args:
        head_layers: Row-wise layers after the convolutions, at least 1; the first sees the noisy labels too.
        guidance: Step along the gradient of the observed labels' error, in units of the inverse squared error.
    """

    name = "dpm_snc"
    title = "DPM-SNC"
    citation = "Jang et al., 2023: Diffusion Probabilistic Models for Structured Node Classification"
    family = "diffusion"
    heterophilic = True
    cost = "O(B (N d^2 + E d)) an update, O(T (N d^2 + E d)) a sample, forward and backward"

    head_layers: int = 1
    guidance: float = 1.0

    def check(self) -> None:
        """Refuse what the sampler and the network can't use."""
        super().check()
        if self.head_layers < 1:
            raise ConfigError(f"head_layers={self.head_layers}: it must be at least 1")
        if self.guidance < 0:
            raise ConfigError(f"guidance={self.guidance}: it must be 0 or more")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the noise-prediction network."""
        return ScoreNetwork(self.architecture(self.head_layers), num_features, num_classes, self.steps)

    def process(self) -> GaussianDiffusion:
        """Return the noise."""
        return GaussianDiffusion(self.noise_schedule())

    def sampler(
        self, network: nn.Module, engine: FullGraphEngine, known: Tensor, seed: int, temperature: float = 1.0
    ) -> ManifoldSampler:
        """Return what draws a sample by T passes over the whole graph, forward and backward."""
        score, block = cast(ScoreNetwork, network), engine.block(engine.topology)
        with torch.no_grad():
            projected = score.project(engine.features)

        def denoise(state: Tensor, t: int) -> Tensor:
            return score(block, projected, state, torch.tensor([t], device=state.device))

        shared = (self.process(), known, score.num_classes, seed, temperature, self.guidance, engine.topology.dtype)
        return ManifoldSampler(denoise, *shared)

    def denoising_loss(
        self, network: nn.Module, lesson: Lesson, clean: Tensor, t: Tensor, generator: np.random.Generator
    ) -> Tensor:
        """Squared error of the predicted noise: the mean over labelled nodes plus the mean over the others."""
        engine, score = lesson.engine, cast(ScoreNetwork, network)
        labels = F.one_hot(clean.T, lesson.problem.num_classes).to(engine.topology.dtype)
        noise = torch.from_numpy(generator.standard_normal(labels.shape, np.float32)).to(labels)
        noisy = self.process().noised(labels, t, noise)
        projected = score.project(engine.features, lesson.dropout)
        predicted = score(engine.block(engine.topology), projected, noisy, t, lesson.dropout)
        error = (predicted - noise).square().sum(2).mean(1)
        labelled = lesson.labelled
        return torch.cat(
            [part.mean(0, keepdim=True) for part in (error[labelled], error[~labelled]) if len(part)]
        ).sum()
