"""A hidden layer's rows in one pass: labels mixed in, ReLU and dropout; backward without a gradient of their size."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import launch, parts_of, serial, threaded, view


def mix_relu_dropout(base: Tensor, counts: Tensor, table: Tensor, random_bytes: np.ndarray, kept: int) -> Tensor:
    """Return `relu_dropout(mix_labels(base, counts, table), random_bytes, kept)`, `(rows, copies, d)`.

    Memory bounds both, and this passes over it a third as often: where copies share their base, the backward pass
    writes nothing as large as the rows themselves.
    """
    return _MixReluDropout.apply(base, counts, table, random_bytes, kept)


class _MixReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, counts: Tensor, table: Tensor, random_bytes: np.ndarray, kept: int) -> Tensor:
        out = np.empty((*counts.shape[:2], table.shape[2]), view(table).dtype)
        scale = out.dtype.type(256 / kept)
        bytes_ = random_bytes.reshape(out.shape)
        launch(_forward, out.size, view(base), view(counts), view(table), bytes_, np.uint8(kept - 1), scale, out)
        result = torch.from_numpy(out)
        ctx.save_for_backward(result, counts)
        ctx.scale, ctx.shapes = scale, (base.shape, table.shape)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor, None, None]:
        result, counts = ctx.saved_tensors
        base_shape, table_shape = ctx.shapes
        into_base = np.zeros(base_shape, view(result).dtype)
        into_table = np.zeros((parts_of(gradient.numel()), *table_shape), into_base.dtype)
        given = (view(gradient), view(result), view(counts), ctx.scale)
        launch(_backward, gradient.numel(), *given, into_base, into_table)
        return torch.from_numpy(into_base), None, torch.from_numpy(into_table).sum(0), None, None


@threaded
def _forward(base, counts, table, random_bytes, last_kept, scale, out):  # type: ignore[no-untyped-def]
    shared, single = base.shape[1] == 1, table.shape[0] == 1
    for i in prange(out.shape[0]):
        for b in range(out.shape[1]):
            left, right = base[i, 0 if shared else b], table[0 if single else b]
            _forward_row(left, counts[i, b], right, random_bytes[i, b], last_kept, scale, out[i, b])


@serial
def _forward_row(base, counts, table, random_bytes, last_kept, scale, out):  # type: ignore[no-untyped-def]
    out[:] = base
    for c in range(len(counts)):
        n = counts[c]
        if n != 0:
            for d in range(len(out)):
                out[d] += n * table[c, d]
    zero = out.dtype.type(0)
    for d in range(len(out)):
        out[d] = out[d] * scale if (out[d] > zero) & (random_bytes[d] <= last_kept) else zero


@threaded
def _backward(gradient, result, counts, scale, into_base, into_table):  # type: ignore[no-untyped-def]
    """Each part of the rows sums into a table of its own."""
    parts, rows = into_table.shape[0], gradient.shape[0]
    for part in prange(parts):
        here = slice(part * rows // parts, (part + 1) * rows // parts)
        _backward_rows(gradient[here], result[here], counts[here], scale, into_base[here], into_table[part])


@serial
def _backward_rows(gradient, result, counts, scale, into_base, into_table):  # type: ignore[no-untyped-def]
    shared, single = into_base.shape[1] == 1, into_table.shape[0] == 1
    passed, zero = np.empty(gradient.shape[2], gradient.dtype), gradient.dtype.type(0)
    for i in range(gradient.shape[0]):
        for b in range(gradient.shape[1]):
            for d in range(len(passed)):
                passed[d] = gradient[i, b, d] * scale if result[i, b, d] > zero else zero
            base, table = into_base[i, 0 if shared else b], into_table[0 if single else b]
            for d in range(len(passed)):
                base[d] += passed[d]
            for c in range(counts.shape[2]):
                n = counts[i, b, c]
                if n != 0:
                    for d in range(len(passed)):
                        table[c, d] += n * passed[d]
