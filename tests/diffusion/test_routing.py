import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from redisc.diffusion import ConfidentFirst, LabelledFirst, Uniform, get_routing
from redisc.errors import ConfigError

ROUTINGS = st.sampled_from([Uniform(), LabelledFirst(), ConfidentFirst()])


def case(seed, nodes=9, chains=4):
    generator = torch.Generator().manual_seed(seed)
    lateness = torch.rand(chains, nodes, generator=generator, dtype=torch.float64) / 0.4
    masked = torch.rand(chains, nodes, generator=generator) < 0.7
    labelled = (torch.rand(nodes, generator=generator) < 0.4).expand(chains, nodes)
    confidence = torch.rand(chains, nodes, generator=generator, dtype=torch.float64)
    return lateness, masked, labelled, confidence


@given(ROUTINGS, st.integers(0, 10_000))
def test_every_routing_spends_the_budget_of_uniform_routing_on_masked_nodes(routing, seed):
    lateness, masked, labelled, confidence = case(seed)
    chosen = routing(lateness, masked, labelled, confidence)
    assert not (chosen & ~masked).any()
    assert (chosen.sum(1) == (masked & (lateness < 1)).sum(1)).all()


@given(st.sampled_from([LabelledFirst(), ConfidentFirst()]), st.integers(0, 10_000))
def test_labelled_nodes_are_revealed_before_any_other(routing, seed):
    lateness, masked, labelled, confidence = case(seed)
    chosen = routing(lateness, masked, labelled, confidence)
    for row in range(len(chosen)):
        left = masked[row] & labelled[row] & ~chosen[row]
        assert not (left.any() and (chosen[row] & ~labelled[row]).any())


@given(st.integers(0, 10_000))
def test_without_masked_labelled_nodes_labelled_first_is_uniform_routing(seed):
    lateness, masked, labelled, _ = case(seed)
    masked = masked & ~labelled
    assert (LabelledFirst()(lateness, masked, labelled, None) == Uniform()(lateness, masked, labelled, None)).all()


@given(st.integers(0, 10_000))
def test_confident_first_takes_the_surest_unlabelled_nodes(seed):
    lateness, masked, labelled, confidence = case(seed)
    chosen = ConfidentFirst()(lateness, masked, labelled, confidence)
    for row in range(len(chosen)):
        taken = confidence[row][chosen[row] & ~labelled[row]]
        left = confidence[row][masked[row] & ~chosen[row] & ~labelled[row]]
        assert not len(taken) or not len(left) or taken.min() >= left.max()


def test_labelled_first_chooses_uniformly_among_labelled_nodes():
    chains, nodes = 20_000, 6
    lateness = torch.rand(chains, nodes, generator=torch.Generator().manual_seed(0), dtype=torch.float64) / 0.3
    labelled = torch.tensor([True, True, True, True, False, False]).expand(chains, nodes)
    chosen = LabelledFirst()(lateness, torch.ones(chains, nodes, dtype=torch.bool), labelled, None)
    one = chosen.sum(1) == 1
    counts = chosen[one].sum(0).numpy()
    assert (counts[4:] == 0).all()
    assert chisquare(counts[:4]).pvalue > 1e-3


def test_an_unknown_routing_is_refused_by_name():
    with pytest.raises(ConfigError, match="labeled-first"):
        get_routing("labeled-first")
    with pytest.raises(ConfigError, match="confidence"):
        ConfidentFirst()(*[torch.ones(1, 2)] * 3, None)
    assert np.all([isinstance(get_routing(r), type(r)) for r in (Uniform(), LabelledFirst())])
