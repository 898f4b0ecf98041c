"""A folder to a graph: headers are checked, data is not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import StoredGraphError
from redisc.graph.adjacency import index_dtype
from redisc.graph.arrays import read_only
from redisc.graph.splits import Split
from redisc.graph.storage.files import csr_from, map_arrays
from redisc.graph.storage.manifest import ARRAYS, SPARSE, Manifest, describe_arrays

_PLAIN = ("indptr", "indices", "edge_weight", "y", "node_ids")


def open_graph(folder: str | Path) -> dict[str, Any]:
    """The attributes of a saved graph, as memory maps; the time does not depend on its size."""
    place = Path(folder).expanduser()
    manifest = Manifest.read(place)
    names = [name for name in ARRAYS if name in manifest.arrays]
    _check_complete(place, manifest, names)
    arrays = map_arrays(place, names)
    for name, found in describe_arrays(arrays).items():
        _check_header(place, name, found, manifest.arrays[name])
    _check_agreement(place, manifest, arrays)
    return {
        "name": manifest.name,
        "class_names": manifest.class_names,
        "feature_default": manifest.feature_default,
        "dropped_self_loops": manifest.dropped_self_loops,
        "stored_fingerprint": manifest.fingerprint,
        **{name: read_only(np.asarray(arrays[name])) if name in arrays else None for name in _PLAIN},
        "x": arrays["x"] if "x" in arrays else csr_from(arrays, manifest.features),
        "splits": _splits(arrays.get("splits")),
    }


def _splits(masks: np.ndarray | None) -> tuple[Split, ...]:
    if masks is None:
        return ()
    return tuple(Split(*(read_only(mask) for mask in np.asarray(masks)[number])) for number in range(len(masks)))


def _check_complete(place: Path, manifest: Manifest, names: list[str]) -> None:
    unknown = sorted(set(manifest.arrays) - set(names))
    features = {"x"} if "x" in names else set(SPARSE)
    missing = sorted({"indptr", "indices", "y", *features} - set(names))
    if unknown or missing:
        what = f"names an array {unknown[0]}, which has no meaning" if unknown else f"names no array {missing[0]}"
        raise StoredGraphError(f"{place / 'graph.json'} is damaged: it {what}")


def _check_header(place: Path, name: str, found: dict[str, Any], stated: dict[str, Any]) -> None:
    if found != stated:
        raise StoredGraphError(
            f"{place / name}.npy holds {_text(found)}, but graph.json states {_text(stated)}: "
            "the files belong to different graphs"
        )


def _text(array: Mapping[str, Any]) -> str:
    return f"{array['dtype']} of shape {tuple(array['shape'])}"


def _check_agreement(place: Path, manifest: Manifest, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise an error that names the first file whose shape or kind does not suit the counts of `graph.json`."""
    n, entries, columns = manifest.nodes, 2 * manifest.edges, manifest.features
    stored = arrays["x_data"].size if "x_data" in arrays else 0
    real, whole = ("b", "i", "u", "f"), ("i",)
    expected: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
        "indptr": ((n + 1,), ("int64",)),
        "indices": ((entries,), (np.dtype(index_dtype(n)).name,)),
        "edge_weight": ((entries,), ("float32",)),
        "y": ((n,), ("int64",)),
        "node_ids": ((n,), (*real, "U", "M")),
        "x": ((n, columns), real),
        "x_indptr": ((n + 1,), whole),
        "x_indices": ((stored,), whole),
        "x_data": ((stored,), real),
        "splits": ((len(arrays["splits"]) if "splits" in arrays else 0, 3, n), ("bool",)),
    }
    for name, array in arrays.items():
        shape, kinds = expected[name]
        if array.shape != shape or not {array.dtype.name, array.dtype.kind} & set(kinds):
            found = _text(describe_arrays({name: array})[name])
            wanted = f"{kinds[0]} of shape {shape}" if len(kinds[0]) > 1 else f"shape {shape}"
            raise StoredGraphError(f"{place / name}.npy holds {found}, but {n} nodes and their edges need {wanted}")
    for name, total in (("indptr", entries), ("x_indptr", stored)):
        if name in arrays and (arrays[name][0] != 0 or arrays[name][-1] != total):
            raise StoredGraphError(f"{place / name}.npy is damaged: it does not run from 0 to {total}")
