"""Makes the pictures of docs/gallery.md from real runs: `python -m redisc.experiments.gallery`.

Three built-in graphs, no network, a minute or two of one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.experiments.demo import SCENES, Scene
from redisc.graph import Graph
from redisc.optional import require
from redisc.report import (
    draw_accuracy_by_degree,
    draw_confusion,
    draw_denoising,
    draw_mistakes,
    draw_reliability,
    draw_training,
)
from redisc.source import DatasetSource

KARATE = Scene("karate", "34 members of a karate club", {}, {"iterations": 60, "warm_iterations": 20, "steps": 12})
_COLOURS = 128


def fitted(scene: Scene, **changes: Any) -> tuple[ReDiSC, Graph]:
    """Fit one scene on its first split; `changes` are settings that replace the scene's."""
    graph = DatasetSource(scene.name, parameters=scene.parameters).load()
    split = graph.splits[0]
    return ReDiSC(random_state=0, **{**scene.settings, **changes}).fit(graph, split.train, split.val), graph


def draw_karate(out: Path, **changes: Any) -> list[Path]:
    """A club of 34 members: the denoising of a graph that one can follow node by node."""
    clf, graph = fitted(KARATE, **changes)
    draw_denoising(graph, clf.trace(), out / "denoising_karate.png")
    return [out / "denoising_karate.png"]


def draw_planted(out: Path, **changes: Any) -> list[Path]:
    """Communities with weak features, where joint labels matter: the fit, the mistakes, accuracy by degree."""
    clf, graph = fitted(SCENES[0], **changes)
    test, known = graph.splits[0].test, clf.known_ != MASKED
    answers = {"ReDiSC": clf.predict(), "mean-field GNN": clf.classes_[clf.mean_field_proba().argmax(1)]}
    names = ("training", "planted", "by_degree", "reliability")
    files = [out / f"{name}.png" for name in names]
    draw_training(clf.history_, files[0])
    draw_mistakes(graph, dict(reversed(answers.items())), test, files[1])
    draw_accuracy_by_degree(graph, graph.y, answers, test, known, files[2])
    draw_reliability(graph.y, clf.predict_proba(), test, files[3])
    return files


def draw_digits(out: Path, **changes: Any) -> list[Path]:
    """Scanned digits: the denoising of a larger graph, and which digits are taken for which."""
    clf, graph = fitted(SCENES[1], **changes)
    names = graph.class_names or [str(label) for label in range(graph.num_classes)]
    files = [out / "denoising_digits.png", out / "confusion.png"]
    draw_denoising(graph, clf.trace(), files[0])
    draw_confusion(graph.y, clf.predict(), graph.splits[0].test, names, files[1])
    return files


def shrink(path: Path) -> None:
    """Store a PNG with 128 colours, a quarter of the bytes, chosen so that no colour moves far from what it was."""
    image_module = require("PIL.Image", extra="plot")
    image = image_module.open(path).convert("RGB")
    fewer = image.quantize(_COLOURS, image_module.Quantize.MAXCOVERAGE, dither=image_module.Dither.NONE)
    fewer.save(path, optimize=True)


def main() -> None:
    """Draw everything into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    for draw in (draw_karate, draw_digits, draw_planted):
        for path in draw(out):
            shrink(path)
            print(path)


if __name__ == "__main__":
    main()
