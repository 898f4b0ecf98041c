"""Tables of edges and nodes, CSV or Parquet, to a saved graph, in chunks of rows."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from redisc.errors import EmptyGraphError
from redisc.graph.adjacency import read_edge_weight
from redisc.graph.storage import GraphDraft, graph_draft
from redisc.graph.storage.features import FeatureWriter, feature_dtype
from redisc.graph.tables import (
    column_of,
    endpoint_columns,
    id_column,
    node_ids,
    read_edges,
    read_feature_columns,
    read_weight,
    weight_column,
)
from redisc.io.spelling import Role
from redisc.optional import require
from redisc.scale.edge_spool import EdgeSpool
from redisc.scale.label_codes import LabelCodes
from redisc.scale.structure import Report, put_structure
from redisc.scale.table_chunks import NUMERIC, TableChunks
from redisc.tables.classes import check_several
from redisc.tables.columns import default_scaling, tell_left_out
from redisc.tables.reading import comparable_edges, comparable_ids


def convert_tables(
    folder: str | Path,
    edges: str | Path,
    nodes: str | Path,
    *,
    label: str | None = None,
    id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    dtype: DTypeLike = "float32",
    chunk_rows: int = 100_000,
    report: Report = lambda _: None,
) -> None:
    """Save the graph of two tables; columns mean what they mean to `redisc fit`: -1 is a class, a gap is unknown.

    Each table is read twice: once for the types of its columns, once for its values. Ids and labels of all nodes are
    held in memory, features and edges are not. Features are stored as they are; the folder notes that they are to be
    standardised, as the commands then do.
    """
    stored = feature_dtype(dtype)
    edge_table, node_table = TableChunks(Path(edges), chunk_rows), TableChunks(Path(nodes), chunk_rows)
    with graph_draft(folder) as draft:
        draft.name, draft.feature_scaling = Path(edges).stem, default_scaling()
        ids = _put_nodes(draft, node_table, id, label, stored, report)
        spool = EdgeSpool(draft.folder, len(ids))
        _spool_edges(spool, edge_table, (source, target, weight), ids, report)
        put_structure(draft, spool, len(ids), report, directed=None, dtype=stored)


def _put_nodes(draft: GraphDraft, table: TableChunks, id: Any, label: Any, dtype: np.dtype, report: Report) -> Any:
    """Write features, labels and ids of all nodes; returns the ids as a pandas Index."""
    head = table.columns()
    key = id_column(head, id)
    taken = [key] if label is None else [key, column_of(head, "nodes", label)]
    report("nodes: looking at the columns")
    others = [column for column in head.columns if column not in taken]
    named: dict[Any, Role] = {key: "id"} if label is None else {key: "id", label: "label"}
    kinds = table.kinds(named | dict.fromkeys(others, "value"))
    features = [column for column in others if kinds[column] in NUMERIC]
    id_chunks, labels = [], LabelCodes()
    with ExitStack() as files:
        writer = files.enter_context(FeatureWriter(draft.path("x"), dtype, len(features))) if features else None
        for first, frame in table.chunks({column: kinds[column] for column in (*taken, *features)}):
            id_chunks.append(frame[key])
            if label is not None:
                labels.append(frame[label], first)
            if writer is not None:
                writer.append(_matrix(frame, features, first))
            report(f"nodes: {first + len(frame):,}")
    ids = _all_ids(id_chunks, key)
    y, draft.class_names = (np.full(len(ids), -1), None) if label is None else labels.encoded()
    check_several(y, draft.class_names, label)
    draft.put_labels(y)
    draft.put_node_ids(ids.to_numpy())
    tell_left_out([column for column in others if column not in features])
    return ids


def _matrix(frame: Any, features: list[Any], first: int) -> np.ndarray:
    values = read_feature_columns(frame, features, (), first)
    assert values is not None
    return values


def _all_ids(chunks: list[Any], column: Any) -> Any:
    pandas = require("pandas", extra="files")
    if not sum(len(chunk) for chunk in chunks):
        raise EmptyGraphError("the table of nodes has no rows: a graph needs at least one node")
    return node_ids(pandas.DataFrame({column: pandas.concat(chunks, ignore_index=True)}), column)


def _spool_edges(spool: EdgeSpool, table: TableChunks, given: tuple[Any, Any, Any], ids: Any, report: Report) -> None:
    """Set the edges aside as node numbers, with their weights; `given` names the columns of ends and weights."""
    source, target, weight = given
    head = table.columns()
    ends = endpoint_columns(head, source, target)
    weight = weight_column(head, weight, ends)
    report("edges: looking at the columns")
    named: dict[Any, Role] = {} if weight is None else {weight: "value"}
    kinds = table.kinds(named | dict.fromkeys(ends, "id"))
    places = comparable_ids(ids, any(kinds[end] == "other" for end in ends))
    for first, frame in table.chunks(kinds):
        numbers = read_edges(comparable_edges(frame, ends, places), *ends, places, first)
        spool.append(numbers, read_edge_weight(read_weight(frame, weight, ends, first), len(frame), first))
        report(f"edges: {spool.count:,}")
