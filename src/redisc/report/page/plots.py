"""The plots of the report, with the words that stand for them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from redisc.report.by_degree import draw_accuracy_by_degree
from redisc.report.confusion import draw_confusion
from redisc.report.denoising import draw_denoising
from redisc.report.page.content import Content
from redisc.report.reliability import draw_reliability
from redisc.report.training import draw_training

_MANY_CLASSES = 15
"""The table of more classes takes the whole width."""


@dataclass(frozen=True)
class Plot:
    """A picture file's kind and bytes, its title, and what it shows in words."""

    title: str
    words: str
    kind: str  # "svg+xml" or "png"
    picture: bytes
    wide: bool = False


def draw_plots(content: Content, places: np.ndarray | None) -> list[Plot]:
    """Draw what the run has figures for; `places (N, 2)` are needed to draw the trace."""
    return [*_of_the_fit(content), *_of_the_answers(content), *_of_the_chain(content, places)]


def _of_the_fit(content: Content) -> Iterator[Plot]:
    history = content.clf.history_
    if history.get("iteration") and "loss" in history:
        words = "Loss and validation score while the denoiser was trained; the dashed line is the mean-field GNN."
        if history.get("nothing_held_out"):
            words = "Loss and score of the training nodes, none of which was held out, while the denoiser was trained."
        yield _drawn("Training", words, lambda path: draw_training(history, path, content.clf.metric))


def _of_the_answers(content: Content) -> Iterator[Plot]:
    exam, scored = content.exam, f"{content.kind} nodes"
    answer = content.answers[content.clf.name]
    yield _drawn(
        "Reliability",
        f"How often {scored} are right, by confidence: bars on the diagonal mean honest probabilities.",
        lambda path: draw_reliability(exam.truth, answer.probabilities, exam.mask, path),
    )
    yield _drawn(
        "Accuracy by degree",
        f"Node and subgraph accuracy of {scored} by their number of neighbours; bins of fewer than ten are pale.",
        lambda path: draw_accuracy_by_degree(
            content.graph, exam.truth, _named_labels(content), exam.mask, content.known, path
        ),
        wide=True,
    )
    yield _drawn(
        "Confusion",
        f"Which label {scored} of each true class got.",
        lambda path: draw_confusion(exam.truth, answer.labels, exam.mask, content.class_names, path),
        wide=len(content.class_names) > _MANY_CLASSES,
    )


def _of_the_chain(content: Content, places: np.ndarray | None) -> Iterator[Plot]:
    trace = content.trace
    if trace is not None and places is not None:
        words = "Six moments of the chain that the player shows; pale nodes are masked, ringed ones known."
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plot.png"  # thousands of marks are smaller as pixels
            draw_denoising(content.graph, trace, path, places)
            yield Plot("Denoising", words, "png", path.read_bytes(), wide=True)


def _named_labels(content: Content) -> dict[str, np.ndarray]:
    titles = {"mean_field": "mean-field GNN", content.clf.name: content.clf.title}
    return {titles[name]: answer.labels for name, answer in content.answers.items()}


def _drawn(title: str, words: str, draw: Callable[[Path], None], wide: bool = False) -> Plot:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plot.svg"
        draw(path)
        return Plot(title, words, "svg+xml", path.read_bytes(), wide)
