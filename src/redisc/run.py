"""A run on disk: a fitted model, the split it was fitted on, and where its graph came from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redisc.classifier import NodeClassifier
from redisc.errors import CheckpointError, ConfigError
from redisc.graph import Graph, Split
from redisc.io.files import read_json, unwritable_part, write_atomically
from redisc.methods import load_model
from redisc.source import FileSource, GraphSource, source_from_json, source_to_json
from redisc.tables import TablePlan

_ANSWERS = ("predictions.csv", "samples.csv", "report.html")
_FILES = ("run.json", "split.json", "tables.json", "layout.json")


def tables_of(source: GraphSource) -> list[Path]:
    """Return the tables that a graph is read from, if any."""
    return [Path(source.edges), Path(source.nodes)] if isinstance(source, FileSource) else []


def is_part_of_run(file: Path) -> bool:
    """Tell whether a file is one of those that a run consists of."""
    place = file.resolve()
    own = Run(place.parent).exists() and place.name in _FILES
    return own or (place.parent.name == "model" and Run(place.parent.parent).exists())


@dataclass(frozen=True)
class Run:
    """A folder with `run.json`, `split.json` and `model/`; where the graph came from tables, `tables.json` too."""

    folder: Path

    @property
    def unfinished(self) -> Path:
        """Where the state of a fit is kept until the run can be written: beside the folder, never in it."""
        folder = self.folder if self.folder.name not in ("", "..") else self.folder.resolve()
        return folder.with_name(f"{folder.name}.partial")

    def exists(self) -> bool:
        """Tell whether the folder holds a run."""
        return (self.folder / "run.json").is_file()

    def check_free(self) -> None:
        """Refuse a folder that holds something else; an older run may be replaced."""
        if self.folder.exists() and not self.exists() and (self.folder.is_file() or any(self.folder.iterdir())):
            raise CheckpointError(f"{self.folder} exists and is not a run: choose another --out")
        above = unwritable_part(self.folder)
        if above is not None:
            raise CheckpointError(f"{above} can't be written to: choose another --out")

    def save(
        self,
        clf: NodeClassifier,
        source: GraphSource,
        split: Split,
        facts: dict[str, Any],
        plan: TablePlan | None = None,
        calibration: np.ndarray | None = None,
    ) -> None:
        """Write the model, the plan of its tables and the split, and `run.json` last: a folder without it is no run.

        What an earlier run in the folder had answered is removed.
        """
        (self.folder / "run.json").unlink(missing_ok=True)
        self._tables.unlink(missing_ok=True)
        clf.save(self.folder / "model")
        if plan is not None:
            write_atomically(self._tables, json.dumps(plan.to_json()).encode())
        masks = {name: np.flatnonzero(getattr(split, name)).tolist() for name in ("train", "val", "test")}
        masks["calibration"] = [] if calibration is None else np.flatnonzero(calibration).tolist()
        write_atomically(self.folder / "split.json", json.dumps(masks).encode())
        names = clf.graph_.class_names
        identity = {"fingerprint": clf.graph_.fingerprint(), "class_names": None if names is None else list(names)}
        content = {"source": source_to_json(source), **identity, **facts}
        self._remove_answers(tables_of(source))
        write_atomically(self.folder / "run.json", json.dumps(content, indent=2).encode())

    def _remove_answers(self, needed: list[Path]) -> None:
        """Remove the answers of the run that was here, but no table that is `needed`."""
        spared = {table.resolve() for table in needed}
        for file in (self.folder / name for name in _ANSWERS):
            if file.is_file() and file.resolve() not in spared:
                file.unlink()

    def facts(self) -> dict[str, Any]:
        """Return what `run.json` holds."""
        if not self.exists():
            raise CheckpointError(f"{self.folder} is not a run: it has no run.json (make one with `redisc fit`)")
        return read_json(self.folder / "run.json")

    def source(self) -> GraphSource:
        """Return where the graph came from."""
        return source_from_json(self.facts().get("source"))

    def graph(self) -> Graph:
        """Load the graph again and make sure that it is the one that was fitted."""
        facts, source = self.facts(), self.source()
        graph = source.load_by(self.plan()) if isinstance(source, FileSource) else source.load()
        if graph.fingerprint() != facts.get("fingerprint"):
            raise CheckpointError(
                f"the graph of {self.folder} has changed since the fit: fit again, or restore its files"
            )
        names = None if graph.class_names is None else list(graph.class_names)
        if names != facts.get("class_names"):
            raise CheckpointError(f"the classes of {self.folder} have changed since the fit: fit again")
        return graph

    def plan(self) -> TablePlan:
        """Return how tables become a graph that the model can be asked about."""
        source = self.source()
        if not isinstance(source, FileSource):
            raise ConfigError(
                f"{self.folder} was fitted to {source.name}, not to tables: "
                "--edges and --nodes need a run that was fitted with them"
            )
        return TablePlan.from_json(read_json(self._tables))

    def graph_of(self, edges: str | Path, nodes: str | Path) -> Graph:
        """Read new tables as those of the fit were read; the labels that they give are in `y`."""
        plan = self.plan()
        return FileSource(str(edges), str(nodes), plan.columns.label).load_by(plan)

    def split(self, graph: Graph) -> Split:
        """Return the masks of the fit."""
        return Split(*(self._mask(name, graph) for name in ("train", "val", "test")))

    def calibration(self, graph: Graph) -> np.ndarray:
        """Return the labelled nodes `(N,)` that were kept from the fit to calibrate sets."""
        return self._mask("calibration", graph)

    def _mask(self, name: str, graph: Graph) -> np.ndarray:
        mask = np.zeros(graph.num_nodes, dtype=bool)
        mask[read_json(self.folder / "split.json").get(name, [])] = True
        return mask

    def model(self) -> NodeClassifier:
        """Load the fitted model."""
        self.facts()
        return load_model(self.folder / "model")

    @property
    def _tables(self) -> Path:
        return self.folder / "tables.json"
