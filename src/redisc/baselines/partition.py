"""Training labels taken apart at random: some are given, the others are asked for."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED


def partition(known: Tensor, rate: float, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Draw V_in and V_out (Eq. 3 of the ReDiSC paper): each label is given with probability `rate`.

    Returns:
        Labels `(N,)` that are given (MASKED elsewhere), and which nodes `(N,)` are asked for, one at the least.
    """
    uniforms = torch.from_numpy(generator.random(len(known))).to(known.device)
    uniforms = torch.where(known == MASKED, -1.0, uniforms)
    asked = uniforms >= uniforms.max().clamp_max(rate)
    return torch.where(asked, MASKED, known), asked
