"""Denoisers that start from the mean-field GNN's answer: the anchor is added on every way of asking."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from nn.networks import denoiser, engine, mean_field, noisy_labels, normal, steps_of
from redisc.diffusion import MASKED, ReverseProcess, get_routing, get_schedule
from redisc.engine import Anchor, AnchoredEngine, engine_for
from redisc.engine.mini_batch import MiniBatchEngine

SEEDS = st.integers(0, 10_000)
BACKBONES = st.sampled_from(["gcn", "gat", "sage", "gat_sep"])


def calm_of(graph):
    """Weights of denoisers' own logits `(N, 1)`, one for every node."""
    return torch.from_numpy(1 / (1 + graph.degree))[:, None]


def both(seed, share=2.0, calmed=False):
    """An engine, the same with an anchor, and the anchor: a log p `(N, C)` and the denoiser's weight `(N, 1)`."""
    graph = random_graph(seed)
    plain, p, own = engine(graph), normal(seed, 12, 3).softmax(1), calm_of(graph)
    anchored = AnchoredEngine(plain, Anchor.of(p, share, own if calmed else None))
    return plain, anchored, (share * p.log(), own if calmed else torch.ones_like(own))


@given(SEEDS, BACKBONES, st.booleans())
def test_logits_of_every_kind_are_the_denoisers_own_calmed_and_the_anchor(seed, backbone, calmed):
    plain, anchored, (anchor, own) = both(seed, calmed=calmed)
    model, labels, t = denoiser(backbone, seed=seed), noisy_labels(seed, 4), steps_of(seed, 4)
    rows, chain, node = torch.tensor([7, 0, 3]), torch.tensor([0, 1, 3]), torch.tensor([5, 5, 2])
    with torch.no_grad():
        whole = plain.noisy_logits(model, labels, t) * own[:, None] + anchor[:, None]
        torch.testing.assert_close(anchored.noisy_logits(model, labels, t), whole, rtol=0, atol=1e-12)
        asked = anchored.noisy_rows(model, labels, t, rows)
        torch.testing.assert_close(asked, whole[rows], rtol=0, atol=1e-12)
        answer = anchored.denoise(model)(labels, 4, chain, node)
        expected = plain.denoise(model)(labels, 4, chain, node) * own[node] + anchor[node]
    torch.testing.assert_close(answer, expected, rtol=0, atol=1e-12)


@given(SEEDS, st.sampled_from(["hops", "mini-batches"]))
def test_engines_for_large_graphs_are_anchored_too(seed, kind):
    graph = random_graph(seed)
    whole, model = engine(graph), denoiser("hops" if kind == "hops" else "sage", seed=seed)
    if kind == "hops":
        plain = engine_for(whole.topology, whole.features, model.stack.architecture, 3)
    else:
        plain = MiniBatchEngine(whole.topology, whole.features)
    p, own = normal(seed, 12, 3).softmax(1), calm_of(graph)
    anchor = p.log()
    anchored, asked = AnchoredEngine(plain, Anchor.of(p, 1.0, own)), (noisy_labels(seed, 4), steps_of(seed, 4))
    rows, chain, node = torch.tensor([7, 0, 3]), torch.tensor([0, 1, 3]), torch.tensor([5, 5, 2])
    with torch.no_grad():
        expected = plain.noisy_rows(model, *asked, rows) * own[rows, None] + anchor[rows, None]
        assert torch.equal(anchored.noisy_rows(model, *asked, rows), expected)
        answers = [on.denoise(model)(asked[0], 4, chain, node) for on in (anchored, plain)]
    assert torch.equal(answers[0], answers[1] * own[node] + anchor[node])


@given(SEEDS)
def test_the_mean_field_answer_is_left_alone(seed):
    plain, anchored, _ = both(seed)
    field = mean_field(seed=seed)
    assert torch.equal(anchored.opinion(field), plain.opinion(field))
    rows = torch.tensor([4, 1])
    assert torch.equal(anchored.mean_field_rows(field, rows), plain.mean_field_rows(field, rows))


@given(SEEDS, st.floats(0.5, 10))
def test_a_denoiser_that_says_nothing_answers_as_the_tempered_mean_field_gnn(seed, share):
    plain = engine(random_graph(seed))
    probabilities = plain.opinion(mean_field(seed=seed))
    silent = denoiser(seed=seed)
    with torch.no_grad():
        for parameter in silent.parameters():
            parameter.zero_()
        anchored = AnchoredEngine(plain, Anchor.of(probabilities, share))
        said = anchored.noisy_logits(silent, noisy_labels(seed, 2), steps_of(seed, 2))[:, 0].softmax(1)
    tempered = probabilities**share
    torch.testing.assert_close(said, tempered / tempered.sum(1, keepdim=True), rtol=0, atol=1e-5)
    known = torch.full((12,), MASKED)
    chain = ReverseProcess(anchored.denoise(silent), get_schedule("cosine", 10), get_routing("uniform"), known, 0, 0.0)
    assert np.array_equal(chain.run(1)[0], probabilities.argmax(1))


def test_no_class_is_ruled_out_for_good():
    assert torch.isfinite(Anchor.of(torch.tensor([[1.0, 0.0]]), 10).start).all()


@given(SEEDS)
def test_crowding_is_one_and_the_degree_in_mean_degrees(seed):
    graph = random_graph(seed)
    expected = 1 + graph.degree / graph.degree.mean()
    np.testing.assert_allclose(engine(graph).crowding[:, 0], expected)
