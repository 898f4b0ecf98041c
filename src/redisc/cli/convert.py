"""The command `convert`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from redisc.cli.app import DATASET_HELP, DataDir, Json, app
from redisc.cli.output import ProgressLine, console, print_json
from redisc.cli.table_options import Edges, Id, Label, Nodes, Source, Target, Weight
from redisc.errors import DatasetError
from redisc.graph import Graph
from redisc.graph.storage import save_graph
from redisc.graph.storage.features import feature_dtype
from redisc.scale import convert_ogb, convert_tables
from redisc.source import named_source


@app.command()
def convert(
    out: Annotated[Path, typer.Argument(help="The folder to write; an older saved graph is replaced.")],
    dataset: Annotated[str | None, typer.Argument(help=DATASET_HELP)] = None,
    edges: Edges = None,
    nodes: Nodes = None,
    label: Label = None,
    id: Id = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    ogb: Annotated[Path | None, typer.Option(help="Folder or zip of an OGB node dataset.")] = None,
    split_name: Annotated[str | None, typer.Option(help="Which of OGB's splits (default: the only one).")] = None,
    dtype: Annotated[str | None, typer.Option(help="Store features as float16 or float32 (default: as given).")] = None,
    seed: Annotated[int, typer.Option(help="Of a generated dataset.")] = 0,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Save a graph as a folder that opens at once, whatever its size; tables and OGB files are read in pieces.

    Example: `redisc convert my_graph --edges edges.parquet --nodes nodes.parquet --label topic --dtype float16`
    """
    stored = None if dtype is None else feature_dtype(dtype).name
    tables: dict[str, Any] = {"label": label, "id": id, "source": source, "target": target, "weight": weight}
    given = [dataset is not None, ogb is not None, edges is not None or nodes is not None or any(tables.values())]
    if sum(given) != 1 or (given[2] and (edges is None or nodes is None or label is None)):
        raise DatasetError("give one of: a dataset's name; --edges, --nodes and --label; --ogb")
    if split_name is not None and ogb is None:
        raise DatasetError("--split-name picks one of the splits of --ogb")

    def write(report: Callable[[str], None]) -> None:
        if dataset is not None:
            report("loading")
            origin = named_source(dataset, data_dir, seed)
            save_graph(origin.load(), out, stored, origin.settings().get("feature_scaling"))
        elif ogb is not None:
            convert_ogb(out, ogb, split_name=split_name, dtype=stored or "float32", report=report)
        elif edges is not None and nodes is not None:
            convert_tables(out, edges, nodes, **tables, dtype=stored or "float32", report=report)

    start = time.monotonic()
    with ProgressLine(sys.stderr) as line:
        write(line.show)
    _conclude(out, time.monotonic() - start, as_json)


def _conclude(out: Path, seconds: float, as_json: bool) -> None:
    """Say what was written."""
    graph = Graph.open(out)
    if as_json:
        sizes = {key: getattr(graph, f"num_{key}") for key in ("nodes", "edges", "features", "classes")}
        facts = {"name": graph.name, **sizes, "splits": len(graph.splits), "dtype": graph.x.dtype.name}
        size = sum(path.stat().st_size for path in out.iterdir())
        print_json({"out": str(out), **facts, "fingerprint": graph.fingerprint(), "bytes": size, "seconds": seconds})
        return
    console.print(f"{graph} saved in {out} after {seconds:.1f} s; next: redisc fit {out}")
