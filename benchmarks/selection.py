"""Test accuracies, node / subgraph, by two choices of weights: validation accuracy of nodes (ours), or of subgraphs.

The authors' code makes the second choice, which reads test labels where validation nodes have test nodes as neighbours.
Its figures flatter: they may explain printed ones, and are no results.

Run: python benchmarks/selection.py amazon_photo amazon_photo-gcn --seeds 0 1 2
"""

from unittest.mock import patch

import numpy as np
from seeds_of_a_recipe import each_seed, parser_of

from redisc import ReDiSC, metrics
from redisc.em.trainer import Trainer
from redisc.experiments.intervals import interval
from redisc.experiments.paired import show_gain
from redisc.graph import Graph, Split


def answers_at_looks(settings: dict, graph: Graph, split: Split, seed: int) -> np.ndarray:
    """Fit, and return the labels `(looks, N)` that the evaluation chain gave each time."""
    answers, evaluate = [], Trainer.evaluate

    def listen(trainer: Trainer, told: object = None) -> tuple:
        given = evaluate(trainer, told)
        answers.append(given[0].numpy().copy())
        return given

    with patch.object(Trainer, "evaluate", listen):
        clf = ReDiSC(**settings, random_state=seed).fit(graph, split.train, split.val)
    return clf.classes_[np.stack(answers)]


def scores(graph: Graph, split: Split, labels: np.ndarray) -> dict[str, float]:
    """Return both accuracies on validation and test nodes, in percent."""
    found = {}
    for name, mask in (("val", split.val), ("test", split.test)):
        found[f"{name} node"] = 100 * metrics.node_accuracy(graph.y, labels, mask)
        found[f"{name} subgraph"] = 100 * metrics.subgraph_accuracy(graph, graph.y, labels, mask, split.train)
    return found


def last_best(looks: list[dict[str, float]], key: str) -> dict[str, float]:
    """Return the look with the best value; of equals the latest, as a fit does."""
    return max(reversed(looks), key=lambda look: look[key])


def chosen(looks: list[dict[str, float]]) -> list[tuple[float, float]]:
    """Return node and subgraph accuracy on the test nodes, of the look that each choice takes."""
    best = [last_best(looks, f"val {key}") for key in ("node", "subgraph")]
    return [(look["test node"], look["test subgraph"]) for look in best]


def show(choices: np.ndarray) -> str:
    """Write both choices `(2, 2)`."""
    (node, subgraph), (their_node, their_subgraph) = choices
    return f"chosen by node {node:.2f} / {subgraph:.2f}, by subgraph accuracy {their_node:.2f} / {their_subgraph:.2f}"


def main() -> None:
    """Print both test accuracies by both choices, for each seed and in the mean, with a 95 % interval of the gain."""
    rows = []
    for seed, graph, split, settings in each_seed(parser_of(__doc__)):
        answers = answers_at_looks(settings, graph, split, seed)
        rows.append(chosen([scores(graph, split, labels) for labels in answers]))
        print(f"seed {seed}, {len(answers)} looks: {show(np.array(rows[-1]))}", flush=True)
    found = np.array(rows)
    gain = show_gain(interval(list(found[:, 1, 1] - found[:, 0, 1])))
    print(f"mean: {show(found.mean(0))} (subgraph accuracy {gain})")


if __name__ == "__main__":
    main()
