"""The denoiser and the mean-field GNN: their formulas, and the laws that sampling leans on."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import random_graph
from kernels.ambient import ambient_randomness_untouched
from nn.dense_layers import denoiser_logits, encode_time, mean_field_logits, symmetric
from nn.networks import GATES, STEPS, architecture, denoiser, engine, mean_field, noisy_labels, steps_of
from oracles import dense_adjacency
from redisc import Graph
from redisc.engine import FeatureScaling
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import BACKBONES, Architecture, Denoiser, MeanField, sinusoidal_encoding

SEEDS = st.integers(0, 10_000)
NAMES = st.sampled_from(BACKBONES)
AWARE = st.sampled_from(["vector", "none"])
"""Time-aware layers as the paper has them, and vanilla ones."""
SURROUNDINGS = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 4),
        "residual": st.booleans(),
        "initial_residual": st.sampled_from([0.0, 0.3]),
        "normalisation": st.sampled_from(["none", "layer", "rms", "l2"]),
        "head_layers": st.integers(0, 2),
        "self_loop": st.sampled_from([1.0, 2.0]),
    }
)


def encoding(t):
    """The library's encoding in float64, itself compared with a formula in the tests of the time gate."""
    return sinusoidal_encoding(torch.tensor([int(t)]), STEPS)[0].double().numpy()


def assert_same(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=tolerance)


@settings(max_examples=120)
@given(NAMES, st.sampled_from(GATES), SURROUNDINGS, st.booleans(), SEEDS, st.sampled_from([3, 6]))
def test_logits_are_the_papers_formula_on_dense_matrices(backbone, gate, surroundings, weighted, seed, classes):
    """With 6 classes logits are as wide as hidden rows: only their place tells them apart."""
    graph = random_graph(seed, weighted=weighted)
    model = denoiser(backbone, gate, seed, classes=classes, **surroundings)
    labels, t = noisy_labels(seed, 2, classes=classes), steps_of(seed, 2)
    logits = engine(graph).noisy_logits(model, labels, t)
    assert logits.shape == (12, 2, classes)
    a = dense_adjacency(graph)
    for b in range(2):
        expected = denoiser_logits(model, gate, a, graph.x, labels[b].numpy(), encoding(t[b]))
        assert_same(logits[:, b], expected)


@settings(max_examples=60)
@given(NAMES, SURROUNDINGS, st.booleans(), SEEDS)
def test_the_mean_field_gnn_is_the_same_stack_without_labels_and_time(backbone, surroundings, weighted, seed):
    graph = random_graph(seed, weighted=weighted)
    model = mean_field(backbone, seed, **surroundings)
    assert_same(engine(graph).mean_field(model), mean_field_logits(model, dense_adjacency(graph), graph.x))


@given(NAMES, SURROUNDINGS, SEEDS)
def test_a_shift_moves_the_logits_of_every_node_by_itself(backbone, surroundings, seed):
    on, model = engine(random_graph(seed)), mean_field(backbone, seed, **surroundings)
    before, by = on.mean_field(model), torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    model.shift(by)
    assert_same(on.mean_field(model), (before + by).detach().numpy())


def test_spread_predictions_tend_to_their_personalised_pagerank():
    graph, restart = random_graph(4), 0.2
    model = mean_field("appnp", layers=200, initial_residual=restart)
    with torch.no_grad():
        for layer in model.stack.layers:
            layer.conv.bias.zero_()
    predictions = model.stack.project(engine(graph).features).initial[:, 0].detach().numpy()
    spread = np.eye(12) - (1 - restart) * symmetric(dense_adjacency(graph), 1.0)
    assert_same(engine(graph).mean_field(model), restart * np.linalg.solve(spread, predictions))


def test_each_surrounding_makes_a_difference():
    """Otherwise agreement with the dense formula would show little."""
    graph, seen = random_graph(3), []
    variants = [
        {},
        {"residual": True},
        {"initial_residual": 0.3},
        *({"normalisation": kind} for kind in ("layer", "rms", "l2")),
        {"head_layers": 1},
        {"head_layers": 2},
        {"layers": 3},
        {"self_loop": 2.0},
    ]
    for settings_ in variants:
        logits = engine(graph).mean_field(mean_field("gcn", **settings_)).detach()
        assert not any(torch.allclose(logits, other) for other in seen)
        seen.append(logits)


@given(NAMES, st.sampled_from(GATES), SEEDS, st.booleans())
def test_renumbering_nodes_renumbers_logits(backbone, gate, seed, weighted):
    graph = random_graph(seed, weighted=weighted)
    order = np.random.default_rng(seed).permutation(12)
    place = np.argsort(order)  # node i of the old graph is node place[i] of the new one
    renumbered = Graph(
        x=np.array(graph.x)[order],
        edge_index=place[graph.edge_index()],
        edge_weight=graph.edge_weight,
        y=graph.y[order],
    )
    model = denoiser(backbone, gate, seed, layers=3, residual=True, normalisation="layer")
    labels, t = noisy_labels(seed, 2), steps_of(seed, 2)
    before = engine(graph).noisy_logits(model, labels, t)
    after = engine(renumbered).noisy_logits(model, labels[:, torch.from_numpy(order)], t)
    assert_same(after, before.detach().numpy()[order])


@given(NAMES, AWARE, SEEDS, st.booleans())
def test_the_order_direction_and_number_of_equal_edges_change_no_bit(backbone, gate, seed, weighted):
    graph = random_graph(seed, weighted=weighted)
    rng = np.random.default_rng(seed)
    edges = graph.edge_index()
    weight = np.ones(edges.shape[1]) if graph.edge_weight is None else graph.edge_weight
    chosen = rng.permutation(np.concatenate([np.arange(edges.shape[1]), rng.integers(edges.shape[1], size=9)]))
    shuffled = Graph(
        x=graph.x,
        edge_index=edges[:, chosen],
        y=graph.y,
        edge_weight=weight[chosen] if weighted else None,
        directed=False,
    )
    model, labels, t = denoiser(backbone, gate, seed), noisy_labels(seed, 2), steps_of(seed, 2)
    assert torch.equal(engine(graph).noisy_logits(model, labels, t), engine(shuffled).noisy_logits(model, labels, t))


@given(NAMES, st.sampled_from(GATES), SEEDS, st.integers(2, 5))
def test_copies_at_once_are_copies_one_by_one_each_at_its_own_step(backbone, gate, seed, copies):
    on = engine(random_graph(seed))
    model = denoiser(backbone, gate, seed, initial_residual=0.2, residual=True)
    labels, t = noisy_labels(seed, copies), steps_of(seed, copies)
    together = on.noisy_logits(model, labels, t)
    for b in range(copies):
        alone = on.noisy_logits(model, labels[b : b + 1], t[b : b + 1])
        assert_same(together[:, b : b + 1], alone.detach().numpy(), 1e-12)


@given(NAMES, st.sampled_from(GATES), SEEDS)
def test_one_step_for_all_copies_is_that_step_for_each(backbone, gate, seed):
    on, model, labels = engine(random_graph(seed)), denoiser(backbone, gate, seed), noisy_labels(seed, 3)
    shared = on.noisy_logits(model, labels, torch.tensor([4]))
    assert_same(shared, on.noisy_logits(model, labels, torch.tensor([4, 4, 4])).detach().numpy(), 1e-12)


@given(NAMES, st.sampled_from(GATES), SEEDS)
def test_logits_depend_on_the_step_and_on_the_labels(backbone, gate, seed):
    on, model = engine(random_graph(seed)), denoiser(backbone, gate, seed)
    labels = noisy_labels(seed, 1).expand(2, -1).clone()
    labels[:, 0] = 1
    early, late = on.noisy_logits(model, labels, torch.tensor([1, 9])).unbind(1)
    assert not torch.allclose(early, late)
    labels[1, 0] = 2
    one, two = on.noisy_logits(model, labels, torch.tensor([5])).unbind(1)
    assert not torch.allclose(one[0], two[0])


@given(st.sampled_from(["vector", "scalar"]), NAMES, SEEDS)
def test_with_every_label_masked_time_has_nothing_to_gate(gate, backbone, seed):
    on, model = engine(random_graph(seed)), denoiser(backbone, gate, seed)
    early, late = on.noisy_logits(model, torch.full((2, 12), -1), torch.tensor([1, 9])).unbind(1)
    assert_same(early, late.detach().numpy(), 1e-12)


@given(NAMES, AWARE, SEEDS, st.sampled_from([{}, {"residual": True}, {"initial_residual": 0.4}]))
def test_sparse_and_dense_features_give_the_same_logits(backbone, gate, seed, surroundings):
    graph = random_graph(seed)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, 5)) * (rng.random((12, 5)) < 0.4)
    model, labels, t = denoiser(backbone, gate, seed, **surroundings), noisy_labels(seed, 2), steps_of(seed, 2)
    plain = mean_field(backbone, seed, **surroundings)
    dense = engine(graph, torch.from_numpy(x)[:, None])
    sparse = engine(graph, FeatureScaling().apply(sp.csr_array(x), torch.float64))
    assert isinstance(sparse.features, SparseMatrix)
    assert_same(sparse.noisy_logits(model, labels, t), dense.noisy_logits(model, labels, t).detach().numpy(), 1e-12)
    assert_same(sparse.mean_field(plain), dense.mean_field(plain).detach().numpy(), 1e-12)


def varied(parameter):
    """Whether it was drawn, rather than filled with one number."""
    return bool(parameter.min() < parameter.max())


def networks():
    for backbone in BACKBONES:
        plan = architecture(backbone, residual=True, initial_residual=0.1, normalisation="layer", head_layers=1)
        yield MeanField(plan, 5, 3)
        for gate in GATES:
            yield Denoiser(plan, 5, 3, STEPS, gate)


def test_reset_draws_every_parameter_from_the_generator_alone():
    for model in networks():
        states = []
        for seed in (1, 1, 2):
            for parameter in model.parameters():
                torch.nn.init.constant_(parameter, torch.nan)
            with ambient_randomness_untouched():
                model.reset_parameters(torch.Generator().manual_seed(seed))
            states.append({name: p.detach().clone() for name, p in model.named_parameters()})
        first, again, other = states
        assert all(torch.isfinite(p).all() for p in first.values())
        assert all(torch.equal(first[name], again[name]) for name in first)
        drawn = [name for name in first if varied(first[name])]
        assert all(not torch.equal(first[name], other[name]) for name in drawn)
        assert all(name.endswith("weight") or ".attention." in name for name in drawn)
        assert {name for name in first if name.endswith("weight")} <= set(drawn)


def test_two_parameters_of_a_shape_do_not_share_their_draws():
    for model in networks():
        model.reset_parameters(torch.Generator().manual_seed(0))
        drawn = [p.flatten()[:4] for p in model.parameters() if p.numel() > 4 and varied(p)]
        assert len({tuple(start.tolist()) for start in drawn}) == len(drawn)


def test_building_and_asking_use_no_ambient_randomness():
    on = engine(random_graph(0))
    with ambient_randomness_untouched():
        assert len(list(networks())) == 5 * len(BACKBONES)
        for backbone in BACKBONES:
            model = denoiser(backbone, input_dropout=0.5)
            drop = Dropout(np.random.default_rng(0))
            on.noisy_logits(model, noisy_labels(0, 2), steps_of(0, 2), drop).sum().backward()


@given(NAMES, AWARE, SEEDS)
def test_without_dropout_the_answer_is_always_the_same(backbone, gate, seed):
    on, model = engine(random_graph(seed)), denoiser(backbone, gate, seed, dropout=0.9, input_dropout=0.9)
    labels, t = noisy_labels(seed, 2), steps_of(seed, 2)
    model.train()
    first = on.noisy_logits(model, labels, t)
    model.eval()
    assert torch.equal(first, on.noisy_logits(model, labels, t))


@given(NAMES, SEEDS, st.sampled_from([{"dropout": 0.5}, {"dropout": 0.0, "input_dropout": 0.5}]))
def test_dropout_follows_its_generator(backbone, seed, rates):
    on, model = engine(random_graph(seed)), denoiser(backbone, "vector", seed, **rates)
    labels, t = noisy_labels(seed, 2), steps_of(seed, 2)
    first, again, other, none = (
        on.noisy_logits(model, labels, t, None if k is None else Dropout(np.random.default_rng(k)))
        for k in (0, 0, 1, None)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first, none)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_hidden_rows_are_dropped_and_logits_are_not(backbone):
    on, labels, t = engine(random_graph(0)), noisy_labels(0, 2), steps_of(0, 2)
    drop = Dropout(np.random.default_rng(0))
    shallow = denoiser(backbone, layers=1, dropout=0.9)
    has_hidden_rows = backbone == "appnp"
    same = torch.equal(on.noisy_logits(shallow, labels, t, drop), on.noisy_logits(shallow, labels, t))
    assert same != has_hidden_rows
    headed = denoiser(backbone, layers=1, head_layers=1, dropout=0.9)
    assert not torch.equal(on.noisy_logits(headed, labels, t, drop), on.noisy_logits(headed, labels, t))


def test_with_dropout_copies_of_one_state_differ():
    """Masks of an M-step must not share their hidden dropout."""
    on, model = engine(random_graph(0)), denoiser(dropout=0.5)
    labels = noisy_labels(0, 1).expand(2, -1)
    one, two = on.noisy_logits(model, labels, torch.tensor([3]), Dropout(np.random.default_rng(0))).unbind(1)
    assert not torch.allclose(one, two)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("gate", GATES)
def test_every_parameter_learns(backbone, gate):
    model = denoiser(
        backbone, gate, layers=3, residual=True, initial_residual=0.2, normalisation="layer", head_layers=1
    )
    weight = torch.linspace(-1, 2, 12 * 2 * 3, dtype=torch.float64).reshape(12, 2, 3)
    (engine(random_graph(1)).noisy_logits(model, noisy_labels(1, 2), steps_of(1, 2)) * weight).sum().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert still == []


def test_depth_counts_the_convolutions():
    for layers in (1, 3):
        assert denoiser(layers=layers, head_layers=2).depth == layers
        assert mean_field(layers=layers).depth == layers


def test_the_encoding_of_these_tests_is_the_formula():
    np.testing.assert_allclose(encoding(7), encode_time(7, STEPS), atol=2e-4)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("backbone", "gin"),
        ("hidden", 0),
        ("layers", 0),
        ("heads", 0),
        ("dropout", 1.0),
        ("input_dropout", -0.1),
        ("initial_residual", 1.5),
        ("head_layers", -1),
        ("self_loop", -1.0),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused_by_name(setting, value):
    with pytest.raises(ConfigError, match=setting):
        Architecture(**{setting: value})


def test_an_unknown_normalisation_or_gate_is_refused_by_name():
    with pytest.raises(ConfigError, match="batch"):
        MeanField(architecture(normalisation="batch"), 5, 3)
    with pytest.raises(ConfigError, match="both"):
        Denoiser(architecture(), 5, 3, STEPS, "both")
