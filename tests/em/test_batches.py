"""Mini-batches: every node once a round, the same from the same seed, and clusters that lie together."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc import datasets
from redisc.em.batches import Batches
from redisc.engine import Topology
from redisc.engine.sampled_block import sample_hops

SEEDS = st.integers(0, 10_000)


@given(SEEDS, st.integers(1, 60), st.integers(1, 70), st.booleans())
def test_a_round_holds_every_node_once_in_slices_of_the_size(seed, count, size, clustered):
    rng = np.random.default_rng(seed)
    nodes = torch.from_numpy(np.sort(rng.choice(100, count, replace=False)))
    place = torch.from_numpy(rng.permutation(100)) if clustered else None
    batches = Batches(nodes, size, seed, place)
    for _ in range(2):
        taken = [next(batches) for _ in range(batches.per_round)]
        assert torch.equal(torch.cat(taken).sort().values, nodes)
        assert clustered or max(map(len, taken)) <= size


@given(SEEDS, st.integers(0, 12))
def test_a_position_is_enough_to_go_on(seed, taken):
    whole, resumed = (Batches(torch.arange(30), 7, seed) for _ in range(2))
    for _ in range(taken):
        next(whole)
    resumed.position = taken
    for _ in range(4):
        assert torch.equal(next(whole), next(resumed))


def test_the_next_slice_can_be_seen_but_not_beyond_the_round():
    batches = Batches(torch.arange(30), 10, 0)
    for k in range(6):
        rows = next(batches)
        upcoming = batches.peek()
        assert (upcoming is None) == (k % 3 == 2)
        if upcoming is not None:
            assert not set(rows.tolist()) & set(upcoming.tolist())


def test_clusters_read_fewer_rows_than_nodes():
    topology = Topology(datasets.load("minesweeper"))
    everyone = torch.arange(topology.num_nodes)
    read = {}
    for name, place in (("nodes", None), ("clusters", torch.from_numpy(topology.locality))):
        batches = Batches(everyone, 1000, 0, place)
        hops = [sample_hops(topology, next(batches).numpy(), 2, 0, 0) for _ in range(batches.per_round)]
        read[name] = sum(len(hop[0].sources) for hop in hops)
    assert read["clusters"] < 0.6 * read["nodes"]
