"""Whether two saved graphs are the same."""

import json
from pathlib import Path

import numpy as np


def assert_same_folders(one: Path, other: Path) -> None:
    """Compare every file, `graph.json` included."""
    assert sorted(path.name for path in one.iterdir()) == sorted(path.name for path in other.iterdir())
    for path in one.glob("*.npy"):
        left, right = np.load(path), np.load(other / path.name)
        assert left.dtype == right.dtype and np.array_equal(left, right), path.name
    assert json.loads((one / "graph.json").read_text()) == json.loads((other / "graph.json").read_text())
