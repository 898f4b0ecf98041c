"""Compiled attention against torch operations on Minesweeper with 8 masks: forward and backward, minima of a few runs.

Run: python benchmarks/attention.py
"""

import time

import torch
import torch.nn.functional as F

from redisc import datasets
from redisc.engine import Topology
from redisc.kernels.attention import attention_sum, attention_weights
from redisc.kernels.edge_softmax import edge_softmax, weighted_aggregate

COPIES, HEADS, WIDTH, REPEATS = 8, 8, 8, 4


def main() -> None:
    """Print both times, forward and backward."""
    topology = Topology(datasets.load("minesweeper"))
    nodes, edges, pattern = topology.num_nodes, topology.edges(False), topology.pattern(False)
    generator = torch.Generator().manual_seed(0)
    source, target = (torch.randn(nodes, COPIES, HEADS, generator=generator).requires_grad_() for _ in range(2))
    values = torch.randn(nodes, COPIES, HEADS, WIDTH, generator=generator).requires_grad_()

    def plain() -> torch.Tensor:
        scores = F.leaky_relu(source[edges.source] + target[edges.target], 0.2)
        weights = edge_softmax(scores, edges.target, nodes)
        return weighted_aggregate(weights, values, edges.source, edges.target, nodes)

    def compiled() -> torch.Tensor:
        return attention_sum(attention_weights(source, target, pattern), values, pattern)

    for name, attend in (("torch", plain), ("compiled", compiled)):
        best = [float("inf"), float("inf")]
        for _ in range(REPEATS + 1):
            start = time.perf_counter()
            out = attend()
            middle = time.perf_counter()
            out.backward(torch.ones_like(out))
            best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
        print(f"{name:9} forward {1000 * best[0]:7.1f} ms, backward {1000 * best[1]:7.1f} ms")


if __name__ == "__main__":
    main()
