import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from oracles import dense_adjacency
from redisc import Graph
from redisc.uncertainty import find_drivers
from redisc.uncertainty.drivers import nearest_of


def star_path(nodes=7):
    ends = np.arange(nodes - 1)
    return Graph(x=np.zeros((nodes, 1)), edge_index=np.stack([ends, ends + 1]), y=np.full(nodes, -1))


def by_distance(known):
    """A hand-made posterior on a path: known labels pull with a strength that falls with distance."""
    nodes = np.arange(len(known))
    logit = np.zeros(len(known))
    for place in np.flatnonzero(known >= 0):
        logit += np.where(known[place] == 1, 1, -1) * 2.0 ** -np.abs(nodes - place)
    p = 1 / (1 + np.exp(-logit))
    return np.column_stack([1 - p, p])


def drivers(known, nodes, groups=64, reach=6, top=3, seed=0, answers=None):
    rng, nodes = np.random.default_rng(seed), np.array(nodes)
    answers = by_distance(known)[nodes].argmax(1) if answers is None else np.array(answers)
    return find_drivers(star_path(len(known)), known, by_distance, nodes, answers, reach, groups, top, rng)


KNOWN = np.array([1, -1, -1, -1, 0, -1, -1])


def test_changes_are_those_of_the_answer_that_was_given():
    (for_it, against_it) = (drivers(KNOWN, [1], answers=[c]).of(1) for c in (1, 0))
    assert [known for known, _ in for_it] == [known for known, _ in against_it]
    assert np.allclose([change for _, change in for_it], [-change for _, change in against_it])
    assert dict(for_it)[0] > 0


def test_masking_each_known_label_gives_the_change_of_the_posterior():
    found = drivers(KNOWN, [1, 3])
    assert found.alone
    for node in (1, 3):
        before = by_distance(KNOWN)[node]
        answer = before.argmax()
        for known, change in found.of(node):
            rest = KNOWN.copy()
            rest[known] = -1
            assert np.isclose(change, before[answer] - by_distance(rest)[node, answer])
    assert found.of(1)[0][0] == 0
    assert found.of(1)[0][1] > 0
    assert found.of(1)[1][1] < 0  # the other label speaks against the answer
    assert found.of(3)[0][0] == 4


def test_lists_leave_out_what_would_be_shown_as_nothing():
    found = drivers(KNOWN, [1, 3])
    assert found.lists(0) == [found.of(1), found.of(3)]
    least = abs(found.of(1)[0][1])
    assert found.lists(least)[0] == found.of(1)[:1]


def test_labels_out_of_reach_and_known_nodes_have_no_part():
    assert [known for known, _ in drivers(KNOWN, [6], reach=2).of(6)] == [4]
    assert drivers(KNOWN, [0, 1]).of(0) == []
    assert drivers(np.full(7, -1), [1]).of(1) == []


def test_in_groups_a_change_counts_for_the_nearest_member():
    known = np.array([1, -1, -1, 1, -1, -1, 1])
    found = drivers(known, [1, 5], groups=1, reach=2)
    assert not found.alone
    assert [known for known, _ in found.of(1)] == [0]
    assert [known for known, _ in found.of(5)] == [6]


@given(st.integers(0, 10**6), st.integers(0, 4))
def test_the_nearest_source_is_at_the_shortest_distance(seed, reach):
    graph = random_graph(seed % 1000, nodes=10, edges=12)
    sources = np.unique(np.random.default_rng(seed).integers(10, size=3))
    step = (dense_adjacency(graph) > 0) | np.eye(10, dtype=bool)
    distance, within = np.full((10, 10), np.inf), np.eye(10, dtype=bool)
    for hops in range(10):
        distance[within & np.isinf(distance)] = hops
        within = within @ step
    owner = nearest_of(graph, sources, reach)
    for node in range(10):
        least = distance[node, sources].min()
        assert (owner[node] >= 0) == (least <= reach)
        if owner[node] >= 0:
            assert distance[node, owner[node]] == least
