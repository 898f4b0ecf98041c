"""Where a graph comes from: a named dataset, a user's own tables, or a saved graph. A run remembers it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from redisc import datasets
from redisc.datasets.catalogue import ENTRIES
from redisc.datasets.registry import canonical
from redisc.errors import CheckpointError
from redisc.graph import Graph
from redisc.graph.storage import Manifest, is_saved_graph
from redisc.tables import TableColumns, TablePlan, default_scaling, read_heads, read_tables


@dataclass(frozen=True)
class DatasetSource:
    """A dataset by name, with the arguments of `datasets.load`."""

    name: str
    data_dir: str | None = None
    seed: int = 0
    split: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """Return the settings that suit the features: those of the method."""
        return {}

    def load(self) -> Graph:
        """Load the dataset."""
        return datasets.load(self.name, data_dir=self.data_dir, seed=self.seed, split=self.split, **self.parameters)


@dataclass(frozen=True)
class FileSource:
    """A table of edges and a table of nodes, CSV or Parquet; the other fields are those of `TableColumns`."""

    edges: str
    nodes: str
    label: str
    id: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    text: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", tuple(self.text))

    @property
    def name(self) -> str:
        """The name of the table of edges."""
        return Path(self.edges).stem

    def settings(self) -> dict[str, Any]:
        """Return the settings that suit the features."""
        return {"feature_scaling": default_scaling(self.text)}

    def load(self) -> Graph:
        """Read both tables; ids may be of any type, labels too, and a missing label is unknown."""
        return self.load_with_plan()[0]

    def load_with_plan(self) -> tuple[Graph, TablePlan]:
        """Read both tables, and also return how other tables become graphs with the same features and classes."""
        named = TableColumns(self.label, self.id, self.source, self.target, self.weight, tuple(self.text))
        columns = named.resolved(*read_heads(self.edges, self.nodes))
        edges, nodes = read_tables(self.edges, self.nodes, columns)
        plan = TablePlan.fit(nodes, columns)
        graph = plan.graph(edges, nodes, self.name)
        plan.tell_left_out()
        return graph, plan

    def load_by(self, plan: TablePlan) -> Graph:
        """Read both tables as `plan` says, whatever this source says of their columns; labels are compared as text."""
        edges, nodes = read_tables(self.edges, self.nodes, plan.columns, label="text")
        graph = plan.graph(edges, nodes, self.name)
        plan.tell_unknown(nodes)
        return graph


@dataclass(frozen=True)
class SavedSource:
    """A folder that `Graph.save` or `redisc convert` wrote."""

    path: str

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self.path).name

    def settings(self) -> dict[str, Any]:
        """Return the settings that suit the features, as far as the folder knows them: those of tables it does."""
        scaling = Manifest.read(Path(self.path)).feature_scaling
        return {} if scaling is None else {"feature_scaling": scaling}

    def load(self) -> Graph:
        """Open the graph as memory maps."""
        return Graph.open(self.path)


GraphSource = DatasetSource | FileSource | SavedSource

_KINDS: dict[str, type[Any]] = {"dataset": DatasetSource, "files": FileSource, "saved": SavedSource}


def named_source(name: str, data_dir: str | None = None, seed: int = 0) -> DatasetSource | SavedSource:
    """Return the source that a name or a path stands for; names of datasets come first, `./NAME` is always a path."""
    if canonical(name) not in ENTRIES and (is_saved_graph(name) or (Path(name).is_dir() and os.sep in name)):
        return SavedSource(str(Path(name).resolve()))
    return DatasetSource(name, None if data_dir is None else str(Path(data_dir).resolve()), seed)


def source_to_json(source: GraphSource) -> dict[str, Any]:
    """Return a source as JSON can hold it."""
    kind = next(kind for kind, cls in _KINDS.items() if isinstance(source, cls))
    return {"kind": kind, **asdict(source)}


def source_from_json(config: Any) -> GraphSource:
    """Rebuild a source."""
    try:
        settings = dict(config)
        source: GraphSource = _KINDS[settings.pop("kind")](**settings)
    except (TypeError, ValueError, KeyError) as fault:
        raise CheckpointError(f"run.json does not say where its graph came from: {fault}") from None
    return source
