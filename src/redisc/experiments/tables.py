"""The paper's tables and figures as lists of cells to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from redisc.errors import ConfigError
from redisc.experiments.baselines import entries
from redisc.experiments.cell import Cell
from redisc.recipes import recipe_for, recipe_settings, tuned_as

HOMOPHILIC = ("cora", "citeseer", "pubmed", "amazon_photo", "amazon_computers")
HETEROPHILIC = ("roman_empire_glove", "roman_empire", "amazon_ratings", "minesweeper_benchmark")
WHOLE_GRAPHS = ("amazon_photo_whole", "amazon_computers_whole")
LARGE = ("arxiv_2023", "ogbn_arxiv", "ogbn_products")
ABLATED = (
    "cora", "amazon_computers", "amazon_photo", "roman_empire_glove", "roman_empire", "minesweeper_benchmark"
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of a table: a method with a backbone on a dataset; `variant` tells the arms of an ablation apart."""

    method: str
    dataset: str
    backbone: str | None = None
    variant: str | None = None
    changed: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Return what the method is built with: its recipe, and what the line changes."""
        if self.method == "redisc":
            assert self.backbone is not None
            own = recipe_settings(recipe_for(self.dataset, self.backbone))
        else:
            own = baseline_settings(self.method, self.dataset, self.backbone)
        chosen = {} if self.backbone is None else {"backbone": self.backbone}
        return {**own, **chosen, **self.changed}

    def cell(self, seed: int) -> Cell:
        """Return one run of the line."""
        return Cell(self.method, self.dataset, seed, self.settings)


def baseline_settings(method: str, dataset: str, backbone: str | None) -> dict[str, Any]:
    """Return a baseline's settings on a dataset, where they differ from its defaults."""
    wanted = (method, tuned_as(dataset), backbone)
    for entry in entries():
        if (entry["method"], entry["dataset"], entry["settings"].get("backbone")) == wanted:
            return dict(entry["settings"])
    return {}


def _homophilic() -> Iterator[Line]:
    for dataset in HOMOPHILIC:
        yield Line("lp", dataset)
        yield Line("pta", dataset)
        yield Line("lgd", dataset, "gcn")
        for backbone in ("gcn", "gat"):
            yield Line(backbone, dataset)
            for method in ("lpa", "dpm_snc", "redisc"):
                yield Line(method, dataset, backbone)


def _whole_graphs() -> Iterator[Line]:
    """Yield what tells what small components change: the paper counts the largest alone, its authors' code has all."""
    for dataset in WHOLE_GRAPHS:
        for backbone in ("gcn", "gat"):
            yield Line(backbone, dataset)
            yield Line("redisc", dataset, backbone)


def _heterophilic() -> Iterator[Line]:
    plain = ("h2gcn", "cpgnn", "gprgnn", "fsgnn", "glognn", "fagcn", "gbkgnn", "jacobiconv")
    for dataset in HETEROPHILIC:
        for method in (*plain, "gcn", "sage", "gat", "gat_sep", "gt", "gt_sep"):
            yield Line(method, dataset)
        for method in ("lgd", "dpm_snc", "redisc"):
            yield Line(method, dataset, "gat_sep")


def _large() -> Iterator[Line]:
    for dataset in LARGE:
        yield Line("lp", dataset)
        yield Line("pta", dataset)
        yield Line("c_and_s", dataset)
        yield Line("lgd", dataset, "sage")
        yield Line("sage", dataset)
        for method in ("lpa", "dpm_snc", "redisc"):
            yield Line(method, dataset, "sage")


def _ablation(kept: dict[str, Any], without: dict[str, Any]) -> Callable[[], Iterator[Line]]:
    """Both arms say what is ablated: a recipe may have it otherwise."""

    def lines() -> Iterator[Line]:
        for dataset in ABLATED:
            yield Line("redisc", dataset, _backbone(dataset), "with", kept)
            yield Line("redisc", dataset, _backbone(dataset), "without", without)

    return lines


def _steps() -> Iterator[Line]:
    for dataset in ABLATED:
        for steps in (40, 60, 80):
            for method in ("dpm_snc", "redisc"):
                yield Line(method, dataset, _backbone(dataset), f"T = {steps}", {"steps": steps})


def _backbone(dataset: str) -> str:
    return "gcn" if dataset in HOMOPHILIC else "gat_sep"


TABLES: dict[str, Callable[[], Iterator[Line]]] = {
    "homophilic": _homophilic,
    "whole-graphs": _whole_graphs,
    "heterophilic": _heterophilic,
    "large": _large,
    "priority-queue": _ablation({"priority": "validation"}, {"priority": "none"}),
    "labelled-first": _ablation(
        {"e_step_routing": "labelled-first", "routing": "labelled-first"},
        {"e_step_routing": "uniform", "routing": "uniform"},
    ),
    "time-aware": _ablation({"time_aware": True}, {"time_aware": False}),
    "steps": _steps,
}


def table_lines(name: str, datasets: list[str] | None = None, methods: list[str] | None = None) -> list[Line]:
    """Return a table's lines, of some datasets or methods alone where they are named.

    A method is named alone, "redisc", or with its backbone, "redisc-gat".
    """
    if name not in TABLES:
        raise ConfigError(f"unknown table {name!r}; choose one of {', '.join(TABLES)}")
    lines = list(TABLES[name]())
    for wanted, kind, names in ((datasets, "dataset", _datasets), (methods, "method", _methods)):
        if wanted is not None:
            lines = _named(lines, wanted, names, f"table {name} has no {kind}")
    return lines


def _datasets(line: Line) -> tuple[str, ...]:
    return (line.dataset,)


def _methods(line: Line) -> tuple[str, ...]:
    return (line.method,) if line.backbone is None else (line.method, f"{line.method}-{line.backbone}")


def _named(
    lines: list[Line], wanted: list[str], names: Callable[[Line], tuple[str, ...]], complaint: str
) -> list[Line]:
    known = dict.fromkeys(name for line in lines for name in names(line))
    strangers = set(wanted) - set(known)
    if strangers:
        raise ConfigError(f"{complaint} {', '.join(sorted(strangers))}; it has {', '.join(known)}")
    return [line for line in lines if set(names(line)) & set(wanted)]
