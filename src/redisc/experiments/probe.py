"""What a change of settings does on the validation nodes: `python -m redisc.experiments.probe DATASET --settings JSON`.

Most figures of `docs/findings.md` are of this kind. No test label is read; yet whoever chooses among many settings
by a few hundred validation nodes wears these out. `--halves` judges by nodes that chose no checkpoint, and with
`--redraw` every seed has labels of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from redisc import datasets
from redisc.errors import ConfigError, RediscError
from redisc.estimator import ReDiSC
from redisc.experiments import halves
from redisc.experiments.halves import WARM_START_ALONE
from redisc.experiments.splits import split_of
from redisc.recipes import recipe_settings


@dataclass(frozen=True)
class Probe:
    """One seed's validation accuracy: of the mean-field GNN, and of the chain at every look."""

    seed: int
    mean_field: float
    looks: list[float]
    best_iteration: int
    seconds: float

    def line(self) -> str:
        """Write the figures, in percent; those of the chain where it was looked at."""
        told = f"seed {self.seed}: mean-field {100 * self.mean_field:.2f}"
        if self.looks:
            looks = " ".join(f"{100 * value:.1f}" for value in self.looks)
            told += f", chain {100 * max(self.looks):.2f} at {self.best_iteration} ({looks})"
        return f"{told}, {self.seconds:.0f} s"


def probe(
    dataset: str, seed: int, settings: dict[str, Any], data_dir: str | None = None, warm_start: bool = False
) -> Probe:
    """Fit one seed; with `warm_start` the mean-field GNN alone is of interest, and as little as can be comes after."""
    graph = datasets.load(dataset, data_dir=data_dir, seed=seed)
    split = split_of(graph, seed) if graph.splits else None
    masks = () if split is None else (split.train, split.val)
    shortened = WARM_START_ALONE if warm_start else {}
    clf, start = ReDiSC(**{**settings, **shortened}, random_state=seed), time.monotonic()
    history = clf.fit(graph, *masks).history_
    looks = [] if warm_start else history["validation"]
    seconds = time.monotonic() - start
    return Probe(seed, history["mean_field_validation"], looks, history["best_iteration"], seconds)


def means(probes: list[Probe]) -> str:
    """Write the means over seeds, in percent."""
    told = f"mean-field {100 * np.mean([p.mean_field for p in probes]):.2f}"
    if probes[0].looks:
        told += f", chain {100 * np.mean([max(p.looks) for p in probes]):.2f}"
    return f"validation accuracy over {len(probes)} {'seed' if len(probes) == 1 else 'seeds'}: {told}"


def read_settings(recipe: str | None, text: str) -> dict[str, Any]:
    """Return a recipe's settings with those of a JSON object put over them."""
    try:
        own = json.loads(text)
    except ValueError:
        own = None
    if not isinstance(own, dict):
        raise ConfigError(f"--settings {text}: expected a JSON object, such as '{{\"layers\": 4}}'")
    strangers = set(own) - set(ReDiSC().get_params()) | set(own) & {"metric", "random_state"}
    if strangers:
        raise ConfigError(f"--settings: there is no setting {', '.join(sorted(strangers))} (seeds go to --seeds)")
    return {**(recipe_settings(recipe) if recipe else {}), **own}


def main() -> int:
    """Probe every seed and print the means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--recipe")
    parser.add_argument("--settings", default="{}")
    parser.add_argument("--warm-start", action="store_true", help="the mean-field GNN alone")
    parser.add_argument("--halves", action="store_true", help="fit twice, judge by the half that chose nothing")
    parser.add_argument("--redraw", action="store_true", help="with --halves: draw the labelled nodes anew, per seed")
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    torch.set_num_threads(1)
    try:
        settings = read_settings(given.recipe, given.settings)
        if given.redraw and not given.halves:
            raise ConfigError("--redraw goes with --halves")
        judge = partial(halves.judge, redraw=given.redraw)
        measure, sum_up = (judge, halves.means) if given.halves else (probe, means)
        found: list[Any] = []
        for seed in given.seeds:
            found.append(measure(given.dataset, seed, settings, given.data_dir, given.warm_start))
            print(found[-1].line(), flush=True)
    except RediscError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(sum_up(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
