"""What hubs cost in subgraph accuracy: that of the mean-field GNN on test nodes, and with the largest hubs set right.

One wrong hub spoils the neighbourhoods of all its neighbours. The second figures read test labels: they explain, and
choose nothing.

Run: python benchmarks/hubs.py amazon_computers amazon_computers-gcn --seeds 0 1 2 3
"""

import numpy as np
from seeds_of_a_recipe import each_seed, parser_of

from redisc import ReDiSC, metrics
from redisc.experiments.halves import WARM_START_ALONE
from redisc.graph import Graph, Split

CORRECTED = (5, 20, 100)


def mean_field_labels(settings: dict, graph: Graph, split: Split, seed: int) -> np.ndarray:
    """Return the most likely class of every node `(N,)` by the mean-field GNN."""
    clf = ReDiSC(**{**settings, **WARM_START_ALONE}, random_state=seed).fit(graph, split.train, split.val)
    return clf.classes_[clf.mean_field_proba().argmax(1)]


def with_hubs_right(graph: Graph, split: Split, labels: np.ndarray, hubs: np.ndarray) -> float:
    """Return subgraph accuracy on the test nodes, in percent, were `hubs` right."""
    mended = labels.copy()
    mended[hubs] = graph.y[hubs]
    return 100 * metrics.subgraph_accuracy(graph, graph.y, mended, split.test, split.train)


def main() -> None:
    """Print, for each seed, the wrong ones among the five largest hubs and what setting hubs right would give."""
    for seed, graph, split, settings in each_seed(parser_of(__doc__)):
        labels = mean_field_labels(settings, graph, split, seed)
        order = np.argsort(-graph.degree, kind="stable")
        wrong = [int(graph.degree[hub]) for hub in order[:5] if labels[hub] != graph.y[hub] and not split.train[hub]]
        figures = [f"{with_hubs_right(graph, split, labels, order[:k]):.1f} with {k} right" for k in CORRECTED]
        plain = with_hubs_right(graph, split, labels, order[:0])
        print(f"seed {seed}: {plain:.1f}, {', '.join(figures)}; degrees of the wrong of five: {wrong}", flush=True)


if __name__ == "__main__":
    main()
