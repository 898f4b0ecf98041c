"""Products of the engine's sparse matrices: our kernel beside torch's CSR product, which gives the same bits.

Run: python benchmarks/sparse.py
"""

import time
import warnings

import torch

from redisc import datasets
from redisc.engine import Topology
from redisc.engine.features import FeatureScaling
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.block import Weighting

HIDDEN, MASKS, REPEATS = 64, 4, 10


def compare(name: str, matrix: SparseMatrix, width: int) -> None:
    """Print the least time of each, taken in turn."""
    shape = matrix.shape[::-1]
    theirs = torch.sparse_csr_tensor(*matrix._structure, matrix.values, size=matrix.shape, check_invariants=False)
    turned = torch.sparse_csr_tensor(*matrix._structure_t, matrix._values_t, size=shape, check_invariants=False)
    generator = torch.Generator().manual_seed(0)
    z, gradient = (torch.randn(rows, width, generator=generator) for rows in shape)
    ways = {
        ("forward", "ours"): lambda: matrix.times(z),
        ("forward", "torch"): lambda: theirs @ z,
        ("transposed", "ours"): lambda: matrix.transpose_times(gradient),
        ("transposed", "torch"): lambda: turned @ gradient,
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(REPEATS):
        for way, run in ways.items():
            start = time.perf_counter()
            run()
            best[way] = min(best[way], time.perf_counter() - start)
    pairs = ((matrix.times(z), theirs @ z), (matrix.transpose_times(gradient), turned @ gradient))
    equal = all(torch.equal(ours, torchs) for ours, torchs in pairs)
    for direction in ("forward", "transposed"):
        ours, torchs = (1000 * best[direction, whose] for whose in ("ours", "torch"))
        print(f"{name:28} {width:4} {direction:10} {ours:7.2f} ms, torch {torchs:7.2f} ms, {torchs / ours:.1f} times")
    print(f"{name:28} {'the same bits' if equal else 'other bits'}")


def main() -> None:
    """Compare on propagators and on features as words."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*Sparse CSR tensor support is in beta.*")
    for dataset in ("cora", "pubmed", "amazon_photo"):
        graph = datasets.load(dataset)
        propagator = Topology(graph).propagator(Weighting("sym", 1.0))
        for width in (HIDDEN, HIDDEN * MASKS):
            compare(f"{dataset}, propagator", propagator, width)
        features = FeatureScaling().apply(graph.x)
        if isinstance(features, SparseMatrix):
            compare(f"{dataset}, features", features, HIDDEN)


if __name__ == "__main__":
    main()
