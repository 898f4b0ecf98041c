"""What `redisc bench` measures: one update and one sample, by the baseline and by the engine, in one run."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from redisc import datasets
from redisc.diffusion import MASKED, LabelledFirst, ReverseProcess, Schedule, mask_labels
from redisc.em import EMConfig
from redisc.em.m_step import MStep
from redisc.em.replay import PriorityQueue
from redisc.engine import CompiledEngine, FeatureScaling, Topology, memory_kept
from redisc.experiments.peak import peak_resident
from redisc.experiments.plain_pyg import PlainDenoiser, edge_lists, plain_sample, plain_update
from redisc.graph import Graph
from redisc.kernels.counter_random import Stream, uniform
from redisc.nn import Architecture, Denoiser
from redisc.problem import Problem, Validation
from redisc.source import GraphSource, source_from_json, source_to_json

SHAPES = {"gat_sep": {"layers": 3, "masks": 8, "head": 1}, "gat": {"layers": 2, "masks": 16, "head": 1}}
"""The authors' shapes: GAT-sep has three layers and eight masks; attention is followed by a linear head."""


@dataclass
class Bench:
    """One graph and one network of the paper's shape, for both sides."""

    graph: Graph
    backbone: str
    steps: int = 80
    hidden: int = 64
    heads: int = 8

    def __post_init__(self) -> None:
        shape = SHAPES.get(self.backbone, {"layers": 2, "masks": 16, "head": 0})
        self.layers, self.masks, self.head = shape["layers"], shape["masks"], shape["head"]
        self.schedule = Schedule.cosine(self.steps)
        labels = np.where(self.graph.y == MASKED, 0, self.graph.y)
        self.clean = torch.from_numpy(labels.copy())
        train = self.graph.splits[0].train if self.graph.splits else np.arange(self.graph.num_nodes) % 10 == 0
        self.known = torch.where(torch.from_numpy(train.copy()), self.clean, MASKED)
        self.classes = int(labels.max()) + 1

    def engine_side(self) -> tuple[MStep, PriorityQueue, Callable[[int], None], CompiledEngine]:
        """Return the engine's update, its queue, and a function that draws so many samples at once."""
        architecture = Architecture(self.backbone, self.hidden, self.layers, self.heads, head_layers=self.head)
        denoiser = Denoiser(architecture, self.graph.num_features, self.classes, self.steps)
        denoiser.reset_parameters(torch.Generator().manual_seed(0))
        engine = CompiledEngine(Topology(self.graph), FeatureScaling().apply(self.graph.x))
        nodes = np.flatnonzero(self.known.numpy() == MASKED)[:1]
        problem = Problem(self.known, self.classes, Validation(nodes, self.clean.numpy()[nodes]))
        update = MStep(denoiser, problem, engine, self.schedule, EMConfig(masks=self.masks), 0)
        queue = PriorityQueue(1, 0.1, self.classes)
        queue.push(self.clean, None)

        def sample(chains: int) -> None:
            process = ReverseProcess(engine.denoise(denoiser), self.schedule, LabelledFirst(), self.known, 0)
            process.run(chains)

        return update, queue, sample, engine

    def baseline_side(self) -> tuple[Callable[[], None], Callable[[], None]]:
        """Return the baseline's update and sample."""
        torch_edges = torch.from_numpy(self.graph.edge_index())
        edges = edge_lists(torch_edges, self.graph.num_nodes)
        x = torch.from_numpy(
            (self.graph.x.toarray() if sp.issparse(self.graph.x) else np.asarray(self.graph.x)).astype(np.float32)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            widths = [x.shape[1], *[self.hidden] * (self.layers - 1), self.hidden if self.head else self.classes]
            model = PlainDenoiser(self.backbone, widths, self.classes, self.heads if self.head else 1)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
        t = torch.arange(1, self.masks + 1) * self.steps // (self.masks + 1)
        draws = uniform(0, Stream.MASK, torch.arange(self.masks)[:, None], 0, torch.arange(len(self.clean)))
        states = mask_labels(self.clean, self.schedule.alpha[t][:, None], draws)
        generator, rates = torch.Generator().manual_seed(0), self.schedule.reveal_rates()

        def update() -> None:
            with torch.random.fork_rng(devices=[]):
                plain_update(model, optimiser, x, states, t, self.clean, self.steps, edges)

        return update, lambda: void(plain_sample(model, x, rates, self.known, edges, generator))


def void(_: Any) -> None:
    """Drop a result."""


def seconds(work: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(sides: dict[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, float]]:
    """Time every side in turn, `repeats` times after a warm-up; return minimum and median of each."""
    for work in sides.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, work in sides.items():
            times[name].append(seconds(work))
    return {name: {"min": min(all_), "median": statistics.median(all_)} for name, all_ in times.items()}


def run_bench(source: GraphSource, backbone: str, repeats: int = 5, chains: int = 16) -> dict[str, Any]:
    """Measure one update and one sample by both sides; ratios are of minima."""
    with memory_kept():
        return _run_bench(source, backbone, repeats, chains)


def _run_bench(source: GraphSource, backbone: str, repeats: int, chains: int) -> dict[str, Any]:
    bench = Bench(source.load(), backbone)
    update, queue, sample, engine = bench.engine_side()
    plain_update_, plain_sample_ = bench.baseline_side()
    m_step = alternate({"reference": plain_update_, "engine": lambda: update(queue)}, repeats)
    sampled = alternate({"reference": plain_sample_, "engine": lambda: sample(1)}, repeats)
    engine.work.messages = engine.work.receptive_steps = engine.work.full_steps = 0
    many = min(seconds(lambda: sample(chains)) for _ in range(max(2, repeats // 2)))
    return {
        "dataset": source.name,
        "backbone": backbone,
        "shape": {"layers": bench.layers, "hidden": bench.hidden, "masks": bench.masks, "steps": bench.steps},
        "threads": torch.get_num_threads(),
        "m_step": _ratio(m_step),
        "sample": _ratio(sampled) | {"chains": chains, "per_chain_s": many / chains},
        "path": vars(engine.work).copy(),
        "parts": parts(bench, update, queue),
    }


def _ratio(times: dict[str, dict[str, float]]) -> dict[str, float]:
    reference, engine = times["reference"], times["engine"]
    return {
        "reference_s": reference["min"],
        "engine_s": engine["min"],
        "ratio": reference["min"] / engine["min"],
        "reference_median_s": reference["median"],
        "engine_median_s": engine["median"],
    }


def parts(bench: Bench, update: MStep, queue: PriorityQueue) -> dict[str, float]:
    """Where an update's time goes: minimum seconds of its forward pass, backward pass and the rest."""
    best = {"forward": np.inf, "backward": np.inf, "whole": np.inf}
    for _ in range(5):
        start = time.perf_counter()
        loss = update.loss(update.new_state(queue))
        middle = time.perf_counter()
        loss.backward()
        best["backward"] = min(best["backward"], time.perf_counter() - middle)
        best["forward"] = min(best["forward"], middle - start)
        best["whole"] = min(best["whole"], seconds(lambda: update(queue)))
    rest = max(best["whole"] - best["forward"] - best["backward"], 0.0)
    return {"forward_s": best["forward"], "backward_s": best["backward"], "queue_mask_adam_s": rest}


def growth(repeats: int = 3) -> list[dict[str, Any]]:
    """Measure how a GCN's update and sample grow with nodes, degree and steps on `planted` graphs."""
    base = {"nodes": 4000, "mean_degree": 8, "steps": 80}
    rows = []
    for name, values in {
        "nodes": (1000, 4000, 16_000),
        "mean_degree": (4, 8, 16, 32),
        "steps": (20, 40, 80, 160),
    }.items():
        for value in values:
            setting = base | {name: value}
            graph = datasets.load("planted", nodes=setting["nodes"], mean_degree=setting["mean_degree"])
            update, queue, sample, engine = Bench(graph, "gcn", setting["steps"]).engine_side()
            times = alternate({"m_step": partial(update, queue), "sample": partial(sample, 1)}, repeats)
            messages = engine.work.messages // (repeats + 1)
            rows.append(
                {"varied": name, **setting, **{f"{k}_s": v["min"] for k, v in times.items()}, "messages": messages}
            )
    return rows


def peak_memory(source: GraphSource, backbone: str) -> dict[str, float]:
    """Peak resident memory in MiB of an update and a sample, each side in a process of its own."""
    sides = ("none", "reference", "engine")
    peaks = {side: peak_of("redisc.experiments.bench", side, source, backbone) for side in sides}
    return {"reference_mib": peaks["reference"] - peaks["none"], "engine_mib": peaks["engine"] - peaks["none"]}


def peak_of(module: str, side: str, source: GraphSource, backbone: str) -> float:
    """Run `python -m MODULE SIDE SOURCE BACKBONE`, which prints its peak memory in MiB; the source goes as JSON."""
    command = [sys.executable, "-m", module, side, json.dumps(source_to_json(source)), backbone]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _one_side(side: str, source: str, backbone: str) -> float:
    """Do one side's work once and return this process's peak memory in MiB."""
    bench = Bench(source_from_json(json.loads(source)).load(), backbone)
    if side == "reference":
        for work in bench.baseline_side():
            work()
    elif side == "engine":
        update, queue, sample, _ = bench.engine_side()
        update(queue)
        sample(1)
    return peak_resident()


if __name__ == "__main__":
    print(_one_side(*sys.argv[1:4]))
