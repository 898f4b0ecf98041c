"""Networks and a reader of features: whose answer counts how much, and what both say together."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.nn import Pooling, crowding_of
from redisc.nn.pooling import pooled

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.floats(0, 0.99)


@given(SEEDS, SHARES)
def test_a_pooled_answer_is_the_weighted_geometric_mean(seed, reader):
    generator = torch.Generator().manual_seed(seed)
    answers, logits = torch.randn(2, 7, 3, generator=generator, dtype=torch.float64)
    answers, share = answers.softmax(1), torch.rand(7, 1, generator=generator, dtype=torch.float64) * (1 - reader)
    expected = answers**share * logits.softmax(1) ** (1 - share)
    torch.testing.assert_close(pooled(answers, logits, share), expected / expected.sum(1, keepdim=True))


def test_certain_networks_can_be_contradicted():
    certain, contrary = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 9.0]])
    assert pooled(certain, contrary, torch.tensor([[0.3]])).argmax() == 1
    assert pooled(certain, contrary, torch.tensor([[0.9]])).argmax() == 0


def nodes(degree, mean):
    """Nodes with so many neighbours; of their features nothing is asked."""
    return SimpleNamespace(own_features=None, crowding=crowding_of(torch.tensor(degree), mean))


@given(SHARES, st.floats(0, 3))
def test_without_doubt_or_a_reader_networks_are_heard_alike_at_all_nodes(reader, doubt):
    for pooling in (Pooling(reader), Pooling(0.0, doubt)):
        assert pooling.calm(nodes([0, 3, 5000], 7.5)) is None
        assert pooling.share(nodes([0, 3, 5000], 7.5)).item() == 1 - pooling.reader


@given(st.floats(0.01, 0.99), st.floats(0.01, 3), st.integers(0, 10**6), st.floats(0.5, 1000))
def test_with_doubt_they_are_heard_less_the_more_neighbours_a_node_has(reader, doubt, degree, mean):
    share = Pooling(reader, doubt).share(nodes([0, degree, 2 * degree + 1], mean))
    lone, node, busier = share.flatten().tolist()
    assert lone == 1 - reader
    assert lone >= node > busier > 0


def test_at_half_a_doubt_weight_falls_as_the_root_of_the_crowd():
    share = Pooling(0.5, hub_doubt=0.5).share(nodes([0, 4, 32], 4.0))
    assert share.flatten().tolist() == pytest.approx([0.5, 0.5 / 2**0.5, 0.5 / 3])


def test_a_graph_without_edges_has_no_hubs():
    assert crowding_of(torch.zeros(2), 0.0).flatten().tolist() == [1, 1]
