"""The commands that make a run and ask it: `fit`, `predict`, `sample`, `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from redisc.classifier import NodeClassifier
from redisc.cli.app import DATASET_HELP, DataDir, Json, RunFolder, app
from redisc.cli.inputs import build, choose_masks, graph_source, read_settings
from redisc.cli.keeping import kept
from redisc.cli.output import console, print_comparison, print_json
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.evaluation import evaluate_run, scored_nodes
from redisc.graph import Graph, Split
from redisc.io.tables import write_table
from redisc.methods import method_named
from redisc.run import Run
from redisc.source import FileSource
from redisc.world import world


@app.command()
def fit(
    dataset: Annotated[str | None, typer.Argument(help=DATASET_HELP)] = None,
    edges: Annotated[str | None, typer.Option(help="Table of edges, CSV or Parquet: two columns of node ids.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Table of nodes: an id, a label, numeric features.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels; an empty cell is unknown.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the node ids (default: the first).")] = None,
    method: Annotated[str, typer.Option(help="A name that `redisc methods` lists.")] = "redisc",
    backbone: Annotated[str | None, typer.Option(help="gcn, gat, sage, gat_sep or hops (default: what suits).")] = None,
    split: Annotated[int, typer.Option(help="Which of the dataset's splits.")] = 0,
    test_fraction: Annotated[float, typer.Option(help="Share of a table's labels kept for `evaluate`.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    max_time: Annotated[float | None, typer.Option(help="Seconds after which the fit ends.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Any setting of it, as NAME=VALUE.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run (default: runs/NAME-SEED).")] = None,
    checkpoint_every: Annotated[float | None, typer.Option(help="Seconds between two saves (default: 60).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit that was killed.")] = False,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Fit ReDiSC, or another method, to a dataset or to your own tables and keep the model as a run.

    Until the run is written, ReDiSC keeps its state beside it in OUT.partial, for --resume. Example: redisc fit --edges
    edges.csv --nodes nodes.csv --label topic
    """
    source, kind = graph_source(dataset, data_dir, seed, edges, nodes, label, id), method_named(method)
    settings = {"random_state": seed, "verbose": not as_json and world().leads, **read_settings(kind, setting or [])}
    run = Run(out or Path("runs") / _run_name(Path(dataset).name if dataset else Path(str(edges)).stem, method, seed))
    run.check_free()
    graph, from_files = source.load(), isinstance(source, FileSource)
    masks = choose_masks(graph, split, test_fraction, seed, from_files)
    visible = np.where(masks.train | masks.val, graph.y, -1)
    clf = build(kind, graph, visible, from_files, backbone, settings)
    with kept(clf, run.unfinished, checkpoint_every, resume) as safety:
        clf.fit(graph, masks.train, masks.val if masks.val.any() else None, max_time=max_time, **safety)
        used = Split(clf.train_mask_, clf.val_mask_, masks.test)
        chosen = {"method": method, "backbone": clf.get_params().get("backbone")}
        facts = {"seed": seed, **chosen, "sizes": used.sizes, "verdict": clf.verdict()}
        if world().leads:
            run.save(clf, source, used, facts)
    if as_json:
        print_json({"run": str(run.folder), **facts, "history": clf.history_})
        return
    console.print(f"run saved in {run.folder}; next: redisc predict {run.folder}")


@app.command()
def predict(
    folder: RunFolder,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file (default: RUN/predictions.csv).")] = None,
    samples: Annotated[int, typer.Option(help="Chains behind the confidence.")] = 32,
    in_parts: Annotated[bool, typer.Option("--in-parts", help="Share the graph among torchrun's processes.")] = False,
    as_json: Json = False,
) -> None:
    """Write id, label, confidence and the plausible labels of every node.

    Plausible labels are the fewest that hold 90 % of the probability. With --in-parts every process of `torchrun`
    holds its part of the graph, and confidence comes from the one chain that is written. Example: redisc predict
    runs/cora-0
    """
    run = Run(folder)
    graph, clf = run.graph(), run.model()
    if in_parts:
        _predict_in_parts(clf, graph, out or folder / "predictions.csv", as_json)
        return
    labels, probabilities = clf.predict(graph), clf.predict_proba(samples, graph=graph)
    names, order = _class_names(graph, clf), np.argsort(clf.classes_)
    place = order[np.searchsorted(clf.classes_, labels, sorter=order)]
    columns = {
        "id": _ids(graph),
        "label": [names[p] for p in place],
        "confidence": np.round(probabilities[np.arange(len(place)), place], 4).tolist(),
        "plausible": ["|".join(names[c] for c in chosen) for chosen in _plausible(probabilities)],
        "known": (clf.known_ >= 0).tolist(),
    }
    target = out or folder / "predictions.csv"
    if world().leads:
        write_table(target, columns)
    if as_json:
        print_json({"out": str(target), "nodes": len(place), "known": sum(columns["known"])})
        return
    console.print(f"{len(place):,} labels written to {target} ({sum(columns['known']):,} of them were known)")


def _predict_in_parts(clf: NodeClassifier, graph: Graph, target: Path, as_json: bool) -> None:
    if not isinstance(clf, ReDiSC):
        raise ConfigError(f"--in-parts is for runs of ReDiSC; this is one of {clf.title}")
    labels, confidence = clf.predict_in_parts(graph)
    known = int((clf.known_ >= 0).sum())
    if world().leads:
        names = dict(zip(clf.classes_.tolist(), _class_names(graph, clf), strict=True))
        columns = {
            "id": _ids(graph),
            "label": [names[label] for label in labels.tolist()],
            "confidence": np.round(confidence, 4).tolist(),
            "known": (clf.known_ >= 0).tolist(),
        }
        write_table(target, columns)
    if as_json:
        print_json({"out": str(target), "nodes": len(labels), "known": known})
        return
    console.print(f"{len(labels):,} labels written to {target} by {world().size} processes")


@app.command()
def sample(
    folder: RunFolder,
    n: Annotated[int, typer.Option("-n", help="How many joint samples.")] = 16,
    temperature: Annotated[float, typer.Option(help="Below 1 sharpens.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Other seeds give other samples.")] = 0,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file (default: RUN/samples.csv).")] = None,
    as_json: Json = False,
) -> None:
    """Draw joint samples of all labels; each column is one consistent labelling.

    Example: redisc sample runs/cora-0 -n 16
    """
    run = Run(folder)
    graph, clf = run.graph(), run.model()
    if not isinstance(clf, ReDiSC):
        raise ConfigError(f"{folder} is a run of {clf.title}, which draws no joint samples: see `redisc predict`")
    names = dict(zip(clf.classes_.tolist(), _class_names(graph, clf), strict=True))
    drawn = clf.sample(n, temperature=temperature, graph=graph, random_state=seed)
    columns = {"id": _ids(graph)} | {f"sample_{k}": [names[c] for c in row] for k, row in enumerate(drawn.tolist())}
    target = out or folder / "samples.csv"
    if world().leads:
        write_table(target, columns)
    if as_json:
        print_json({"out": str(target), "samples": n, "nodes": graph.num_nodes})
        return
    console.print(f"{n} joint samples of {graph.num_nodes:,} nodes written to {target}")


@app.command()
def evaluate(
    folder: RunFolder,
    samples: Annotated[int, typer.Option(help="Chains behind the probabilities.")] = 32,
    as_json: Json = False,
) -> None:
    """Score a run on its test nodes; ReDiSC beside its mean-field GNN.

    Where a run has no test labels its validation nodes are scored, which flatters. Example: redisc evaluate
    runs/cora-0
    """
    run = Run(folder)
    graph, clf = run.graph(), run.model()
    kind, mask = scored_nodes(graph, run.split(graph))
    scores = evaluate_run(clf, graph, mask, samples)
    if as_json:
        print_json({"run": str(folder), "nodes": kind, "count": int(mask.sum()), **scores})
        return
    console.print(f"{folder}: {mask.sum():,} {kind} nodes")
    print_comparison([(graph.name, scores)], clf.name)


def _run_name(data: str, method: str, seed: int) -> str:
    return f"{data}-{seed}" if method == "redisc" else f"{data}-{method}-{seed}"


def _class_names(graph: Graph, clf: NodeClassifier) -> list[str]:
    names = graph.class_names
    return [str(c) if names is None else str(names[c]) for c in clf.classes_.tolist()]


def _ids(graph: Graph) -> list[Any]:
    return list(range(graph.num_nodes)) if graph.node_ids is None else list(graph.node_ids)


def _plausible(probabilities: np.ndarray, mass: float = 0.9) -> list[list[int]]:
    """For each node the fewest classes that hold `mass` of its probability, most probable first."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    counts = (ranked < mass - 1e-9).sum(axis=1) + 1
    return [row[:count].tolist() for row, count in zip(order, counts, strict=True)]
