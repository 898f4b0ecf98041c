"""The command `predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from redisc.classifier import NodeClassifier
from redisc.cli.app import Json, RunFolder, app
from redisc.cli.asking import Question, class_names, question
from redisc.cli.output import console, print_json
from redisc.cli.table_options import Edges, Nodes
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.graph import Graph
from redisc.io.tables import write_table
from redisc.run import Run
from redisc.tables.predictions import driver_column, ids_of, join_names, set_column
from redisc.world import world


@app.command()
def predict(
    folder: RunFolder,
    edges: Edges = None,
    nodes: Nodes = None,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file (default: RUN/predictions.csv).")] = None,
    samples: Annotated[int, typer.Option(help="Chains behind the confidence.")] = 32,
    alpha: Annotated[float, typer.Option(help="Sets leave out so much at the most.")] = 0.1,
    drivers: Annotated[bool, typer.Option("--drivers", help="Also tell which known labels drive a node.")] = False,
    in_parts: Annotated[bool, typer.Option("--in-parts", help="Share the graph among torchrun's processes.")] = False,
    as_json: Json = False,
) -> None:
    """Write id, label, confidence, a set of labels, and whether it was known, of every node.

    Of a run that was fitted with --calibration the sets hold the true label of 1 - ALPHA of the nodes or more; of
    others they are the fewest labels that hold 1 - ALPHA of the model's own probability. Labels of a set have | between
    them. New tables are read by the columns of the fit, and the labels that they give are known. With --in-parts every
    process of `torchrun` holds its part of the graph, and confidence comes from the one chain that is written.
    Example: redisc predict runs/mine --edges new_edges.csv --nodes new_nodes.csv
    """
    run, target = Run(folder), out or folder / "predictions.csv"
    clf = run.model()
    if not 0 < alpha < 1:
        raise ConfigError(f"--alpha {alpha}: it must lie between 0 and 1")
    if in_parts:
        if edges is not None or nodes is not None or drivers:
            raise ConfigError("--in-parts is for the graph of the fit: leave --edges, --nodes and --drivers out")
        _predict_in_parts(clf, run.graph(), target, as_json)
        return
    asked = question(run, clf, edges, nodes)
    columns, promise = _columns(run, clf, asked, samples, alpha, is_new=edges is not None)
    if drivers:
        columns["drivers"] = _drivers(clf, asked)
    if world().leads:
        write_table(target, columns)
    count, known = len(columns["id"]), sum(columns["known"])
    if as_json:
        print_json({"out": str(target), "nodes": count, "known": known, "sets": promise})
        return
    console.print(f"{count:,} labels written to {target} ({known:,} of them were known); {promise}")


def _columns(
    run: Run, clf: NodeClassifier, asked: Question, samples: int, alpha: float, is_new: bool
) -> tuple[dict[str, list[Any]], str]:
    """Return the table, and what its sets promise."""
    graph, names = asked.graph, class_names(asked.graph, clf.classes_)
    labels, probabilities = clf.predict(graph, asked.known), clf.predict_proba(samples, asked.known, graph=graph)
    place = np.searchsorted(clf.classes_, labels)
    aside = np.zeros(graph.num_nodes, dtype=bool) if is_new else run.calibration(graph)
    if aside.any():
        sets = clf.sets(alpha, aside, n_samples=samples, labels=asked.known, graph=graph)
        of_class = dict(zip(clf.classes_.tolist(), names, strict=True))
        listed = [join_names([of_class[c] for c in sets[node].tolist()]) for node in range(graph.num_nodes)]
        promise = str(sets)
    else:
        listed = set_column(names, probabilities, 1 - alpha)
        promise = f"a set holds {100 * (1 - alpha):g} % of the model's own probability"
    columns = {
        "id": ids_of(graph),
        "label": [names[p] for p in place],
        "confidence": np.round(probabilities[np.arange(len(place)), place], 4).tolist(),
        "set": listed,
        "known": (asked.known >= 0).tolist(),
    }
    return columns, promise


def _drivers(clf: NodeClassifier, asked: Question) -> list[str]:
    if not isinstance(clf, ReDiSC):
        raise ConfigError(f"--drivers is for runs of ReDiSC; this is one of {clf.title}")
    return driver_column(clf.drivers(labels=asked.known, graph=asked.graph), ids_of(asked.graph))


def _predict_in_parts(clf: NodeClassifier, graph: Graph, target: Path, as_json: bool) -> None:
    if not isinstance(clf, ReDiSC):
        raise ConfigError(f"--in-parts is for runs of ReDiSC; this is one of {clf.title}")
    labels, confidence = clf.predict_in_parts(graph)
    known = int((clf.known_ >= 0).sum())
    if world().leads:
        names = dict(zip(clf.classes_.tolist(), class_names(graph, clf.classes_), strict=True))
        columns = {
            "id": ids_of(graph),
            "label": [names[label] for label in labels.tolist()],
            "confidence": np.round(confidence, 4).tolist(),
            "known": (clf.known_ >= 0).tolist(),
        }
        write_table(target, columns)
    if as_json:
        print_json({"out": str(target), "nodes": len(labels), "known": known})
        return
    console.print(f"{len(labels):,} labels written to {target} by {world().size} processes")
