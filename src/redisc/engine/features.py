"""Raw features as the networks take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from redisc.errors import ConfigError
from redisc.graph.features import row_chunks
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Features

_SPARSE_BELOW = 0.1
_ROUNDING = 1e-12


def _mostly_zeros(x: Any) -> bool:
    """Tell whether features are bag-of-words-like: fewer than a tenth of the entries are set."""
    filled = x.nnz if sp.issparse(x) else np.count_nonzero(x)
    return bool(filled < _SPARSE_BELOW * x.shape[0] * x.shape[1])


@dataclass(frozen=True)
class FeatureScaling:
    """How features are scaled: "none", "row" (divided by their absolute sum), "binary" or "standard".

    "binary" keeps what is set and forgets how much: 1 where a feature is not 0, as for words of a text. "standard"
    shifts and scales columns, of dense features alone.

    The columns' mean and deviation are those of the graph that was fitted; other graphs are scaled by them too.
    """

    kind: str = "none"
    mean: np.ndarray | None = None
    deviation: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("none", "row", "binary", "standard"):
            raise ConfigError(f"unknown feature_scaling {self.kind!r}; choose none, row, binary or standard")

    @classmethod
    def fit(cls, kind: str, x: Any) -> FeatureScaling:
        """Measure what the scaling needs on features `x (N, F)`."""
        if kind != "standard":
            return cls(kind)
        _refuse_sparse(x)
        mean, deviation = _moments(x)
        # Rounding alone gives a constant column a tiny deviation, which would blow other graphs' values up.
        constant = deviation <= _ROUNDING * np.abs(mean)
        return cls(kind, mean, np.where(constant, 1.0, deviation))

    def apply(self, x: Any, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> Features:
        """Scale features and put them on the device; those that are mostly zeros become sparse."""
        if self.kind == "standard":
            _refuse_sparse(x)
        if sp.issparse(x) or (self.kind != "standard" and _mostly_zeros(x)):
            return SparseMatrix(self._scale_rows(sp.csr_array(x, dtype=np.float64)), dtype, device)
        out = torch.empty(x.shape, dtype=dtype)
        for start, rows in row_chunks(x):
            out.numpy()[start : start + len(rows)] = self.scale_dense(rows)
        return out.to(device).unsqueeze(1)

    def scale_dense(self, rows: np.ndarray) -> np.ndarray:
        """Scale some rows of dense features, in float64."""
        dense = np.asarray(rows, dtype=np.float64)
        if self.mean is not None and self.deviation is not None:
            dense = (dense - self.mean) / self.deviation
        return np.asarray(self._scale_rows(dense))

    def _scale_rows(self, x: Any) -> Any:
        if self.kind == "binary":
            return (x != 0).astype(np.float64)
        if self.kind != "row":
            return x
        total = np.asarray(abs(x).sum(axis=1)).ravel()
        scale = 1 / np.where(total > 0, total, 1)
        return sp.diags_array(scale) @ x if sp.issparse(x) else x * scale[:, None]


def _moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the columns, in two passes over pieces of the rows."""
    mean = sum(chunk.sum(axis=0, dtype=np.float64) for _, chunk in row_chunks(x)) / len(x)
    square = sum(np.square(chunk - mean).sum(axis=0) for _, chunk in row_chunks(x)) / len(x)
    return mean, np.sqrt(square)


def _refuse_sparse(x: Any) -> None:
    if sp.issparse(x):
        raise ConfigError("feature_scaling='standard' would fill sparse features; use 'row', 'binary' or 'none'")
