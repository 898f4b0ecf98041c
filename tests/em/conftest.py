"""A small problem with everything that the steps of the EM take."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from examples import random_graph
from redisc.diffusion import MASKED, Schedule, get_schedule
from redisc.em import EMConfig, Trainer
from redisc.model import Blueprint, JointModel
from redisc.nn import Architecture, Pooling, members_of
from redisc.origin import Origin
from redisc.problem import Problem, Validation
from redisc.seeds import torch_generator

FAST_EM = {
    "iterations": 12,
    "evaluate_every": 4,
    "e_step_every": 3,
    "e_step_samples": 2,
    "queue_size": 8,
    "masks": 4,
    "mean_field_epochs": 5,
    "queue_temperature": 0.1,
    "warm_iterations": 0,
    "weight_decay": 1e-3,
}


@dataclass
class Bench:
    """A graph's engine, two untrained networks, a schedule and a problem with training and validation nodes."""

    model: JointModel
    engine: object
    problem: Problem
    schedule: Schedule

    @property
    def trained(self) -> np.ndarray:
        return np.flatnonzero(self.problem.known.numpy() != MASKED)

    def with_validation(self, labels) -> "Bench":
        validation = Validation(self.problem.validation.nodes, labels, self.problem.validation.metric)
        return replace(self, problem=replace(self.problem, validation=validation))

    def trainer(self, seed=0, **settings) -> Trainer:
        parts = (self.model.denoiser, self.model.mean_field, self.engine, self.problem, self.schedule)
        return Trainer(*parts, EMConfig(**{**FAST_EM, **settings}), seed)


def make_bench(
    nodes=30,
    classes=3,
    train=14,
    val=9,
    steps=6,
    gate="vector",
    schedule="cosine",
    metric="accuracy",
    dropout=0.0,
    members=1,
    backbones=(),
    pooling=None,
) -> Bench:
    graph = random_graph(0, nodes=nodes, classes=classes, edges=2 * nodes)
    architecture = Architecture(hidden=8, dropout=dropout, input_dropout=dropout)
    table = get_schedule(schedule, steps)
    known = np.where(np.arange(nodes) < train, graph.y, MASKED)
    committee = {"mean_field": tuple(replace(architecture, backbone=name) for name in backbones), "members": members}
    committee["pooling"] = pooling or Pooling()
    blueprint = Blueprint(architecture, gate, table, torch.float64, "cpu", **committee)
    model = JointModel.new(blueprint, Origin.of(graph, "none", np.arange(classes), known, known >= 0, 0))
    for network in (model.denoiser, *members_of(model.mean_field)):
        network.reset_parameters(torch_generator(0, "bench"))
    held_out = np.arange(train, train + val)
    validation = Validation(held_out, graph.y[held_out], metric)
    return Bench(model, model.engine(graph), Problem(torch.from_numpy(known), classes, validation), table)


@pytest.fixture
def bench():
    """The maker of benches: `bench()`, or `bench(steps=3, ...)`."""
    return make_bench
