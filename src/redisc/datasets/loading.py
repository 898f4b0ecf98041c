"""Loading a dataset by name: a file of the user's first, else made on the spot or fetched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redisc.datasets import splits
from redisc.datasets.cache import cache_dir
from redisc.datasets.catalogue import ENTRIES
from redisc.datasets.entry import Entry
from redisc.datasets.npz import load_npz
from redisc.datasets.parameters import integer
from redisc.datasets.registry import canonical, find
from redisc.errors import DatasetError
from redisc.graph import Graph

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Availability:
    """A dataset and whether it can be loaded here and now."""

    entry: Entry
    """What the dataset is."""
    at_hand: bool
    """Whether loading needs no network."""
    origin: str
    """Where it would come from, or what is missing."""


def load(
    name: str,
    *,
    data_dir: PathLike | None = None,
    seed: int = 0,
    split: str | None = None,
    download: bool = True,
    **parameters: Any,
) -> Graph:
    """Load a dataset by name; capitals do not matter and `-` is `_`.

    A file `NAME.npz` in the data folder comes first, then the built-in generator, then the network.
    Parameters of a generator always ask for the generator: `load("minesweeper")` reads the benchmark's board
    where its file is there, and `load("minesweeper", rows=50)` makes one; `graph.name` tells which it is.

    Args:
        name: Name or alias of a dataset (`available()` lists them), or of a file of your own.
        data_dir: Folder of `.npz` files; the variable REDISC_DATA unless given.
        seed: Seed of the generator, of the draw, or the number of the mask column, whichever the dataset has.
        split: "public" keeps all splits that came with the data, "column" only number `seed` of them (modulo
            how many there are), "per-class" draws 20 training and 30 validation nodes a class, "stratified"
            draws 50 % / 25 % / 25 %. None is the dataset's own protocol: all splits that came with it, or for
            Photo and Computers one per-class draw.
        download: Whether the network may be used.
        **parameters: Parameters of the generator (see `Entry.parameters`), or `largest_component` for a file.
    """
    integer("seed", seed, minimum=0)
    files = local_files(data_dir)
    entry = find(name, files)
    _check_parameters(entry, parameters)
    if entry.generator is not None and (parameters or entry.stem not in files):
        graph = entry.generator(seed=seed, **parameters)
    else:
        graph = _from_files(entry, files, download)
        if parameters.get("largest_component", entry.largest_component):
            graph = graph.largest_component()
    return _with_protocol(graph, entry, split, seed)


def available(data_dir: PathLike | None = None) -> list[Availability]:
    """List every dataset and every file of the user's own, with whether and from where each can be loaded."""
    files = local_files(data_dir)
    stems = {entry.stem for entry in ENTRIES.values()}
    own = [find(stem, files) for stem in files if stem not in stems]
    return [_availability(entry, files) for entry in (*ENTRIES.values(), *own)]


def local_files(data_dir: PathLike | None = None) -> dict[str, Path]:
    """Return the `.npz` files of the data folder by canonical name; no folder given or set means no files."""
    given = data_dir if data_dir is not None else os.environ.get("REDISC_DATA") or None
    if given is None:
        return {}
    folder = Path(given).expanduser()
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else "REDISC_DATA"
        raise DatasetError(
            f"{origin} names {folder}, which is not a folder: give the folder that holds NAME.npz files."
        )
    return {canonical(path.stem): path for path in sorted(folder.glob("*.npz"))}


def _check_parameters(entry: Entry, parameters: dict[str, Any]) -> None:
    unknown = [name for name in parameters if name not in entry.parameters]
    if unknown:
        raise DatasetError(
            f"'{entry.name}' has no parameter {', '.join(unknown)}: it takes {', '.join(entry.parameters)}."
        )


def _from_files(entry: Entry, files: dict[str, Path], download: bool) -> Graph:
    if entry.stem in files:
        return load_npz(files[entry.stem], name=entry.stem)
    if entry.source is not None:
        return entry.source.load(download=download)
    raise DatasetError(
        f"'{entry.name}' is not at hand and has no download: put {entry.stem}.npz into a folder "
        "and name that folder by data_dir= or REDISC_DATA."
    )


def _with_protocol(graph: Graph, entry: Entry, split: str | None, seed: int) -> Graph:
    """Keep the splits that came with the graph, or draw those that were asked for."""
    if split is not None:
        return graph.with_splits(splits.draw(graph, split, seed))
    if entry.generator is None and entry.split in ("per-class", "stratified"):
        return graph.with_splits(splits.draw(graph, entry.split, seed))
    return graph


def _availability(entry: Entry, files: dict[str, Path]) -> Availability:
    if entry.stem in files:
        return Availability(entry, True, str(files[entry.stem]))
    if entry.generator is not None:
        return Availability(entry, True, "built in")
    if entry.source is None:
        return Availability(entry, False, f"needs {entry.stem}.npz in REDISC_DATA")
    if entry.source.is_cached():
        return Availability(entry, True, f"cache: {cache_dir() / entry.source.folder}")
    return Availability(entry, False, "download")
