"""Differences between runs of one seed and split, with 95 % confidence intervals, in percent."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from redisc.experiments.store import ResultStore
from redisc.experiments.summary import by_group, group_key, summarise
from redisc.experiments.tables import Line, table_lines

METRICS = {"node": "node_accuracy", "subgraph": "subgraph_accuracy"}


def paired_differences(rows: list[dict[str, Any]], name: str, seeds: int, store: ResultStore) -> list[dict[str, Any]]:
    """Return an ablation's gains in node accuracy: with minus without, over the seeds that both have."""
    runs = _Runs(store, seeds)
    differences = []
    lines = table_lines(name, sorted({row["dataset"] for row in rows}))
    arms = {(line.dataset, line.variant): line for line in lines}
    for line in (line for line in lines if line.variant == "without"):
        pair = [{row["seed"]: row["metrics"] for row in runs.of(arm)} for arm in (arms[line.dataset, "with"], line)]
        both = sorted(set(pair[0]) & set(pair[1]))
        gains = [100 * (pair[0][s]["node_accuracy"] - pair[1][s]["node_accuracy"]) for s in both]
        differences.append({"dataset": line.dataset, "pairs": len(gains), **interval(gains)})
    return differences


def gains_over_warm_start(lines: list[Line], seeds: int, store: ResultStore) -> list[dict[str, Any]]:
    """Return what the chain adds to the mean-field GNN of its own run, in both metrics, for ReDiSC's lines."""
    runs = _Runs(store, seeds)
    rows = []
    for line in lines:
        found = runs.of(line)
        if line.method != "redisc" or not found:
            continue
        row = summarise(found, "mean_field")
        for short, metric in METRICS.items():
            gains = [100 * (run["metrics"][metric] - run["mean_field"][metric]) for run in found]
            row[f"{short}_gain"] = interval(gains)
        rows.append(row)
    return rows


def interval(gains: list[float]) -> dict[str, float | None]:
    """Mean and half-width of the 95 % confidence interval by Student's t."""
    if len(gains) < 2:
        return {"difference": gains[0] if gains else None, "half_width": None}
    spread = float(np.std(gains, ddof=1)) / np.sqrt(len(gains))
    return {"difference": float(np.mean(gains)), "half_width": float(stats.t.ppf(0.975, len(gains) - 1) * spread)}


class _Runs:
    """The stored runs of a line, by its settings."""

    def __init__(self, store: ResultStore, seeds: int) -> None:
        self._groups = by_group(row for row in store if row["seed"] < seeds)

    def of(self, line: Line) -> list[dict[str, Any]]:
        return self._groups.get(group_key(line.method, line.dataset, line.settings), [])
