"""Views that agree cost nothing, and the warm start can be asked to make them agree."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc import ReDiSC, datasets
from redisc.em.consistency import disagreement, sharpened
from redisc.em.warm_start import loss_of_views
from redisc.errors import ConfigError


def logits(seed: int, views: int, nodes: int, classes: int) -> torch.Tensor:
    return torch.randn(views, nodes, classes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


SHAPES = (st.integers(0, 99), st.integers(1, 4), st.integers(1, 5), st.integers(2, 4))


@given(*SHAPES)
def test_the_disagreement_is_the_formula(seed, views, nodes, classes):
    drawn = logits(seed, views, nodes, classes)
    p = drawn.softmax(2).numpy()
    squared = p.mean(0) ** 2
    target = squared / squared.sum(1, keepdims=True)
    expected = np.mean([((view - target) ** 2).sum(1).mean() for view in p])
    assert disagreement(drawn).item() == pytest.approx(expected)


@given(*SHAPES)
def test_sharpening_keeps_the_order_and_raises_the_top(seed, views, nodes, classes):
    p = logits(seed, views, nodes, classes).softmax(2)[0]
    sharp = sharpened(p)
    assert torch.allclose(sharp.sum(1), torch.ones(nodes, dtype=torch.float64))
    assert torch.equal(sharp.argsort(1), p.argsort(1))
    assert (sharp.amax(1) >= p.amax(1) - 1e-12).all()


def test_views_that_are_certain_and_alike_cost_nothing():
    certain = torch.tensor([[[50.0, 0.0], [0.0, 50.0]]]).repeat(3, 1, 1)
    assert disagreement(certain).item() < 1e-12


def test_no_gradient_flows_through_the_target():
    drawn = logits(0, 2, 3, 3).requires_grad_()
    disagreement(drawn).backward()
    p = drawn.detach().requires_grad_()
    fixed = sharpened(p.detach().softmax(2).mean(0))
    (p.softmax(2) - fixed).square().sum(2).mean().backward()
    assert torch.allclose(drawn.grad, p.grad)


@given(*SHAPES, st.sampled_from([0.0, 1.0, 2.5]), st.booleans())
def test_the_loss_fits_labels_in_every_view_and_adds_what_all_nodes_follow(seed, views, nodes, classes, weight, pupil):
    drawn, rng = logits(seed, views, nodes, classes), np.random.default_rng(seed)
    known, class_weight = (
        torch.from_numpy(rng.integers(classes, size=nodes)),
        torch.from_numpy(rng.random(classes) + 0.1),
    )
    rows = torch.arange((nodes + 1) // 2)
    problem = SimpleNamespace(known=known, class_weight=class_weight)
    w = class_weight[known[rows]]
    fits = [(w * -view.log_softmax(1)[rows, known[rows]]).sum() / w.sum() for view in drawn]
    taught = logits(seed + 1, 1, nodes, classes)[0].softmax(1) if pupil else None
    expected = sum(fits) / views + weight * disagreement(drawn)
    if pupil:
        expected += sum(-(taught * view.log_softmax(1)).sum() / nodes for view in drawn) / views
    assert loss_of_views(drawn, rows, problem, weight, taught).item() == pytest.approx(expected.item())


SETTINGS = {"hidden": 8, "iterations": 1, "queue_size": 2, "steps": 4, "mean_field_epochs": 60, "random_state": 0}


def mean_field(**changed):
    graph = datasets.load("karate")
    split = graph.splits[0]
    return ReDiSC(**SETTINGS, **changed).fit(graph, split.train, split.val).mean_field_proba()


def test_the_warm_start_can_be_asked_for_it():
    agreed = mean_field(mean_field_consistency=2.0, mean_field_views=3)
    assert np.array_equal(agreed, mean_field(mean_field_consistency=2.0, mean_field_views=3))
    assert not np.array_equal(agreed, mean_field(mean_field_consistency=2.0, mean_field_views=2))
    assert not np.array_equal(agreed, mean_field())


def test_mini_batches_are_refused():
    with pytest.raises(ConfigError, match="mean_field_consistency needs the whole graph"):
        mean_field(mean_field_consistency=1.0, batch_size=4)
