"""Two processes against one on the same machine: chains shared out, and a graph cut into parts.

Run alone and under torchrun, with one thread a process, and compare:

    OMP_NUM_THREADS=1 python benchmarks/ranks.py
    OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 benchmarks/ranks.py
"""

from __future__ import annotations

import json
import time

import numpy as np
import torch

from redisc import ReDiSC, datasets
from redisc.engine.mini_batch import layer_by_layer
from redisc.scale.part import Part
from redisc.scale.part_engine import PartEngine
from redisc.world import joined, world

SETTINGS = {"hidden": 64, "steps": 40, "iterations": 1, "mean_field_epochs": 5, "queue_size": 2, "random_state": 0}


def fitted() -> ReDiSC:
    """Fit a small model; every process does so alone, and has the same one."""
    return ReDiSC(backbone="sage", **SETTINGS).fit(
        datasets.load("planted", nodes=50_000, mean_degree=16.0, features=64)
    )


def main(clf: ReDiSC) -> None:
    """Print seconds of 32 chains and of a partitioned pass, how far the pass is from the whole one, and bytes sent."""
    graph = clf.graph_
    world().wait()
    start = time.monotonic()
    samples = clf.sample(32)
    chains = time.monotonic() - start
    part = Part.of(graph, world())
    model, engine = clf._model, clf._engine
    cut = PartEngine(part, engine.features[part.start : part.stop])
    cut.mean_field(model.mean_field)
    part.traffic.sent = 0
    world().wait()
    start = time.monotonic()
    found = cut.mean_field(model.mean_field)
    passed = time.monotonic() - start
    whole = layer_by_layer(model.mean_field.stack, engine.topology, engine.features)[part.start : part.stop]
    start = time.monotonic()
    labels, _ = clf.predict_in_parts()
    labelled = time.monotonic() - start
    row = {
        "ranks": world().size,
        "seconds of 32 chains": round(chains, 2),
        "checksum of the chains": int(np.int64(samples).sum()),
        "seconds of a pass in parts": round(passed, 3),
        "furthest logit": float((found - whole).abs().max()),
        "bytes sent in a pass": part.traffic.sent,
        "halo rows": len(part.halo),
        "seconds to label in parts": round(labelled, 2),
        "same labels as in one piece": bool(np.array_equal(labels, clf.predict())),
    }
    if world().leads:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    alone = fitted()
    with joined():
        main(alone)
