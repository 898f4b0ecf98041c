"""The Graph: adjacency, features, labels and splits that every other part reads."""

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike

from redisc.errors import MaskError
from redisc.graph import conversions, tables
from redisc.graph.adjacency import (
    build_adjacency,
    check_endpoints,
    read_edge_index,
    read_edge_weight,
    warn_if_directed,
)
from redisc.graph.arrays import read_only
from redisc.graph.describe import Description, component_of, describe
from redisc.graph.features import read_features
from redisc.graph.fingerprint import fingerprint
from redisc.graph.labels import check_class_names, read_labels
from redisc.graph.selection import chosen_nodes, induced_csr, restrict_splits
from redisc.graph.sizes import count_nodes, read_node_ids
from redisc.graph.splits import Split, read_splits
from redisc.graph.storage import open_graph, save_graph
from redisc.graph.structural import structural_features


class Graph:
    """An undirected graph with node features and partly known labels.

    The symmetric adjacency is kept as CSR arrays (`indptr`, `indices`, `edge_weight`) without self-loops and
    duplicates. Arrays are read-only, and features share the caller's memory: treat a graph as a value.

    Args:
        x: Features (N, F): dense, scipy sparse, a sparse tensor, or a memory-map. None builds structural
            features, and `feature_default` says which.
        edge_index: Edges (2, E), each once or in both directions; None for no edges.
        y: Labels (N,), -1 where unknown; None where all are.
        num_nodes: Needed only where neither `x` nor `y` tells.
        edge_weight: Positive weights (E,); of duplicate edges the largest counts.
        splits: `Split` objects or (train, val, test) triples of masks or node numbers.
        name: A name for reports.
        class_names: A name for each label.
        node_ids: The caller's own id of each node.
        directed: True where edges have a direction, False where they have none; None looks whether
            only some of the edges have a reverse. A directed graph is made undirected, with a warning.
    """

    def __init__(
        self,
        x: Any = None,
        edge_index: Any = None,
        y: Any = None,
        *,
        num_nodes: int | None = None,
        edge_weight: Any = None,
        splits: Iterable[Any] = (),
        name: str = "graph",
        class_names: Sequence[str] | None = None,
        node_ids: Sequence[Any] | np.ndarray | None = None,
        directed: bool | None = None,
    ) -> None:
        edges = read_edge_index(edge_index)
        features = None if x is None else read_features(x)
        labels = None if y is None else read_labels(y)
        count = count_nodes(edges, features, labels, num_nodes)
        check_endpoints(edges, count)
        adjacency = build_adjacency(edges, read_edge_weight(edge_weight, edges.shape[1]), count)
        warn_if_directed(adjacency, directed)

        self.name = name
        self.indptr: np.ndarray = adjacency.indptr
        self.indices: np.ndarray = adjacency.indices
        self.edge_weight: np.ndarray | None = adjacency.edge_weight
        self.dropped_self_loops: int = adjacency.dropped_self_loops
        self.feature_default: str | None = None
        if features is None:
            features, self.feature_default = structural_features(self.indptr, self.indices)
            features = read_only(features)
        self.x: Any = features
        self.y: np.ndarray = read_only(np.full(count, -1, dtype=np.int64)) if labels is None else labels
        self.class_names: tuple[str, ...] | None = check_class_names(self.y, class_names)
        self.node_ids: np.ndarray | None = read_node_ids(node_ids, count)
        self.splits: tuple[Split, ...] = read_splits(splits, count)
        self._stored_fingerprint: str | None = None

    @classmethod
    def from_pyg(cls, data: Any, *, name: str = "graph") -> "Graph":
        """A graph from a PyG `Data`: x, y, edge_index or adj_t, edge_weight or one edge_attr, masks."""
        return cls(**conversions.read_pyg(data), name=name)

    @classmethod
    def from_networkx(cls, graph: Any, x: str = "x", y: str = "y", *, name: str = "graph") -> "Graph":
        """A graph from NetworkX: node attributes `x` and `y` and edge attribute "weight" where present.

        A label that is missing, or the number -1, is unknown.
        """
        return cls(**conversions.read_networkx(graph, x, y), name=name)

    @classmethod
    def from_scipy(cls, adjacency: Any, x: Any = None, y: Any = None, **others: Any) -> "Graph":
        """A graph from a square matrix; values other than 0 and 1 are weights, `others` go to `Graph`."""
        return cls(x=x, y=y, **conversions.read_scipy(adjacency), **others)

    @classmethod
    def from_pandas(
        cls,
        edges: Any,
        nodes: Any = None,
        *,
        source: Any = None,
        target: Any = None,
        id: Any = None,
        label: Any = None,
        features: Sequence[Any] | None = None,
        weight: Any = None,
        name: str = "graph",
        directed: bool | None = None,
    ) -> "Graph":
        """A graph from a frame of edges and a frame of nodes, with ids and labels of any type.

        The endpoints are the first two columns of `edges` and the ids the first column of `nodes`, unless
        named. A column "weight" of `edges` is used. Features are the other numeric columns of `nodes`, unless
        named; columns of text are left out. A label that is missing, or the number -1, is unknown.
        """
        found = tables.read_tables(
            edges, nodes, source=source, target=target, id=id, label=label, features=features, weight=weight
        )
        return cls(**found, name=name, directed=directed)

    @classmethod
    def open(cls, folder: str | Path) -> "Graph":
        """A graph that `save` wrote, as memory maps: opened in milliseconds, whatever its size.

        Sizes and types of the files are checked, their contents are not read: `fingerprint` is the one stored.
        """
        graph = cls.__new__(cls)
        for name, value in open_graph(folder).items():
            setattr(graph, "_stored_fingerprint" if name == "stored_fingerprint" else name, value)
        return graph

    def save(self, folder: str | Path, *, dtype: DTypeLike | None = None) -> None:
        """Write the graph as a folder of `.npy` files and `graph.json`, whole or not at all, for `Graph.open`.

        An older saved graph is replaced, and nothing else. Features keep their dtype unless `dtype` asks for
        float16 or float32; ids must be all text or all numbers.
        """
        save_graph(self, folder, dtype)

    def to_pyg(self) -> Any:
        """A PyG `Data` with copies of everything; several splits become masks (N, S)."""
        return conversions.to_pyg(self)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.indptr.size - 1

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, self-loops not counted."""
        return self.indices.size // 2

    @property
    def num_features(self) -> int:
        """Number of feature columns F."""
        return int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of class names, or else the largest label plus one."""
        return len(self.class_names) if self.class_names is not None else int(self.y.max()) + 1

    @property
    def degree(self) -> np.ndarray:
        """Number of neighbours of each node (N,), int64."""
        return np.diff(self.indptr)

    def names_of(self, classes: np.ndarray) -> list[str]:
        """The names of classes, or their numbers as text."""
        names = self.class_names
        return [str(c) if names is None else str(names[c]) for c in classes.tolist()]

    def neighbourhood(self, node: int) -> np.ndarray:
        """A node and its neighbours, itself first, int64."""
        if not 0 <= node < self.num_nodes:
            raise MaskError(f"node {node} is not among the nodes 0..{self.num_nodes - 1}")
        beside = self.indices[self.indptr[node] : self.indptr[node + 1]].astype(np.int64)
        return np.concatenate([[node], beside[beside != node]])

    def adjacency(self) -> Any:
        """The symmetric adjacency as a csr_array (N, N) of float32 weights, or of ones."""
        data = np.ones(self.indices.size, dtype=np.float32) if self.edge_weight is None else self.edge_weight
        return scipy.sparse.csr_array((data, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def edge_index(self) -> np.ndarray:
        """Both directions of all edges (2, 2 * num_edges), int64, sorted by source and then target."""
        return np.stack([np.repeat(np.arange(self.num_nodes), self.degree), self.indices.astype(np.int64)])

    def describe(self) -> Description:
        """Counts, degrees, label rate, homophily and a suggested backbone; print it for a neat text."""
        return describe(self)

    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that name the structure and the features, but not labels or splits."""
        if self._stored_fingerprint is not None:
            return self._stored_fingerprint
        return fingerprint(self.indptr, self.indices, self.edge_weight, self.x)

    def with_labels(self, y: Any) -> "Graph":
        """The same graph with other labels."""
        labels = read_labels(y)
        count_nodes(read_edge_index(None), None, labels, self.num_nodes)
        check_class_names(labels, self.class_names)
        return self._replace(y=labels)

    def with_splits(self, splits: Iterable[Any]) -> "Graph":
        """The same graph with other splits."""
        return self._replace(splits=read_splits(splits, self.num_nodes))

    def subgraph(self, nodes: Any) -> "Graph":
        """The induced subgraph of a mask or of node numbers, renumbered in the given order.

        Features, labels, ids and splits are carried along; a split left without training nodes is dropped.
        """
        chosen = chosen_nodes(nodes, self.num_nodes)
        indptr, indices, weight = induced_csr(self.adjacency(), chosen)
        features = self.x[chosen]
        return self._replace(
            indptr=indptr,
            indices=indices,
            edge_weight=None if self.edge_weight is None else weight,
            dropped_self_loops=0,
            x=features if scipy.sparse.issparse(features) else read_only(features),
            y=read_only(self.y[chosen]),
            node_ids=None if self.node_ids is None else read_only(self.node_ids[chosen]),
            splits=restrict_splits(self.splits, chosen),
            _stored_fingerprint=None,
        )

    def largest_component(self) -> "Graph":
        """The subgraph of the largest connected component; of equals, the one with the smallest node."""
        component = component_of(self)
        size = np.bincount(component)[component]
        first = int(np.argmax(size))
        return self if size[first] == self.num_nodes else self.subgraph(component == component[first])

    def _replace(self, **fields: Any) -> "Graph":
        """A copy that shares all arrays but the given ones, which are not checked."""
        other = copy.copy(self)
        for name, value in fields.items():
            setattr(other, name, value)
        return other

    def __repr__(self) -> str:
        return (
            f"Graph({self.name!r}, nodes={self.num_nodes}, edges={self.num_edges}, "
            f"features={self.num_features}, classes={self.num_classes}, splits={len(self.splits)})"
        )
