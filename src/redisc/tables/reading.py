"""Two files as two frames whose ids can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redisc.io.spelling import Role
from redisc.io.tables import read_table, table_head
from redisc.optional import require
from redisc.tables.columns import TableColumns


def read_tables(edges: str | Path, nodes: str | Path, columns: TableColumns, label: Role = "label") -> tuple[Any, Any]:
    """The frames of edges and nodes, CSV or Parquet; `label` is the role of the labels."""
    return read_table(edges, columns.edge_roles()), read_table(nodes, columns.node_roles(label))


def read_heads(edges: str | Path, nodes: str | Path) -> tuple[Any, Any]:
    """Frames without rows that have the tables' columns."""
    return table_head(edges), table_head(nodes)


def comparable_ids(ids: Any, among_text: bool) -> Any:
    """The node ids (a pandas Index), as text where an end of the edges is text though they are whole numbers.

    An id is what it is spelled like: where one table holds more than whole numbers, `7` is `"7"` in both.
    """
    types = require("pandas", extra="files").api.types
    return ids.astype(str) if types.is_integer_dtype(ids.dtype) and among_text else ids


def comparable_edges(edges: Any, ends: tuple[Any, Any], ids: Any) -> Any:
    """The edges with ends as text where the node ids are text, though these ends are whole numbers."""
    types = require("pandas", extra="files").api.types
    if not is_text(ids):
        return edges
    return edges.astype({end: str for end in ends if types.is_integer_dtype(edges[end].dtype)})


def is_text(values: Any) -> bool:
    """Whether a column or an Index holds text."""
    return bool(require("pandas", extra="files").api.types.infer_dtype(values, skipna=True) == "string")
