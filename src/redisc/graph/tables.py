"""Graphs from tables: a frame of edges and, where there is one, a frame of nodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from redisc.errors import EdgeIndexError, EdgeWeightError, FeatureError, GraphError
from redisc.graph.arrays import first_true
from redisc.graph.labels import encode_labels
from redisc.optional import require


def read_edges(edges: Any, source: Any, target: Any, ids: Any, first: int = 0) -> np.ndarray:
    """The (2, E) numbers of the edges' endpoints among the node ids (a pandas Index); rows count from `first`."""
    columns = endpoint_columns(edges, source, target, first)
    numbers = [ids.get_indexer(edges[column]) for column in columns]
    for column, found in zip(columns, numbers, strict=True):
        if (found < 0).any():
            row = first_true(found < 0)
            raise EdgeIndexError(
                f"edges row {first + row}, column {column!r}: {_scalar(edges[column], row)!r} is not among the "
                f"{len(ids)} node ids (the first is {_first(ids)}): add the node or drop the edge, "
                "and see that the ids of both tables have one type"
            )
    return np.stack(numbers).astype(np.int64)


def endpoint_columns(edges: Any, source: Any, target: Any, first: int = 0) -> tuple[Any, Any]:
    """The columns that hold the endpoints: those named, or else the first two; neither may have gaps."""
    if len(edges.columns) < 2:
        raise GraphError(f"edges needs a column for each end of an edge, but has {list(edges.columns)}")
    source = column_of(edges, "edges", edges.columns[0] if source is None else source)
    target = column_of(edges, "edges", edges.columns[1] if target is None else target)
    for column in (source, target):
        missing = edges[column].isna().to_numpy()
        if missing.any():
            raise EdgeIndexError(f"edges row {first + first_true(missing)}, column {column!r}: the node id is missing")
    return source, target


def endpoint_ids(edges: Any, source: Any, target: Any) -> Any:
    """The distinct endpoints as a pandas Index, sorted where their types can be compared."""
    pandas = require("pandas", extra="files")
    columns = endpoint_columns(edges, source, target)
    ids = pandas.Index(pandas.concat([edges[column] for column in columns]).unique())
    try:
        return ids.sort_values()
    except TypeError:
        return ids


def node_ids(nodes: Any, column: Any) -> Any:
    """The id column as a pandas Index without gaps and duplicates."""
    pandas = require("pandas", extra="files")
    ids = nodes[column]
    if ids.isna().any():
        raise GraphError(f"nodes row {first_true(ids.isna().to_numpy())}, column {column!r}: the node id is missing")
    repeated = ids.duplicated().to_numpy()
    if repeated.any():
        row = first_true(repeated)
        value = _scalar(ids, row)
        earlier = first_true((ids == value).to_numpy())
        raise GraphError(f"nodes row {row}, column {column!r}: the id {value!r} stands already in row {earlier}")
    return pandas.Index(ids)


def id_column(nodes: Any, column: Any) -> Any:
    """The column that holds the node ids: the one named, or else the first."""
    if not len(nodes.columns):
        raise GraphError("nodes has no columns: it needs one with the node ids")
    return column_of(nodes, "nodes", nodes.columns[0] if column is None else column)


def read_weight(edges: Any, weight: Any, ends: tuple[Any, Any], first: int = 0) -> np.ndarray | None:
    """The weights from the column named, or from one called "weight"; None where there is neither."""
    column = weight_column(edges, weight, ends)
    return None if column is None else _numbers(edges, "edges", column, EdgeWeightError, first)


def weight_column(edges: Any, weight: Any, ends: tuple[Any, Any]) -> Any:
    """The column that holds the weights: the one named, or else one called "weight" that is no end; or None."""
    if weight is None and ("weight" not in edges.columns or "weight" in ends):
        return None
    return column_of(edges, "edges", "weight" if weight is None else weight)


def read_label_column(
    nodes: Any, column: Any, *, minus_one_is_unknown: bool = True
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Integers and class names of a label column of any type; gaps and empty strings are unknown."""
    values = nodes[column_of(nodes, "nodes", column)]
    return encode_labels(values.tolist(), unlabelled(values), minus_one_is_unknown=minus_one_is_unknown)


def unlabelled(values: Any) -> np.ndarray:
    """Where a column of labels has a gap or an empty string (N,)."""
    missing: np.ndarray = (values.isna() | (values.astype(object) == "")).to_numpy(dtype=bool)
    return missing


def read_feature_columns(
    nodes: Any, columns: Sequence[Any] | None, taken: Sequence[Any], first: int = 0
) -> np.ndarray | None:
    """The named columns, or else all numeric ones not taken, as (N, F) float32; None where there are none."""
    if columns is None:
        numeric = nodes.select_dtypes(include=["number", "bool"]).columns
        columns = [column for column in numeric if column not in taken]
    if len(columns) == 0:
        return None
    checked = [column_of(nodes, "nodes", column) for column in columns]
    return np.column_stack([_numbers(nodes, "nodes", column, FeatureError, first) for column in checked])


def column_of(frame: Any, table: str, column: Any) -> Any:
    """The column's name, after checking that the table has it once."""
    if column not in frame.columns:
        raise GraphError(f"{table} has no column {column!r}: it has {list(frame.columns)}")
    if list(frame.columns).count(column) > 1:
        raise GraphError(f"{table} has several columns called {column!r}: rename them")
    return column


def _numbers(frame: Any, table: str, column: Any, error: type[GraphError], first: int) -> np.ndarray:
    pandas = require("pandas", extra="files")
    with np.errstate(over="ignore"):
        numbers = pandas.to_numeric(frame[column], errors="coerce").to_numpy(dtype=np.float32, na_value=np.nan)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row = first_true(wrong)
        value = _scalar(frame[column], row)
        words = ", or take its words (fit --text)" if isinstance(value, str) and error is FeatureError else ""
        raise error(
            f"{table} row {first + row}, column {column!r}: {value!r} is not a finite number: "
            f"fill it in, leave the row or the column out{words}"
        )
    return numbers


def _first(ids: Any) -> str:
    return repr(ids[:1].tolist()[0]) if len(ids) else "absent"


def _scalar(series: Any, row: int) -> Any:
    value = series.iloc[row]
    return value.item() if isinstance(value, np.generic) else value


def read_tables(
    edges: Any, nodes: Any, *, source: Any, target: Any, id: Any, label: Any, features: Any, weight: Any
) -> dict[str, Any]:
    """The keyword arguments of `Graph` that two pandas frames give."""
    ends = endpoint_columns(edges, source, target)
    found: dict[str, Any] = {"edge_weight": read_weight(edges, weight, ends)}
    if nodes is None:
        if label is not None or features is not None:
            raise GraphError("label and features name columns of nodes, but no nodes were given: pass nodes=")
        ids = endpoint_ids(edges, *ends)
    else:
        column = id_column(nodes, id)
        ids = node_ids(nodes, column)
        found["x"] = read_feature_columns(nodes, features, taken=(column, label))
        if label is not None:
            found["y"], found["class_names"] = read_label_column(nodes, label)
    found["edge_index"] = read_edges(edges, *ends, ids)
    return found | {"node_ids": ids.to_numpy(), "num_nodes": len(ids)}
