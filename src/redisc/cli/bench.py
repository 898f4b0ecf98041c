"""The command `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from redisc.cli.app import DATASET_HELP, DataDir, Json, app
from redisc.cli.output import console, print_json
from redisc.cli.table_options import Edges, Id, Label, Nodes, Source, TableOptions, Target, Text, Weight, graph_source
from redisc.errors import ConfigError
from redisc.io.files import check_target
from redisc.methods import title_of
from redisc.report.growth import draw_growth


@app.command()
def bench(
    dataset: Annotated[str | None, typer.Option(help=f"{DATASET_HELP} (default: planted)")] = None,
    edges: Edges = None,
    nodes: Nodes = None,
    label: Label = None,
    id: Id = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    text: Text = None,
    backbone: Annotated[str, typer.Option(help="gcn, gat, sage or gat_sep.")] = "gcn",
    method: Annotated[str | None, typer.Option(help="Compare its E-step with ReDiSC's (dpm-snc).")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Timed repetitions of each side, in turn.")] = 5,
    grow: Annotated[bool, typer.Option(help="Also measure growth with nodes, degree and steps.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the growth into this PNG (with --grow).")] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Measure one update and one sample, by plain PyG code and by the engine, in one run.

    Example: `redisc bench --dataset minesweeper --backbone gat_sep`
    """
    from redisc.experiments.bench import growth, peak_memory, run_bench  # noqa: PLC0415 (PyG's layers load slowly)
    from redisc.experiments.e_step_bench import compare_e_steps  # noqa: PLC0415
    from redisc.experiments.plain_pyg import PLAIN_BACKBONES  # noqa: PLC0415

    if backbone not in PLAIN_BACKBONES:
        raise ConfigError(f"--backbone {backbone}: choose one of {', '.join(PLAIN_BACKBONES)}")
    if plot is not None:
        check_target(plot)
    tables = TableOptions(edges, nodes, label, id, source, target, weight, text)
    origin = graph_source(dataset if dataset or tables.given else "planted", data_dir, 0, tables)
    if method is not None:
        _show_e_steps(compare_e_steps(method, origin, backbone, repeats), as_json)
        return
    result = run_bench(origin, backbone, repeats)
    result["memory"] = peak_memory(origin, backbone)
    result["growth"] = growth() if grow else []
    if plot is not None and grow:
        draw_growth(result["growth"], plot)
    if as_json:
        print_json(result)
    else:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    """Print both sides' times, what an update and a sample were made of, memory, and growth."""
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


def _show_e_steps(result: dict[str, Any], as_json: bool) -> None:
    """Print time and memory of both E-steps."""
    if as_json:
        print_json(result)
        return
    for name, side in result["e_step"].items():
        console.print(f"{title_of(name):24} {1000 * side['seconds']:10.1f} ms   {side['mib']:8.1f} MiB")
    console.print(f"ReDiSC is {result['ratio']:.1f} times faster ({result['shape']['samples']} samples, T = 80)")
