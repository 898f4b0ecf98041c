"""One cell of a table: a method on a dataset with one seed, from fit to the single look at the test labels."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch

from redisc import datasets
from redisc.errors import CheckpointError
from redisc.evaluation import evaluate_run
from redisc.experiments.peak import peak_resident
from redisc.experiments.provenance import processor, versions
from redisc.experiments.splits import split_of
from redisc.experiments.store import ResultStore
from redisc.graph import Split
from redisc.methods import method_named
from redisc.recipes import recipe_for, recipe_settings

_OF_THE_MACHINE = frozenset({"device", "random_state", "recipe", "scratch", "verbose"})
"""Settings that do not tell cells apart: a seed has its own place, and recipes are resolved before."""


_REQUIRED = frozenset({"method", "dataset", "backbone", "seed", "settings", "metrics", "seconds"})


TETHERED = "tethered"
"""Word on the command line for a cell that is to end when its standard input does, as it does with its parent."""


@dataclass(frozen=True)
class Cell:
    """What is to be run; cells with equal keys give the same figures on one machine with one version of the code."""

    method: str
    dataset: str
    seed: int
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return one line that tells cells apart."""
        return cell_key(self.method, self.dataset, self.seed, self.settings)


def cell_key(method: str, dataset: str, seed: int, settings: dict[str, Any]) -> str:
    """Return the key of a cell, which a stored row has too."""
    return json.dumps([method, dataset, seed, complete_settings(method, settings)], sort_keys=True)


def row_key(row: dict[str, Any]) -> str:
    """Return the key of the cell that a stored row came from."""
    return cell_key(row["method"], row["dataset"], row["seed"], row["settings"])


def runs_of(store: ResultStore) -> Iterator[dict[str, Any]]:
    """Yield a store's rows, all of which have to be runs of cells."""
    for number, row in enumerate(store, start=1):
        if not isinstance(row, dict) or not set(row) >= _REQUIRED:
            raise CheckpointError(f"{store.path}, line {number}: it is no run of a method on a dataset")
        yield row


def complete_settings(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the method's defaults for all that they leave out.

    Rows hold them complete, so a default that changes later makes a row another cell's. A setting that came after a
    row is filled in: its default has to do what was done before.
    """
    return {**_defaults(method), **settings}


def recipe_of(method: str, dataset: str, settings: dict[str, Any]) -> str | None:
    """Return the name of the dataset's recipe, or "default", where the settings are its own; None for other methods."""
    backbone = complete_settings(method, settings).get("backbone")
    if method != "redisc" or not isinstance(backbone, str):
        return None
    for name in (recipe_for(dataset, backbone), "default"):
        own = {**recipe_settings(name), "backbone": backbone}
        if complete_settings(method, own) == complete_settings(method, settings):
            return name
    return None


@cache
def _defaults(method: str) -> dict[str, Any]:
    default = method_named(method)().get_params()
    return {name: value for name, value in default.items() if name not in _OF_THE_MACHINE}


def run_cell(cell: Cell, data_dir: str | None = None) -> dict[str, Any]:
    """Fit, evaluate once on the test nodes, and return a row for the store.

    The split is the dataset's own: column `seed` of those that came with it, or a draw with that seed.
    """
    ran = versions()  # of the code that runs, whatever becomes of its files meanwhile
    graph = datasets.load(cell.dataset, data_dir=data_dir, seed=cell.seed)
    split = split_of(graph, cell.seed)
    clf = method_named(cell.method)(**cell.settings, random_state=cell.seed)
    start = time.monotonic()
    clf.fit(graph, split.train, split.val)
    seconds = time.monotonic() - start
    scores = evaluate_run(clf, graph, split.test)
    return {
        "method": cell.method,
        "dataset": cell.dataset,
        "backbone": clf.get_params().get("backbone"),
        "seed": cell.seed,
        "recipe": recipe_of(cell.method, cell.dataset, cell.settings),
        "settings": complete_settings(cell.method, cell.settings),
        "split": split_hash(split),
        "versions": ran,
        "processor": processor(),
        "seconds": round(seconds, 2),
        "peak_mib": round(peak_resident(), 1),
        "parameters": clf.num_parameters(),
        "validation": clf.history_["best_validation"],
        "metrics": _plain(scores[cell.method]),
        **({"mean_field": _plain(scores["mean_field"])} if "mean_field" in scores else {}),
    }


def split_hash(split: Split) -> str:
    """Return a short fingerprint of the three masks."""
    packed = np.concatenate([np.packbits(mask) for mask in (split.train, split.val, split.test)])
    return hashlib.sha256(packed.tobytes()).hexdigest()[:12]


def is_at_hand(dataset: str, data_dir: str | None = None) -> bool:
    """Tell whether a dataset can be loaded without a network."""
    return any(row.at_hand for row in datasets.available(data_dir) if row.entry.name == dataset)


def _plain(metrics: dict[str, float]) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else round(float(value), 6) for name, value in metrics.items()}


def _end_with_parent() -> None:
    """Wait until the process that began this one is gone, however it ended, and end too."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    if TETHERED in sys.argv[3:]:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    print(json.dumps(run_cell(Cell(**json.loads(sys.argv[1])), sys.argv[2] or None)))
