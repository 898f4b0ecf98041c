"""How good a fit is on validation nodes that chose nothing.

Half of the validation nodes choose the checkpoints of both models and the other half judges them; then the halves
change places, so that every validation node judges once. On the nodes that chose it a checkpoint is at its luckiest,
and the more of them a setting has to choose from the luckier it is. No test label is read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from redisc import datasets
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.experiments.splits import redrawn, split_of
from redisc.graph import Graph

WARM_START_ALONE = {"iterations": 1, "queue_size": 1, "steps": 2}  # as little as can be after it


@dataclass(frozen=True)
class Judgement:
    """One seed's accuracy on validation nodes that chose nothing: of the mean-field GNN, and of the chain."""

    seed: int
    mean_field: float
    chain: float | None  # None: the warm start alone was of interest
    seconds: float

    def line(self) -> str:
        """Write the figures, in percent."""
        return f"seed {self.seed}: {_told(self.mean_field, self.chain)}, {self.seconds:.0f} s"


def halve(graph: Graph, nodes: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut nodes into two halves with about as many of each class."""
    classes, counts = np.unique(graph.y[nodes], return_counts=True)
    if (counts < 2).any():
        raise ConfigError(f"class {classes[counts < 2][0]} has one validation node: halves need two of every class")
    cut = StratifiedShuffleSplit(1, test_size=0.5, random_state=seed)
    return next((nodes[one], nodes[other]) for one, other in cut.split(nodes, graph.y[nodes]))


def judge(
    dataset: str,
    seed: int,
    settings: dict[str, Any],
    data_dir: str | None = None,
    warm_start: bool = False,
    redraw: bool = False,
) -> Judgement:
    """Fit one seed twice, each time with one half of the validation nodes, and judge by the other.

    With `redraw` the seed draws the labelled nodes anew among labelled and validation nodes.
    """
    graph = datasets.load(dataset, data_dir=data_dir, seed=seed)
    split = redrawn(graph, split_of(graph, seed), seed) if redraw else split_of(graph, seed)
    if not split.val.any():
        raise ConfigError(f"{dataset} comes without validation nodes, so there are none to halve")
    shortened, start = WARM_START_ALONE if warm_start else {}, time.monotonic()
    one, other = halve(graph, np.flatnonzero(split.val), seed)
    mean_field, chain = [], []
    for choosing, judging in ((one, other), (other, one)):
        clf = ReDiSC(**{**settings, **shortened}, random_state=seed).fit(graph, split.train, choosing)
        mean_field.append(clf.classes_[clf.mean_field_proba()[judging].argmax(1)] == graph.y[judging])
        if not warm_start:
            chain.append(clf.predict()[judging] == graph.y[judging])
    seconds = time.monotonic() - start
    return Judgement(seed, _share(mean_field), _share(chain) if chain else None, seconds)


def means(judgements: list[Judgement]) -> str:
    """Write the means over seeds, in percent."""
    chains = [j.chain for j in judgements if j.chain is not None]
    told = _told(float(np.mean([j.mean_field for j in judgements])), float(np.mean(chains)) if chains else None)
    seeds = "seed" if len(judgements) == 1 else "seeds"
    return f"accuracy on validation nodes that chose nothing over {len(judgements)} {seeds}: {told}"


def _share(right: list[np.ndarray]) -> float:
    return float(np.concatenate(right).mean())


def _told(mean_field: float, chain: float | None) -> str:
    told = f"mean-field {100 * mean_field:.2f}"
    return told if chain is None else f"{told}, chain {100 * chain:.2f}"
