"""LGD: diffusion of label latents, conditioned on the graph (Zhou, Wang & Zhang, 2024)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.diffusion.gaussian import GaussianDiffusion
from redisc.baselines.diffusion.label_autoencoder import LabelAutoencoder
from redisc.baselines.diffusion.latent_denoiser import LatentDenoiser
from redisc.baselines.diffusion.looks import Looks
from redisc.diffusion import get_schedule
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.nn import Architecture, MeanField
from redisc.seeds import derive_seed, torch_generator
from redisc.training import Trained, train


class LGDNetwork(nn.Module):
    """The label autoencoder, the encoder of conditions and the denoiser between them."""

    def __init__(
        self, architecture: Architecture, num_features: int, num_classes: int, latent: int, layers: int, steps: int
    ) -> None:
        super().__init__()
        a = architecture
        self.autoencoder = LabelAutoencoder(num_classes, latent)
        self.encoder = MeanField(architecture, num_features, a.hidden)
        self.denoiser = LatentDenoiser(latent, a.hidden, a.heads, layers, a.dropout, steps)


@dataclass(eq=False, repr=False, kw_only=True)
class LGD(NeuralBaseline):
    """Latent graph diffusion, for node labels.

    First a label autoencoder is trained and frozen. Then known labels' latents are noised, and a denoiser learns to
    predict them (LGD's x_0 form) by cross-attention on a GNN's embedding of features and graph; the loss is the
    latents' squared error plus the decoded labels' cross-entropy. An answer runs DDIM from noise and decodes the end.

    Args:
        backbone: "gcn", "gat", "sage", "gat_sep" or "appnp", of the conditions' encoder.
        heads: Of the cross-attention and of attention backbones; they share `hidden`.
        residual: Add a linear map of each encoder layer's input to its output.
        normalisation: Row-wise, after hidden encoder layers: "none", "layer", "rms" or "l2".
        latent: Width of the latents.
        denoiser_layers: How many layers of cross-attention.
        steps: T, the number of diffusion steps.
        schedule: "cosine", "authors-cosine" or "linear".
        sampling_steps: Of DDIM.
        masks: Noisy latents of every known label in an update.
        autoencoder_epochs: Of the first stage.
        evaluate_every: Epochs between two looks at the validation metric.
    """

    name = "lgd"
    title = "LGD"
    citation = "Zhou, Wang & Zhang, 2024: Unifying Generation and Prediction on Graphs with Latent Graph Diffusion"
    family = "diffusion"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"

    backbone: str = "gcn"
    heads: int = 8
    residual: bool = False
    normalisation: str = "none"
    latent: int = 16
    denoiser_layers: int = 2
    steps: int = 100
    schedule: str = "authors-cosine"
    sampling_steps: int = 10
    masks: int = 2
    learning_rate: float = 0.005
    autoencoder_epochs: int = 200
    evaluate_every: int = 10
    weight_decay: float = 5e-3
    patience: int = 200

    def check(self) -> None:
        """Refuse sizes below 1 and DDIM steps that the process does not have."""
        super().check()
        self.architecture()
        self.process()
        for name in ("latent", "denoiser_layers", "sampling_steps", "masks", "autoencoder_epochs", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it must be at least 1")
        if self.sampling_steps > self.steps:
            raise ConfigError(f"sampling_steps={self.sampling_steps}: there are only {self.steps} steps")

    def architecture(self) -> Architecture:
        """Return the shape of the conditions' encoder."""
        shape = (self.backbone, self.hidden, self.layers, self.heads, self.dropout, self.input_dropout, self.residual)
        return Architecture(*shape, normalisation=self.normalisation, head_layers=1)  # type: ignore[arg-type]

    def process(self) -> GaussianDiffusion:
        """Return the noise."""
        return GaussianDiffusion(get_schedule(self.schedule, self.steps))

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build autoencoder, encoder and denoiser."""
        sizes = (num_features, num_classes, self.latent, self.denoiser_layers, self.steps)
        return LGDNetwork(self.architecture(), *sizes)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Fit the autoencoder, then encoder and denoiser."""
        parts, generator = cast(LGDNetwork, network), lesson.generator("diffusion")
        parts.autoencoder.fit(0.05, self.autoencoder_epochs, lesson.clock)
        seed = derive_seed(lesson.seed, "samples")

        def score() -> float:
            return lesson.validate(self._sample(parts, lesson.engine, 1, seed))

        looks = Looks(score, self.evaluate_every, self.epochs, lesson.clock)
        return train(network, lambda: self._denoising_loss(parts, lesson, generator), looks, self.pace, lesson.clock)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Average `n_samples` chains; known labels are not looked at."""
        return self._sample(cast(LGDNetwork, network), engine, n_samples, derive_seed(self._origin.seed, "samples"))

    def _denoising_loss(self, network: LGDNetwork, lesson: Lesson, generator: np.random.Generator) -> Tensor:
        engine, labelled = lesson.engine, lesson.labelled
        labels = lesson.problem.known.clamp_min(0)[:, None].expand(-1, self.masks)
        clean = network.autoencoder.encode(labels)
        noise = torch.from_numpy(generator.standard_normal(clean.shape, np.float32)).to(clean)
        t = torch.from_numpy(generator.integers(1, self.steps + 1, size=self.masks)).to(labels.device)
        noisy, condition = self.process().noised(clean, t, noise), engine.mean_field(network.encoder, lesson.dropout)
        block = engine.block(engine.topology)
        predicted = network.denoiser(block, noisy, t, condition[:, None], lesson.dropout)[labelled]
        logits = network.autoencoder.decode(predicted)
        error = F.mse_loss(predicted, clean[labelled])
        return error + F.cross_entropy(logits.flatten(0, 1), labels[labelled].flatten())

    def _sample(self, network: LGDNetwork, engine: FullGraphEngine, chains: int, seed: int) -> Tensor:
        """Return mean probabilities `(N, C)` of chains."""
        condition = engine.mean_field(network.encoder)[:, None]
        total = torch.zeros((), device=condition.device)
        for chain in range(chains):
            generator = torch_generator(seed, "chain", chain)
            noise = torch.randn(len(condition), 1, self.latent, generator=generator).to(condition)
            total = total + self._run(network, engine, condition, noise)
        return total / chains

    def _run(self, network: LGDNetwork, engine: FullGraphEngine, condition: Tensor, state: Tensor) -> Tensor:
        """Go from noise `(N, 1, latent)` to probabilities `(N, C)` by DDIM, which adds no noise on its way."""
        block, process = engine.block(engine.topology), self.process()
        for t, before in self._strides():
            clean = network.denoiser(block, state, torch.tensor([t], device=state.device), condition)
            state = process.noised(clean, before, process.noise(state, clean, t))
        return network.autoencoder.decode(state).softmax(2).squeeze(1)

    def _strides(self) -> list[tuple[int, int]]:
        """Return the steps that DDIM takes, from T down to 0."""
        stops = np.linspace(self.steps, 0, self.sampling_steps + 1).round().astype(int).tolist()
        return list(itertools.pairwise(stops))
