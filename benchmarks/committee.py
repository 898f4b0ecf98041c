"""Whether several mean-field GNNs answer better than one, on validation nodes that chose no checkpoint.

Half of the validation nodes choose the checkpoints of all networks, and the other half judges; then the halves change
places. Judged on the nodes that chose it, a single network would look better than it is. No test label is read.
`--networks`, a JSON list of what `mean_field_architecture` takes, makes members take several architectures in turn.

Run: python benchmarks/committee.py amazon_photo amazon_photo-gcn --seeds 0 1 2 3 4 5 6 7 --members 4
"""

import itertools
import json
from typing import Any

import numpy as np
from scipy import stats
from seeds_of_a_recipe import each_seed, parser_of

from redisc import ReDiSC
from redisc.experiments.halves import WARM_START_ALONE, halve
from redisc.graph import Graph

BRIEF = {
    **WARM_START_ALONE,
    "mean_field_members": 1,
    "mean_field_generations": 1,
    "anchor": 0.0,
}  # one warm start, and little after it


def accuracies(
    members: list[dict[str, Any]],
    graph: Graph,
    train: np.ndarray,
    choose: np.ndarray,
    judge: np.ndarray,
    first_seed: int,
) -> tuple[float, float]:
    """Return the mean accuracy of single networks on `judge`, and that of their mean probabilities, in percent."""
    answers = []
    for seed, settings in enumerate(members, start=first_seed):
        clf = ReDiSC(**{**settings, **BRIEF}, random_state=seed).fit(graph, train, choose)
        answers.append(clf.mean_field_proba()[judge])
    right = [clf.classes_[p.argmax(1)] == graph.y[judge] for p in (*answers, np.mean(answers, 0))]
    return 100 * np.mean(right[:-1]), 100 * np.mean(right[-1])


def main() -> None:
    """Print both figures for each seed, the mean of its halves, and the gain with its 95 % interval."""
    parser = parser_of(__doc__)
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--networks", type=json.loads, help="default: the recipe's")
    given, figures = parser.parse_args(), []
    for seed, graph, split, settings in each_seed(parser):
        own = given.networks or settings.get("mean_field_architecture")
        turns = itertools.cycle(own if isinstance(own, list) else [own])
        members = [{**settings, "mean_field_architecture": each} for each in itertools.islice(turns, given.members)]
        one, other = halve(graph, np.flatnonzero(split.val), seed)
        halved = ((one, other), (other, one))
        judged = [accuracies(members, graph, split.train, choose, judge, 1000 * seed) for choose, judge in halved]
        figures.append(np.mean(judged, 0))
        print(f"seed {seed}: one {figures[-1][0]:.2f}, together {figures[-1][1]:.2f}", flush=True)
    alone, together = np.mean(figures, 0)
    gains = np.diff(figures, axis=1).squeeze(1)
    half_width = stats.t.ppf(0.975, len(gains) - 1) * stats.sem(gains) if len(gains) > 1 else float("nan")
    print(f"one {alone:.2f}, together {together:.2f}, gain {gains.mean():+.2f} ± {half_width:.2f}")


if __name__ == "__main__":
    main()
