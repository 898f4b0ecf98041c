"""A planted graph with the counts of ogbn-products, from nothing to labels, on one machine: time and memory.

Run: python benchmarks/scale.py FOLDER [--nodes 2449029] [--part build|hops|sage|all] [--out results/scale.jsonl]

FOLDER holds the graph, which is built there, with so many nodes, if the folder is not there yet. Every part runs in a
process of its own, so that its peak memory is its own, and adds one row to the file; `docs/scale.md` tells of those
rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from redisc import Graph, ReDiSC, metrics
from redisc.clock import Clock
from redisc.experiments.peak import peak_resident
from redisc.scale import planted_on_disk

PRODUCTS = {
    "nodes": 2_449_029, "classes": 47, "mean_degree": 50.5, "homophily": 0.75, "community_size": 400, "locality": 0.6,
    "degree_exponent": 2.3, "features": 100, "feature_noise": 3.0, "train_fraction": 0.08, "val_fraction": 0.02,
}  # fmt: skip

HOPS = {
    "backbone": "hops", "hidden": 256, "layers": 2, "dropout": 0.3, "input_dropout": 0.1, "batch_size": 16_384,
    "masks": 1, "batches_per_draw": 12, "antithetic": False, "steps": 40, "queue_size": 8, "e_step_samples": 2,
    "weight_decay": 0.0, "learning_rate": 0.003, "mean_field_learning_rate": 0.003, "mean_field_weight_decay": 0.0,
    "mean_field_epochs": 40, "mean_field_patience": 6, "warm_iterations": 240, "e_step_every": 120, "iterations": 480,
    "evaluate_every": 240, "e_step_temperature": 0.3, "objective": "unweighted", "random_state": 0,
}  # fmt: skip

SAGE = {
    **HOPS, "backbone": "sage", "batch_size": 2048, "fanout": 10, "mean_field_epochs": 1, "iterations": 1,
    "warm_iterations": 1, "evaluate_every": 1,
}  # fmt: skip


class Timer:
    """Seconds of named phases, told as they end."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, start: float) -> float:
        """Take down a phase that began at `start`; returns the time now."""
        now = time.monotonic()
        self.seconds[name] = round(now - start, 1)
        print(f"{name}: {now - start:.1f} s, peak {peak_resident():,.0f} MiB", file=sys.stderr, flush=True)
        return now


def build(folder: Path, nodes: int) -> dict[str, Any]:
    """Draw the graph to disk."""
    timer, start = Timer(), time.monotonic()
    planted_on_disk(folder, dtype="float32", **{**PRODUCTS, "nodes": nodes})
    timer("build", start)
    return _row("build", Graph.open(folder), timer)


def hops(folder: Path) -> dict[str, Any]:
    """Fit the hop backbone from the warm start to labels of all nodes, and compare with the mean-field model."""
    timer, start = Timer(), time.monotonic()
    graph = Graph.open(folder)
    start = timer("open", start)
    clf = ReDiSC(**HOPS)
    _listen()
    clf.fit(graph)
    start = timer("fit", start)
    labels = clf.predict()
    start = timer("label all nodes", start)
    clf.sample(1)
    start = timer("one sample", start)
    field = clf.classes_[clf.mean_field_proba().argmax(1)]
    timer("mean-field inference", start)
    scores = {name: _scores(graph, y) for name, y in (("redisc", labels), ("mean_field", field))}
    history = {k: clf.history_[k] for k in ("mean_field_seconds", "mean_field_epochs", "iteration", "validation")}
    return {**_row("hops", graph, timer), "scores": scores, "history": history, "settings": HOPS}


def sage(folder: Path) -> dict[str, Any]:
    """Measure one M-step epoch and one E-step of GraphSAGE with fan-outs."""
    timer, start = Timer(), time.monotonic()
    graph = Graph.open(folder)
    clf = ReDiSC(**SAGE).fit(graph)
    start = timer("a mean-field epoch, its inference, one update and one look", start)
    engine, model = clf._engine, clf._model
    generator, updates = np.random.default_rng(0), 40
    t, known = torch.tensor([20]), torch.from_numpy(np.where(generator.random(graph.num_nodes) < 0.5, graph.y, -1))
    optimiser, start = torch.optim.Adam(model.denoiser.parameters(), lr=0.003), time.monotonic()
    for _ in range(updates):
        rows = torch.from_numpy(np.sort(generator.choice(graph.num_nodes, SAGE["batch_size"], replace=False)))
        optimiser.zero_grad()
        logits = engine.noisy_rows(model.denoiser, known[None], t, rows)
        torch.nn.functional.cross_entropy(logits[:, 0], torch.from_numpy(graph.y[rows.numpy()])).backward()
        optimiser.step()
    start = timer(f"{updates} updates", start)
    timer.seconds["an M-step epoch (of these updates)"] = round(
        timer.seconds[f"{updates} updates"] / updates * graph.num_nodes / SAGE["batch_size"], 1
    )
    clf.sample(1)
    timer("one sample", start)
    return {**_row("sage", graph, timer), "settings": SAGE}


def _listen() -> None:
    """Print where the fit stands now and then."""
    last = [0.0]
    report = Clock.report

    def told(self: Clock, phase: str, done: int, total: int, **figures: float) -> None:
        if time.monotonic() - last[0] > 20:
            last[0] = time.monotonic()
            shown = ", ".join(f"{k} {v:.4f}" for k, v in figures.items())
            print(f"  {self.elapsed:.0f} s: {phase} {done}/{total}, {shown}", file=sys.stderr, flush=True)
        report(self, phase, done, total, **figures)

    Clock.report = told  # type: ignore[method-assign]


def _scores(graph: Graph, labels: np.ndarray) -> dict[str, float]:
    """Score the test nodes; known training labels count as right."""
    split = graph.splits[0]
    return {
        "node": metrics.node_accuracy(graph.y, labels, split.test),
        "subgraph": metrics.subgraph_accuracy(graph, graph.y, labels, split.test, split.train),
    }


def _row(part: str, graph: Graph, timer: Timer) -> dict[str, Any]:
    return {
        "part": part,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "seconds": timer.seconds,
        "peak_mib": round(peak_resident()),
        "threads": torch.get_num_threads(),
    }


def main() -> None:
    """Run the parts, each in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=PRODUCTS["nodes"])
    parser.add_argument("--part", choices=["build", "hops", "sage", "all"], default="all")
    parser.add_argument("--out", type=Path, default=Path("results/scale.jsonl"))
    given = parser.parse_args()
    if given.part == "all":
        parts = ["hops", "sage"] if given.folder.exists() else ["build", "hops", "sage"]
        for part in parts:
            again = [sys.executable, __file__, given.folder, f"--nodes={given.nodes}", f"--part={part}"]
            subprocess.run([*map(str, again), f"--out={given.out}"], check=True)
        return
    run = {
        "build": lambda: build(given.folder, given.nodes),
        "hops": lambda: hops(given.folder),
        "sage": lambda: sage(given.folder),
    }
    row = run[given.part]()
    with given.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
