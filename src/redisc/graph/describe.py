"""What a graph looks like, in figures that matter for choosing a model."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from redisc.graph.container import Graph

HOMOPHILIC = 0.6
LARGE = 100_000
SHOWN_CLASSES = 10


@dataclass(frozen=True)
class Description:
    """Figures of a graph; `str()` gives an aligned text, `as_dict()` something to write as JSON."""

    name: str
    nodes: int
    edges: int
    features: int
    feature_kind: str
    classes: int
    label_rate: float
    class_counts: dict[str, int]
    mean_degree: float
    max_degree: int
    isolated: int
    components: int
    edge_homophily: float | None
    splits: tuple[tuple[int, int, int], ...]
    suggested_backbone: str

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries; `splits` holds the count and the sizes."""
        sizes = [dict(zip(("train", "val", "test"), split, strict=True)) for split in self.splits]
        return asdict(self) | {"splits": {"count": len(sizes), "sizes": sizes}}

    def __str__(self) -> str:
        rows = list(self._rows())
        width = max(len(title) for title, _ in rows)
        return "\n".join([self.name, *(f"  {title:<{width}}  {text}" for title, text in rows)])

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield "nodes", f"{self.nodes:,} ({self.isolated:,} isolated)"
        yield "edges", f"{self.edges:,} (undirected)"
        yield "degree", f"mean {self.mean_degree:.2f}, max {self.max_degree:,}"
        yield "components", f"{self.components:,}"
        yield "features", f"{self.features:,} ({self.feature_kind})"
        yield "classes", f"{self.classes:,}"
        yield "labelled", f"{self.label_rate:.1%}"
        if self.class_counts:
            yield "class counts", self._class_text()
        homophily = "unknown" if self.edge_homophily is None else f"{self.edge_homophily:.3f}"
        yield "edge homophily", homophily
        yield "splits", self._split_text()
        yield "suggested backbone", self.suggested_backbone

    def _class_text(self) -> str:
        shown = [f"{name}: {count:,}" for name, count in list(self.class_counts.items())[:SHOWN_CLASSES]]
        more = len(self.class_counts) - len(shown)
        return ", ".join([*shown, f"and {more} more"] if more else shown)

    def _split_text(self) -> str:
        if not self.splits:
            return "none"
        train, val, test = self.splits[0]
        sizes = f"train {train:,}, val {val:,}, test {test:,}"
        return f"1 ({sizes})" if len(self.splits) == 1 else f"{len(self.splits)} (the first: {sizes})"


def describe(graph: "Graph") -> Description:
    """Compute the figures of a graph."""
    degree = graph.degree
    homophily = edge_homophily(graph)
    return Description(
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        feature_kind=feature_kind(graph),
        classes=graph.num_classes,
        label_rate=float((graph.y >= 0).mean()),
        class_counts=_class_counts(graph),
        mean_degree=float(degree.mean()),
        max_degree=int(degree.max()),
        isolated=int((degree == 0).sum()),
        components=int(component_of(graph).max()) + 1,
        edge_homophily=homophily,
        splits=tuple(split.sizes for split in graph.splits),
        suggested_backbone=suggest_backbone(graph.num_nodes, homophily),
    )


def edge_homophily(graph: "Graph") -> float | None:
    """Share of equal labels among the edges with both ends labelled; None where there are none."""
    source, target = np.repeat(graph.y, graph.degree), graph.y[graph.indices]
    known = (source >= 0) & (target >= 0)
    return float((source[known] == target[known]).mean()) if known.any() else None


def suggest_backbone(num_nodes: int, homophily: float | None) -> str:
    """The backbone to try first, by size and by how often neighbours agree (None where unknown)."""
    if num_nodes > LARGE:
        return "sage"
    return "gcn" if homophily is None or homophily >= HOMOPHILIC else "gat_sep"


def feature_kind(graph: "Graph") -> str:
    """How the features are held: "structural default", "sparse", "memory-mapped" or "dense"."""
    if graph.feature_default is not None:
        return "structural default"
    if scipy.sparse.issparse(graph.x):
        return "sparse"
    return "memory-mapped" if isinstance(graph.x, np.memmap) else "dense"


def component_of(graph: "Graph") -> np.ndarray:
    """The number of each node's connected component (N,)."""
    return connected_components(graph.adjacency(), directed=False)[1]


def _class_counts(graph: "Graph") -> dict[str, int]:
    labels, counts = np.unique(graph.y[graph.y >= 0], return_counts=True)
    found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    if graph.class_names is None:
        return {str(label): count for label, count in found.items()}
    return {name: found.get(label, 0) for label, name in enumerate(graph.class_names)}
