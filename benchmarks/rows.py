"""Propagation of flat rows on Photo: our kernel, the same with a place read in the inner loop, and torch's product.

Run: python benchmarks/rows.py
"""

import time

import numpy as np
import torch
from numba import njit

from redisc import datasets
from redisc.engine import Topology
from redisc.kernels.labels import propagate_rows
from redisc.nn.block import Weighting

WIDTH, REPEATS = 64, 10


@njit(fastmath={"contract"})
def place_inside(indptr, indices, left, right, loop, z):  # type: ignore[no-untyped-def]
    """Do the same as `propagate_rows` for all nodes; `indices[e]` might change with every element that is written."""
    out = np.zeros_like(z)
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            w = left[i] * right[indices[e]]
            for d in range(z.shape[1]):
                out[i, d] += w * z[indices[e], d]
        for d in range(z.shape[1]):
            out[i, d] += loop[i] * z[i, d]
    return out


def main() -> None:
    """Print the least time of each, taken in turn."""
    torch.set_num_threads(1)
    topology = Topology(datasets.load("amazon_photo"))
    nodes, z = topology.num_nodes, np.random.default_rng(0).standard_normal((topology.num_nodes, WIDTH), np.float32)
    graph, weighting = (topology.indptr, topology.indices), Weighting("sym", 1.0)
    scales = topology.scales(weighting)
    factors, dense = (scales.left, scales.right, scales.loop), torch.from_numpy(z)
    ways = {
        "place outside": lambda: propagate_rows(np.arange(nodes), *graph, topology.edge_weight, *factors, nodes, z),
        "place inside": lambda: place_inside(*graph, *factors, z),
        "torch": lambda: topology.propagator(weighting) @ dense,
    }
    expected, best = ways["place inside"](), dict.fromkeys(ways, float("inf"))
    for _ in range(REPEATS):
        for name, way in ways.items():
            start = time.perf_counter()
            out = way()
            best[name] = min(best[name], time.perf_counter() - start)
            np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-4)
    for name, seconds in best.items():
        print(f"{name:15} {1000 * seconds:6.2f} ms")


if __name__ == "__main__":
    main()
