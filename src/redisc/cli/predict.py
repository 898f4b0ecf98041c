"""The command `predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from redisc.classifier import NodeClassifier
from redisc.cli.app import Json, RunFolder, app
from redisc.cli.asking import Question, question
from redisc.cli.output import console, print_json
from redisc.cli.outputs import check_spared
from redisc.cli.table_options import Edges, Nodes
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.graph import Graph
from redisc.io.tables import check_table_target, write_table
from redisc.run import Run
from redisc.tables.predictions import driver_column, ids_of, set_column
from redisc.uncertainty import PredictionSets, conformal_sets
from redisc.world import world


@app.command()
def predict(
    folder: RunFolder,
    edges: Edges = None,
    nodes: Nodes = None,
    out: Annotated[
        Path | None, typer.Option(help="CSV, .csv.gz or Parquet file (default: RUN/predictions.csv).")
    ] = None,
    samples: Annotated[int, typer.Option(help="Chains behind the confidence.")] = 32,
    alpha: Annotated[float, typer.Option(help="Share of nodes whose set may miss their label.")] = 0.1,
    drivers: Annotated[bool, typer.Option("--drivers", help="Also tell which known labels drive a node.")] = False,
    in_parts: Annotated[bool, typer.Option("--in-parts", help="Share the graph among torchrun's processes.")] = False,
    as_json: Json = False,
) -> None:
    """Write id, label, confidence, a set of labels, and whether it was known, of every node.

    Of a run that was fitted with --calibration the sets hold the true label of 1 - ALPHA of the nodes or more; of
    others, and of new tables, they are the fewest labels that hold 1 - ALPHA of the model's own probability. Labels of
    a set have | between them. New tables are read by the columns of the fit, and the labels that they give are known.
    With --in-parts every process of `torchrun` holds its part of the graph, confidence comes from the one chain that is
    written, and there are no sets.

    Example: `redisc predict runs/mine --edges new_edges.csv --nodes new_nodes.csv`
    """
    run, target = Run(folder), out or folder / "predictions.csv"
    check_spared(target, run.source(), edges, nodes)
    check_table_target(target)
    clf = run.model()
    if not 0 < alpha < 1:
        raise ConfigError(f"--alpha {alpha}: it must lie between 0 and 1")
    if in_parts:
        if edges is not None or nodes is not None or drivers:
            raise ConfigError("--in-parts is for the graph of the fit: leave --edges, --nodes and --drivers out")
        _predict_in_parts(clf, run.graph(), target, as_json)
        return
    asked = question(run, clf, edges, nodes)
    aside = np.zeros(asked.graph.num_nodes, dtype=bool) if edges is not None else run.calibration(asked.graph)
    columns, sets = _columns(clf, asked, aside, samples, alpha)
    if drivers:
        columns["drivers"] = _drivers(clf, asked)
    if world().leads:
        write_table(target, columns)
    count, known = len(columns["id"]), sum(columns["known"])
    if as_json:
        print_json({"out": str(target), "nodes": count, "known": known, **_promise(sets)})
        return
    promise = f"a set holds {100 * (1 - alpha):g} % of the model's own probability" if sets is None else str(sets)
    console.print(f"{count:,} labels written to {target} ({known:,} of them were known); {promise}")


def _columns(
    clf: NodeClassifier, asked: Question, aside: np.ndarray, samples: int, alpha: float
) -> tuple[dict[str, list[Any]], PredictionSets | None]:
    """Return the table, and its sets where the nodes `aside (N,)` calibrate them; a label is always in its set."""
    graph, names = asked.graph, asked.graph.names_of(clf.classes_)
    labels, probabilities = clf.predict(graph, asked.known), clf.predict_proba(samples, asked.known, graph=graph)
    place, sets = np.searchsorted(clf.classes_, labels), None
    if aside.any():
        nodes = np.flatnonzero(aside)
        sets = conformal_sets(probabilities, clf.classes_, nodes, graph.y[nodes], alpha).including(labels)
    columns = {
        "id": ids_of(graph),
        "label": [names[p] for p in place],
        "confidence": np.round(probabilities[np.arange(len(place)), place], 4).tolist(),
        "set": set_column(names, probabilities, place, 1 - alpha, None if sets is None else sets.members),
        "known": (asked.known >= 0).tolist(),
    }
    return columns, sets


def _promise(sets: PredictionSets | None) -> dict[str, Any]:
    if sets is None:
        return {"stated_coverage": None, "calibration_nodes": 0}
    return {"stated_coverage": sets.stated_coverage, "calibration_nodes": sets.calibration_size}


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
        names = dict(zip(clf.classes_.tolist(), graph.names_of(clf.classes_), strict=True))
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
