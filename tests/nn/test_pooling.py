"""Networks and a reader of features: whose answer counts how much, and what both say together."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.nn import Pooling, crowding
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


@given(SHARES)
def test_without_doubt_networks_are_heard_alike_at_all_nodes(reader):
    share = Pooling(reader).share(crowding(torch.tensor([0, 3, 5000]), 7.5))
    assert share.flatten().tolist() == [1 - reader] * 3


@given(SHARES, st.floats(0.01, 3), st.integers(0, 10**6), st.floats(0.5, 1000))
def test_with_doubt_they_are_heard_less_the_more_neighbours_a_node_has(reader, doubt, degree, mean):
    crowded = crowding(torch.tensor([0, degree, 2 * degree + 1]), mean)
    lone, node, busier = Pooling(reader, doubt).share(crowded).flatten().tolist()
    assert lone == 1 - reader
    assert lone >= node > busier > 0


def test_doubt_is_the_root_of_the_degree_in_mean_degrees():
    share = Pooling(0.5, hub_doubt=0.5).share(crowding(torch.tensor([0, 4, 32]), 4.0))
    assert share.flatten().tolist() == pytest.approx([0.5, 0.5 / 2**0.5, 0.5 / 3])


def test_a_graph_without_edges_has_no_hubs():
    assert crowding(torch.zeros(2), 0.0).flatten().tolist() == [1, 1]
