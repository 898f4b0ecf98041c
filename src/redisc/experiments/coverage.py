"""How often prediction sets hold the true label: `python -m redisc.experiments.coverage [DATASET ...]`."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from redisc import datasets
from redisc.estimator import ReDiSC
from redisc.experiments.splits import split_of
from redisc.recipes import recipe_for

BUILT_IN = ("planted", "minesweeper", "digits")
ALPHAS = (0.2, 0.1, 0.05)


def coverage(name: str, backbone: str, seed: int, data_dir: str | None, settings: dict[str, Any]) -> list[str]:
    """Fit, build sets from half of the validation nodes, and return rows of what the test nodes say of them."""
    graph = datasets.load(name, data_dir=data_dir, seed=seed)
    split = split_of(graph, seed)
    clf = ReDiSC(recipe=recipe_for(name, backbone), backbone=backbone, random_state=seed).set_params(**settings)
    clf.fit(graph, split.train, split.val)
    rows = []
    for alpha in ALPHAS:
        sets = clf.sets(alpha)
        found = sets.coverage(graph.y, split.test)
        error = np.sqrt(alpha * (1 - alpha) * (1 / split.test.sum() + 1 / sets.calibration_size))
        size, single = sets.sizes[split.test].mean(), (sets.sizes[split.test] == 1).mean()
        figures = (f"{100 * (1 - alpha):g}", f"{100 * found:.1f}", f"{100 * error:.1f}", f"{size:.2f}")
        counts = (str(sets.calibration_size), str(int(split.test.sum())))
        rows.append(f"| {name} | {' | '.join(figures)} | {100 * single:.0f} | {' | '.join(counts)} |")
    return rows


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=BUILT_IN)
    parser.add_argument("--backbone", default="gcn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-dir")
    parser.add_argument("--iterations", type=int, help="fewer updates than the recipe's")
    given = parser.parse_args()
    settings = {} if given.iterations is None else {"iterations": given.iterations}
    print("| dataset | stated % | covered % | standard error | labels a set | sets of one % | calibration | test |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in given.datasets:
        print("\n".join(coverage(name, given.backbone, given.seed, given.data_dir, settings)), flush=True)


if __name__ == "__main__":
    main()
