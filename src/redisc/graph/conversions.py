"""Graphs of other libraries: PyG, NetworkX and SciPy.

Each `read_` function returns the keyword arguments of `Graph`, which checks them.
"""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from redisc.errors import (
    EdgeIndexError,
    EdgeWeightError,
    FeatureError,
    GraphError,
    LengthError,
    MaskError,
    UnsupportedGraphError,
)
from redisc.graph.arrays import as_array
from redisc.graph.features import tensor_to_csr
from redisc.graph.labels import encode_labels
from redisc.optional import require

if TYPE_CHECKING:
    from redisc.graph.container import Graph


def read_scipy(adjacency: Any) -> dict[str, Any]:
    """Edges of a square matrix; stored zeros are no edges, and values other than 1 are weights."""
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise EdgeIndexError(f"an adjacency matrix must be square, but this one has shape {tuple(adjacency.shape)}")
    matrix = scipy.sparse.coo_array(scipy.sparse.csr_array(adjacency))
    stored = matrix.data != 0
    values = matrix.data[stored]
    return {
        "edge_index": np.stack([matrix.row[stored], matrix.col[stored]]),
        "edge_weight": None if (values == 1).all() else values,
        "num_nodes": matrix.shape[0],
    }


def read_pyg(data: Any) -> dict[str, Any]:
    """Edges, weights, features, labels and splits of a PyG `Data`."""
    pyg = importlib.import_module("torch_geometric.data")
    if isinstance(data, pyg.HeteroData):
        raise UnsupportedGraphError(
            "HeteroData has several node or edge types, which redisc does not model: "
            "pass one type, or data.to_homogeneous()"
        )
    if not isinstance(data, pyg.Data):
        raise GraphError(f"from_pyg takes a torch_geometric.data.Data, not {type(data).__name__}")
    num_nodes = _count_pyg_nodes(data)
    nodes = {"x": data.x, "y": data.y, "num_nodes": num_nodes, "splits": _read_pyg_splits(data, num_nodes)}
    return nodes | _read_pyg_edges(data)


def _count_pyg_nodes(data: Any) -> int:
    """What the Data says, or else its rows; PyG itself would overlook `y` and guess from the edges."""
    rows = data.x if data.x is not None else data.y
    if "num_nodes" in data or rows is None:
        return int(data.num_nodes or 0)
    return int(rows.shape[0])


def _read_pyg_edges(data: Any) -> dict[str, Any]:
    if data.edge_index is not None:
        return {"edge_index": data.edge_index, "edge_weight": _read_pyg_weight(data), "directed": True}
    if data.get("adj_t") is None:
        raise EdgeIndexError(
            "this Data has neither edge_index nor adj_t: set data.edge_index "
            "(torch.empty((2, 0), dtype=torch.long) for a graph without edges)"
        )
    return read_scipy(tensor_to_csr(data.adj_t).T)


def _read_pyg_weight(data: Any) -> Any:
    weight = data.get("edge_weight")
    if weight is not None:
        return weight
    attributes = data.get("edge_attr")
    if attributes is not None and attributes.ndim > 1 and attributes.shape[1] != 1:
        raise UnsupportedGraphError(
            f"edge_attr has {attributes.shape[1]} columns, but only one weight an edge is modelled: "
            "pick a column as data.edge_weight, or set data.edge_attr = None"
        )
    return attributes


def _read_pyg_splits(data: Any, num_nodes: int) -> list[tuple[np.ndarray, ...]]:
    """Masks (N,) are one split, (N, S) are S splits; a single mask beside several serves all their splits."""
    given = [data.get(name) for name in ("train_mask", "val_mask", "test_mask")]
    if given[0] is None:
        return []
    masks = [_mask_columns(mask, num_nodes) for mask in given]
    counts = sorted({mask.shape[1] for mask in masks} - {1})
    if len(counts) > 1:
        raise MaskError(f"the masks of this Data have different numbers of columns: {counts}")
    count = counts[0] if counts else 1
    masks = [np.broadcast_to(mask, (num_nodes, count)) for mask in masks]
    return [tuple(mask[:, number] for mask in masks) for number in range(count)]


def _mask_columns(mask: Any, num_nodes: int) -> np.ndarray:
    if mask is None:
        return np.zeros((num_nodes, 1), dtype=bool)
    columns = as_array(mask, "mask", MaskError).astype(bool)
    if columns.ndim not in (1, 2) or columns.shape[0] != num_nodes:
        raise LengthError(f"a mask of this Data has shape {columns.shape}, but the graph has {num_nodes} nodes")
    return columns.reshape(num_nodes, -1)


def read_networkx(graph: Any, x: str, y: str) -> dict[str, Any]:
    """Edges, node attributes named `x` and `y` where present, and the edge attribute "weight"."""
    require("networkx", extra="networkx")
    if graph.is_multigraph():
        raise UnsupportedGraphError(
            "several edges between two nodes are not modelled: merge them with networkx.Graph(multigraph)"
        )
    nodes = list(graph)
    number = {node: position for position, node in enumerate(nodes)}
    ends = [(number[source], number[target]) for source, target in graph.edges()]
    labels, class_names = _read_networkx_labels(graph, y)
    return {
        "edge_index": np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        "edge_weight": _read_networkx_weight(graph),
        "x": _read_networkx_features(graph, x),
        "y": labels,
        "class_names": class_names,
        "node_ids": nodes,
        "num_nodes": len(nodes),
        "directed": graph.is_directed(),
    }


def _read_networkx_weight(graph: Any) -> list[Any] | None:
    weights = [(source, target, weight) for source, target, weight in graph.edges(data="weight")]
    missing = [(source, target) for source, target, weight in weights if weight is None]
    if len(missing) == len(weights):
        return None
    if missing:
        source, target = missing[0]
        raise EdgeWeightError(
            f"the edge between {source!r} and {target!r} has no weight, while others have one: "
            "give all edges a weight, or none"
        )
    return [weight for _, _, weight in weights]


def _read_networkx_features(graph: Any, attribute: str) -> np.ndarray | None:
    rows = {node: value for node, value in graph.nodes(data=attribute) if value is not None}
    if not rows:
        return None
    for node in graph:
        if node not in rows:
            raise FeatureError(f"node {node!r} has no attribute {attribute!r}, while others have it: give it to all")
    arrays = {
        node: np.atleast_1d(as_array(value, f"{attribute} of node {node!r}", FeatureError))
        for node, value in rows.items()
    }
    first, shape = next((node, array.shape) for node, array in arrays.items())
    for node, array in arrays.items():
        if array.shape != shape:
            raise FeatureError(
                f"attribute {attribute!r} has shape {shape} at node {first!r}, "
                f"but {array.shape} at node {node!r}: give all nodes the same"
            )
    return np.stack(list(arrays.values()))


def _read_networkx_labels(graph: Any, attribute: str) -> tuple[np.ndarray | None, tuple[str, ...] | None]:
    values = [value for _, value in graph.nodes(data=attribute)]
    # NaN is the one value that differs from itself.
    missing = np.array([value is None or value == "" or value != value for value in values], dtype=bool)  # noqa: PLR0124
    if missing.all():
        return None, None
    return encode_labels(values, missing)


def to_pyg(graph: "Graph") -> Any:
    """A PyG `Data` with copies of everything: x (dense, or sparse CSR), edge_index, y, masks, edge_weight."""
    torch = importlib.import_module("torch")
    pyg = importlib.import_module("torch_geometric.data")
    data = pyg.Data(
        x=_to_tensor(graph.x),
        edge_index=torch.tensor(graph.edge_index()),
        y=torch.tensor(graph.y),
        num_nodes=graph.num_nodes,
    )
    if graph.edge_weight is not None:
        data.edge_weight = torch.tensor(graph.edge_weight)
    for name in ("train", "val", "test") if graph.splits else ():
        columns = np.stack([getattr(split, name) for split in graph.splits], axis=1)
        data[f"{name}_mask"] = torch.tensor(columns[:, 0] if len(graph.splits) == 1 else columns)
    return data


def _to_tensor(x: Any) -> Any:
    torch = importlib.import_module("torch")
    if not scipy.sparse.issparse(x):
        return torch.tensor(np.asarray(x))
    parts = [torch.tensor(part) for part in (x.indptr.astype(np.int64), x.indices.astype(np.int64), x.data)]
    return torch.sparse_csr_tensor(*parts, size=x.shape, check_invariants=True)
