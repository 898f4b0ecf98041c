"""The command `redisc`: parses, calls, prints."""

from __future__ import annotations

import json
import math
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from redisc import datasets
from redisc.errors import ConfigError, DatasetError, RediscError
from redisc.estimator import ReDiSC
from redisc.evaluation import evaluate_run
from redisc.experiments.demo import SCENES, play
from redisc.graph import Graph, Split
from redisc.io.tables import write_table
from redisc.nn import BACKBONES
from redisc.report.growth import draw_growth
from redisc.run import Run
from redisc.source import DatasetSource, FileSource, GraphSource

app = typer.Typer(
    help="Complete the labels of a partially labelled graph jointly.", no_args_is_help=True, add_completion=False
)
console = Console(highlight=False, soft_wrap=True)

Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by `redisc fit`.")]
DataDir = Annotated[str | None, typer.Option(help="Folder of NAME.npz files (default: REDISC_DATA).")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the runs go.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Of graphs and fits.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit, predict and report on built-in data: under two minutes, no arguments.

    Example: redisc demo
    """
    results = []
    for scene in SCENES:
        if not as_json:
            console.print(f"[bold]{scene.name}[/bold]: {scene.about}")
        results.append(play(scene, out, seed, verbose=not as_json))
    if as_json:
        _print_json({"results": results})
        return
    _print_comparison([(str(r["dataset"]), r) for r in results])
    for result in results:
        console.print(f"{result['dataset']}: model in {result['run']}, mistakes drawn in {result['picture']}")
    console.print(f"Next: redisc predict {results[0]['run']}   (labels and confidence of every node, as CSV)")


@app.command("datasets")
def list_datasets(data_dir: DataDir = None, as_json: Json = False) -> None:
    """List what can be loaded, and from where.

    Example: redisc datasets --data-dir my_graphs
    """
    rows = datasets.available(data_dir)
    if as_json:
        keys = ("name", "summary", "kind", "split", "nodes", "edges", "features", "classes", "citation")
        _print_json([{k: getattr(r.entry, k) for k in keys} | {"at_hand": r.at_hand, "origin": r.origin} for r in rows])
        return
    line = "{:22} {:>9} {:>10} {:>7}  {:9} {}"
    console.print(line.format("name", "nodes", "edges", "classes", "at hand", "what it is"), style="bold")
    for row in rows:
        entry = row.entry
        sizes = (f"{n:,}" if n is not None else "any" for n in (entry.nodes, entry.edges, entry.classes))
        place = ("built in" if row.origin == "built in" else "file") if row.at_hand else "no"
        console.print(
            line.format(entry.name, *sizes, place, entry.summary), no_wrap=True, overflow="ellipsis", crop=True
        )


@app.command()
def fit(
    dataset: Annotated[str | None, typer.Argument(help="A name that `redisc datasets` lists.")] = None,
    edges: Annotated[str | None, typer.Option(help="Table of edges, CSV or Parquet: two columns of node ids.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Table of nodes: an id, a label, numeric features.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels; an empty cell is unknown.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the node ids (default: the first).")] = None,
    backbone: Annotated[str | None, typer.Option(help="gcn, gat, sage or gat_sep (default: what suits).")] = None,
    split: Annotated[int, typer.Option(help="Which of the dataset's splits.")] = 0,
    test_fraction: Annotated[float, typer.Option(help="Share of a table's labels kept for `evaluate`.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    max_time: Annotated[float | None, typer.Option(help="Seconds after which the fit ends.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Any setting of ReDiSC, as NAME=VALUE.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run (default: runs/NAME-SEED).")] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Fit ReDiSC to a dataset or to your own tables and keep the model as a run.

    Example: redisc fit --edges edges.csv --nodes nodes.csv --label topic
    """
    source = _source(dataset, data_dir, seed, edges, nodes, label, id)
    settings = _settings(setting or [])
    run = Run(out or Path("runs") / f"{dataset or Path(str(edges)).stem}-{seed}")
    run.check_free()
    graph = source.load()
    masks = _masks(graph, split, test_fraction, seed, isinstance(source, FileSource))
    visible = np.where(masks.train | masks.val, graph.y, -1)
    clf = _estimator(graph, visible, source, backbone, seed, settings, verbose=not as_json)
    clf.fit(graph, masks.train, masks.val if masks.val.any() else None, max_time=max_time)
    used = Split(clf.train_mask_, clf.val_mask_, masks.test)
    facts = {"seed": seed, "backbone": clf.backbone, "sizes": used.sizes, "verdict": clf.verdict()}
    run.save(clf, source, used, facts)
    if as_json:
        _print_json({"run": str(run.folder), **facts, "history": clf.history_})
        return
    console.print(f"run saved in {run.folder}; next: redisc predict {run.folder}")


@app.command()
def predict(
    folder: RunFolder,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet file (default: RUN/predictions.csv).")] = None,
    samples: Annotated[int, typer.Option(help="Chains behind the confidence.")] = 32,
    as_json: Json = False,
) -> None:
    """Write id, label, confidence and the plausible labels of every node.

    Plausible labels are the fewest that hold 90 % of the probability. Example: redisc predict runs/cora-0
    """
    run = Run(folder)
    graph, clf = run.graph(), run.model()
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
    write_table(target, columns)
    if as_json:
        _print_json({"out": str(target), "nodes": len(place), "known": sum(columns["known"])})
        return
    console.print(f"{len(place):,} labels written to {target} ({sum(columns['known']):,} of them were known)")


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
    names = dict(zip(clf.classes_.tolist(), _class_names(graph, clf), strict=True))
    drawn = clf.sample(n, temperature=temperature, graph=graph, random_state=seed)
    columns = {"id": _ids(graph)} | {f"sample_{k}": [names[c] for c in row] for k, row in enumerate(drawn.tolist())}
    target = out or folder / "samples.csv"
    write_table(target, columns)
    if as_json:
        _print_json({"out": str(target), "samples": n, "nodes": graph.num_nodes})
        return
    console.print(f"{n} joint samples of {graph.num_nodes:,} nodes written to {target}")


@app.command()
def evaluate(
    folder: RunFolder,
    samples: Annotated[int, typer.Option(help="Chains behind the probabilities.")] = 32,
    as_json: Json = False,
) -> None:
    """Score a run on its test nodes, beside its mean-field GNN.

    Where a run has no test labels its validation nodes are scored, which flatters. Example: redisc evaluate
    runs/cora-0
    """
    run = Run(folder)
    graph, clf = run.graph(), run.model()
    masks = run.split(graph)
    tested = masks.test & (graph.y >= 0)
    kind, mask = ("test", tested) if tested.any() else ("validation", masks.val)
    scores = evaluate_run(clf, graph, mask, samples)
    if as_json:
        _print_json({"run": str(folder), "nodes": kind, "count": int(mask.sum()), **scores})
        return
    console.print(f"{folder}: {mask.sum():,} {kind} nodes")
    _print_comparison([(graph.name, scores)])


@app.command()
def bench(
    dataset: Annotated[str, typer.Option(help="A name that `redisc datasets` lists.")] = "planted",
    backbone: Annotated[str, typer.Option(help="gcn, gat, sage or gat_sep.")] = "gcn",
    repeats: Annotated[int, typer.Option(min=1, help="Timed repetitions of each side, in turn.")] = 5,
    grow: Annotated[bool, typer.Option(help="Also measure growth with nodes, degree and steps.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the growth into this PNG (with --grow).")] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Measure one update and one sample, by plain PyG code and by the engine, in one run.

    Example: redisc bench --dataset minesweeper --backbone gat_sep
    """
    from redisc.experiments.bench import growth, peak_memory, run_bench  # noqa: PLC0415 (PyG's layers load slowly)

    if backbone not in BACKBONES:
        raise ConfigError(f"--backbone {backbone}: choose one of {', '.join(BACKBONES)}")
    result = run_bench(dataset, backbone, data_dir, repeats)
    result["memory"] = peak_memory(dataset, backbone, data_dir)
    result["growth"] = growth() if grow else []
    if plot is not None and grow:
        draw_growth(result["growth"], plot)
    if as_json:
        _print_json(result)
        return
    for name in ("m_step", "sample"):
        row = result[name]
        line = f"{name:7} plain {1000 * row['reference_s']:8.1f} ms   engine {1000 * row['engine_s']:7.1f} ms"
        console.print(f"{line}   {row['ratio']:.1f} times faster")
    console.print(
        f"sample, {result['sample']['chains']} chains at once: {1000 * result['sample']['per_chain_s']:.1f} ms a chain"
    )
    console.print("update: " + ", ".join(f"{k[:-2]} {1000 * v:.1f} ms" for k, v in result["parts"].items()))
    console.print("sampling went by " + ", ".join(f"{k.replace('_', ' ')} {v:,}" for k, v in result["path"].items()))
    console.print("peak memory: " + ", ".join(f"{k[:-4]} {v:.0f} MiB" for k, v in result["memory"].items()))
    for row in result["growth"]:
        console.print(
            f"{row['nodes']:7,} nodes, degree {row['mean_degree']:3}, T {row['steps']:4}: "
            f"update {1000 * row['m_step_s']:6.1f} ms, sample {1000 * row['sample_s']:6.1f} ms, "
            f"{row['messages']:,} messages"
        )


def main() -> None:
    """Run the command; a wrong input is one line on standard error and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    try:
        app()
    except RediscError as fault:
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    except OSError as fault:
        print(f"error: {fault.strerror}: {fault.filename}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        sys.exit(130)


def _source(
    dataset: str | None,
    data_dir: str | None,
    seed: int,
    edges: str | None,
    nodes: str | None,
    label: str | None,
    id_column: str | None,
) -> GraphSource:
    if dataset is not None and edges is None and nodes is None and label is None and id_column is None:
        folder = None if data_dir is None else str(Path(data_dir).resolve())
        return DatasetSource(dataset, folder, seed)
    if dataset is None and edges is not None and nodes is not None and label is not None:
        return FileSource(str(Path(edges).resolve()), str(Path(nodes).resolve()), label, id_column)
    raise DatasetError("give either a dataset's name, or --edges, --nodes and --label")


def _settings(pairs: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE pairs; values are JSON where they can be, else text."""
    allowed = set(ReDiSC().get_params()) - {"backbone", "random_state", "verbose"}
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in allowed:
            raise ConfigError(f"--set {pair}: expected NAME=VALUE with NAME one of {', '.join(sorted(allowed))}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def _estimator(
    graph: Graph,
    visible: np.ndarray,
    source: GraphSource,
    backbone: str | None,
    seed: int,
    settings: dict[str, Any],
    verbose: bool,
) -> ReDiSC:
    """Build the estimator; columns of a user's table are standardised unless a setting says otherwise.

    The backbone that suits is chosen by the `visible` labels alone.
    """
    from_files = isinstance(source, FileSource)
    defaults = {"feature_scaling": "standard"} if from_files else {}
    chosen = backbone or graph.with_labels(visible).describe().suggested_backbone
    return ReDiSC(chosen, random_state=seed, verbose=verbose, **{**defaults, **settings})


def _masks(graph: Graph, split: int, test_fraction: float, seed: int, from_files: bool) -> Split:
    """Return the dataset's split, or for tables all labels less the share that is kept for testing."""
    if not 0 <= test_fraction < 1:
        raise ConfigError(f"--test-fraction {test_fraction}: it must lie in [0, 1)")
    if from_files and split:
        raise ConfigError("--split picks one of a dataset's splits; tables have none (see --test-fraction)")
    if not from_files and graph.splits:
        if test_fraction:
            raise ConfigError(f"--test-fraction is for tables: {graph.name} comes with test nodes")
        if not 0 <= split < len(graph.splits):
            raise DatasetError(f"--split {split}: {graph.name} has splits 0..{len(graph.splits) - 1}")
        return graph.splits[split]
    labelled = np.flatnonzero(graph.y >= 0)
    if not len(labelled):
        raise DatasetError("no node has a label: a fit needs some")
    drawn = np.random.default_rng(seed).permutation(labelled)
    test = np.zeros(graph.num_nodes, dtype=bool)
    test[drawn[: round(test_fraction * len(drawn))]] = True
    return Split((graph.y >= 0) & ~test, np.zeros_like(test), test)


def _class_names(graph: Graph, clf: ReDiSC) -> list[str]:
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


def _print_comparison(results: list[tuple[str, dict[str, Any]]]) -> None:
    """Print metrics of the mean-field GNN and of ReDiSC side by side, in percent."""
    table = Table("graph", "metric", "mean-field GNN", "ReDiSC", "difference")
    for name, scores in results:
        for metric, before in scores["mean_field"].items():
            after = scores["redisc"][metric]
            cells = (f"{100 * before:.2f}", f"{100 * after:.2f}", f"{100 * (after - before):+.2f}")
            table.add_row(name, metric.replace("_", " "), *cells)
    console.print(table)


def _print_json(value: Any) -> None:
    """Print JSON to standard output; NaN becomes null."""
    print(json.dumps(_finite(value), indent=2))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    main()
