"""Rows of a result store, made by hand."""

from redisc.experiments.tables import Line


def stored(line: Line, seed: int, node: float) -> dict:
    """A row as a run would leave it."""
    metrics = {"node_accuracy": node, "subgraph_accuracy": node / 2, "roc_auc": 0.9}
    return {
        "method": line.method, "dataset": line.dataset, "backbone": line.backbone, "seed": seed, "metrics": metrics,
        "settings": line.settings, "seconds": 1.0, "peak_mib": 2.0, "parameters": 3,
    }  # fmt: skip
