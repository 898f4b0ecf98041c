"""What `redisc reproduce` does: run what a table lacks, and show it beside the paper's own figures."""

from __future__ import annotations

import csv
import io
from typing import Any

from redisc.experiments.batch import Report, run_missing
from redisc.experiments.cell import is_at_hand
from redisc.experiments.paper import printed_figure
from redisc.experiments.store import ResultStore
from redisc.experiments.summary import Groups, show, summarise
from redisc.experiments.tables import Line, table_lines
from redisc.methods import title_of
from redisc.recipes import tuned_as
from redisc.world import world

STAND_INS = ("roman_empire_glove", "arxiv_2023")
"""Graphs like those of the paper with other features or nodes: no printed figure is comparable with theirs."""

ROC_AUC_NOTE = (
    "(ROC-AUC): the paper's column is headed accuracy, but takes these figures over from the heterophily benchmark,\n"
    "whose metric on Minesweeper is ROC-AUC: compare them with that column of ours."
)

_FIGURES = ("node", "node_std", "subgraph", "subgraph_std")
_NOTHING = {"seeds": 0, **dict.fromkeys(_FIGURES)}

ABLATIONS = ("priority-queue", "labelled-first", "time-aware")


def run_table(
    name: str,
    datasets: list[str] | None,
    seeds: int,
    store: ResultStore,
    data_dir: str | None,
    report: Report,
    workers: int | None = None,
    methods: list[str] | None = None,
) -> list[str]:
    """Run the cells that the store lacks, of the datasets at hand; returns complaints of those that failed."""
    lines = [line for line in table_lines(name, datasets, methods) if is_at_hand(line.dataset, data_dir)]
    cells = world().share([line.cell(seed) for seed in range(seeds) for line in lines])
    failures = run_missing(cells, store, data_dir, workers, report)
    return world().gather(failures)


def table_rows(
    name: str,
    datasets: list[str] | None,
    seeds: int,
    store: ResultStore,
    data_dir: str | None = None,
    methods: list[str] | None = None,
) -> list[dict[str, Any]]:
    """Return a table's rows in percent, ours and the paper's; `state` tells what is not there and why."""
    groups, rows = Groups(store, seeds), []
    for line in table_lines(name, datasets, methods):
        runs = groups.of(line.method, line.dataset, line.settings)
        state = "measured" if runs else "not run" if is_at_hand(line.dataset, data_dir) else "no data"
        summary = summarise(runs) if runs else _NOTHING
        rows.append({**summary, **_identity(line), "state": state, **_printed(name, line)})
    return rows


def _identity(line: Line) -> dict[str, Any]:
    title = title_of(line.method, line.backbone) + (f", {line.variant}" if line.variant else "")
    name = {"method": line.method, "dataset": line.dataset, "backbone": line.backbone, "variant": line.variant}
    return {**name, "title": title}


def _printed(table: str, line: Line) -> dict[str, Any]:
    """Return the paper's figures for a line, None where it has none, and what they measure.

    `paper_state` is "printed", "out of memory", or None where the paper has no such line.
    """
    origin = "homophilic" if table == "whole-graphs" else table
    found = printed_figure(line.method, tuned_as(line.dataset), line.backbone, origin, line.variant)
    figures = {f"paper_{key}": (found or {}).get(key) for key in _FIGURES}
    if found is None:
        return {**figures, "paper_metric": None, "paper_state": None}
    state = "out of memory" if found["node"] is None else "printed"
    return {**figures, "paper_metric": found.get("metric", "accuracy"), "paper_state": state}


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Write rows as a Markdown table, a block for each dataset."""
    lines = [
        "| dataset | method | node | paper | subgraph | paper | ROC-AUC | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["dataset"] + (" *" if row["dataset"] in STAND_INS else "")
        if row["state"] == "measured":
            ours = [show(row[k], row.get(f"{k}_std")) for k in ("node", "subgraph", "roc_auc")]
        else:
            ours = [row["state"], "", ""]
        beside = [_show_printed(row, key) for key in ("node", "subgraph")]
        cells = (name, row["title"], ours[0], beside[0], ours[1], beside[1], ours[2], str(row["seeds"]))
        lines.append(f"| {' | '.join(cells)} |")
    if any(row["dataset"] in STAND_INS for row in rows):
        lines.append("\n\\* other features or nodes than the paper's graph: no printed figure is comparable.")
    if any(row["paper_metric"] == "roc_auc" for row in rows):
        lines.append(f"\n{ROC_AUC_NOTE}")
    return "\n".join(lines)


def _show_printed(row: dict[str, Any], key: str) -> str:
    if row["paper_state"] == "out of memory":
        return row["paper_state"]
    metric = " (ROC-AUC)" if row["paper_metric"] == "roc_auc" and key == "node" else ""
    return show(row[f"paper_{key}"], row[f"paper_{key}_std"]) + metric


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Write rows as CSV with all their fields."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
