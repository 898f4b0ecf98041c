"""Conformal prediction sets: sets of labels that hold the true one as often as they say (Vovk et al., 2005).

The score of a label is one minus its probability (Sadinle et al., 2019). Nodes that no fit has seen give the
threshold: the set of a new node that is exchangeable with them holds its label with probability 1 - alpha or more,
whatever the model and the graph, since the model can't tell calibration nodes from other unlabelled ones.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from redisc.errors import ConfigError, MaskError


@dataclass(frozen=True)
class PredictionSets:
    """One set of labels a node: `members (N, C)` tells which classes are in it.

    `sets[node]` lists class values, the most probable first; `numpy.asarray(sets)` is `members`.
    """

    classes: np.ndarray
    members: np.ndarray
    probabilities: np.ndarray
    alpha: float
    threshold: float
    calibration_size: int

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, node: int) -> np.ndarray:
        order = np.argsort(-self.probabilities[node], kind="stable")
        return self.classes[order[self.members[node, order]]]

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.members, dtype=dtype, copy=True if copy is None else copy)

    def __str__(self) -> str:
        if math.isinf(self.threshold):
            return (
                f"the sets hold every class and promise nothing: {self.calibration_size:,} calibration nodes won't do"
            )
        unsure = self.probabilities.max(axis=1) < 1
        size = self.sizes[unsure].mean() if unsure.any() else 1.0
        return (
            f"the sets hold the true label of {100 * self.stated_coverage:g} % of nodes or more "
            f"(calibrated on {self.calibration_size:,} nodes); {size:.2f} labels a set on average"
        )

    @property
    def stated_coverage(self) -> float:
        """1 - alpha: the share of nodes whose set holds their label, in expectation and at the least; or 0."""
        return 0.0 if math.isinf(self.threshold) else 1 - self.alpha

    def including(self, labels: np.ndarray) -> PredictionSets:
        """Return the sets with one more label each, the class values `labels (N,)`: an answer belongs to its set."""
        members = self.members.copy()
        members[np.arange(len(members)), _places(labels, self.classes)] = True
        return replace(self, members=members)

    @property
    def sizes(self) -> np.ndarray:
        """Labels in each set, `(N,)`."""
        return self.members.sum(axis=1)

    def coverage(self, y: np.ndarray, mask: np.ndarray) -> float:
        """Return the share of the mask's nodes whose set holds their label `y (N,)`; reads labels, so test last."""
        place = _places(np.asarray(y)[mask], self.classes)
        inside = self.members[mask][np.arange(len(place)), place] & (place >= 0)
        return float(inside.mean())


def conformal_sets(
    probabilities: np.ndarray,
    classes: np.ndarray,
    calibration: np.ndarray,
    labels: np.ndarray,
    alpha: float,
) -> PredictionSets:
    """Build sets from `probabilities (N, C)` and the class values `labels (n,)` of the nodes `calibration (n,)`.

    A set is never empty: the most probable label is always in it.
    """
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha={alpha}: it must lie between 0 and 1")
    place = _places(labels, classes)
    scores = np.where(place >= 0, 1 - probabilities[calibration, place], np.inf)
    rank = math.ceil((len(scores) + 1) * (1 - alpha))
    threshold = float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf
    if math.isinf(threshold):
        strange = int((place < 0).sum())
        reason = f", {strange} of them of classes that the fit has not seen" if strange else ""
        warnings.warn(
            f"{len(scores)} calibration nodes{reason} are too few for alpha={alpha}: sets hold every class",
            stacklevel=3,
        )
    members = 1 - probabilities <= threshold
    members[np.arange(len(members)), probabilities.argmax(1)] = True
    return PredictionSets(classes, members, probabilities, alpha, threshold, len(scores))


def split_for_calibration(val: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal the validation nodes `val (N,)` at random into two masks: one for selection, one for calibration."""
    nodes = generator.permutation(np.flatnonzero(val))
    if len(nodes) < 2:
        raise MaskError("there are too few validation nodes to set some aside: pass calibration_mask=")
    kept, aside = np.zeros_like(val), np.zeros_like(val)
    kept[nodes[: len(nodes) // 2]] = True
    aside[nodes[len(nodes) // 2 :]] = True
    return kept, aside


def _places(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the place of each label in `classes`, -1 for a class that no fit has seen."""
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[place] == labels, place, -1)
