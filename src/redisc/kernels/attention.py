"""Attention over the edges of a CSR pattern, compiled: softmax of edge scores, and the weighted sum over edges.

`edge_softmax.py` holds the same formulas as torch operations, which serve other devices and check these. Arrays are
`(rows, width)` or `(edges, width)` with copies and heads flattened into the width, so that inner loops run over
contiguous memory. The backward passes only gather: the pattern is symmetric there, and `reverse[e]` is the edge
that runs the other way, so no two threads write to one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import launch, serial, threaded, vectorised, view


@dataclass(frozen=True)
class Pattern:
    """Edges in CSR form: those of target i are `indptr[i]:indptr[i+1]`, with sources `indices`.

    `reverse` is given for square symmetric patterns, where gradients are asked for; `log_weight` where edges have
    weights.
    """

    indptr: np.ndarray
    indices: np.ndarray
    reverse: np.ndarray | None = None
    log_weight: np.ndarray | None = None


def attention_weights(source_scores: Tensor, target_scores: Tensor, pattern: Pattern) -> Tensor:
    """Softmax over each target's edges of LeakyReLU(source + target), scores `(rows, copies, heads)`."""
    return _AttentionWeights.apply(source_scores, target_scores, pattern)


def attention_sum(weights: Tensor, values: Tensor, pattern: Pattern) -> Tensor:
    """Sum `weights (E, copies, heads) * values[source] (rows, copies, heads, d)` over each target's edges."""
    return _AttentionSum.apply(weights, values, pattern)


class _AttentionWeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source_scores: Tensor, target_scores: Tensor, pattern: Pattern) -> Tensor:
        source, target = (view(s.flatten(1)) for s in (source_scores, target_scores))
        edges = len(pattern.indices)
        heat = np.empty((edges, source.shape[1]), source.dtype)
        no_weight = np.empty(0, source.dtype)
        log_weight = no_weight if pattern.log_weight is None else pattern.log_weight.astype(source.dtype)
        launch(_shifted_scores, heat.size, source, target, pattern.indptr, pattern.indices, log_weight, heat)
        torch.from_numpy(heat).exp_()  # vectorised, which the compiled loop's own exp is not
        launch(normalise, heat.size, pattern.indptr, heat)
        weights = torch.from_numpy(heat).view(edges, *source_scores.shape[1:])
        ctx.pattern = pattern
        ctx.save_for_backward(source_scores, target_scores, weights)
        return weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        source_scores, target_scores, weights = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        source, target, alpha, arriving = (
            view(a.flatten(1)) for a in (source_scores, target_scores, weights, gradient)
        )
        into_scores, into_target = np.empty_like(alpha), np.empty_like(target)
        shape = (source, target, pattern.indptr, pattern.indices, alpha, arriving)
        launch(_softmax_backward, alpha.size, *shape, into_scores, into_target)
        into_source = np.empty_like(source)
        launch(_sum_reverse, alpha.size, pattern.indptr, reverse_of(pattern), into_scores, into_source)
        into = (torch.from_numpy(into_source), torch.from_numpy(into_target))
        return into[0].view_as(source_scores), into[1].view_as(target_scores), None


class _AttentionSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, pattern: Pattern) -> Tensor:
        alpha, rows = view(weights.flatten(1)), view(values.flatten(1, -2))
        out = np.empty((len(pattern.indptr) - 1, *rows.shape[1:]), rows.dtype)
        launch(_weighted_sum, alpha.size * rows.shape[2], pattern.indptr, pattern.indices, alpha, rows, out)
        ctx.pattern = pattern
        ctx.save_for_backward(weights, values)
        return torch.from_numpy(out).view(len(out), *values.shape[1:])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, values = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        alpha = view(weights.flatten(1))
        rows, arriving = (view(a.flatten(1, -2)) for a in (values, gradient))
        into_weights, into_values = np.empty_like(alpha), np.empty_like(rows)
        shape = (pattern.indptr, pattern.indices, reverse_of(pattern), alpha, rows, arriving)
        launch(_weighted_sum_backward, alpha.size * rows.shape[2], *shape, into_weights, into_values)
        return torch.from_numpy(into_weights).view_as(weights), torch.from_numpy(into_values).view_as(values), None


def reverse_of(pattern: Pattern) -> np.ndarray:
    """Return the reverse edges; an error where the pattern has none."""
    if pattern.reverse is None:
        raise ValueError("gradients need a symmetric pattern with its reverse edges")
    return pattern.reverse


# A parallel loop only calls a function for each row: arrays that a parallel loop allocates itself may end up shared by
# its threads.


@threaded
def _shifted_scores(source, target, indptr, indices, log_weight, out):  # type: ignore[no-untyped-def]
    """LeakyReLU(source + target) + log weight, less the largest value of the target's edges."""
    for i in prange(len(indptr) - 1):
        _shift_row(source, target[i], indptr[i], indptr[i + 1], indices, log_weight, out)


@serial
def _shift_row(source, target, first, last, indices, log_weight, out):  # type: ignore[no-untyped-def]
    peak = np.full(len(target), -np.inf, out.dtype)
    for e in range(first, last):
        shift = log_weight[e] if len(log_weight) else out.dtype.type(0)
        there, into = source[indices[e]], out[e]
        for k in range(len(target)):
            s = there[k] + target[k]
            s = (s if s > 0 else out.dtype.type(0.2) * s) + shift
            into[k] = s
            peak[k] = s if s > peak[k] else peak[k]
    for e in range(first, last):
        into = out[e]
        for k in range(len(target)):
            into[k] -= peak[k]


@threaded
def normalise(indptr, heat):  # type: ignore[no-untyped-def]
    """Divide by the sum over each target's edges, in place."""
    for i in prange(len(indptr) - 1):
        _normalise_row(heat[indptr[i] : indptr[i + 1]])


@serial
def _normalise_row(heat):  # type: ignore[no-untyped-def]
    total = np.zeros(heat.shape[1], heat.dtype)
    for e in range(len(heat)):
        row = heat[e]
        for k in range(len(total)):
            total[k] += row[k]
    for e in range(len(heat)):
        row = heat[e]
        for k in range(len(total)):
            row[k] /= total[k]


@threaded
def _softmax_backward(source, target, indptr, indices, alpha, arriving, into_scores, into_target):  # type: ignore[no-untyped-def]
    """Gradients of the edge scores before LeakyReLU, and their sums over each target's edges."""
    for i in prange(len(indptr) - 1):
        here = slice(indptr[i], indptr[i + 1])
        row = (alpha[here], arriving[here], into_scores[here], into_target[i])
        _softmax_backward_row(source, target[i], indices[here], *row)


@serial
def _softmax_backward_row(source, target, indices, alpha, arriving, into_scores, into_target):  # type: ignore[no-untyped-def]
    mean = np.zeros(len(target), alpha.dtype)
    for e in range(len(indices)):
        a, by = alpha[e], arriving[e]
        for k in range(len(target)):
            mean[k] += a[k] * by[k]
    into_target[:] = 0
    for e in range(len(indices)):
        a, by, there, into = alpha[e], arriving[e], source[indices[e]], into_scores[e]
        for k in range(len(target)):
            g = a[k] * (by[k] - mean[k])
            g = g if there[k] + target[k] > 0 else alpha.dtype.type(0.2) * g
            into[k] = g
            into_target[k] += g


@threaded
def _sum_reverse(indptr, reverse, edge_values, out):  # type: ignore[no-untyped-def]
    """Sum edge values over the edges that leave each node."""
    for i in prange(len(indptr) - 1):
        out[i] = 0
        into = out[i]
        for e in range(indptr[i], indptr[i + 1]):
            of = edge_values[reverse[e]]
            for k in range(len(into)):
                into[k] += of[k]


@threaded
def _weighted_sum(indptr, indices, alpha, rows, out):  # type: ignore[no-untyped-def]
    for i in prange(len(indptr) - 1):
        _weighted_sum_row(indptr[i], indptr[i + 1], indices, alpha, rows, out[i])


@vectorised
def _weighted_sum_row(first, last, indices, alpha, rows, out):  # type: ignore[no-untyped-def]
    # Places are read outside of the inner loop, which is then vectorised: twice as fast at depth 8.
    out[:] = 0
    for e in range(first, last):
        there = rows[indices[e]]
        for k in range(len(out)):
            a, into, of = alpha[e, k], out[k], there[k]
            for d in range(len(into)):
                into[d] += a * of[d]


@threaded
def _weighted_sum_backward(indptr, indices, reverse, alpha, rows, arriving, into_weights, into_values):  # type: ignore[no-untyped-def]
    """The weight of an edge from j to i gets <arriving[i], rows[j]>; a row gathers from the edges that leave it."""
    width, depth = rows.shape[1], rows.shape[2]
    for i in prange(len(indptr) - 1):
        into_values[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            j, back = indices[e], reverse[e]
            for k in range(width):
                a, product = alpha[back, k], alpha.dtype.type(0)
                for d in range(depth):
                    product += arriving[i, k, d] * rows[j, k, d]
                    into_values[i, k, d] += a * arriving[j, k, d]
                into_weights[e, k] = product
