"""Products of the engine's sparse matrices: our kernel beside torch's CSR product, which gives the same bits.

And dropout of features: entries left out, as we do it, beside entries set to zero.

Run: python benchmarks/sparse.py
"""

import time
import warnings

import numpy as np
import torch

from redisc import datasets
from redisc.engine import Topology
from redisc.engine.features import FeatureScaling
from redisc.kernels.dropout import Dropout
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


def compare_dropout(name: str, matrix: SparseMatrix, rate: float = 0.5) -> None:
    """Print the least time of dropout and both products, entries left out or zero, taken in turn."""
    generator = torch.Generator().manual_seed(0)
    z, gradient = (torch.randn(rows, HIDDEN, generator=generator) for rows in matrix.shape[::-1])
    best, found = {}, {}
    for seed in range(REPEATS):
        for way in ("left out", "zero"):
            dropout = Dropout(np.random.default_rng(seed))
            start = time.perf_counter()
            dropped = dropout.sparse(matrix, rate) if way == "left out" else with_zeros(dropout, matrix, rate)
            found[way] = dropped.times(z), dropped.transpose_times(gradient)
            best[way] = min(best.get(way, float("inf")), time.perf_counter() - start)
    out, zero = (1000 * best[way] for way in ("left out", "zero"))
    equal = all(map(torch.equal, *found.values()))
    print(f"{name:28} {HIDDEN:4} left out   {out:7.2f} ms, zero  {zero:7.2f} ms, {zero / out:.1f} times")
    print(f"{name:28} {'the same bits' if equal else 'other bits'}")


def with_zeros(dropout: Dropout, matrix: SparseMatrix, rate: float) -> SparseMatrix:
    """Return the matrix with zeros where entries are dropped."""
    random_bytes, kept = dropout.random_bytes(len(matrix.values), rate)
    return matrix.with_values(matrix.values * torch.from_numpy(random_bytes < kept).float().mul_(256 / kept))


def main() -> None:
    """Compare on propagators and on features as words, whole and with dropout."""
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
            compare_dropout(f"{dataset}, dropped features", features)


if __name__ == "__main__":
    main()
