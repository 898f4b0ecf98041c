"""Which column of the tables is what."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from redisc.errors import ConfigError
from redisc.graph.tables import column_of, endpoint_columns, id_column, weight_column
from redisc.io.spelling import Role


@dataclass(frozen=True)
class TableColumns:
    """Names of columns; None stands for the default, which `resolved` looks up."""

    label: str  # of the nodes
    id: str | None = None  # of the nodes: the first
    source: str | None = None  # of the edges: the first
    target: str | None = None  # of the edges: the second
    weight: str | None = None  # of the edges: one called "weight", if there is one
    text: tuple[str, ...] = ()  # of the nodes: words that become TF-IDF features

    def resolved(self, edges: Any, nodes: Any) -> TableColumns:
        """The same with defaults looked up in two frames, which may be without rows; absent columns are named."""
        source, target = endpoint_columns(edges, self.source, self.target)
        weight = weight_column(edges, self.weight, (source, target))
        key, label = id_column(nodes, self.id), column_of(nodes, "nodes", self.label)
        for column in self.text:
            if column_of(nodes, "nodes", column) in (key, label) or self.text.count(column) > 1:
                raise ConfigError(f"--text {column}: it is the id or the label, or is named twice; name other columns")
        return replace(self, id=key, label=label, source=source, target=target, weight=weight)

    def node_roles(self, label: Role = "label") -> dict[Any, Role]:
        """How the columns of the nodes are read."""
        named: dict[Any, Role] = {self.id: "id", self.label: label}
        return named | dict.fromkeys(self.text, "text")

    def edge_roles(self) -> dict[Any, Role]:
        """How the columns of the edges are read."""
        return dict.fromkeys((self.source, self.target), "id")


def default_scaling(text: Sequence[str] = ()) -> str:
    """The `feature_scaling` that suits the features of tables; beside texts, numbers are standardised already."""
    return "none" if text else "standard"


def tell_left_out(columns: Sequence[Any]) -> None:
    """Say which columns make no features."""
    if columns:
        names = ", ".join(repr(column) for column in columns)
        warnings.warn(f"nodes: no numbers in {names}, left out (fit --text COLUMN takes its words)", stacklevel=3)
