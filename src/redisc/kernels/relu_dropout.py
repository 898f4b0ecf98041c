"""ReLU and dropout in one pass: `relu(m) * mask / kept`, where one random byte decides an element."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import launch, threaded, view


def relu_dropout(m: Tensor, random_bytes: np.ndarray, kept: int) -> Tensor:
    """Keep `relu(m)` where the element's byte is below `kept` of 256, scaled up; zero elsewhere.

    The output is positive exactly where a gradient passes, so the backward pass needs no mask.
    """
    return _ReluDropout.apply(m, random_bytes, kept)


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, m: Tensor, random_bytes: np.ndarray, kept: int) -> Tensor:
        rows = view(m)
        out = np.empty(rows.shape, rows.dtype)
        scale = rows.dtype.type(256 / kept)
        launch(_forward, rows.size, rows.reshape(-1), random_bytes, np.uint8(kept - 1), scale, out.reshape(-1))
        result = torch.from_numpy(out)
        ctx.scale = scale
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (result,) = ctx.saved_tensors
        out = np.empty(result.shape, view(result).dtype)
        flat = (view(a).reshape(-1) for a in (gradient, result))
        launch(_backward, out.size, *flat, ctx.scale, out.reshape(-1))
        return torch.from_numpy(out), None, None


@threaded
def _forward(m, random_bytes, last_kept, scale, out):  # type: ignore[no-untyped-def]
    zero = m.dtype.type(0)
    for k in prange(m.size):
        x = m[k]
        out[k] = x * scale if (x > zero) & (random_bytes[k] <= last_kept) else zero


@threaded
def _backward(gradient, result, scale, out):  # type: ignore[no-untyped-def]
    zero = out.dtype.type(0)
    for k in prange(out.size):
        out[k] = gradient[k] * scale if result[k] > zero else zero
