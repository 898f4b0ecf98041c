"""Where commands may write."""

from __future__ import annotations

from pathlib import Path

from redisc.errors import ConfigError
from redisc.graph.storage import is_saved_graph
from redisc.run import is_part_of_run, tables_of
from redisc.source import GraphSource


def check_spared(file: Path, source: GraphSource, *others: Path | None) -> None:
    """Refuse an output in place of a table that is read, of `source` or of `others`, or of a run's or graph's file."""
    for table in (*tables_of(source), *others):
        if table is not None and table.exists() and file.exists() and file.samefile(table):
            raise ConfigError(f"{file} is a table that the graph is read from: choose another --out")
    if is_part_of_run(file):
        raise ConfigError(f"{file} belongs to a run: choose another --out")
    if is_saved_graph(file.resolve().parent):
        raise ConfigError(f"{file} would lie in the folder of a saved graph: choose another --out")
