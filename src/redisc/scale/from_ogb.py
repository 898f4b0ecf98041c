"""A node-classification graph of the Open Graph Benchmark, folder or zip, to a saved graph, in chunks of rows."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
from numpy.typing import DTypeLike

from redisc.errors import DatasetError
from redisc.graph.labels import read_labels
from redisc.graph.splits import read_splits
from redisc.graph.storage import GraphDraft, graph_draft
from redisc.graph.storage.features import FeatureWriter, feature_dtype
from redisc.optional import require
from redisc.scale.edge_spool import EdgeSpool
from redisc.scale.structure import Report, put_structure

_PARTS = ("train", "valid", "test")


def convert_ogb(
    folder: str | Path,
    path: str | Path,
    *,
    split_name: str | None = None,
    dtype: DTypeLike = "float32",
    chunk_rows: int = 100_000,
    report: Report = lambda _: None,
) -> None:
    """Save the graph of OGB's raw files: edges taken as undirected, nodes without a label unknown.

    Args:
        folder: Where the saved graph goes.
        path: The zip that OGB publishes, or the folder that was unpacked from it.
        split_name: The folder of index files in `split/`; may be left out where there is one alone.
        dtype: float16 or float32 for the features.
        chunk_rows: Rows that are read at a time.
        report: Is told of progress.
    """
    stored, files = feature_dtype(dtype), OgbFiles.at(Path(path))
    split = files.split_name(split_name)
    with graph_draft(folder) as draft:
        draft.name = Path(path).stem
        nodes = int(files.table("raw/num-node-list.csv.gz", np.int64)[0, 0])
        _put_features(draft, files, nodes, stored, chunk_rows, report)
        y = files.table("raw/node-label.csv.gz", np.float64)
        _check_rows(files, "raw/node-label.csv.gz", len(y), nodes)
        draft.put_labels(read_labels(np.where(np.isnan(y), -1, y)))
        train, val, test = (files.table(f"split/{split}/{part}.csv.gz", np.int64)[:, 0] for part in _PARTS)
        draft.put_splits(read_splits([(train, val, test)], nodes))
        spool = EdgeSpool(draft.folder, nodes)
        for chunk in files.chunks("raw/edge.csv.gz", np.int64, 10 * chunk_rows):
            spool.append(chunk.T)
            report(f"edges: {spool.count:,}")
        put_structure(draft, spool, nodes, report, directed=False, dtype=stored)


def _put_features(
    draft: GraphDraft, files: OgbFiles, nodes: int, dtype: np.dtype, chunk_rows: int, report: Report
) -> None:
    """Write the features, where the graph has any."""
    member = "raw/node-feat.csv.gz"
    if not files.has(member):
        return
    with ExitStack() as stack:
        writer: FeatureWriter | None = None
        for chunk in files.chunks(member, np.float64, chunk_rows):
            writer = writer or stack.enter_context(FeatureWriter(draft.path("x"), dtype, chunk.shape[1]))
            with np.errstate(over="ignore"):
                writer.append(chunk.astype(np.float32))
            report(f"features: {writer.rows:,} of {nodes:,} rows")
        _check_rows(files, member, 0 if writer is None else writer.rows, nodes)


def _check_rows(files: OgbFiles, member: str, found: int, nodes: int) -> None:
    if found != nodes:
        raise DatasetError(f"{member} of {files.path} has {found} rows, but there are {nodes} nodes.")


@dataclass(frozen=True)
class OgbFiles:
    """The files of OGB's layout in a folder or a zip: `members` maps `raw/...` and `split/...` to their full names."""

    path: Path
    members: dict[str, str]

    @classmethod
    def at(cls, path: Path) -> OgbFiles:
        """Look for the files; they may lie in a folder of their own."""
        if path.is_dir():
            names = [file.relative_to(path).as_posix() for file in path.rglob("*.csv.gz")]
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        else:
            raise DatasetError(f"{path} is neither a folder nor a zip file: give what OGB publishes for a dataset.")
        places = {"raw": 2, "split": 3}
        parts = [(PurePosixPath(name).parts, name) for name in names]
        members = {
            "/".join(part[-length:]): name
            for part, name in parts
            for top, length in places.items()
            if part[-length : -length + 1] == (top,)
        }
        if not members:
            raise DatasetError(f"{path} has no raw/edge.csv.gz: it is not one of OGB's node datasets.")
        return cls(path, members)

    def has(self, member: str) -> bool:
        """Whether there is such a file."""
        return member in self.members

    def split_name(self, asked: str | None) -> str:
        """The name of the split that was asked for, or of the only one."""
        found = sorted({PurePosixPath(member).parts[1] for member in self.members if member.startswith("split/")})
        if asked is None and len(found) == 1:
            return found[0]
        if asked not in found or asked is None:
            given = "name one of the splits" if asked is None else f"there is no split '{asked}'"
            raise DatasetError(f"{self.path}: {given}; it has {', '.join(found) or 'none'}.")
        return asked

    def table(self, member: str, dtype: DTypeLike) -> np.ndarray:
        """A whole table of numbers (rows, columns)."""
        return np.concatenate(list(self.chunks(member, dtype, 1 << 20)))

    def chunks(self, member: str, dtype: DTypeLike, rows: int) -> Iterator[np.ndarray]:
        """A table of numbers in chunks (rows, columns), unpacked as it is read."""
        pandas = require("pandas", extra="files")
        with ExitStack() as stack:
            lines = stack.enter_context(gzip.open(self._opened(member, stack)))
            options = {"header": None, "dtype": dtype, "chunksize": rows}
            try:
                for frame in pandas.read_csv(lines, **options):
                    yield frame.to_numpy(dtype)
            except (ValueError, OSError, EOFError) as fault:
                raise DatasetError(f"{member} of {self.path} can't be read: {fault}") from None

    def _opened(self, member: str, stack: ExitStack) -> IO[bytes]:
        if member not in self.members:
            raise DatasetError(f"{self.path} lacks {member}: it is not one of OGB's node datasets.")
        if self.path.is_dir():
            return stack.enter_context((self.path / self.members[member]).open("rb"))
        return stack.enter_context(stack.enter_context(zipfile.ZipFile(self.path)).open(self.members[member]))
