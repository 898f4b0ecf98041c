"""What estimated class shares do to the mean-field GNN's validation accuracy, as it is and weighted by the shares.

Where validation nodes are drawn evenly over classes, their accuracy is not the graph's. Each class's own accuracy times
its estimated share comes closer, up to chance (thirty nodes a class leave a lot of that) and to the error of the
shares, which come from the answers that they judge. No test label is read.

Run: python benchmarks/class_shares.py amazon_computers amazon_computers-gcn --seeds 0 1 2 3
"""

import numpy as np
import torch
from seeds_of_a_recipe import each_seed, parser_of

from redisc import ReDiSC
from redisc.em.class_shares import class_shift, drawn_shares
from redisc.experiments.halves import WARM_START_ALONE
from redisc.graph import Graph, Split

BRIEF = {**WARM_START_ALONE, "class_shares": "labelled", "clamp": "train"}


def by_class(graph: Graph, split: Split, labels: np.ndarray) -> np.ndarray:
    """Return validation accuracy of each class, `(C,)`; 0 where no validation node has it."""
    counts = np.bincount(graph.y[split.val], minlength=graph.num_classes)
    right = np.bincount(graph.y[split.val & (labels == graph.y)], minlength=graph.num_classes)
    return right / np.maximum(counts, 1)


def measure(settings: dict, graph: Graph, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimated shares `(C,)` and, in percent, accuracy plain and weighted, before and after `(2, 2)`."""
    clf = ReDiSC(**{**settings, **BRIEF}, random_state=seed).fit(graph, split.train, split.val)
    proba = clf.mean_field_proba()
    known = torch.from_numpy(clf.known_)
    shift = class_shift(torch.from_numpy(proba), known)
    ratio = np.ones(graph.num_classes) if shift is None else np.exp(shift.numpy())
    shares, figures = drawn_shares(known, graph.num_classes).numpy() * ratio, []
    for answers in (proba, proba * ratio):
        right = by_class(graph, split, answers.argmax(1))
        plain = (answers.argmax(1) == graph.y)[split.val].mean()
        figures.append((100 * plain, 100 * right @ shares))
    return shares, np.array(figures)


def main() -> None:
    """Print both accuracies for each seed and in the mean."""
    rows = []
    for seed, graph, split, settings in each_seed(parser_of(__doc__)):
        shares, figures = measure(settings, graph, split, seed)
        rows.append(figures)
        print(
            f"seed {seed}: shares of {100 * shares.min():.0f} to {100 * shares.max():.0f} %; {told(figures)}",
            flush=True,
        )
    print(f"mean: {told(np.mean(rows, axis=0))}")


def told(figures: np.ndarray) -> str:
    """Write the four figures."""
    (before, weighted_before), (after, weighted_after) = figures
    return f"accuracy {before:.1f} -> {after:.1f}, weighted {weighted_before:.1f} -> {weighted_after:.1f}"


if __name__ == "__main__":
    main()
