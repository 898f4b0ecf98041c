"""What `redisc reproduce` does: run what a table lacks, and show it beside the paper's own figures."""

from __future__ import annotations

import csv
import io
from typing import Any

from redisc.experiments.batch import Report, run_missing
from redisc.experiments.cell import is_at_hand
from redisc.experiments.paper import printed
from redisc.experiments.store import ResultStore
from redisc.experiments.summary import Groups, show, summarise
from redisc.experiments.tables import Line, table_lines
from redisc.methods import title_of
from redisc.world import world

PRINTED_AS = {"roman_empire_glove": "roman_empire"}
"""Datasets whose printed figures stand under another name; with other features they are not comparable."""

NOT_COMPARABLE = ("roman_empire_glove", "arxiv_2023")

_FIGURES = ("node", "node_std", "subgraph", "subgraph_std")
_NOTHING = {"seeds": 0, **dict.fromkeys(_FIGURES)}

ABLATIONS = ("priority-queue", "labelled-first", "time-aware")


def run_table(
    name: str, datasets: list[str] | None, seeds: int, store: ResultStore, data_dir: str | None, report: Report
) -> list[str]:
    """Run the cells that the store lacks, of the datasets at hand; returns complaints of those that failed."""
    lines = [line for line in table_lines(name, datasets) if is_at_hand(line.dataset, data_dir)]
    cells = world().share([line.cell(seed) for seed in range(seeds) for line in lines])
    failures = run_missing(cells, store, data_dir, report=report)
    return world().gather(failures)


def table_rows(
    name: str, datasets: list[str] | None, seeds: int, store: ResultStore, data_dir: str | None = None
) -> list[dict[str, Any]]:
    """Return a table's rows in percent, ours and the paper's; `state` tells what is not there and why."""
    groups, rows = Groups(store, seeds), []
    for line in table_lines(name, datasets):
        runs = groups.of(line.method, line.dataset, line.settings)
        state = "measured" if runs else "not run" if is_at_hand(line.dataset, data_dir) else "no data"
        summary = summarise(runs) if runs else _NOTHING
        rows.append({**summary, **_identity(line), "state": state, **_printed(name, line)})
    return rows


def _identity(line: Line) -> dict[str, Any]:
    return {"method": line.method, "dataset": line.dataset, "backbone": line.backbone, "variant": line.variant}


def _printed(table: str, line: Line) -> dict[str, float | None]:
    """Return the paper's figures for a line, None where it has none."""
    dataset = PRINTED_AS.get(line.dataset, line.dataset)
    for row in printed(table):
        same = (row["method"], row["dataset"]) == (line.method, dataset) and row.get("variant") == line.variant
        if same and row["backbone"] in (None, line.backbone):
            return {f"paper_{key}": row.get(key) for key in _FIGURES}
    return {f"paper_{key}": None for key in _FIGURES}


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Write rows as a Markdown table, a block for each dataset."""
    lines = [
        "| dataset | method | node | paper | subgraph | paper | ROC-AUC | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["dataset"] + (" *" if row["dataset"] in NOT_COMPARABLE else "")
        if row["state"] == "measured":
            ours = [show(row[k], row.get(f"{k}_std")) for k in ("node", "subgraph", "roc_auc")]
        else:
            ours = [row["state"], "", ""]
        printed_ = [show(row.get(f"paper_{k}"), row.get(f"paper_{k}_std")) for k in ("node", "subgraph")]
        cells = (name, _title(row), ours[0], printed_[0], ours[1], printed_[1], ours[2], str(row["seeds"]))
        lines.append(f"| {' | '.join(cells)} |")
    if any(row["dataset"] in NOT_COMPARABLE for row in rows):
        lines.append("\n\\* other features or other papers than the benchmark's: not comparable with printed figures.")
    return "\n".join(lines)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Write rows as CSV with all their fields."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _title(row: dict[str, Any]) -> str:
    title = title_of(row["method"], row["backbone"])
    return title if row["variant"] is None else f"{title}, {row['variant']}"
