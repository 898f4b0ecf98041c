"""What follows a hidden layer: a nonlinearity, and dropout while training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from redisc.kernels.dropout import Dropout


@dataclass(frozen=True)
class Activation:
    """`dropout(function(m))`; without dropout where none is given (evaluation)."""

    function: Callable[[Tensor], Tensor]
    rate: float = 0.0
    dropout: Dropout | None = None

    @property
    def drops_after_relu(self) -> bool:
        """Whether kernels that do ReLU and dropout in one pass may stand in."""
        return self.function is F.relu and self.dropout is not None and self.rate > 0

    def __call__(self, m: Tensor) -> Tensor:
        """Map `m` element by element."""
        if self.dropout is None:
            return self.function(m)
        if self.function is F.relu:
            return self.dropout.after_relu(m, self.rate)
        return self.dropout.dense(self.function(m), self.rate)
