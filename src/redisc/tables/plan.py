"""How tables become a graph: fitted once, then the same for every other pair of tables."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse

from redisc.engine import FeatureScaling
from redisc.errors import CheckpointError, FeatureError
from redisc.graph import Graph
from redisc.graph.tables import (
    column_of,
    endpoint_columns,
    node_ids,
    read_edges,
    read_feature_columns,
    read_weight,
)
from redisc.io.spelling import count_numbers
from redisc.optional import require
from redisc.tables.classes import Classes
from redisc.tables.columns import TableColumns, tell_left_out
from redisc.tables.reading import comparable_edges, comparable_ids, is_text
from redisc.tables.text import TextColumn

FORMAT = "redisc tables"
VERSION = 1


@dataclass(frozen=True)
class TablePlan:
    """The columns of a fit's tables, its classes, and how columns become features.

    Features are the columns of numbers, in their order, and after them the terms of each text. Beside texts, which
    are sparse, the numbers are standardised here by `mean` and `deviation`; alone they are left to the estimator.
    """

    columns: TableColumns
    classes: Classes
    numbers: tuple[str, ...]
    texts: tuple[TextColumn, ...] = ()
    left_out: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    @classmethod
    def fit(cls, nodes: Any, columns: TableColumns) -> TablePlan:
        """Choose the features of a frame of nodes; `columns` are resolved."""
        taken = {columns.id, columns.label, *columns.text}
        others = [column for column in nodes.columns if column not in taken]
        numbers = tuple(column for column in others if _holds_numbers(nodes[column]))
        texts = tuple(TextColumn.fit(column, nodes[column]) for column in columns.text)
        left_out = tuple(column for column in others if column not in numbers)
        scaling = _scaling(nodes, numbers) if texts and numbers else {}
        return cls(columns, Classes.fit(nodes, columns.label), numbers, texts, left_out, **scaling)

    def features(self, nodes: Any) -> Any:
        """The features (N, F) of a frame of nodes: dense, or sparse where there are texts; None without any."""
        for column in (*self.numbers, *(text.column for text in self.texts)):
            if column not in nodes.columns:
                raise FeatureError(f"nodes has no column {column!r}, which the fit took: it has {list(nodes.columns)}")
        dense = read_feature_columns(nodes, self.numbers, ())
        if not self.texts:
            return dense
        scaled = [] if dense is None else [self._standardised(dense)]
        words = [text.features(nodes[text.column]) for text in self.texts]
        return scipy.sparse.csr_array(scipy.sparse.hstack([*scaled, *words], format="csr", dtype=np.float32))

    def labels(self, nodes: Any) -> np.ndarray:
        """The labels (N,) of a frame of nodes, -1 where unknown; without the label's column all are."""
        if self.columns.label not in nodes.columns:
            return np.full(len(nodes), -1, dtype=np.int64)
        return self.classes.labels(nodes, column_of(nodes, "nodes", self.columns.label))

    def graph(self, edges: Any, nodes: Any, name: str) -> Graph:
        """The graph of two frames, by the columns of the fit; what is wrong is named by column and row."""
        ends = endpoint_columns(edges, self.columns.source, self.columns.target)
        weight = None if self.columns.weight is None else read_weight(edges, self.columns.weight, ends)
        ids = node_ids(nodes, column_of(nodes, "nodes", self.columns.id))
        places = comparable_ids(ids, any(is_text(edges[end]) for end in ends))
        return Graph(
            x=self.features(nodes),
            y=self.labels(nodes),
            class_names=None if self.classes.numbered else self.classes.names,
            edge_index=read_edges(comparable_edges(edges, ends, places), *ends, places),
            edge_weight=weight,
            node_ids=ids.to_numpy(),
            num_nodes=len(ids),
            name=name,
        )

    def tell_left_out(self) -> None:
        """Say which columns of the fit make no features."""
        tell_left_out(self.left_out)

    def tell_unknown(self, nodes: Any) -> None:
        """Say which columns another table has beyond those of the fit; they are left out."""
        known = {self.columns.id, self.columns.label, *self.columns.text, *self.numbers, *self.left_out}
        strangers = ", ".join(repr(column) for column in nodes.columns if column not in known)
        if strangers:
            warnings.warn(f"nodes: {strangers} not among the columns of the fit, left out", stacklevel=2)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON can hold it."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> TablePlan:
        """Rebuild a plan."""
        if content.get("format") != FORMAT or content.get("version") != VERSION:
            raise CheckpointError(f"tables.json is not of format {FORMAT!r}, version {VERSION}: fit again")
        try:
            return cls(
                columns=TableColumns(**{**content["columns"], "text": tuple(content["columns"]["text"])}),
                classes=Classes(tuple(content["classes"]["names"]), bool(content["classes"]["numbered"])),
                texts=tuple(TextColumn(t["column"], tuple(t["terms"]), tuple(t["idf"])) for t in content["texts"]),
                **{name: tuple(content[name]) for name in ("numbers", "left_out", "mean", "deviation")},
            )
        except (KeyError, TypeError) as fault:
            raise CheckpointError(f"tables.json lacks or garbles {fault}: fit again") from None

    def _standardised(self, dense: np.ndarray) -> Any:
        scaling = FeatureScaling("standard", np.array(self.mean), np.array(self.deviation))
        return scipy.sparse.csr_array(scaling.scale_dense(dense).astype(np.float32))


def _scaling(nodes: Any, numbers: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    found = FeatureScaling.fit("standard", read_feature_columns(nodes, numbers, ()))
    assert found.mean is not None
    assert found.deviation is not None
    return {"mean": tuple(found.mean.tolist()), "deviation": tuple(found.deviation.tolist())}


def _holds_numbers(values: Any) -> bool:
    """Whether a column is of numbers, or of text of which half or more are numbers: a cell that is none is a fault."""
    types = require("pandas", extra="files").api.types
    if types.is_numeric_dtype(values.dtype):
        return True
    if not (types.is_object_dtype(values.dtype) or types.is_string_dtype(values.dtype)):
        return False
    return 2 * count_numbers(values) >= int(values.count())
