"""Oracles that share no code with the library: reverse processes by enumeration, layers by dense algebra."""

import itertools
from collections import defaultdict
from collections.abc import Callable
from math import comb

import numpy as np
from scipy.stats import chi2

MASKED = -1
Law = dict[tuple[int, ...], float]
Probabilities = Callable[[tuple[int, ...], int], np.ndarray]
"""(labels, t) -> (N, C) probabilities of a denoiser."""


def reverse_law(
    probabilities: Probabilities,
    alpha: np.ndarray,
    routing: str,
    known: tuple[int, ...],
    labelled: tuple[bool, ...] | None = None,
) -> Law:
    """Law of Y(0): push the law of Y(t) through every routing and every draw, step by step.

    `known` has labels that are put in whatever the denoiser says; `labelled` tells whom labelled-first prefers.
    """
    prefers = tuple(k != MASKED for k in known) if labelled is None else labelled
    law: Law = {(MASKED,) * len(known): 1.0}
    for t in range(len(alpha) - 1, 0, -1):
        rate = (alpha[t - 1] - alpha[t]) / (1 - alpha[t])
        after: Law = defaultdict(float)
        for state, mass in law.items():
            p = probabilities(state, t)
            for chosen, chance in routing_law(state, rate, routing, known, prefers, p):
                for result, share in reveal_law(state, chosen, known, p):
                    after[result] += mass * chance * share
        law = after
    return law


def routing_law(state, rate, routing, known, prefers, p):
    """All sets of nodes that a step may reveal, with their probabilities."""
    masked = [i for i, label in enumerate(state) if label == MASKED]
    for k in range(len(masked) + 1):
        budget = comb(len(masked), k) * rate**k * (1 - rate) ** (len(masked) - k)
        if budget == 0:
            continue
        if routing == "uniform":
            sets = list(itertools.combinations(masked, k))
        else:
            first, rest = split_by_priority(masked, routing, known, prefers, p)
            if k <= len(first):
                sets = list(itertools.combinations(first, k))
            elif routing == "labelled-first":
                sets = [tuple(first) + more for more in itertools.combinations(rest, k - len(first))]
            else:
                sets = [tuple(first) + tuple(rest[: k - len(first)])]
        for chosen in sets:
            yield chosen, budget / len(sets)


def split_by_priority(masked, routing, known, prefers, p):
    """Nodes that come first, in no order, and the others; for confident-first these are sorted by confidence."""
    if routing == "labelled-first":
        return [i for i in masked if prefers[i]], [i for i in masked if not prefers[i]]
    certain = [i for i in masked if known[i] != MASKED]
    return certain, sorted(set(masked) - set(certain), key=lambda i: (not prefers[i], -p[i].max()))


def reveal_law(state, chosen, known, p):
    """All labels that the chosen nodes may get, with their probabilities."""
    options = [[(known[i], 1.0)] if known[i] != MASKED else list(enumerate(p[i])) for i in chosen]
    for drawn in itertools.product(*options):
        labels = list(state)
        for i, (label, _) in zip(chosen, drawn, strict=True):
            labels[i] = label
        yield tuple(labels), float(np.prod([share for _, share in drawn]))


def condition(law: Law, known: tuple[int, ...]) -> Law:
    """The law given that the known labels came out."""
    agree = {s: m for s, m in law.items() if all(k in (MASKED, label) for k, label in zip(known, s, strict=True))}
    total = sum(agree.values())
    return {s: m / total for s, m in agree.items()}


def total_variation(first: Law, second: Law) -> float:
    return 0.5 * sum(abs(first.get(s, 0.0) - second.get(s, 0.0)) for s in {*first, *second})


def dense_adjacency(graph) -> np.ndarray:
    a = np.zeros((graph.num_nodes, graph.num_nodes))
    for i in range(graph.num_nodes):
        for place in range(graph.indptr[i], graph.indptr[i + 1]):
            a[i, graph.indices[place]] = 1.0 if graph.edge_weight is None else graph.edge_weight[place]
    return a


def softmax(scores: np.ndarray) -> np.ndarray:
    heat = np.exp(scores - scores.max(-1, keepdims=True))
    return heat / heat.sum(-1, keepdims=True)


def g_test(samples: np.ndarray, law: Law) -> float:
    """p-value of the likelihood-ratio test that `samples (n, N)` come from `law`; rare outcomes are pooled."""
    seen: dict[tuple[int, ...], int] = defaultdict(int)
    for row in samples.tolist():
        seen[tuple(row)] += 1
    if any(law.get(state, 0.0) <= 0 for state in seen):
        return 0.0
    n, pooled_expected, pooled_seen, pairs = len(samples), 0.0, 0, []
    for state, mass in law.items():
        if n * mass < 10:
            pooled_expected += n * mass
            pooled_seen += seen[state]
        elif mass > 0:
            pairs.append((n * mass, seen[state]))
    if pooled_expected > 0:
        pairs.append((pooled_expected, pooled_seen))
    statistic = 2 * sum(count * np.log(count / expected) for expected, count in pairs if count)
    return float(chi2.sf(statistic, len(pairs) - 1))


def empirical(samples: np.ndarray) -> Law:
    """Relative frequencies of the rows."""
    rows, counts = np.unique(samples, axis=0, return_counts=True)
    return {tuple(row): count / len(samples) for row, count in zip(rows.tolist(), counts, strict=True)}
