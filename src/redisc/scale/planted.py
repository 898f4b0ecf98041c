"""The planted graph of `redisc.datasets`, drawn straight to disk."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from redisc.datasets.block_model import EdgeDraws, class_means, noisy_rows
from redisc.datasets.planted import Plan, planted
from redisc.errors import DatasetError
from redisc.graph.storage import GraphDraft, graph_draft
from redisc.graph.storage.features import FeatureWriter, feature_dtype
from redisc.scale.distinct_keys import distinct_keys
from redisc.scale.edge_spool import EdgeSpool
from redisc.scale.structure import Report, put_structure

_FEATURE_ELEMENTS = 1 << 22


def planted_on_disk(
    folder: str | Path, *, dtype: DTypeLike = "float32", report: Report = lambda _: None, **parameters: Any
) -> None:
    """Draw a planted graph into a folder that `Graph.open` opens.

    Parameters and distribution are those of `redisc.datasets.planted.planted`, and the graph is a function of them
    and the seed, but it is another draw. Edges are drawn and features written in pieces: memory is about 100 bytes
    a node and 11 bytes an edge inside classes.

    Args:
        folder: Where the saved graph goes.
        dtype: float16 or float32 for the features.
        report: Is told of progress.
        **parameters: Those of `planted`, with the same defaults.
    """
    stored, plan = feature_dtype(dtype), Plan.draw(**_with_defaults(parameters))
    with graph_draft(folder) as draft:
        draft.name = "planted"
        draft.put_labels(plan.y)
        draft.put_splits([plan.split()])
        _put_features(draft, plan, stored, report)
        spool = EdgeSpool(draft.folder, plan.y.size)
        _spool_edges(spool, plan, report)
        put_structure(draft, spool, plan.y.size, report, directed=False, dtype=stored)


def _with_defaults(parameters: dict[str, Any]) -> dict[str, Any]:
    defaults = {name: one.default for name, one in inspect.signature(planted).parameters.items()}
    for name in parameters:
        if name not in defaults:
            raise DatasetError(f"'planted' has no parameter {name}: it takes {', '.join(defaults)}.")
    return {**defaults, **parameters}


def _put_features(draft: GraphDraft, plan: Plan, dtype: np.dtype, report: Report) -> None:
    means, step = class_means(plan.classes, plan.features, plan.rng), max(1, _FEATURE_ELEMENTS // plan.features)
    with FeatureWriter(draft.path("x"), dtype, plan.features) as writer:
        for start in range(0, plan.y.size, step):
            writer.append(noisy_rows(means, plan.y[start : start + step], plan.noise, plan.rng))
            report(f"features: {writer.rows:,} of {plan.y.size:,} rows")


def _spool_edges(spool: EdgeSpool, plan: Plan, report: Report) -> None:
    """Draw the edges inside classes, then those between them."""
    inside, draws = round(plan.num_edges * plan.homophily), EdgeDraws.of(plan.layout, plan.locality)
    for draw, count in ((draws.inside, inside), (draws.outside, plan.num_edges - inside)):
        for keys in distinct_keys(lambda asked, draw=draw: draw(asked, plan.rng), count):  # type: ignore[misc]
            spool.append(plan.node_at[np.stack(np.divmod(keys, plan.y.size))])
            report(f"edges: {spool.count:,} of {plan.num_edges:,}")
