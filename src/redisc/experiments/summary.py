"""From stored runs to rows of a table: mean and standard deviation over seeds, in percent."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from redisc.experiments.cell import complete_settings, runs_of
from redisc.experiments.store import ResultStore

METRICS = {"node": "node_accuracy", "subgraph": "subgraph_accuracy", "roc_auc": "roc_auc"}
"""What a table's columns are called in stored rows."""


def by_group(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Gather rows that differ in their seed alone; of two rows with one seed the newer counts."""
    groups: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        groups[group_key(row["method"], row["dataset"], row["settings"])][row["seed"]] = row
    return {key: [by_seed[seed] for seed in sorted(by_seed)] for key, by_seed in groups.items()}


def group_key(method: str, dataset: str, settings: dict[str, Any]) -> str:
    """Return one line that tells groups of runs apart."""
    return json.dumps([method, dataset, complete_settings(method, settings)], sort_keys=True)


class Groups:
    """The runs of a store, found by what they share."""

    def __init__(self, store: ResultStore, seeds: int | None = None) -> None:
        self._groups = by_group(row for row in runs_of(store) if seeds is None or row["seed"] < seeds)

    def of(self, method: str, dataset: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the runs of a method, sorted by seed."""
        return self._groups.get(group_key(method, dataset, settings), [])


def summarise(rows: list[dict[str, Any]], part: str = "metrics") -> dict[str, Any]:
    """Return one row of a table; `part` is "metrics", or "mean_field" for ReDiSC's warm start."""
    first = rows[0]
    summary = {
        "method": first["method"] if part == "metrics" else part,
        "dataset": first["dataset"],
        "backbone": first["backbone"],
        "seeds": len(rows),
        "seconds": float(np.mean([row["seconds"] for row in rows])),
        "peak_mib": float(np.max([row["peak_mib"] for row in rows])),
        "parameters": first["parameters"],
    }
    for name, metric in METRICS.items():
        values = [row[part][metric] for row in rows]
        known = None not in values
        summary[name] = 100 * float(np.mean(values)) if known else None
        summary[f"{name}_std"] = 100 * float(np.std(values, ddof=1)) if known and len(values) > 1 else None
    return summary


def show(mean: float | None, deviation: float | None = None) -> str:
    """Write a figure as the tables do."""
    if mean is None:
        return "-"
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}"
