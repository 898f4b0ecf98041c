"""The CSR arrays of a graph from edges that come in chunks, in memory proportional to the nodes alone.

Every edge makes two entries, one in the row of each end. An entry holds twice the neighbour's number, plus one where
the row is the edge's target: sorting a row then puts equal neighbours beside each other, and their last bits tell
whether the edge came in one direction or in both. Rows are sorted and merged in the file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from redisc.errors import EdgeWeightError
from redisc.graph.adjacency import Adjacency, check_endpoints, direction_conflict, index_dtype
from redisc.graph.arrays import read_only
from redisc.io.npy import create_npy, map_npy, shorten_npy
from redisc.kernels.compiled import serial

EdgeChunk = tuple[np.ndarray, np.ndarray | None]
"""Edges (2, e), and their weights (e,) where they have any."""
EdgeChunks = Iterable[EdgeChunk]
"""Chunks that can be gone through twice."""

_NO_WEIGHT = np.empty(0, dtype=np.float32)


@dataclass(frozen=True)
class BuiltCsr:
    """The arrays, mapped from their files, and the first edge whose directions have different weights, if any."""

    adjacency: Adjacency
    conflict: EdgeWeightError | None


def build_csr(
    chunks: EdgeChunks, num_nodes: int, folder: Path, report: Callable[[str], None] = lambda _: None
) -> BuiltCsr:
    """Write `indptr.npy`, `indices.npy` and, where edges have weights, `edge_weight.npy` into a folder.

    Self-loops are dropped, missing directions added, and repeated edges merged. Of the weights of an edge, in either
    direction, the largest counts; where the largest differ by direction, `conflict` says so.

    Args:
        chunks: Edges (2, e) int64 with weights (e,) float32 or None, in any order; gone through twice.
        num_nodes: Number of nodes N.
        folder: Where the files go.
        report: Is told of each stage.
    """
    report("counting edges")
    starts, loops, weighted = _row_starts(chunks, num_nodes)
    place, weight_place = folder / "indices.npy", folder / "edge_weight.npy"
    dtype = np.dtype(index_dtype(num_nodes))
    entries = create_npy(place, np.uint32 if dtype.itemsize == 4 else np.uint64, (int(starts[-1]),))
    weight = create_npy(weight_place, np.float32, (int(starts[-1]),)) if weighted else _NO_WEIGHT
    report(f"placing {entries.size // 2:,} edges")
    _fill_rows(chunks, starts, np.asarray(entries), np.asarray(weight))
    report("sorting neighbours")
    indptr, counts, conflict = _merge_rows(starts, np.asarray(entries), np.asarray(weight))
    del entries, weight
    np.save(folder / "indptr.npy", indptr)
    shorten_npy(place, dtype, int(indptr[-1]))
    if weighted:
        shorten_npy(weight_place, np.float32, int(indptr[-1]))
    adjacency = Adjacency(
        indptr=read_only(indptr),
        indices=read_only(np.asarray(map_npy(place))),
        edge_weight=read_only(np.asarray(map_npy(weight_place))) if weighted else None,
        dropped_self_loops=loops,
        one_way=int(counts[0]),
        mutual=int(counts[1]),
    )
    return BuiltCsr(adjacency, _conflict(conflict))


def _row_starts(chunks: EdgeChunks, num_nodes: int) -> tuple[np.ndarray, int, bool]:
    """Where each row begins (N + 1,) if every edge is entered twice, the number of self-loops, if there are weights."""
    starts, loops, weighted = np.zeros(num_nodes + 1, dtype=np.int64), 0, False
    for edges, weight in chunks:
        check_endpoints(edges, num_nodes)
        loops += _count_ends(edges[0], edges[1], starts)
        weighted = weight is not None
    np.cumsum(starts, out=starts)
    return starts, loops, weighted


def _fill_rows(chunks: EdgeChunks, starts: np.ndarray, entries: np.ndarray, weight: np.ndarray) -> None:
    place = starts[:-1].copy()
    for edges, given in chunks:
        _place_ends(edges[0], edges[1], _NO_WEIGHT if given is None else given, place, entries, weight)


def _merge_rows(
    starts: np.ndarray, entries: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort and merge rows in place; returns indptr, numbers of one-way and mutual edges, and the conflict found."""
    indptr, counts, conflict = np.zeros_like(starts), np.zeros(2, dtype=np.int64), np.zeros(4)
    if weight.size:
        _merge_weighted(starts, entries, weight, indptr, counts, conflict)
    else:
        _merge_plain(starts, entries, indptr, counts)
    return indptr, counts // 2, conflict


def _conflict(found: np.ndarray) -> EdgeWeightError | None:
    row, column, smallest, largest = found.tolist()
    return None if row == column else direction_conflict(int(row), int(column), smallest, largest)


@serial
def _count_ends(source: np.ndarray, target: np.ndarray, starts: np.ndarray) -> int:
    """Add the ends of edges to the counts of their rows, kept one place further; returns the number of self-loops."""
    loops = 0
    for edge in range(source.size):
        if source[edge] == target[edge]:
            loops += 1
        else:
            starts[source[edge] + 1] += 1
            starts[target[edge] + 1] += 1
    return loops


@serial
def _place_ends(
    source: np.ndarray,
    target: np.ndarray,
    given: np.ndarray,
    place: np.ndarray,
    entries: np.ndarray,
    weight: np.ndarray,
) -> None:
    """Enter each edge into the rows of both its ends; `place` (N,) is where each row goes on."""
    for edge in range(source.size):
        one, other = source[edge], target[edge]
        if one == other:
            continue
        entries[place[one]] = 2 * other
        entries[place[other]] = 2 * one + 1
        if given.size:
            weight[place[one]] = given[edge]
            weight[place[other]] = given[edge]
        place[one] += 1
        place[other] += 1


@serial
def _merge_plain(starts: np.ndarray, entries: np.ndarray, indptr: np.ndarray, counts: np.ndarray) -> None:
    """Sort each row, keep each neighbour once and move the rows together; `counts` tells edges by direction."""
    end = 0
    for row in range(starts.size - 1):
        keys = entries[starts[row] : starts[row + 1]]
        keys.sort()
        place = 0
        while place < keys.size:
            neighbour = keys[place] >> 1
            first, last = keys[place] & 1, keys[place] & 1
            while place < keys.size and keys[place] >> 1 == neighbour:
                last = keys[place] & 1
                place += 1
            counts[0 if first == last else 1] += 1
            entries[end] = neighbour
            end += 1
        indptr[row + 1] = end


@serial
def _merge_weighted(
    starts: np.ndarray,
    entries: np.ndarray,
    weight: np.ndarray,
    indptr: np.ndarray,
    counts: np.ndarray,
    conflict: np.ndarray,
) -> None:
    """The same with weights: the largest of each direction is found, and of these the largest is kept."""
    end = 0
    for row in range(starts.size - 1):
        order = np.argsort(entries[starts[row] : starts[row + 1]])
        keys = entries[starts[row] : starts[row + 1]][order]
        values = weight[starts[row] : starts[row + 1]][order]
        place = 0
        while place < keys.size:
            neighbour = keys[place] >> 1
            out, back = np.float32(0), np.float32(0)
            while place < keys.size and keys[place] >> 1 == neighbour:
                if keys[place] & 1:
                    back = max(back, values[place])
                else:
                    out = max(out, values[place])
                place += 1
            both = out > 0 and back > 0
            counts[1 if both else 0] += 1
            if both and out != back and conflict[0] == conflict[1]:
                conflict[0], conflict[1], conflict[2], conflict[3] = row, neighbour, min(out, back), max(out, back)
            entries[end] = neighbour
            weight[end] = max(out, back)
            end += 1
        indptr[row + 1] = end
