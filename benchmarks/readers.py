"""What a reader of features adds to the warm start, on validation nodes that chose no checkpoint.

Half of the validation nodes choose the checkpoints of the networks, and the other half judges; then the halves change
places. The networks are trained once, and readers of several weights, decays and doubts of hubs are taught what they
answer. With `--redraw` the labelled nodes are drawn anew, per seed, among labelled and validation nodes. No test label
is read.

Run: python benchmarks/readers.py citeseer citeseer-gcn --redraw --seeds 0 1 2 3 --settings '{"mean_field_members": 2}'
"""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import torch
from scipy import stats
from seeds_of_a_recipe import each_seed, parser_of

from redisc import ReDiSC
from redisc.em.generations import handed_down
from redisc.em.teaching import fit_reader
from redisc.engine import FeatureScaling
from redisc.experiments.halves import WARM_START_ALONE, halve
from redisc.experiments.splits import redrawn
from redisc.graph import Graph
from redisc.nn import Committee, FeatureReader, Pooling, crowding_of, with_reader

NETWORKS_ALONE = {**WARM_START_ALONE, "anchor": 0.0, "mean_field_generations": 1, "mean_field_reader": 0.0}


def accuracies(
    settings: dict, graph: Graph, train: np.ndarray, choose: np.ndarray, judge: np.ndarray, seed: int, readers: list
) -> Iterator[float]:
    """Yield the accuracy on `judge` in percent: of the networks, then with each of `readers` (decay, pooling)."""
    clf = ReDiSC(**{**settings, **NETWORKS_ALONE}, random_state=seed).fit(graph, train, choose)
    answers = torch.from_numpy(clf.mean_field_proba())
    known = torch.from_numpy(np.where(train, np.searchsorted(clf.classes_, graph.y), -1))
    x = FeatureScaling.fit(settings.get("feature_scaling", "none"), graph.x).apply(graph.x)
    nodes = SimpleNamespace(own_features=x, crowding=crowding_of(torch.from_numpy(graph.degree), graph.degree.mean()))

    def right(probabilities: torch.Tensor) -> float:
        return 100 * float(np.mean(clf.classes_[probabilities.argmax(1)][judge] == graph.y[judge]))

    yield right(answers)
    for decay in dict.fromkeys(decay for decay, _ in readers):
        reader = FeatureReader(x.shape[-1], answers.shape[1])
        fit_reader(reader, x, handed_down(answers, known), decay)
        with torch.no_grad():
            seated = (Committee([], reader, pooling) for other, pooling in readers if other == decay)
            yield from [right(with_reader(committee, answers, nodes)) for committee in seated]


def main() -> None:
    """Print the mean accuracy of the networks, and for each reader the mean and the gain with its 95 % interval."""
    parser = parser_of(__doc__)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.3, 0.5, 0.7, 0.85])
    parser.add_argument("--decays", type=float, nargs="+", default=[3e-4, 1e-4, 3e-5])
    parser.add_argument("--doubts", type=float, nargs="+", default=[0.0], help="of hubs")
    parser.add_argument("--redraw", action="store_true", help="draw the labelled nodes anew, per seed")
    given, found = parser.parse_args(), []
    if not all(0 <= weight < 1 for weight in given.weights):
        parser.error("--weights: each must be 0 or more, and below 1")
    if not all(doubt >= 0 for doubt in given.doubts):
        parser.error("--doubts: each must be 0 or more")
    poolings = [Pooling(weight, doubt) for weight in given.weights for doubt in given.doubts]
    readers = [(decay, pooling) for decay in given.decays for pooling in poolings]
    for seed, graph, split, settings in each_seed(parser):
        drawn = redrawn(graph, split, seed) if given.redraw else split
        one, other = halve(graph, np.flatnonzero(drawn.val), seed)
        turns = ((one, other), (other, one))
        judged = [list(accuracies(settings, graph, drawn.train, *turn, seed, readers)) for turn in turns]
        found.append(np.mean(judged, 0))
        print(f"seed {seed}: networks {found[-1][0]:.2f}, best reader {found[-1][1:].max():.2f}", flush=True)
    table = np.array(found)
    print(f"networks {table[:, 0].mean():.2f}")
    for k, (decay, pooling) in enumerate(readers, start=1):
        gains = table[:, k] - table[:, 0]
        spread = f" ± {stats.t.ppf(0.975, len(gains) - 1) * stats.sem(gains):.2f}" if len(gains) > 1 else ""
        told = f"decay {decay:g}, weight {pooling.reader:g}, doubt {pooling.hub_doubt:g}"
        print(f"{told}: {table[:, k].mean():.2f}, gain {gains.mean():+.2f}{spread}")


if __name__ == "__main__":
    main()
