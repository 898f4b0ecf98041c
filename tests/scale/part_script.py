"""Run by every rank: logits and samples of random networks on a graph cut into parts, compared with the whole."""

import json
import sys

import numpy as np
import torch

from examples import random_graph
from nn.networks import STEPS, denoiser, engine, mean_field, noisy_labels, steps_of
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.engine.hop_features import hop_features
from redisc.scale.part import Part
from redisc.scale.part_engine import PartEngine
from redisc.world import joined

KINDS = [
    {"backbone": "gcn", "layers": 3, "self_loop": 2.0},
    {"backbone": "sage", "layers": 2, "residual": True},
    {"backbone": "gat", "layers": 2},
    {"backbone": "gat_sep", "layers": 2, "normalisation": "layer", "initial_residual": 0.3},
    {"backbone": "hops", "layers": 2},
]


def compare(world, weighted):
    graph = random_graph(3, nodes=12, edges=25, weighted=weighted)
    whole, worst, sent, same = engine(graph), 0.0, 0, True
    for number, kind in enumerate(KINDS):
        hops = kind["layers"] if kind["backbone"] == "hops" else 0
        part = Part.of(graph, world, torch.float64)
        mine = slice(part.start, part.stop)
        cut = PartEngine(part, whole.features[mine], hops)
        full = engine(graph, torch.from_numpy(hop_features(whole.topology, whole.features, hops)).unsqueeze(1))
        model, field = denoiser(**kind, seed=number), mean_field(**kind, seed=number)
        labels, t = noisy_labels(number, 2), steps_of(number, 2)
        with torch.no_grad():
            pairs = [
                (cut.crowding, full.crowding[mine]),
                (cut.mean_field(field), full.mean_field(field)[mine]),
                (cut.noisy_logits(model, labels, t), full.noisy_logits(model, labels, t)[mine]),
            ]
        worst = max([worst, *(float((a - b).abs().max()) if len(a) else 0.0 for a, b in pairs)])
        known = torch.full((12,), MASKED)
        known[:3] = torch.arange(3)
        samples = [
            ReverseProcess(way.denoise(model), Schedule.cosine(STEPS), get_routing("labelled-first"), known, 1).run(2)
            for way in (cut, full)
        ]
        same = same and torch.equal(*samples)
        sent += part.traffic.sent
    return {"worst": worst, "same": same, "sent": sent, "nodes": part.stop - part.start}


if __name__ == "__main__":
    with joined() as world:
        found = [compare(world, weighted) for weighted in (False, True)]
        np.savez(f"{sys.argv[1]}/{world.rank}.npz", found=json.dumps(found))
