"""Small graphs and fast settings for the suite that every baseline passes."""

from dataclasses import fields
from functools import cache
from typing import Any

from redisc import Graph, datasets
from redisc.baselines import Baseline

SIZES = {"hidden": 16, "heads": 2, "epochs": 100, "patience": 100}
"""For every method that has these settings."""

QUICK: dict[str, dict[str, Any]] = {
    "gt": {"learning_rate": 0.01},
    "gt_sep": {"learning_rate": 0.01},
    "h2gcn": {"learning_rate": 0.02},
    "fagcn": {"learning_rate": 0.02},
    "lgd": {
        "steps": 20, "sampling_steps": 4, "learning_rate": 0.01, "denoiser_layers": 1, "epochs": 200, "patience": 200,
        "weight_decay": 5e-4, "dropout": 0.2, "input_dropout": 0.2,
    },
    "uniform_diffusion": {"steps": 8, "masks": 4, "queue_size": 10, "warm_iterations": 60, "evaluate_every": 20},
    "dpm_snc": {
        "steps": 20, "masks": 4, "queue_size": 10, "warm_iterations": 200, "evaluate_every": 20, "epochs": 400,
        "patience": 400, "dropout": 0.2, "input_dropout": 0.2,
    },
}  # fmt: skip
"""What single methods need beside, by name."""


def quick(kind: type[Baseline], **settings: Any) -> Baseline:
    """Build a method that fits in about a second."""
    names = {field.name for field in fields(kind)}
    sizes = {name: value for name, value in SIZES.items() if name in names}
    return kind(**{"random_state": 0, **sizes, **QUICK.get(kind.name, {}), **settings})


@cache
def homophilic() -> Graph:
    """Communities whose features alone are not enough."""
    return datasets.load("csbm", nodes=300, classes=3, homophily=0.85, mean_degree=8, train_fraction=0.15)


@cache
def heterophilic() -> Graph:
    """Neighbours mostly differ."""
    return datasets.load(
        "csbm", nodes=300, classes=3, homophily=0.05, mean_degree=8, feature_noise=0.7, train_fraction=0.3
    )
