"""A graph cut into parts: the same logits and samples as in one piece, by real processes that exchange rows."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from redisc.scale.part import Part, part_bounds
from redisc.world import World
from scale.ranks import TESTS, torchrun

SEEDS = st.integers(0, 10_000)


@given(SEEDS, st.integers(1, 6))
def test_parts_cover_the_nodes_and_share_the_work(seed, parts):
    graph = random_graph(seed, nodes=12, edges=30)
    bounds = part_bounds(graph.indptr, parts)
    assert bounds[0] == 0
    assert bounds[-1] == 12
    assert (np.diff(bounds) >= 0).all()
    work = np.diff(graph.indptr[bounds] + bounds)
    assert work.max() <= work.sum() / parts + graph.degree.max() + 1


@given(SEEDS)
def test_one_part_is_the_graph_itself(seed):
    graph = random_graph(seed)
    part = Part.of(graph, World())
    assert (part.start, part.stop, len(part.halo)) == (0, 12, 0)
    assert np.array_equal(part.indices, graph.indices)
    rows = torch.randn(12, 2, 3)
    assert torch.equal(part.exchange(rows), rows)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_answer_as_one_process_does(ranks, tmp_path):
    torchrun(ranks, TESTS / "scale" / "part_script.py", tmp_path)
    found = [json.loads(str(np.load(tmp_path / f"{rank}.npz")["found"])) for rank in range(ranks)]
    for unweighted_and_weighted in zip(*found, strict=True):
        assert sum(row["nodes"] for row in unweighted_and_weighted) == 12
        assert all(row["worst"] < 1e-10 and row["same"] for row in unweighted_and_weighted)
        assert all(row["sent"] > 0 for row in unweighted_and_weighted)
