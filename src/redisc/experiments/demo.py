"""What `redisc demo` does: the main job, from graph to labels, on two built-in graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redisc.errors import MissingDependencyError
from redisc.estimator import ReDiSC
from redisc.evaluation import evaluate_run
from redisc.graph import Graph
from redisc.report.mistakes import draw_mistakes
from redisc.run import Run
from redisc.source import DatasetSource


@dataclass(frozen=True)
class Scene:
    """One graph of the demo and the settings that suit it."""

    name: str
    about: str
    parameters: dict[str, Any]
    settings: dict[str, Any]


SCENES = (
    Scene(
        "planted",
        "communities of 1,500 nodes with weak features; one label in ten is known",
        {"nodes": 1500},
        {"iterations": 600, "warm_iterations": 100, "masks": 4, "weight_decay": 1e-3},
    ),
    Scene(
        "digits",
        "1,797 scanned digits joined to their nearest neighbours; one label in nine is known",
        {},
        {"iterations": 300, "warm_iterations": 100, "masks": 4, "weight_decay": 5e-4, "input_dropout": 0.2},
    ),
)


def play(scene: Scene, out: Path, seed: int, verbose: bool) -> dict[str, Any]:
    """Fit, evaluate on the test nodes and save one scene; returns its figures and files."""
    source = DatasetSource(scene.name, seed=seed, parameters=scene.parameters)
    run, graph = Run(out / scene.name), source.load()
    run.check_free()
    split = graph.splits[0]
    clf = ReDiSC(random_state=seed, verbose=verbose, **scene.settings).fit(graph, split.train, split.val)
    scores = evaluate_run(clf, graph, split.test)
    run.save(clf, source, split, {"verdict": clf.verdict(), "evaluation": scores})
    picture = _picture(clf, graph, run.folder / "mistakes.png")
    return {"dataset": scene.name, "about": scene.about, "run": str(run.folder), "picture": picture, **scores}


def _picture(clf: ReDiSC, graph: Graph, path: Path) -> str | None:
    """Draw the mistakes of both models where the packages for it are installed."""
    answers = {"mean-field GNN": clf.classes_[clf.mean_field_proba().argmax(1)], "ReDiSC": clf.predict()}
    try:
        draw_mistakes(graph, answers, graph.splits[0].test, path)
    except MissingDependencyError:
        return None
    return str(path)
