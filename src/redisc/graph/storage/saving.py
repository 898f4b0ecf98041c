"""A graph in memory to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike

from redisc.errors import ConfigError, FeatureError
from redisc.graph.features import row_chunks
from redisc.graph.storage.draft import GraphDraft, graph_draft
from redisc.graph.storage.features import FeatureWriter, feature_dtype

if TYPE_CHECKING:
    from redisc.graph.container import Graph


def save_graph(
    graph: Graph, folder: str | Path, dtype: DTypeLike | None = None, feature_scaling: str | None = None
) -> None:
    """Write a graph; features keep their dtype unless float16 or float32 is asked for.

    `feature_scaling` is noted as the scaling that suits them; they are written as they are.
    """
    asked = None if dtype is None else feature_dtype(dtype)
    with graph_draft(folder) as draft:
        draft.name, draft.class_names = graph.name, graph.class_names
        draft.feature_default, draft.dropped_self_loops = graph.feature_default, graph.dropped_self_loops
        draft.feature_scaling = feature_scaling
        draft.put("indptr", graph.indptr)
        draft.put("indices", graph.indices)
        if graph.edge_weight is not None:
            draft.put("edge_weight", graph.edge_weight)
        _put_features(draft, graph.x, asked)
        draft.put_labels(graph.y)
        draft.put_node_ids(graph.node_ids)
        draft.put_splits(graph.splits)


def _put_features(draft: GraphDraft, x: Any, asked: np.dtype | None) -> None:
    if scipy.sparse.issparse(x):
        draft.put_sparse_features(x if asked is None else _cast_sparse(x, asked))
        return
    with FeatureWriter(draft.path("x"), asked or x.dtype, x.shape[1]) as writer:
        for _, chunk in row_chunks(x):
            writer.append(chunk)


def _cast_sparse(x: Any, dtype: np.dtype) -> Any:
    if dtype == np.float16:
        raise ConfigError("sparse features can't be float16, which scipy does not know: ask for float32")
    with np.errstate(over="ignore"):
        data = x.data.astype(dtype)
    if not np.isfinite(data).all():
        raise FeatureError(f"a value of the sparse features is too large for {dtype.name}: scale them first")
    return scipy.sparse.csr_array((data, x.indices, x.indptr), shape=x.shape)
