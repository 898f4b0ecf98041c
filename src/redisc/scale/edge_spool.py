"""Edges set aside on disk, so that a source of text is parsed once and gone through twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from redisc.graph.adjacency import check_endpoints, index_dtype
from redisc.io.npy import NpyAppender, map_npy
from redisc.scale.csr_builder import EdgeChunk

CHUNK = 1 << 21
"""Edges a chunk."""


class EdgeSpool:
    """Edges of a graph of N nodes in a file; all of them are appended, then `close` allows going through them.

    `discard` removes the file.
    """

    def __init__(self, folder: Path, num_nodes: int, chunk: int = CHUNK) -> None:
        self._num_nodes, self._chunk = num_nodes, chunk
        self._edges = NpyAppender(folder / "spool-edges.npy", index_dtype(num_nodes), (2,))
        self._weights = NpyAppender(folder / "spool-weights.npy", np.float32)

    @property
    def count(self) -> int:
        """How many edges there are."""
        return self._edges.rows

    def append(self, edges: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Set edges (2, e) aside, with weights (e,) or, always, without."""
        check_endpoints(edges, self._num_nodes, self.count)
        self._edges.append(edges.T)
        if weight is not None:
            self._weights.append(weight)

    def close(self) -> None:
        """End the writing."""
        self._edges.close()
        self._weights.close()

    def __iter__(self) -> Iterator[EdgeChunk]:
        edges, weights = map_npy(self._edges.path), map_npy(self._weights.path)
        for start in range(0, self.count, self._chunk):
            part = slice(start, start + self._chunk)
            yield np.ascontiguousarray(edges[part].T, np.int64), np.asarray(weights[part]) if weights.size else None

    def discard(self) -> None:
        """Remove the files."""
        self._edges.path.unlink()
        self._weights.path.unlink()
