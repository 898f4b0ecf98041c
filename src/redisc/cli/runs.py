"""The commands that make a run, draw from it and score it: `fit`, `sample`, `evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from redisc.cli.app import DATASET_HELP, DataDir, Json, RunFolder, app
from redisc.cli.asking import new_graph, question
from redisc.cli.inputs import build, choose_masks, read_settings, set_aside
from redisc.cli.keeping import kept
from redisc.cli.output import console, print_comparison, print_json
from redisc.cli.outputs import check_spared
from redisc.cli.table_options import Edges, Id, Label, Nodes, Source, TableOptions, Target, Text, Weight, graph_source
from redisc.errors import ConfigError, DatasetError
from redisc.estimator import ReDiSC
from redisc.evaluation import evaluate_run, scored_nodes
from redisc.graph import Split
from redisc.io.tables import check_table_target, write_table
from redisc.methods import method_named
from redisc.run import Run
from redisc.source import FileSource
from redisc.tables.predictions import ids_of
from redisc.world import world


@app.command()
def fit(
    dataset: Annotated[str | None, typer.Argument(help=DATASET_HELP)] = None,
    edges: Edges = None,
    nodes: Nodes = None,
    label: Label = None,
    id: Id = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    text: Text = None,
    method: Annotated[str, typer.Option(help="A name that `redisc methods` lists.")] = "redisc",
    backbone: Annotated[
        str | None, typer.Option(help="gcn, gat, sage, gat_sep, appnp or hops (default: what suits).")
    ] = None,
    split: Annotated[int, typer.Option(help="Which of the dataset's splits.")] = 0,
    test_fraction: Annotated[float, typer.Option(help="Share of a table's labels kept for `evaluate`.")] = 0.0,
    calibration: Annotated[float, typer.Option(help="Share of labels kept from the fit to calibrate sets.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    max_time: Annotated[float | None, typer.Option(help="Seconds after which the fit ends.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Any setting of it, as NAME=VALUE.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run (default: runs/NAME-SEED); an earlier run is replaced.")
    ] = None,
    checkpoint_every: Annotated[float | None, typer.Option(help="Seconds between two saves (default: 60).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit that was killed.")] = False,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Fit ReDiSC, or another method, to a dataset or to your own tables and keep the model as a run.

    An earlier run in the same folder is replaced when the fit ends, and its predictions, samples and report go with it.
    Until the run is written, ReDiSC keeps its state beside it in OUT.partial, for --resume. With --calibration the sets
    of `predict` come with a promise; the share is taken from the validation nodes, or else from a table's labels.

    Example: `redisc fit --edges edges.csv --nodes nodes.csv --label topic --text abstract`
    """
    tables = TableOptions(edges, nodes, label, id, source, target, weight, text)
    origin, kind = graph_source(dataset, data_dir, seed, tables), method_named(method)
    settings = {"random_state": seed, "verbose": not as_json and world().leads, **read_settings(kind, setting or [])}
    run = Run(out or Path("runs") / _run_name(origin.name, method, seed))
    run.check_free()
    graph, plan = origin.load_with_plan() if isinstance(origin, FileSource) else (origin.load(), None)
    masks, aside = set_aside(choose_masks(graph, split, test_fraction, seed, tables.given), calibration, seed)
    visible = np.where(masks.train | masks.val, graph.y, -1)
    clf = build(kind, graph, visible, origin, backbone, settings)
    if run.exists() and world().leads:
        print(f"note: {run.folder} holds an earlier run, which this one replaces when the fit ends", file=sys.stderr)
    with kept(clf, run.unfinished, checkpoint_every, resume) as safety:
        clf.fit(graph, masks.train, masks.val if masks.val.any() else None, max_time=max_time, **safety)
        used = Split(clf.train_mask_, clf.val_mask_, masks.test)
        chosen = {"method": method, "backbone": clf.get_params().get("backbone")}
        facts = {"seed": seed, **chosen, "sizes": used.sizes, "verdict": clf.verdict()}
        if world().leads:
            run.save(clf, origin, used, facts, plan, aside)
    if as_json:
        print_json({"run": str(run.folder), **facts, "history": clf.history_})
        return
    console.print(f"run saved in {run.folder}; next: redisc predict {run.folder}")


@app.command()
def sample(
    folder: RunFolder,
    edges: Edges = None,
    nodes: Nodes = None,
    n: Annotated[int, typer.Option("-n", help="How many joint samples.")] = 16,
    temperature: Annotated[float, typer.Option(help="Below 1 sharpens.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Other seeds give other samples.")] = 0,
    out: Annotated[Path | None, typer.Option(help="CSV, .csv.gz or Parquet file (default: RUN/samples.csv).")] = None,
    as_json: Json = False,
) -> None:
    """Draw joint samples of all labels; each column is one consistent labelling.

    New tables are read by the columns of the fit, and the labels that they give are known.

    Example: `redisc sample runs/cora-0 -n 16`
    """
    run, target = Run(folder), out or folder / "samples.csv"
    check_spared(target, run.source(), edges, nodes)
    check_table_target(target)
    clf = run.model()
    if not isinstance(clf, ReDiSC):
        raise ConfigError(f"{folder} is a run of {clf.title}, which draws no joint samples: see `redisc predict`")
    asked = question(run, clf, edges, nodes)
    graph, names = asked.graph, dict(zip(clf.classes_.tolist(), asked.graph.names_of(clf.classes_), strict=True))
    drawn = clf.sample(n, asked.known, temperature, graph=graph, random_state=seed)
    columns = {"id": ids_of(graph)} | {f"sample_{k}": [names[c] for c in row] for k, row in enumerate(drawn.tolist())}
    if world().leads:
        write_table(target, columns)
    if as_json:
        print_json({"out": str(target), "samples": n, "nodes": graph.num_nodes})
        return
    console.print(f"{n} joint samples of {graph.num_nodes:,} nodes written to {target}")


@app.command()
def evaluate(
    folder: RunFolder,
    edges: Edges = None,
    nodes: Nodes = None,
    samples: Annotated[int, typer.Option(help="Chains behind the probabilities.")] = 32,
    as_json: Json = False,
) -> None:
    """Score a run on its test nodes; ReDiSC beside its mean-field GNN.

    Where a run has no test labels its validation nodes are scored, which flatters; where none could be held out, its
    training nodes, which tells nothing about others. New tables are scored on all labels
    that they give, none of which is known to the model: leave those empty that the fit has seen.

    Example: `redisc evaluate runs/mine --edges new_edges.csv --nodes new_nodes.csv`
    """
    run = Run(folder)
    clf, new = run.model(), new_graph(run, edges, nodes)
    graph = run.graph() if new is None else new
    kind, mask = scored_nodes(graph, run.split(graph)) if new is None else ("new", graph.y >= 0)
    if new is not None and not mask.any():
        raise DatasetError(f"there is no label to score in column {run.plan().columns.label!r} of {nodes}")
    known = clf.known_ if new is None else np.full(graph.num_nodes, -1)
    scores = evaluate_run(clf, graph, mask, samples, known)
    if as_json:
        print_json({"run": str(folder), "nodes": kind, "count": int(mask.sum()), **scores})
        return
    console.print(f"{folder}: {mask.sum():,} {kind} nodes")
    print_comparison([(graph.name, scores)], clf.name, differences=kind != "training")
    if kind == "training":
        console.print("no node was held out from the fit, so this does not tell how good it is on others")


def _run_name(data: str, method: str, seed: int) -> str:
    return f"{data}-{seed}" if method == "redisc" else f"{data}-{method}-{seed}"
