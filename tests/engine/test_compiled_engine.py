"""The compiled engine against the reference: the same logits, gradients and samples, on any graph and network."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import random_graph
from nn.networks import GATES, STEPS, denoiser, engine, mean_field, noisy_labels, steps_of
from redisc import Graph, datasets
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.engine import CompiledEngine, FeatureScaling, Topology
from redisc.kernels.dropout import Dropout
from redisc.nn import BACKBONES

SEEDS = st.integers(0, 10_000)
NETWORKS = st.fixed_dictionaries(
    {
        "backbone": st.sampled_from(BACKBONES),
        "gate": st.sampled_from(GATES),
        "layers": st.integers(1, 4),
        "residual": st.booleans(),
        "initial_residual": st.sampled_from([0.0, 0.3]),
        "normalisation": st.sampled_from(["none", "layer", "rms", "l2"]),
        "head_layers": st.integers(0, 2),
        "self_loop": st.sampled_from([0.0, 1.0, 2.0]),
    }
)
GRAPHS = st.builds(
    random_graph, SEEDS, nodes=st.just(12), edges=st.sampled_from([0, 6, 14, 40]), weighted=st.booleans()
)


def compiled(graph):
    reference = engine(graph)
    return CompiledEngine(reference.topology, reference.features)


def ring(nodes):
    """A cycle: receptive fields stay small however many nodes there are."""
    rng = np.random.default_rng(0)
    pairs = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    return Graph(x=rng.normal(size=(nodes, 5)), edge_index=pairs, y=rng.integers(3, size=nodes))


@given(GRAPHS, NETWORKS, SEEDS)
def test_logits_of_masked_states_equal_the_references(graph, network, seed):
    model, labels, t = denoiser(**network, seed=seed), noisy_labels(seed, 3), steps_of(seed, 3)
    expected = engine(graph).noisy_logits(model, labels, t)
    torch.testing.assert_close(compiled(graph).noisy_logits(model, labels, t), expected, rtol=0, atol=1e-10)


@given(GRAPHS, NETWORKS, SEEDS, st.sampled_from([0.0, 0.4]))
def test_gradients_equal_the_references(graph, network, seed, dropout):
    model = denoiser(**network, seed=seed, dropout=dropout, input_dropout=dropout)
    labels, t, found = noisy_labels(seed, 3), steps_of(seed, 3), []
    weights = torch.randn(12, 3, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    for on in (engine(graph), compiled(graph)):
        model.zero_grad()
        drop = Dropout(np.random.default_rng(seed)) if dropout else None
        (on.noisy_logits(model, labels, t, drop) * weights).sum().backward()
        found.append([torch.zeros(1) if p.grad is None else p.grad.clone() for p in model.parameters()])
    for expected, gradient in zip(*found, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-8)


@given(GRAPHS, st.sampled_from(BACKBONES), SEEDS)
def test_the_mean_field_gnn_is_the_references(graph, backbone, seed):
    model, found = mean_field(backbone, seed), []
    for on in (engine(graph), compiled(graph)):
        model.zero_grad()
        logits = on.mean_field(model)
        logits.square().sum().backward()
        found.append([logits.detach(), *[p.grad.clone() for p in model.parameters() if p.grad is not None]])
    for expected, value in zip(*found, strict=True):
        torch.testing.assert_close(value, expected, rtol=0, atol=1e-8)


@given(GRAPHS, NETWORKS, SEEDS, st.integers(1, STEPS), st.integers(1, 4))
def test_rows_of_a_receptive_field_have_the_references_logits(graph, network, seed, t, count):
    model, labels = denoiser(**network, seed=seed), noisy_labels(seed, 3)
    generator = torch.Generator().manual_seed(seed)
    chain, node = (torch.randint(size, (count,), generator=generator) for size in (3, 12))
    on = compiled(graph)
    found = on.denoise(model)(labels, t, chain, node)
    torch.testing.assert_close(found, engine(graph).denoise(model)(labels, t, chain, node), rtol=0, atol=1e-10)


def sample(on, model, known, routing, steps, seed, chains=3):
    process = ReverseProcess(
        on.denoise(model), Schedule.cosine(steps), get_routing(routing), torch.from_numpy(known), seed, 0.5
    )
    return process.run(chains)


@settings(max_examples=40)
@given(GRAPHS, NETWORKS, SEEDS, st.sampled_from(["uniform", "labelled-first", "confident-first"]), st.floats(0, 1))
def test_samples_equal_the_references_exactly(graph, network, seed, routing, share):
    model = denoiser(**network, seed=seed)
    known = np.where(np.random.default_rng(seed).random(12) < share, graph.y, MASKED)
    expected = sample(engine(graph), model, known, routing, STEPS, seed)
    assert torch.equal(sample(compiled(graph), model, known, routing, STEPS, seed), expected)


@given(GRAPHS, st.sampled_from(BACKBONES), SEEDS)
def test_samples_do_not_depend_on_how_many_chains_run_together(graph, backbone, seed):
    model, known = denoiser(backbone, seed=seed), np.where(np.arange(12) < 4, graph.y, MASKED)
    together = sample(compiled(graph), model, known, "labelled-first", STEPS, seed, chains=torch.tensor([0, 5, 2]))
    for place, chain in enumerate([0, 5, 2]):
        alone = sample(compiled(graph), model, known, "labelled-first", STEPS, seed, chains=torch.tensor([chain]))
        assert torch.equal(alone[0], together[place])


@pytest.mark.parametrize("backbone", BACKBONES)
def test_single_precision_agrees_on_the_same_path(backbone):
    graph = random_graph(3, nodes=60, edges=200)
    exact_model = denoiser(backbone, layers=3)
    single = CompiledEngine(Topology(graph, torch.float32), FeatureScaling().apply(graph.x, torch.float32))
    labels, t = noisy_labels(0, 2, nodes=60), steps_of(0, 2)
    exact = engine(graph).noisy_logits(exact_model, labels, t).detach()
    rows = torch.zeros(60, dtype=torch.int64), torch.arange(60)
    exact_rows = engine(graph).denoise(exact_model)(labels, 5, *rows)
    model = denoiser(backbone, layers=3).float()
    torch.testing.assert_close(single.noisy_logits(model, labels, t).double(), exact, rtol=0, atol=1e-4)
    found = torch.cat([single.denoise(model)(labels, 5, rows[0][k : k + 1], rows[1][k : k + 1]) for k in range(60)])
    torch.testing.assert_close(found.double(), exact_rows, rtol=0, atol=1e-4)


ODD = {
    "isolated nodes": random_graph(0, edges=3),
    "one component a node": random_graph(0, edges=0),
    "a hub joined to everything": Graph(
        x=np.ones((12, 5)), edge_index=np.stack([np.zeros(11, int), np.arange(1, 12)]), y=np.arange(12) % 3
    ),
}


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("known_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_and_label_sets_work(name, known_share, backbone):
    graph, model = ODD[name], denoiser(backbone)
    known = np.where(np.arange(12) < 12 * known_share, graph.y, MASKED)
    found = sample(compiled(graph), model, known, "labelled-first", STEPS, 0)
    assert torch.equal(found, sample(engine(graph), model, known, "labelled-first", STEPS, 0))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_few_rows_of_a_large_ring_take_their_receptive_field_and_all_rows_the_whole_graph(backbone):
    graph, model = ring(400), denoiser(backbone, layers=3)
    on, labels = compiled(graph), noisy_labels(0, 2, nodes=400)
    ask = on.denoise(model)
    ask(labels, 3, torch.tensor([0, 1]), torch.tensor([7, 300]))
    assert (on.work.receptive_steps, on.work.full_steps) == (1, 0)
    assert on.work.messages < 40
    ask(labels, 3, *torch.ones(2, 400).nonzero(as_tuple=True))
    assert (on.work.receptive_steps, on.work.full_steps) == (1, 1)


def test_a_receptive_field_never_renormalises_degrees():
    graph, model = ring(50), denoiser("gcn", layers=2)
    hub = Graph(
        x=graph.x, edge_index=np.hstack([graph.edge_index(), [[0] * 40, list(range(5, 45))]]), y=graph.y, directed=False
    )
    labels = noisy_labels(0, 1, nodes=50)
    row = torch.tensor([0]), torch.tensor([1])
    found = compiled(hub).denoise(model)(labels, 4, *row)
    torch.testing.assert_close(found, engine(hub).denoise(model)(labels, 4, *row), rtol=0, atol=1e-10)
    assert not torch.allclose(found, compiled(graph).denoise(model)(labels, 4, *row))


@given(SEEDS, st.sampled_from(["uniform", "labelled-first"]), st.integers(1, 30), st.booleans())
def test_a_plan_reveals_what_step_by_step_routing_reveals(seed, routing, steps, per_node):
    generator = torch.Generator().manual_seed(seed)
    labelled = torch.rand(15, generator=generator) < 0.4
    schedule = Schedule.cosine(steps)
    schedule = schedule.per_node(torch.rand(15, generator=generator) + 0.5) if per_node else schedule
    chains = torch.randint(1000, (4,), generator=generator)

    def silent(labels, t, chain, node):
        return torch.zeros(len(node), 3)

    process = ReverseProcess(silent, schedule, get_routing(routing), torch.full((15,), MASKED), seed, 1.0, labelled)
    walked = replace(process, routing=Unplanned(get_routing(routing)))
    seen = {}
    for name, one in (("planned", process), ("walked", walked)):
        seen[name] = []
        one.run(chains, lambda state, into=seen[name]: into.append(state.labels != MASKED) or state)
    assert process.plan(chains) is not None
    assert walked.plan(chains) is None
    for planned, stepwise in zip(seen["planned"], seen["walked"], strict=True):
        assert torch.equal(planned, stepwise)


class Unplanned:
    """A routing that keeps its plans to itself."""

    needs_confidence = False

    def __init__(self, routing):
        self.routing = routing

    def __call__(self, *arguments):
        return self.routing(*arguments)

    def plan(self, *arguments):
        return None


@pytest.mark.data
def test_messages_of_a_sample_hardly_grow_with_the_number_of_steps(data_dir):
    graph = datasets.load("cora", data_dir=data_dir)
    known = torch.from_numpy(np.where(graph.splits[0].train, graph.y, MASKED))
    messages = {}
    for steps in (40, 160):
        on = CompiledEngine(Topology(graph), FeatureScaling().apply(graph.x))
        model = denoiser("gcn", features=graph.num_features, classes=7).float()
        model.steps = steps
        ReverseProcess(on.denoise(model), Schedule.cosine(steps), get_routing("labelled-first"), known, 0).run(1)
        messages[steps] = on.work.messages
    assert messages[160] < 1.25 * messages[40]
    assert messages[160] < 0.1 * 160 * 2 * graph.num_edges
