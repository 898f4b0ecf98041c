"""What redisc knows about a dataset before loading it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from redisc.datasets.downloads import Source
from redisc.graph import Graph

FILE_PARAMETERS = ("largest_component",)


@dataclass(frozen=True)
class Entry:
    """One dataset: what it is, where it comes from, and how it is split when nothing else is asked for."""

    name: str
    """Name that `load` takes."""
    summary: str
    """What the graph is, in one line."""
    kind: Literal["built-in", "local", "download"]
    """Made on the spot, read from a file of the user's, or fetched from the network."""
    split: str
    """Default protocol: public, column, per-class or stratified."""
    citation: str = ""
    """Where the data was published."""
    nodes: int | None = None
    """Number of nodes, where it is fixed."""
    edges: int | None = None
    """Number of undirected edges, where it is fixed."""
    features: int | None = None
    """Number of features, where it is fixed."""
    classes: int | None = None
    """Number of classes, where it is fixed."""
    largest_component: bool = False
    """Whether the graph is cut to its largest component unless asked otherwise."""
    generator: Callable[..., Graph] | None = None
    """Makes a built-in graph from keyword parameters and a seed."""
    source: Source | None = None
    """Where a download comes from."""
    file: str = ""
    """Stem of the local file that stands for this dataset; the name unless given."""

    @property
    def stem(self) -> str:
        """Stem of the local file that stands for this dataset."""
        return self.file or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that `load` passes on."""
        if self.generator is None:
            return FILE_PARAMETERS
        return tuple(name for name in inspect.signature(self.generator).parameters if name != "seed")
