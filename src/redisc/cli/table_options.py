"""The options that name a user's own tables and their columns, the same for every command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from redisc.errors import DatasetError
from redisc.source import FileSource, GraphSource, named_source

Edges = Annotated[Path | None, typer.Option(help="Table of edges, CSV or Parquet: two columns of node ids.")]
Nodes = Annotated[Path | None, typer.Option(help="Table of nodes: an id, a label, features.")]
Label = Annotated[str | None, typer.Option(help="Column of the labels; an empty cell alone is unknown.")]
Id = Annotated[str | None, typer.Option(help="Column of the node ids (default: the first).")]
Source = Annotated[str | None, typer.Option(help="Column of the edges' first ends (default: the first).")]
Target = Annotated[str | None, typer.Option(help="Column of their other ends (default: the second).")]
Weight = Annotated[str | None, typer.Option(help="Column of the edges' weights (default: `weight`, if any).")]
Text = Annotated[list[str] | None, typer.Option(help="Column whose words become features; may be repeated.")]


@dataclass(frozen=True)
class TableOptions:
    """What was given of the options."""

    edges: Path | None = None
    nodes: Path | None = None
    label: str | None = None
    id: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    text: list[str] | None = None

    @property
    def given(self) -> bool:
        """Whether any was."""
        return any(value is not None and value != [] for value in vars(self).values())

    def read(self) -> FileSource:
        """Return the tables as a source of a graph."""
        if self.edges is None or self.nodes is None or self.label is None:
            raise DatasetError("tables take --edges, --nodes and --label, all three")
        columns = (self.label, self.id, self.source, self.target, self.weight, tuple(self.text or ()))
        return FileSource(str(self.edges.resolve()), str(self.nodes.resolve()), *columns)


def graph_source(dataset: str | None, data_dir: str | None, seed: int, tables: TableOptions) -> GraphSource:
    """Return where the graph comes from: a dataset by name, a saved graph, or two tables."""
    if (dataset is None) != tables.given:
        raise DatasetError("give either a dataset's name, or --edges, --nodes and --label")
    return tables.read() if dataset is None else named_source(dataset, data_dir, seed)
