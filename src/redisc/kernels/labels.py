"""Labels as messages: neighbours' labels are counted, and counts meet a small table."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import launch, parts_of, serial, threaded, view


def count_labels(
    indptr: np.ndarray,
    indices: np.ndarray,
    edge_weight: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    loop: np.ndarray,
    places: np.ndarray,
    num_states: int,
) -> np.ndarray:
    """Sum `left[target] * edge_weight * right[source]` over each target's edges, apart for each label.

    Returns `(targets, copies, states)`. `places (sources, copies)` holds labels as table rows; `edge_weight` is
    empty where all weights are 1. `loop (targets,)` is what the target's own label counts, zero without self-loops.
    """
    counts = np.zeros((len(indptr) - 1, places.shape[1], num_states), right.dtype)
    work = len(indices) * places.shape[1] * 8
    launch(_count_labels, work, indptr, indices, edge_weight, left, right, loop, places, counts)
    return counts


def count_labels_at(
    rows: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    edge_weight: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    loop: np.ndarray,
    labels: np.ndarray,
    num_states: int,
) -> np.ndarray:
    """Return the counts of `count_labels` for nodes `rows (R,)` alone; `labels (copies, N)`, -1 where masked."""
    counts = np.zeros((len(rows), len(labels), num_states), right.dtype)
    work = len(rows) * len(labels) * 64
    launch(_count_labels_at, work, rows, indptr, indices, edge_weight, left, right, loop, labels, counts)
    return counts


def mix_labels(base: Tensor, counts: Tensor, table: Tensor) -> Tensor:
    """Return `base + counts @ table`, `(rows, copies, d)`; counts are data and get no gradient.

    Shapes: `base (rows, copies or 1, d)`, `counts (rows, copies, states)`, `table (copies or 1, states, d)`. Most
    counts are zero, and zeros are skipped.
    """
    return _MixLabels.apply(base, counts, table)


def read_table(table: Tensor, labels: Tensor) -> Tensor:
    """Return the row of a table `(copies or 1, C+1, d)` for each label `(copies, rows)`: `(rows, copies, d)`.

    A negative label is masked and has the last row.
    """
    place = torch.where(labels < 0, table.shape[1] - 1, labels).T
    if len(table) > 1:
        place = place + torch.arange(len(table), device=place.device) * table.shape[1]
    return F.embedding(place, table.flatten(0, 1))


def mix_shares(shares: Tensor, table: Tensor) -> Tensor:
    """Return `shares @ table` as dense products, for counts that are mostly not zero; shapes as in `mix_labels`."""
    shares = shares.to(table.dtype)
    return shares @ table[0] if len(table) == 1 else torch.einsum("nbc,bcd->nbd", shares, table)


def fuse_labels(base: Tensor, places: Tensor, table: Tensor) -> Tensor:
    """Return `base + table[label]`, `(rows, copies, d)`, for labels as table rows `places (rows, copies)`."""
    return _FuseLabels.apply(base, places, table)


class _FuseLabels(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, places: Tensor, table: Tensor) -> Tensor:
        out = np.empty((*places.shape, table.shape[2]), view(table).dtype)
        launch(_fuse, out.size, view(base), view(places), view(table), out)
        ctx.save_for_backward(places)
        ctx.shapes = base.shape, table.shape
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor]:
        (places,) = ctx.saved_tensors
        base_shape, table_shape = ctx.shapes
        into_table = np.zeros((parts_of(gradient.numel()), *table_shape), view(gradient).dtype)
        launch(_fuse_backward, gradient.numel(), view(gradient), view(places), into_table)
        return _sum_copies(gradient, base_shape[1]), None, torch.from_numpy(into_table).sum(0)


def _sum_copies(gradient: Tensor, copies: int) -> Tensor:
    return gradient.sum(1, keepdim=True) if copies < gradient.shape[1] else gradient


class _MixLabels(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, counts: Tensor, table: Tensor) -> Tensor:
        out = np.empty((*counts.shape[:2], table.shape[2]), view(table).dtype)
        launch(_mix, out.size, view(base), view(counts), view(table), out)
        ctx.save_for_backward(counts)
        ctx.shapes = base.shape, table.shape
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor]:
        (counts,) = ctx.saved_tensors
        base_shape, table_shape = ctx.shapes
        into_table = np.zeros((parts_of(gradient.numel()), *table_shape), view(gradient).dtype)
        launch(_mix_backward, gradient.numel(), view(gradient), view(counts), into_table)
        return _sum_copies(gradient, base_shape[1]), None, torch.from_numpy(into_table).sum(0)


@threaded
def _count_labels(indptr, indices, edge_weight, left, right, loop, places, counts):  # type: ignore[no-untyped-def]
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            w = left[i] * right[j]
            w = w * edge_weight[e] if len(edge_weight) else w
            for b in range(places.shape[1]):
                counts[i, b, places[j, b]] += w
        if loop[i] != 0:
            for b in range(places.shape[1]):
                counts[i, b, places[i, b]] += loop[i]


@threaded
def _count_labels_at(rows, indptr, indices, edge_weight, left, right, loop, labels, counts):  # type: ignore[no-untyped-def]
    masked = counts.shape[2] - 1
    for r in prange(len(rows)):
        i = rows[r]
        for b in range(len(labels)):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                w = left[i] * right[j]
                w = w * edge_weight[e] if len(edge_weight) else w
                label = labels[b, j]
                counts[r, b, label if label >= 0 else masked] += w
            if loop[i] != 0:
                label = labels[b, i]
                counts[r, b, label if label >= 0 else masked] += loop[i]


@threaded
def _fuse(base, places, table, out):  # type: ignore[no-untyped-def]
    shared, single = base.shape[1] == 1, table.shape[0] == 1
    for i in prange(out.shape[0]):
        for b in range(out.shape[1]):
            left, t, c = (0 if shared else b), (0 if single else b), places[i, b]
            for d in range(out.shape[2]):
                out[i, b, d] = base[i, left, d] + table[t, c, d]


@threaded
def _fuse_backward(gradient, places, into_table):  # type: ignore[no-untyped-def]
    """Each part of the rows sums into a table of its own."""
    parts, single, rows = into_table.shape[0], into_table.shape[1] == 1, gradient.shape[0]
    for part in prange(parts):
        for i in range(part * rows // parts, (part + 1) * rows // parts):
            for b in range(gradient.shape[1]):
                t, c = (0 if single else b), places[i, b]
                for d in range(gradient.shape[2]):
                    into_table[part, t, c, d] += gradient[i, b, d]


@threaded
def _mix(base, counts, table, out):  # type: ignore[no-untyped-def]
    shared, single = base.shape[1] == 1, table.shape[0] == 1
    for i in prange(out.shape[0]):
        for b in range(out.shape[1]):
            left, t = (0 if shared else b), (0 if single else b)
            for d in range(out.shape[2]):
                out[i, b, d] = base[i, left, d]
            for c in range(counts.shape[2]):
                n = counts[i, b, c]
                if n != 0:
                    for d in range(out.shape[2]):
                        out[i, b, d] += n * table[t, c, d]


@threaded
def _mix_backward(gradient, counts, into_table):  # type: ignore[no-untyped-def]
    """Each part of the rows sums into a table of its own."""
    parts, single, rows = into_table.shape[0], into_table.shape[1] == 1, gradient.shape[0]
    for part in prange(parts):
        for i in range(part * rows // parts, (part + 1) * rows // parts):
            for b in range(gradient.shape[1]):
                t = 0 if single else b
                for c in range(counts.shape[2]):
                    n = counts[i, b, c]
                    if n != 0:
                        for d in range(gradient.shape[2]):
                            into_table[part, t, c, d] += n * gradient[i, b, d]


@serial
def add_labels_at(rows, indptr, indices, edge_weight, left, right, loop, labels, num_nodes, table, out):  # type: ignore[no-untyped-def]
    """Add counts times `table (states, d)` to `out (rows, d)`, for flat rows (chain * N + node) alone.

    Counts are those of `count_labels`. `labels` holds all chains' labels, flat; a negative one is masked and counts
    in the last row of the table.
    """
    counts = np.empty(len(table), table.dtype)
    for k in range(len(rows)):
        i = rows[k] % num_nodes
        here = labels[rows[k] - i : rows[k] - i + num_nodes]
        add_counted_labels(i, indptr, indices, edge_weight, left, right, loop, here, counts, table, out[k])


@serial
def add_counted_labels(i, indptr, indices, edge_weight, left, right, loop, labels, counts, table, out):  # type: ignore[no-untyped-def]
    """Add counts times `table (states, d)` to `out (d,)` for node i of one chain; `counts (states,)` is scratch."""
    states = len(table)
    counts[:] = 0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        w = left[i] * right[j]
        w = w * edge_weight[e] if len(edge_weight) else w
        label = labels[j]
        counts[label if label >= 0 else states - 1] += w
    if loop[i] != 0:
        label = labels[i]
        counts[label if label >= 0 else states - 1] += loop[i]
    for c in range(states):
        if counts[c] != 0:
            for d in range(len(out)):
                out[d] += counts[c] * table[c, d]


@serial
def propagate_rows(sources, indptr, indices, edge_weight, left, right, loop, num_nodes, z):  # type: ignore[no-untyped-def]
    """Sum left[i] * weight * right[j] * z[j] over each target's edges, and loop[i] * z[i]: `(targets, d)`.

    `sources` are flat rows, targets first; `z (sources, d)`.
    """
    out = np.zeros((len(indptr) - 1, z.shape[1]), z.dtype)
    factor = np.empty(len(sources), right.dtype)
    for j in range(len(sources)):
        factor[j] = right[sources[j] % num_nodes]
    for k in range(len(out)):
        i = sources[k] % num_nodes
        for e in range(indptr[k], indptr[k + 1]):
            j = indices[e]  # read in the inner loop it would keep that from being vectorised: five times slower
            w = left[i] * factor[j]
            w = w * edge_weight[e] if len(edge_weight) else w
            for d in range(z.shape[1]):
                out[k, d] += w * z[j, d]
        if loop[i] != 0:
            for d in range(z.shape[1]):
                out[k, d] += loop[i] * z[k, d]
    return out
