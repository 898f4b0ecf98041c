"""Large enough for the kernels' parallel versions: the same values as on one thread, and the reference's."""

import numpy as np
import pytest
import torch

from nn.networks import denoiser, engine, noisy_labels, steps_of
from redisc import datasets
from redisc.diffusion import MASKED, ReverseProcess, Schedule, Uniform
from redisc.engine import CompiledEngine, two_layers
from redisc.kernels.dropout import Dropout
from redisc.kernels.reveal_plan import plan_reveals

GRAPH = datasets.load("csbm", nodes=1500, classes=3, features=5, mean_degree=6, seed=1)


@pytest.fixture
def on_threads():
    """Call a function with a number of threads, and put the old number back."""
    before = torch.get_num_threads()

    def call(threads, function):
        torch.set_num_threads(threads)
        return function()

    yield call
    torch.set_num_threads(before)


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gat_sep"])
def test_logits_and_gradients_are_the_references_on_two_threads(backbone, on_threads):
    reference = engine(GRAPH)
    compiled = CompiledEngine(reference.topology, reference.features)
    labels, t = noisy_labels(0, 24, nodes=1500), steps_of(0, 24)

    def gradients(on):
        model = denoiser(backbone, layers=2, hidden=16, dropout=0.3)
        logits = on.noisy_logits(model, labels, t, Dropout(np.random.default_rng(0)))
        logits.square().sum().backward()
        return [logits.detach(), *[p.grad for p in model.parameters()]]

    expected = on_threads(1, lambda: gradients(reference))
    for threads in (1, 2):
        found = on_threads(threads, lambda: gradients(compiled))
        for value, wanted in zip(found, expected, strict=True):
            torch.testing.assert_close(value, wanted, rtol=1e-9, atol=1e-8)


def test_plans_do_not_depend_on_the_number_of_threads(on_threads):
    schedule, labelled = Schedule.cosine(80), torch.arange(1500) % 9 == 0
    chains = torch.arange(12)

    def plan():
        return plan_reveals(3, chains, schedule.reveal_rates(), labelled, labelled_first=True)

    one = on_threads(1, plan)
    for _ in range(3):
        assert torch.equal(on_threads(2, plan), one)


@pytest.mark.parametrize("backbone", ["gat_sep", "sage"])
def test_samples_do_not_depend_on_the_number_of_threads(backbone, on_threads, monkeypatch):
    monkeypatch.setattr(two_layers, "_SPLIT_ABOVE", 1)
    reference = engine(GRAPH)
    compiled = CompiledEngine(reference.topology, reference.features)
    model, known = denoiser(backbone), torch.from_numpy(np.where(GRAPH.splits[0].train, GRAPH.y, MASKED))

    def sample():
        return ReverseProcess(compiled.denoise(model), Schedule.cosine(10), Uniform(), known, 0).run(6)

    assert torch.equal(on_threads(2, sample), on_threads(1, sample))
