"""Benchmarks from the network: PyG's readers and OGB's archives, on files that the cache fetches and checks.

Files are fetched here and not by PyG, whose download checks no certificates and may leave half a file.
"""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from redisc.datasets import ogb
from redisc.datasets.cache import cache_dir, ensure_files, verify
from redisc.datasets.npz import load_npz, save_npz
from redisc.errors import DatasetError, GraphError
from redisc.graph import Graph, Split

_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    GraphError,
)


@dataclass(frozen=True)
class Source:
    """Where a benchmark comes from, and how its raw files become a graph."""

    name: str
    """Name of the dataset in redisc."""
    folder: str
    """Folder of the raw files inside the cache."""
    urls: dict[str, str]
    """Address of each raw file, by file name."""
    read: Callable[[Path], Graph]
    """Builds the graph, given the cache directory."""

    def is_cached(self) -> bool:
        """Whether all raw files are in the cache."""
        return all((cache_dir() / self.folder / file).is_file() for file in self.urls)

    def load(self, *, download: bool = True) -> Graph:
        """Fetch what is missing, check the files, and build the graph."""
        folder = cache_dir() / self.folder
        ensure_files(self.name, folder, self.urls, download=download)
        try:
            return self.read(cache_dir())
        except _UNREADABLE as error:
            raise DatasetError(
                f"the files of '{self.name}' in {folder} cannot be read ({error}): "
                "delete that folder to download them again."
            ) from error


def planetoid(name: str, title: str) -> Source:
    """Return the source of a citation graph with its public split (Yang et al., 2016)."""
    base = "https://github.com/kimiyoung/planetoid/raw/master/data"
    files = [f"ind.{title.lower()}.{part}" for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")]

    def read(root: Path) -> Graph:
        return _from_pyg(_process("Planetoid", root / "planetoid", title), name, bag_of_words=True)

    return Source(name, f"planetoid/{title}/raw", {file: f"{base}/{file}" for file in files}, read)


def amazon(name: str, title: str) -> Source:
    """Return the source of a co-purchase graph (Shchur et al., 2018), which has no split of its own."""
    file = f"amazon_electronics_{title.lower()}.npz"
    url = f"https://github.com/shchur/gnn-benchmark/raw/master/data/npz/{file}"

    def read(root: Path) -> Graph:
        return _from_pyg(_process("Amazon", root / "amazon", title), name, bag_of_words=True)

    return Source(name, f"amazon/{title}/raw", {file: url}, read)


def heterophilous(name: str, title: str) -> Source:
    """Return the source of a heterophilous graph with its ten splits (Platonov et al., 2023)."""
    stem = title.lower().replace("-", "_")
    url = f"https://github.com/yandex-research/heterophilous-graphs/raw/main/data/{stem}.npz"

    def read(root: Path) -> Graph:
        data = _process("HeterophilousGraphDataset", root / "heterophilous", title)
        return _from_pyg(data, name, bag_of_words=False)

    return Source(name, f"heterophilous/{stem}/raw", {f"{stem}.npz": url}, read)


def open_graph_benchmark(name: str, title: str, split: str) -> Source:
    """Return the source of an OGB graph with its own split (Hu et al., 2020).

    Parsing the tables takes minutes on the largest graph, so the result is kept beside the archive.
    """
    folder, archive = f"ogb/{title}", f"{title}.zip"
    url = f"https://snap.stanford.edu/ogb/data/nodeproppred/{archive}"

    def read(root: Path) -> Graph:
        parsed = root / folder / f"{name}.npz"
        if not parsed.is_file():
            save_npz(ogb.read_archive(root / folder / archive, name=name, split=split), parsed)
        verify(root / folder, [parsed.name])
        return load_npz(parsed)

    return Source(name, folder, {archive: url}, read)


def _process(reader: str, root: Path, title: str) -> Any:
    """Run one of PyG's dataset classes on the raw files and return its single graph."""
    return getattr(import_module("torch_geometric.datasets"), reader)(str(root), title)[0]


def _from_pyg(data: Any, name: str, *, bag_of_words: bool) -> Graph:
    """Turn PyG's `Data` into a graph; bags of words become sparse."""
    x = data.x.numpy()
    return Graph(
        x=scipy.sparse.csr_matrix(x) if bag_of_words else x,
        edge_index=data.edge_index.numpy(),
        y=data.y.numpy(),
        splits=_splits(data),
        name=name,
    )


def _splits(data: Any) -> tuple[Split, ...]:
    if "train_mask" not in data:
        return ()
    parts = (data.train_mask, data.val_mask, data.test_mask)
    masks = [np.ascontiguousarray(mask.numpy().reshape(data.num_nodes, -1).T) for mask in parts]
    return tuple(Split(*columns) for columns in zip(*masks, strict=True))
