"""Run by every rank, or by one process alone: fits and samples whose results are written for comparison."""

import sys

import numpy as np

from redisc import Graph, ReDiSC
from redisc.errors import ConfigError
from redisc.world import joined

EXACT = {
    "hidden": 16, "steps": 10, "iterations": 40, "warm_iterations": 10, "e_step_every": 10, "e_step_samples": 3,
    "evaluate_every": 10, "mean_field_epochs": 30, "queue_size": 10, "dropout": 0.0, "input_dropout": 0.0,
    "dtype": "float64", "random_state": 0,
}  # fmt: skip
KINDS = {
    "whole": {"backbone": "sage", "masks": 5},
    "batches": {"backbone": "hops", "masks": 1, "batch_size": 200},
    "anchored": {
        "masks": 5,
        "anchor": 1.0,
        "mean_field_members": 2,
        "mean_field_generations": 2,
        "mean_field_reader": 0.5,
        "hub_doubt": 0.5,
    },
}


def results(folder, ranks):
    graph, found = Graph.open(folder), {}
    for name, kind in KINDS.items():
        clf = ReDiSC(**EXACT, **kind).fit(graph, max_time=600)
        for key, value in clf._model.denoiser.state_dict().items():
            found[f"{name}.{key}"] = value.numpy()
        found[f"{name}.samples"] = clf.sample(20)
        found[f"{name}.probabilities"] = clf.predict_proba(20)
        found[f"{name}.predictions"] = clf.predict()
        found[f"{name}.parts"], found[f"{name}.confidence"] = clf.predict_in_parts()
        assert np.array_equal(found[f"{name}.parts"], clf.predict())
    if ranks > 1:
        try:
            ReDiSC(**EXACT, masks=1).fit(graph)
        except ConfigError as fault:
            found["refusal"] = np.array(str(fault))
    return found


if __name__ == "__main__":
    with joined() as world:
        np.savez(f"{sys.argv[2]}/{world.rank}.npz", **results(sys.argv[1], world.size))
