"""Differences paired by seed, with 95 % confidence intervals, in percent."""

from __future__ import annotations

from typing import Any

from redisc.experiments.intervals import interval
from redisc.experiments.store import ResultStore
from redisc.experiments.summary import METRICS, Groups, summarise
from redisc.experiments.tables import Line, table_lines


def paired_differences(name: str, datasets: list[str] | None, seeds: int, store: ResultStore) -> list[dict[str, Any]]:
    """Return an ablation's gains in node accuracy: with minus without, over the seeds that both have.

    `mixed` counts the pairs that may be of two processors, so that the switch is perhaps not all that differs.
    """
    groups, differences = Groups(store, seeds), []
    lines = table_lines(name, datasets)
    arms = {(line.dataset, line.variant): line for line in lines}
    for line in (line for line in lines if line.variant == "without"):
        both_runs = [groups.of(arm.method, arm.dataset, arm.settings) for arm in (arms[line.dataset, "with"], line)]
        whole, part = ({row["seed"]: row for row in runs} for runs in both_runs)
        pairs = [(whole[seed], part[seed]) for seed in sorted(set(whole) & set(part))]
        gains = [100 * (a["metrics"]["node_accuracy"] - b["metrics"]["node_accuracy"]) for a, b in pairs]
        mixed = sum(_may_be_mixed(*pair) for pair in pairs)
        differences.append({"dataset": line.dataset, "pairs": len(gains), "mixed": mixed, **interval(gains)})
    return differences


def _may_be_mixed(*rows: dict[str, Any]) -> bool:
    """Tell whether rows name different processors, or only some of them name one; old rows do not."""
    return len({row.get("processor") for row in rows}) > 1


def gains_over_warm_start(lines: list[Line], seeds: int, store: ResultStore) -> list[dict[str, Any]]:
    """Return what the chain adds to the mean-field GNN of its own run, in both metrics, for ReDiSC's lines."""
    groups, rows = Groups(store, seeds), []
    for line in (line for line in lines if line.method == "redisc"):
        found = groups.of(line.method, line.dataset, line.settings)
        if not found:
            continue
        row = summarise(found, "mean_field")
        for name in ("node", "subgraph"):
            gains = [100 * (run["metrics"][METRICS[name]] - run["mean_field"][METRICS[name]]) for run in found]
            row[f"{name}_gain"] = interval(gains)
        rows.append(row)
    return rows


def show_gain(gain: dict[str, Any]) -> str:
    """Write a difference with its sign and the half-width of its interval."""
    half_width = "" if gain["half_width"] is None else f" ± {gain['half_width']:.2f}"
    return f"{gain['difference']:+.2f}{half_width}"


def show_pairs(gain: dict[str, Any]) -> str:
    """Write how many pairs a difference is of, and how many of them may mix two processors."""
    count = "1 pair" if gain["pairs"] == 1 else f"{gain['pairs']} pairs"
    return f"{count}, {gain['mixed']} of them perhaps of two processors" if gain["mixed"] else count
