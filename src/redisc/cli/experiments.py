"""The commands that make results: `reproduce` and `tune`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from redisc.cli.app import DATASET_HELP, DataDir, Json, app
from redisc.cli.output import console, print_json
from redisc.cli.outputs import check_spared
from redisc.cli.table_options import Edges, Id, Label, Nodes, Source, TableOptions, Target, Text, Weight, graph_source
from redisc.errors import ConfigError
from redisc.experiments.paired import paired_differences, show_gain, show_pairs
from redisc.experiments.reproduce import ABLATIONS, as_csv, as_markdown, run_table, table_rows
from redisc.experiments.store import ResultStore
from redisc.experiments.tables import TABLES, table_lines
from redisc.io.files import check_target, write_atomically
from redisc.report.canvas import check_picture
from redisc.report.results import draw_table
from redisc.source import FileSource
from redisc.world import world


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help=", ".join(TABLES))],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    datasets: Annotated[list[str] | None, typer.Option(help="Of these datasets alone: cora pubmed.")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Of these methods alone, with or without a backbone: gcn,redisc-gat.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs a line, seeds 0, 1, ...")] = 10,
    show: Annotated[bool, typer.Option("--show", help="Only print what the store holds.")] = False,
    store: Annotated[Path, typer.Option(help="The result store.")] = Path("results/runs.jsonl"),
    to_csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table here.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the table into this PNG.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: one a core).")] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Run what a table of the paper lacks, and print it beside the paper's figures.

    Finished runs are stored at once: an interrupted command goes on where it stopped.

    Example: `redisc reproduce homophilic --datasets cora --seeds 3`
    """
    chosen, asked = _chosen(table, datasets, methods, more or [])
    _check_outputs(to_csv, plot)
    table_lines(table, chosen, asked)  # a wrong name is told before anything else
    results, failures = ResultStore(store), []
    if show and not store.exists():
        _tell(f"note: there is no store {store} yet, so nothing was run")
    if not show:
        with _interruptible(results):
            failures = run_table(table, chosen, seeds, results, data_dir, _tell, workers, asked)
    rows = table_rows(table, chosen, seeds, results, data_dir, asked)
    if as_json:
        print_json(rows)
    else:
        print(as_markdown(rows))
        if table in ABLATIONS:
            _print_differences(paired_differences(table, chosen, seeds, results))
    for failure in failures:
        _tell(f"note: {failure}")
    if to_csv is not None and world().leads:
        write_atomically(to_csv, as_csv(rows).encode())
    if plot is not None and world().leads:
        draw_table(rows, plot)
    if failures:
        raise typer.Exit(1)


Names = list[str] | None


def _chosen(table: str, datasets: Names, methods: Names, more: list[str]) -> tuple[Names, Names]:
    """Join the names after `--datasets` and `--methods`: an option takes one word, others come as arguments.

    Commas part names too. Words after both options are told apart by the table's datasets.
    """
    if datasets is None and methods is None and more:
        raise ConfigError(f"one table at a time, not {' '.join(more)} too; datasets are named with --datasets")
    known = {line.dataset for line in table_lines(table)}
    words = _words(more)
    of_datasets = [word for word in words if methods is None or (datasets is not None and word in known)]
    of_methods = [word for word in words if word not in of_datasets]
    return _names("datasets", datasets, of_datasets), _names("methods", methods, of_methods)


def _names(option: str, given: Names, more: list[str]) -> Names:
    names = None if given is None else _words([*given, *more])
    if names == []:
        raise ConfigError(f"--{option}: there is no name")
    return names


def _words(texts: list[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name]


def _check_outputs(to_csv: Path | None, plot: Path | None) -> None:
    """Refuse files that can't be written before hours of runs, not after them."""
    for file in filter(None, (to_csv, plot)):
        check_target(file)
    if to_csv is not None and to_csv.suffix.lower() != ".csv":
        raise ConfigError(f"--csv {to_csv}: the table is written as CSV, so its name must end in .csv")
    if plot is not None:
        check_picture(plot)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _interruptible(store: ResultStore) -> Iterator[None]:
    """Say at an interrupt what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        _tell(f"interrupted: finished runs are in {store.path}; the same command goes on from there")
        raise typer.Exit(130) from None


def _print_differences(differences: list[dict[str, Any]]) -> None:
    for row in differences:
        if row["difference"] is not None:
            sure = "" if row["half_width"] is None else " (95 %)"
            print(f"{row['dataset']}: with - without = {show_gain(row)}{sure}, {show_pairs(row)}")


@app.command()
def tune(
    dataset: Annotated[str | None, typer.Argument(help=DATASET_HELP)] = None,
    edges: Edges = None,
    nodes: Nodes = None,
    label: Label = None,
    id: Id = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    text: Text = None,
    backbone: Annotated[str, typer.Option(help="gcn, gat, sage, gat_sep, appnp or hops.")] = "gcn",
    space: Annotated[
        str, typer.Option(help="wide, paper (its search space for such a graph), or a JSON file of your own.")
    ] = "wide",
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those of earlier calls included.")] = 20,
    seeds: Annotated[int, typer.Option(min=1, help="Fits a trial.")] = 3,
    start_from: Annotated[
        str, typer.Option(help="A recipe, or a recipe's file, for the settings outside the space.")
    ] = "default",
    max_time: Annotated[float | None, typer.Option(help="Seconds after which a fit ends.")] = None,
    folder: Annotated[Path, typer.Option(help="Where trials are kept.")] = Path("tuning"),
    out: Annotated[Path | None, typer.Option(help="The recipe (default: FOLDER/NAME-BACKBONE.json).")] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Search settings by validation score alone and write the winner as a recipe; stops and resumes.

    Of tables, which have no split, every fit holds out a fifth of the labels.

    Example: `redisc tune cora --backbone gcn --trials 30`
    """
    from redisc.experiments.tune import Search, load_space, paper_space  # noqa: PLC0415 (Optuna is an extra)

    tables = TableOptions(edges, nodes, label, id, source, target, weight, text)
    origin = graph_source(dataset, data_dir, 0, tables)
    recipe = out or folder / f"{origin.name}-{backbone}.json"
    check_spared(recipe, origin)
    check_target(recipe)
    search = Search(
        dataset if dataset is not None else origin.name,
        backbone,
        load_space(paper_space(dataset) if space == "paper" else space),
        folder,
        start_from=start_from,
        seeds=seeds,
        data_dir=data_dir,
        max_time=max_time,
        tables=origin if isinstance(origin, FileSource) else None,
    )

    def report(study: Any, trial: Any) -> None:
        _tell(f"[{search.settled()}/{trials}] {search.told(trial)}")

    search.run(trials, report)
    search.write(recipe)
    if as_json:
        print_json({"out": str(recipe), **search.recipe()})
        return
    console.print(f"recipe written to {recipe}: {search.recipe()['about']}")
    console.print(f"to use it: redisc fit ... --set recipe={recipe}", soft_wrap=True, highlight=False)
