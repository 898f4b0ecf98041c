"""The stated default for graphs without features: columns that only the edges decide."""

import numpy as np
import scipy.sparse

DEGREE_BUCKETS = ("0", "1", "2", "3-4", "5-8", "9-16", "17+")
BUCKET_EDGES = (0, 1, 2, 4, 8, 16)
CLUSTERING_BUDGET = 5e7


def structural_features(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, str]:
    """Features (N, F) float32 built from the adjacency alone, and a sentence that says which.

    The clustering coefficient is left out where its sparse product would take over fifty million operations.
    """
    degree = np.diff(indptr)
    log_degree = np.log1p(degree)
    columns = [log_degree, *_over_neighbours(log_degree, indptr, indices)]
    names = ["log(1 + degree)", "its mean over the neighbours", "its maximum over the neighbours"]
    if float(np.square(degree, dtype=np.float64).sum()) <= CLUSTERING_BUDGET:
        columns.append(_clustering(indptr, indices))
        names.append("local clustering coefficient")
    buckets = np.eye(len(DEGREE_BUCKETS))[np.searchsorted(BUCKET_EDGES, degree)]
    names.append(f"one-hot degree bucket ({', '.join(DEGREE_BUCKETS)})")
    features = np.column_stack([*columns, buckets]).astype(np.float32)
    return (
        features,
        f"no features were given; {features.shape[1]} structural ones were built: {', '.join(names)}",
    )


def _over_neighbours(value: np.ndarray, indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and maximum of a value over each node's neighbours; 0 for isolated nodes."""
    degree = np.diff(indptr)
    occupied = degree > 0
    mean, largest = np.zeros(degree.size), np.zeros(degree.size)
    if occupied.any():
        starts, gathered = indptr[:-1][occupied], value[indices]
        mean[occupied] = np.add.reduceat(gathered, starts) / degree[occupied]
        largest[occupied] = np.maximum.reduceat(gathered, starts)
    return mean, largest


def _clustering(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Share of a node's pairs of neighbours that are neighbours themselves; 0 below two neighbours."""
    degree = np.diff(indptr)
    shape = (degree.size, degree.size)
    pattern = scipy.sparse.csr_array((np.ones(indices.size), indices, indptr), shape=shape)
    closed = np.asarray((pattern @ pattern).multiply(pattern).sum(axis=1)).ravel()
    return closed / np.maximum(degree * (degree - 1), 1)
