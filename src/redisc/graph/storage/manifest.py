"""What `graph.json` says about the arrays beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import CheckpointError, StoredGraphError
from redisc.io.files import read_json

FORMAT = "redisc-graph"
VERSION = 1
FILE = "graph.json"
SPARSE = ("x_indptr", "x_indices", "x_data")
ARRAYS = ("indptr", "indices", "edge_weight", "x", *SPARSE, "y", "node_ids", "splits")


@dataclass(frozen=True)
class Manifest:
    """The facts of a saved graph that are not arrays, and the dtype and shape of those that are."""

    name: str
    """The graph's name."""
    nodes: int
    """Number of nodes N."""
    edges: int
    """Number of undirected edges; each has two entries in `indices`."""
    features: int
    """Number of feature columns F."""
    class_names: tuple[str, ...] | None
    """A name for each label."""
    feature_default: str | None
    """Which structural features were built, where none were given."""
    dropped_self_loops: int
    """How many self-loops the edges had."""
    fingerprint: str
    """Name of structure and features."""
    arrays: dict[str, dict[str, Any]]
    """For each file its dtype, as numpy writes it, and shape."""
    feature_scaling: str | None = None
    """How the features are scaled by default, where that is known."""

    def write(self, folder: Path) -> None:
        """Write `graph.json`."""
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        if self.feature_scaling is None:
            del content["feature_scaling"]
        (folder / FILE).write_text(json.dumps(content, indent=2), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read `graph.json`; a folder without it is no saved graph."""
        path = folder / FILE
        if not path.is_file():
            raise StoredGraphError(f"{folder} is not a saved graph: it has no {FILE} (make one with `redisc convert`)")
        try:
            content = read_json(path)
        except CheckpointError as fault:
            raise StoredGraphError(str(fault)) from None
        if content.pop("format", None) != FORMAT:
            raise StoredGraphError(f"{path} describes no saved graph: it names another format")
        version = content.pop("version", None)
        if version != VERSION:
            raise StoredGraphError(f"{path} has format version {version}; this library reads {VERSION}")
        try:
            return cls._checked(content)
        except (TypeError, ValueError, KeyError, AttributeError) as fault:
            raise StoredGraphError(f"{path} is damaged: it lacks or garbles {fault}") from None

    @classmethod
    def _checked(cls, content: dict[str, Any]) -> Manifest:
        names, default, files = content.pop("class_names"), content.pop("feature_default"), content.pop("arrays")
        scaling = content.pop("feature_scaling", None)
        numbers = {key: int(content.pop(key)) for key in ("nodes", "edges", "features", "dropped_self_loops")}
        facts: dict[str, Any] = {**numbers, **{key: str(content.pop(key)) for key in ("name", "fingerprint")}}
        if content:
            raise ValueError(", ".join(content))
        return cls(
            **facts,
            class_names=None if names is None else tuple(str(name) for name in names),
            feature_default=None if default is None else str(default),
            arrays={str(name): {"dtype": str(a["dtype"]), "shape": list(a["shape"])} for name, a in files.items()},
            feature_scaling=None if scaling is None else str(scaling),
        )


def describe_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """The dtype and shape of each array, as JSON can hold them."""
    return {name: {"dtype": array.dtype.str, "shape": list(array.shape)} for name, array in arrays.items()}


def is_saved_graph(folder: str | Path) -> bool:
    """Whether a path is a folder that claims to be a saved graph."""
    path = Path(folder) / FILE
    try:
        return path.is_file() and read_json(path).get("format") == FORMAT
    except CheckpointError:
        return False
