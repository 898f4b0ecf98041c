"""What `make validate` does: on real data ReDiSC must be above the mean-field GNN of the same run.

Cora and CiteSeer, GCN, public split, default settings, three seeds. Needs REDISC_DATA (or --data-dir) to name a folder
with `cora.npz` and `citeseer.npz`, or a network to download them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import torch

from redisc import datasets
from redisc.errors import RediscError
from redisc.estimator import ReDiSC
from redisc.evaluation import evaluate_run

DATASETS = ("cora", "citeseer")
METRICS = ("node_accuracy", "subgraph_accuracy")


def validate_once(dataset: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    """Fit with default settings, look at the test labels once, and return both models' scores."""
    torch.set_num_threads(1)
    graph = datasets.load(dataset, data_dir=data_dir, split="public")
    split, start = graph.splits[0], time.monotonic()
    clf = ReDiSC("gcn", random_state=seed).fit(graph, split.train, split.val)
    scores = evaluate_run(clf, graph, split.test)
    seconds = time.monotonic() - start
    return {"dataset": dataset, "seed": seed, "seconds": seconds, "verdict": clf.verdict(), **scores}


def summarise(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean and standard deviation over seeds, in percent, a row for each dataset and metric."""
    rows = []
    for dataset in DATASETS:
        mine = [r for r in results if r["dataset"] == dataset]
        for metric in METRICS:
            values = {m: np.array([100 * r[m][metric] for r in mine]) for m in ("mean_field", "redisc")}
            row = {m: (float(v.mean()), float(v.std(ddof=1))) for m, v in values.items()}
            gain = float((values["redisc"] - values["mean_field"]).mean())
            rows.append({"dataset": dataset, "metric": metric, "seeds": len(mine), "gain": gain, **row})
    return rows


def main() -> int:
    """Run all fits, two at a time; exit code 1 where a mean is not above the mean-field GNN's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    jobs = [(dataset, seed, options.data_dir) for seed in range(options.seeds) for dataset in DATASETS]
    results = []
    try:
        with ProcessPoolExecutor(max_workers=2) as pool:
            for result in pool.map(validate_once, *zip(*jobs, strict=True)):
                print(f"{result['dataset']} seed {result['seed']}: {result['verdict']}", file=sys.stderr)
                results.append(result)
    except RediscError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    rows = summarise(results)
    print(json.dumps({"rows": rows, "runs": results}, indent=2) if options.json else _as_text(rows))
    return 0 if all(row["gain"] > 0 for row in rows) else 1


def _as_text(rows: list[dict[str, Any]]) -> str:
    lines = ["dataset   metric             mean-field GNN   ReDiSC           gain"]
    for row in rows:
        cells = [f"{mean:5.2f} ± {deviation:4.2f}" for mean, deviation in (row["mean_field"], row["redisc"])]
        lines.append(f"{row['dataset']:9} {row['metric']:18} {cells[0]:16} {cells[1]:16} {row['gain']:+.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
