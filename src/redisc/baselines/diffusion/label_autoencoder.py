"""Labels as points of a latent space, and back."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.clock import Clock
from redisc.nn import Affine


class LabelAutoencoder(nn.Module):
    """An embedding of C labels on a sphere whose coordinates have mean square 1, and a linear map to logits."""

    def __init__(self, num_classes: int, latent: int) -> None:
        super().__init__()
        self.encoder = Affine(num_classes, latent, bias=False)
        self.decoder = Affine(latent, num_classes)

    def encode(self, labels: Tensor) -> Tensor:
        """Return latents `(..., latent)` of `labels (...)`."""
        return F.normalize(self.encoder.weight, dim=1)[labels] * math.sqrt(self.encoder.weight.shape[1])

    def decode(self, latents: Tensor) -> Tensor:
        """Return logits `(..., C)`."""
        return self.decoder(latents)

    def fit(self, learning_rate: float, epochs: int, clock: Clock) -> None:
        """Minimise the reconstruction's cross-entropy over the C labels; the weights are frozen afterwards."""
        labels = torch.arange(len(self.encoder.weight), device=self.encoder.weight.device)
        optimiser = torch.optim.Adam(self.parameters(), lr=learning_rate)
        for _ in range(epochs):
            optimiser.zero_grad()
            F.cross_entropy(self.decode(self.encode(labels)), labels).backward()
            optimiser.step()
            if clock.is_over():
                break
        self.requires_grad_(False)
