"""The commands that need no run: `demo`, `datasets`, `methods`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redisc import datasets
from redisc.cli.app import DataDir, Json, app
from redisc.cli.output import console, print_comparison, print_json
from redisc.experiments.demo import SCENES, play
from redisc.methods import METHODS


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the runs go.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Of graphs and fits.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit, predict and report on built-in data: under two minutes, no arguments.

    Example: `redisc demo`
    """
    results = []
    for scene in SCENES:
        if not as_json:
            console.print(f"[bold]{scene.name}[/bold]: {scene.about}")
        results.append(play(scene, out, seed, verbose=not as_json))
    if as_json:
        print_json({"results": results})
        return
    print_comparison([(str(r["dataset"]), r) for r in results])
    for result in results:
        console.print(f"{result['dataset']}: model in {result['run']}, mistakes drawn in {result['picture']}")
    console.print(f"Next: redisc predict {results[0]['run']}   (labels and confidence of every node, as CSV)")


@app.command("datasets")
def list_datasets(data_dir: DataDir = None, as_json: Json = False) -> None:
    """List what can be loaded, and from where.

    Example: `redisc datasets --data-dir my_graphs`
    """
    rows = datasets.available(data_dir)
    if as_json:
        keys = ("name", "summary", "kind", "split", "nodes", "edges", "features", "classes", "citation")
        print_json([{k: getattr(r.entry, k) for k in keys} | {"at_hand": r.at_hand, "origin": r.origin} for r in rows])
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


@app.command("methods")
def list_methods(as_json: Json = False) -> None:
    """List the methods that `redisc fit --method` takes.

    Example: `redisc methods --json`
    """
    keys = ("name", "title", "family", "heterophilic", "cost", "citation")
    rows = [{key: getattr(kind, key) for key in keys} for kind in METHODS.values()]
    if as_json:
        print_json(rows)
        return
    line = "{:18} {:12} {:38} {}"
    console.print(line.format("name", "family", "by", "cost"), style="bold")
    for row in rows:
        text = line.format(row["name"], row["family"], row["citation"].partition(":")[0], row["cost"])
        console.print(text, no_wrap=True, overflow="ellipsis", crop=True)
