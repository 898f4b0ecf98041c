"""Discrete diffusion with uniform noise (Austin et al., 2021), trained and asked as ReDiSC is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from redisc.baselines.base import Lesson
from redisc.baselines.diffusion.label_em import LabelEM
from redisc.baselines.diffusion.uniform import UniformNoise, UniformSampler
from redisc.diffusion import weighted_cross_entropy
from redisc.engine import FullGraphEngine
from redisc.nn import Denoiser


@dataclass(eq=False, repr=False, kw_only=True)
class UniformDiffusion(LabelEM):
    """D3PM with uniform transition matrices: labels turn into other labels, and none is ever masked.

    ReDiSC's denoiser predicts y_0; a step draws from Σ_y p(y_0 = y) q(y_{t-1} | y_t, y) (Eqs. 3 and 4 of the D3PM
    paper). Every node may change at every step, so each step asks for the whole graph.
    """

    name = "uniform_diffusion"
    title = "uniform-noise diffusion"
    citation = "Austin et al., 2021: Structured Denoising Diffusion Models in Discrete State-Spaces"
    family = "diffusion"
    heterophilic = True
    cost = "O(B (N d^2 + E d)) an update, O(T (N d^2 + E d)) a sample"

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build ReDiSC's denoiser."""
        return Denoiser(self.architecture(), num_features, num_classes, self.steps)

    def sampler(
        self, network: nn.Module, engine: FullGraphEngine, known: Tensor, seed: int, temperature: float = 1.0
    ) -> UniformSampler:
        """Return what draws a sample by T passes over the whole graph."""
        denoiser = cast(Denoiser, network)
        return UniformSampler(engine.denoise(denoiser), self.process(denoiser), known, seed, temperature)

    def process(self, denoiser: Denoiser) -> UniformNoise:
        """Return the noise."""
        return UniformNoise(self.noise_schedule(), denoiser.num_classes)

    def denoising_loss(
        self, network: nn.Module, lesson: Lesson, clean: Tensor, t: Tensor, generator: np.random.Generator
    ) -> Tensor:
        """Cross-entropy of y_0 over all nodes."""
        denoiser = cast(Denoiser, network)
        uniforms = torch.from_numpy(generator.random(clean.shape)).to(clean.device)
        noisy = self.process(denoiser).noised(clean, t, uniforms)
        logits = lesson.engine.noisy_logits(denoiser, noisy, t, lesson.dropout)
        return weighted_cross_entropy(logits, clean, torch.full(clean.shape, 1 / clean.shape[1], device=clean.device))
