"""Joint probabilities from chains, against the enumerated law of the reverse process."""

import numpy as np
import pytest
import torch

from examples import HandMadeDenoiser, path
from oracles import reverse_law
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.errors import MaskError
from redisc.uncertainty import joint_table

SCHEDULE, KNOWN = Schedule.cosine(4), (1, MASKED, MASKED, MASKED)
DENOISER = HandMadeDenoiser(path(4), classes=2, coupling=1.5)
CLASSES = np.array([4, 7])


def table(nodes, chains, routing="labelled-first", known=KNOWN):
    process = ReverseProcess(DENOISER, SCHEDULE, get_routing(routing), torch.tensor(known), 0)
    return joint_table(process, np.array(nodes), CLASSES, chains)


def law(routing="labelled-first"):
    return reverse_law(DENOISER.probabilities, SCHEDULE.alpha.numpy(), routing, KNOWN)


@pytest.mark.parametrize("routing", ["labelled-first", "uniform", "confident-first"])
def test_a_pair_and_its_marginals_agree_with_enumeration(routing):
    found = table([2, 1], 1500, routing)
    exact = np.zeros((2, 2))
    for state, mass in law(routing).items():
        exact[state[2], state[1]] += mass
    assert np.allclose(found.matrix(), exact, atol=0.04)
    assert np.allclose(found.marginal(2), exact.sum(1), atol=0.04)
    assert not np.allclose(exact, np.outer(exact.sum(1), exact.sum(0)), atol=0.03)  # they depend on each other


def test_a_neighbourhood_agrees_with_enumeration():
    found = table([1, 0, 2], 1500)
    for state, mass in law().items():
        same = sum(m for s, m in law().items() if (s[1], s[0], s[2]) == (state[1], state[0], state[2]))
        assert found.probability(CLASSES[[state[1], state[0], state[2]]]) == pytest.approx(same, abs=0.04)
        assert mass > 0
    assert found.probabilities.sum() == pytest.approx(1)
    assert (np.diff(found.probabilities) <= 1e-12).all()


def test_known_nodes_are_certain():
    found = table([0], 20)
    assert found.assignments.tolist() == [[7]]
    assert found.probabilities.tolist() == pytest.approx([1.0])


def test_chains_tell_more_than_what_they_drew():
    """One chain gives a whole distribution for a single node, where counting would give one label."""
    found = table([3], 1)
    assert len(found) == 2
    assert 0 < found.probabilities.min() < 1


def test_a_matrix_needs_a_pair():
    with pytest.raises(MaskError, match="pair"):
        table([1, 2, 3], 8).matrix()
