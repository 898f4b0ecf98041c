"""From options to objects: the settings, the masks, the estimator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from redisc.classifier import NodeClassifier
from redisc.errors import ConfigError, DatasetError
from redisc.graph import Graph, Split
from redisc.recipes import recipe_settings, yielding
from redisc.seeds import numpy_generator
from redisc.source import GraphSource


def read_settings(kind: type[NodeClassifier], pairs: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE pairs of a method's settings; values are JSON where they can be, else text."""
    allowed = set(kind().get_params()) - {"backbone", "random_state", "verbose"}
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in allowed:
            raise ConfigError(f"--set {pair}: expected NAME=VALUE with NAME one of {', '.join(sorted(allowed))}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def build(
    kind: type[NodeClassifier],
    graph: Graph,
    visible: np.ndarray,
    source: GraphSource,
    backbone: str | None,
    settings: dict[str, Any],
) -> NodeClassifier:
    """Build the estimator: what suits the graph gives way to a recipe, and both to what the user says.

    Features of a user's table are scaled as they need. The backbone that suits is chosen by the `visible` labels alone.
    """
    suiting = source.settings()
    recipe = recipe_settings(settings["recipe"], kind().get_params()) if "recipe" in settings else {}
    said = {name: value for name, value in settings.items() if name != "recipe"}
    chooses = "backbone" in kind().get_params()
    if backbone is not None and not chooses:
        raise ConfigError(f"--backbone: method {kind.name} has none to choose")
    if backbone is not None:
        said.setdefault("backbone", backbone)
    recipe = yielding(recipe, said)
    if chooses and "backbone" not in recipe | said:
        suiting["backbone"] = graph.with_labels(visible).describe().suggested_backbone
    return kind(**{**suiting, **recipe, **said})


def choose_masks(graph: Graph, split: int, test_fraction: float, seed: int, from_files: bool) -> Split:
    """Return the dataset's split, or for tables all labels less the share that is kept for testing."""
    if not 0 <= test_fraction < 1:
        raise ConfigError(f"--test-fraction {test_fraction}: it must lie in [0, 1)")
    if from_files and split:
        raise ConfigError("--split picks one of a dataset's splits; tables have none (see --test-fraction)")
    if not from_files and graph.splits:
        if test_fraction:
            raise ConfigError(f"--test-fraction is for tables: {graph.name} comes with test nodes")
        if not 0 <= split < len(graph.splits):
            raise DatasetError(f"--split {split}: {graph.name} has splits 0..{len(graph.splits) - 1}")
        return graph.splits[split]
    labelled = np.flatnonzero(graph.y >= 0)
    if not len(labelled):
        raise DatasetError("no node has a label: a fit needs some")
    drawn = np.random.default_rng(seed).permutation(labelled)
    test = np.zeros(graph.num_nodes, dtype=bool)
    test[drawn[: round(test_fraction * len(drawn))]] = True
    return Split((graph.y >= 0) & ~test, np.zeros_like(test), test)


def set_aside(masks: Split, fraction: float, seed: int) -> tuple[Split, np.ndarray]:
    """Keep a share of the validation nodes, or of the training nodes where there are none, from the fit.

    Returns the masks that are left and the nodes that were kept, `(N,)`.
    """
    if not 0 <= fraction < 1:
        raise ConfigError(f"--calibration {fraction}: it must lie in [0, 1)")
    pool = np.flatnonzero(masks.val if masks.val.any() else masks.train)
    drawn = numpy_generator(seed, "calibration").permutation(pool)[: round(fraction * len(pool))]
    if fraction and not 0 < len(drawn) < len(pool):
        raise ConfigError(f"--calibration {fraction} of {len(pool)} labelled nodes leaves none on one side")
    aside = np.zeros_like(masks.val)
    aside[drawn] = True
    return Split(masks.train & ~aside, masks.val & ~aside, masks.test), aside
