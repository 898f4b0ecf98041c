"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redisc.cli.app import Json, RunFolder, app
from redisc.cli.asking import new_graph
from redisc.cli.output import console, print_json
from redisc.cli.outputs import check_spared
from redisc.cli.table_options import Edges, Nodes
from redisc.io.files import check_target, write_atomically
from redisc.optional import require
from redisc.report.page import cached_places, collect, draw_plots, render_page
from redisc.run import Run
from redisc.world import world

_DRIVERS_HELP = "Groups of known labels to mask, 0 for no drivers (default: 32, or 0 above 5,000 nodes)."


@app.command()
def report(
    folder: RunFolder,
    edges: Edges = None,
    nodes: Nodes = None,
    out: Annotated[Path | None, typer.Option(help="The HTML file (default: RUN/report.html).")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Chains behind the probabilities.")] = 32,
    drivers: Annotated[int | None, typer.Option(min=0, help=_DRIVERS_HELP)] = None,
    as_json: Json = False,
) -> None:
    """Write one HTML file: metrics, plots, and a player that shows the labels being revealed step by step.

    It opens from disk and needs no network. Which known labels drive a node is found by masking them, in groups where
    there are many. New tables are read by the columns of the fit and scored on the labels that they give.

    Example: `redisc report runs/cora-0`
    """
    require("plotly", extra="report")
    run, target = Run(folder), out or folder / "report.html"
    check_spared(target, run.source(), edges, nodes)
    check_target(target)
    content = collect(run, samples, drivers, new_graph(run, edges, nodes))
    if not world().leads:
        return
    places = None if content.trace is None else cached_places(folder, content.graph)
    page = render_page(content, places, draw_plots(content, places)).encode()
    write_atomically(target, page)
    if as_json:
        scored = {"nodes": content.kind, "count": int(content.exam.mask.sum()), **content.scores}
        print_json({"out": str(target), "bytes": len(page), "player": content.trace is not None, **scored})
        return
    console.print(f"report written to {target} ({len(page) / 1e6:.1f} MB): open it in a browser")
