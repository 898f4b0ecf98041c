"""One E-step of ReDiSC beside one of a diffusion baseline on the same backbone: time and memory.

`python -m redisc.experiments.e_step_bench SIDE SOURCE BACKBONE`, the source of the graph as JSON, does one side's work
once and prints the process's peak memory in MiB.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch

from redisc.baselines.diffusion.label_em import LabelEM
from redisc.engine import memory_kept
from redisc.errors import ConfigError
from redisc.experiments.bench import Bench, alternate, peak_of
from redisc.experiments.peak import peak_resident
from redisc.methods import method_named
from redisc.nn.affine import reset_all
from redisc.source import GraphSource, source_from_json

SAMPLES = 3
"""Samples of an E-step, as in the authors' code."""


def compare_e_steps(method: str, source: GraphSource, backbone: str, repeats: int = 3) -> dict[str, Any]:
    """Time both E-steps in turn and measure each one's memory in a process of its own."""
    kind = method_named(method)
    if not issubclass(kind, LabelEM):
        raise ConfigError(f"--method {method}: it has no E-step to compare; choose dpm_snc or uniform_diffusion")
    bench = Bench(source.load(), backbone)
    with memory_kept():
        times = alternate({name: _side(bench, name) for name in ("redisc", kind.name)}, repeats)
    processes = ("none", "redisc", kind.name)
    memory = {side: peak_of("redisc.experiments.e_step_bench", side, source, backbone) for side in processes}
    sides = {
        side: {"seconds": times[side]["min"], "median_s": times[side]["median"], "mib": memory[side] - memory["none"]}
        for side in times
    }
    ratio = times[kind.name]["min"] / times["redisc"]["min"]
    shape = {"layers": bench.layers, "hidden": bench.hidden, "steps": bench.steps, "samples": SAMPLES}
    return {"dataset": source.name, "backbone": backbone, "shape": shape, "e_step": sides, "ratio": ratio}


def _side(bench: Bench, name: str) -> Callable[[], Any]:
    """Return a function that takes one E-step."""
    _, _, sample, engine = bench.engine_side()
    if name == "redisc":
        return lambda: sample(SAMPLES)
    shape = {"hidden": bench.hidden, "layers": bench.layers, "heads": bench.heads, "steps": bench.steps}
    clf: Any = method_named(name)(backbone=bench.backbone, **shape)
    network = clf.network(bench.graph.num_features, bench.classes)
    reset_all(network, torch.Generator().manual_seed(0))
    return lambda: clf.sampler(network, engine, bench.known, 0).run(SAMPLES)


def _once(side: str, source: str, backbone: str) -> float:
    bench = Bench(source_from_json(json.loads(source)).load(), backbone)
    if side != "none":
        _side(bench, side)()
    return peak_resident()


if __name__ == "__main__":
    print(_once(*sys.argv[1:4]))
