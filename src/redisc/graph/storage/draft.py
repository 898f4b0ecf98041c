"""A saved graph in the making: files go into a draft folder, which becomes the graph when all is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import StoredGraphError
from redisc.graph.fingerprint import fingerprint
from redisc.graph.storage.files import csr_from, map_arrays
from redisc.graph.storage.manifest import ARRAYS, FILE, Manifest, describe_arrays, is_saved_graph
from redisc.graph.storage.node_ids import plain_ids
from redisc.io.folders import draft_folder_of
from redisc.io.npy import NpyAppender


@contextmanager
def graph_draft(folder: str | Path) -> Iterator[GraphDraft]:
    """Yield a draft that becomes the saved graph `folder` if the block ends well; other folders are left alone."""
    target = Path(folder)
    _check_replaceable(target)
    with draft_folder_of(target) as place:
        draft = GraphDraft(place)
        yield draft
        draft.seal()


def _check_replaceable(target: Path) -> None:
    """Raise an error where writing to `target` would remove anything but an older saved graph."""
    if not target.exists() and not target.is_symlink():
        return
    names = {entry.name for entry in target.iterdir()} if target.is_dir() else {""}
    if names and not is_saved_graph(target):
        raise StoredGraphError(f"{target} exists and is not a saved graph: choose another path")
    strange = names - {FILE, *(f"{name}.npy" for name in ARRAYS)}
    if strange:
        raise StoredGraphError(f"{target} holds other files beside a graph ({min(strange)}): choose another path")


class GraphDraft:
    """The folder that is being filled, and the facts for its `graph.json`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = "graph"
        self.class_names: tuple[str, ...] | None = None
        self.feature_default: str | None = None
        self.feature_scaling: str | None = None
        self.dropped_self_loops = 0
        self._sparse_columns = 0

    def path(self, array: str) -> Path:
        """Where an array goes."""
        return self.folder / f"{array}.npy"

    def put(self, array: str, values: np.ndarray) -> None:
        """Write a whole array, in C order."""
        with NpyAppender(self.path(array), values.dtype, values.shape[1:]) as rows:
            rows.append(np.asarray(values))

    def put_labels(self, y: np.ndarray) -> None:
        """Write the labels (N,)."""
        self.put("y", y.astype(np.int64, copy=False))

    def put_node_ids(self, node_ids: np.ndarray | None) -> None:
        """Write the ids, where there are any."""
        if node_ids is not None:
            self.put("node_ids", plain_ids(node_ids))

    def put_splits(self, splits: Sequence[Any]) -> None:
        """Write the masks of all splits (S, 3, N), where there are any."""
        if splits:
            with NpyAppender(self.path("splits"), np.bool_, (3, splits[0].train.size)) as rows:
                for split in splits:
                    rows.append(np.stack([split.train, split.val, split.test])[None])

    def put_sparse_features(self, x: Any) -> None:
        """Write sparse features as the arrays of a CSR matrix."""
        for part in ("indptr", "indices", "data"):
            self.put(f"x_{part}", getattr(x, part))
        self._sparse_columns = int(x.shape[1])

    def seal(self) -> None:
        """Write `graph.json`, with the fingerprint of what was written."""
        arrays = map_arrays(self.folder, [name for name in ARRAYS if self.path(name).exists()])
        x = arrays["x"] if "x" in arrays else csr_from(arrays, self._sparse_columns)
        indptr, indices = arrays["indptr"], arrays["indices"]
        Manifest(
            name=self.name,
            nodes=indptr.size - 1,
            edges=indices.size // 2,
            features=int(x.shape[1]),
            class_names=self.class_names,
            feature_default=self.feature_default,
            dropped_self_loops=self.dropped_self_loops,
            fingerprint=fingerprint(indptr, indices, arrays.get("edge_weight"), x),
            arrays=describe_arrays(arrays),
            feature_scaling=self.feature_scaling,
        ).write(self.folder)
