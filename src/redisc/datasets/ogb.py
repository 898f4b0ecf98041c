"""Graphs of the Open Graph Benchmark, read from the archive that OGB publishes.

The package `ogb` is not needed: with PyTorch 2.6 and later it cannot read back its own processed files,
and it asks on the terminal before large downloads.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from redisc.datasets import splits
from redisc.errors import DatasetError
from redisc.graph import Graph


def read_archive(path: Path, *, name: str, split: str) -> Graph:
    """Read a node-classification graph from OGB's zip; `split` names the folder of its index files.

    Citations are taken as undirected edges. Nodes without a label get -1.
    """
    with zipfile.ZipFile(path) as archive:
        x = _read_table(archive, "raw/node-feat.csv.gz", np.float32)
        y = _read_table(archive, "raw/node-label.csv.gz", np.float64)[:, 0]
        edges = _read_table(archive, "raw/edge.csv.gz", np.int64)
        train, val, test = (
            _read_table(archive, f"split/{split}/{part}.csv.gz", np.int64)[:, 0] for part in ("train", "valid", "test")
        )
    return Graph(
        x=x,
        edge_index=edges.T,
        y=np.where(np.isnan(y), -1, y).astype(np.int64),
        splits=(splits.from_indices(len(x), train=train, val=val, test=test),),
        name=name,
        directed=False,
    )


def _read_table(archive: zipfile.ZipFile, member: str, dtype: DTypeLike) -> NDArray[np.generic]:
    """Parse one compressed table of numbers without unpacking it to disk; always two-dimensional."""
    found = [name for name in archive.namelist() if name.endswith(f"/{member}")]
    if not found:
        raise DatasetError(f"{archive.filename} lacks {member}: it is not one of OGB's node archives.")
    with archive.open(found[0]) as packed, gzip.open(packed, "rt") as lines:
        return np.loadtxt(lines, delimiter=",", dtype=dtype, ndmin=2)
