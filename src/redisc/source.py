"""Where a graph comes from: a named dataset, or a user's own tables. A run remembers it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from redisc import datasets
from redisc.errors import CheckpointError
from redisc.graph import Graph
from redisc.io.tables import read_table


@dataclass(frozen=True)
class DatasetSource:
    """A dataset by name, with the arguments of `datasets.load`."""

    name: str
    data_dir: str | None = None
    seed: int = 0
    split: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def load(self) -> Graph:
        """Load the dataset."""
        return datasets.load(self.name, data_dir=self.data_dir, seed=self.seed, split=self.split, **self.parameters)


@dataclass(frozen=True)
class FileSource:
    """A table of edges and a table of nodes, CSV or Parquet."""

    edges: str
    nodes: str
    label: str
    id: str | None = None
    source: str | None = None
    target: str | None = None

    def load(self) -> Graph:
        """Read both tables; ids may be of any type, labels too, and a missing label is unknown."""
        columns = {"id": self.id, "label": self.label, "source": self.source, "target": self.target}
        name = Path(self.edges).stem
        return Graph.from_pandas(read_table(self.edges), read_table(self.nodes), **columns, name=name)  # type: ignore[arg-type]


GraphSource = DatasetSource | FileSource


def source_to_json(source: GraphSource) -> dict[str, Any]:
    """Return a source as JSON can hold it."""
    return {"kind": "dataset" if isinstance(source, DatasetSource) else "files", **asdict(source)}


def source_from_json(config: Any) -> GraphSource:
    """Rebuild a source."""
    kinds: dict[str, type[Any]] = {"dataset": DatasetSource, "files": FileSource}
    try:
        settings = dict(config)
        source: GraphSource = kinds[settings.pop("kind")](**settings)
    except (TypeError, ValueError, KeyError) as fault:
        raise CheckpointError(f"run.json does not say where its graph came from: {fault}") from None
    return source
