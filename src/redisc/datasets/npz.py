"""Graphs in `.npz` files: plain arrays, never a pickle.

A file holds `edge_index` (2 x E, every undirected edge once), `y` (-1 for unknown), features as `x` or as the
four CSR arrays `x_data`, `x_indices`, `x_indptr`, `x_shape`, and `train_mask`, `val_mask`, `test_mask` (N, or
N x splits). Names of the classes may stand beside it, in `NAME_classes.json`.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from redisc.errors import DatasetError, GraphError
from redisc.graph import Graph, Split

_SPARSE_KEYS = ("x_data", "x_indices", "x_indptr", "x_shape")
_MASK_KEYS = ("train_mask", "val_mask", "test_mask")
_KNOWN_KEYS = ("edge_index", "y", "x", *_SPARSE_KEYS, *_MASK_KEYS)
# A single array, which numpy reads too, is no archive to open: an AttributeError or TypeError by Python version.
_DAMAGE = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, AttributeError, TypeError)


def load_npz(path: str | os.PathLike[str], *, name: str | None = None) -> Graph:
    """Read a graph from a `.npz` file; its name is the file's unless given."""
    path = Path(path)
    arrays = _read_arrays(path)
    _require(path, arrays, ("edge_index", "y"))
    try:
        return Graph(
            x=_features(path, arrays),
            edge_index=arrays["edge_index"],
            y=arrays["y"],
            splits=_splits(path, arrays),
            name=name or path.stem,
            class_names=_class_names(path),
        )
    except GraphError as error:
        raise DatasetError(f"{path} is damaged or has another format: {error}") from error


def save_npz(graph: Graph, path: str | os.PathLike[str]) -> Path:
    """Write a graph as an uncompressed `.npz` file, with the names of its classes beside it if it has any.

    The file appears whole or not at all. Edge weights have no place in the format and are refused.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise DatasetError(f"{path}: the name of the file must end in .npz.")
    if graph.edge_weight is not None:
        raise DatasetError(f"'{graph.name}' has edge weights, which the .npz format cannot hold.")
    arrays: dict[str, Any] = {"edge_index": _edges_once(graph), "y": _labels(graph)}
    arrays |= _feature_arrays(graph) | _mask_arrays(graph.splits)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    with partial.open("wb") as file:
        np.savez(file, **arrays)
    partial.replace(path)
    if graph.class_names is not None:
        _classes_path(path).write_text(json.dumps({"classes": list(graph.class_names)}), encoding="utf-8")
    return path


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    if not path.is_file():
        raise DatasetError(f"{path} does not exist.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = list(archive.files)
            arrays = {key: archive[key] for key in found if key in _KNOWN_KEYS}
    except _DAMAGE as error:
        raise DatasetError(f"{path} is not a readable .npz file of plain arrays: {error}") from error
    if not arrays:
        raise DatasetError(f"{path} holds none of the expected arrays (edge_index, y, x): it has {_names(found)}.")
    return arrays


def _require(path: Path, arrays: Mapping[str, NDArray[Any]], keys: tuple[str, ...]) -> None:
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise DatasetError(f"{path} lacks {_names(missing)}: it has only {_names(list(arrays))}.")


def _names(keys: list[str]) -> str:
    return ", ".join(keys) if keys else "nothing"


def _features(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return dense features, CSR features, or None where the file has neither."""
    if "x" in arrays:
        return arrays["x"]
    if not any(key in arrays for key in _SPARSE_KEYS):
        return None
    _require(path, arrays, _SPARSE_KEYS)
    data, indices, indptr, shape = (arrays[key] for key in _SPARSE_KEYS)
    try:
        matrix = scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DatasetError(f"{path} has damaged sparse features (x_data and its three companions): {error}") from error
    return matrix


def _splits(path: Path, arrays: Mapping[str, NDArray[Any]]) -> tuple[Split, ...]:
    """Return one split a mask column, and none where the file has no masks."""
    if not any(key in arrays for key in _MASK_KEYS):
        return ()
    _require(path, arrays, _MASK_KEYS)
    masks = [_mask_columns(path, key, arrays[key], arrays["y"].size) for key in _MASK_KEYS]
    if len({mask.shape[1] for mask in masks}) != 1:
        raise DatasetError(f"{path}: {_names(list(_MASK_KEYS))} have different numbers of columns.")
    return tuple(Split(*(mask[:, i] for mask in masks)) for i in range(masks[0].shape[1]))


def _mask_columns(path: Path, key: str, mask: NDArray[Any], num_nodes: int) -> NDArray[np.bool_]:
    columns = mask[:, None] if mask.ndim == 1 else mask
    if columns.ndim != 2 or columns.shape[0] != num_nodes or columns.dtype != np.bool_:
        raise DatasetError(
            f"{path}: {key} is {mask.dtype} of shape {mask.shape}, "
            f"expected bool of shape ({num_nodes},) or ({num_nodes}, splits)."
        )
    return np.ascontiguousarray(columns)


def _classes_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}_classes.json")


def _class_names(path: Path) -> tuple[str, ...] | None:
    """Return the names in `NAME_classes.json`, a list or an object with the list under `classes`."""
    source = _classes_path(path)
    if not source.is_file():
        return None
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DatasetError(f"{source} is not valid JSON: {error}") from error
    names = content.get("classes") if isinstance(content, dict) else content
    if not isinstance(names, list):
        raise DatasetError(f"{source}: expected a list of class names, or an object that has it under 'classes'.")
    return tuple(str(name) for name in names)


def _edges_once(graph: Graph) -> NDArray[Any]:
    """Return each undirected edge once, lower node first (2, E)."""
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    upper = rows < graph.indices
    edges = np.stack([rows[upper], graph.indices[upper]])
    return edges.astype(np.int32 if graph.num_nodes < 2**31 else np.int64)


def _labels(graph: Graph) -> NDArray[Any]:
    return graph.y.astype(np.int16 if graph.y.max(initial=-1) < 2**15 else np.int64)


def _feature_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """Return the features as the format names them; built structural ones are built again on reading."""
    if graph.feature_default is not None:
        return {}
    x = graph.x
    if not scipy.sparse.issparse(x):
        return {"x": np.asarray(x)}
    x = x.tocsr()
    return dict(zip(_SPARSE_KEYS, (x.data, x.indices, x.indptr, np.array(x.shape)), strict=True))


def _mask_arrays(splits: tuple[Split, ...]) -> dict[str, NDArray[np.bool_]]:
    if not splits:
        return {}
    parts = ("train", "val", "test")
    stacked = {f"{part}_mask": np.stack([getattr(s, part) for s in splits], axis=1) for part in parts}
    return {key: mask[:, 0] if len(splits) == 1 else mask for key, mask in stacked.items()}
