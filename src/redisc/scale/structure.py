"""From spooled edges to the structure of a graph in its draft."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from redisc.graph.adjacency import warn_if_directed
from redisc.graph.storage import GraphDraft
from redisc.graph.structural import structural_features
from redisc.scale.csr_builder import build_csr
from redisc.scale.edge_spool import EdgeSpool

Report = Callable[[str], None]
"""Is told, in a few words, what is being done."""


def put_structure(
    draft: GraphDraft, spool: EdgeSpool, num_nodes: int, report: Report, *, directed: bool | None, dtype: np.dtype
) -> None:
    """Write the adjacency, and structural features of it where the draft has none; the spool is used up."""
    spool.close()
    built = build_csr(spool, num_nodes, draft.folder, report)
    spool.discard()
    if built.conflict is not None:
        raise built.conflict
    adjacency = built.adjacency
    warn_if_directed(adjacency, directed)
    draft.dropped_self_loops = adjacency.dropped_self_loops
    if not draft.path("x").exists():
        report("building structural features")
        features, draft.feature_default = structural_features(adjacency.indptr, adjacency.indices)
        draft.put("x", features.astype(dtype, copy=False))
