"""Bounds and estimates of a labelling's probability, against enumeration on a path of three nodes."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import HandMadeDenoiser, path
from oracles import reverse_law, routing_law
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.diffusion.likelihood import LogLikelihood, _turns, chain_rule, elbo
from redisc.errors import ConfigError

NODES, CLASSES, SCHEDULE = 3, 2, Schedule.cosine(3)
DENOISER = HandMadeDenoiser(path(NODES), classes=CLASSES, coupling=2.0, steps=3)
FREE, GIVEN = (MASKED,) * NODES, (1, MASKED, MASKED)
LABELLINGS = list(itertools.product(range(CLASSES), repeat=NODES))


def process(routing="uniform", known=FREE, seed=0):
    return ReverseProcess(DENOISER, SCHEDULE, get_routing(routing), torch.tensor(known), seed)


def exact_elbo(labels, routing="uniform", known=FREE):
    """Walk every path that reveals `labels` and average the sum of its log-probabilities (the paper's Eq. 6)."""
    prefers = tuple(k != MASKED for k in known)
    law, total = {FREE: 1.0}, 0.0
    for t in range(SCHEDULE.steps, 0, -1):
        rate = float(SCHEDULE.reveal_rate(t))
        after = {}
        for state, mass in law.items():
            p = DENOISER.probabilities(state, t)
            for chosen, chance in routing_law(state, rate, routing, known, prefers, p):
                judged = [i for i in chosen if known[i] == MASKED]
                total += mass * chance * sum(np.log(p[i, labels[i]]) for i in judged)
                shown = tuple(labels[i] if i in chosen else state[i] for i in range(NODES))
                after[shown] = after.get(shown, 0.0) + mass * chance
        law = after
    return total


def weighted_elbo(labels):
    """Eq. 6 by its own formula: masks drawn from q(Y(t) | y), cross-entropies weighted by λ'(t-1)."""
    total = 0.0
    for t in range(1, SCHEDULE.steps + 1):
        alpha, rate = float(SCHEDULE.alpha[t]), float(SCHEDULE.reveal_rate(t))
        for masked in itertools.product([False, True], repeat=NODES):
            state = tuple(MASKED if m else y for m, y in zip(masked, labels, strict=True))
            chance = np.prod([1 - alpha if m else alpha for m in masked])
            p = DENOISER.probabilities(state, t)
            total += chance * rate * sum(np.log(p[i, labels[i]]) for i in range(NODES) if masked[i])
    return total


@pytest.mark.parametrize("labels", LABELLINGS)
def test_the_exact_bound_is_the_papers_and_lies_below_the_log_likelihood(labels):
    bound = exact_elbo(labels)
    assert bound == pytest.approx(weighted_elbo(labels), abs=1e-12)
    law = reverse_law(DENOISER.probabilities, SCHEDULE.alpha.numpy(), "uniform", FREE)
    assert bound < np.log(law[labels])


@pytest.mark.parametrize(("routing", "known"), [("uniform", FREE), ("uniform", GIVEN), ("labelled-first", GIVEN)])
@pytest.mark.parametrize("labels", [(1, 0, 1), (1, 1, 1)])
def test_chains_estimate_the_bound_and_the_log_likelihood(labels, routing, known):
    values = elbo(process(routing, known), torch.tensor(labels), torch.arange(20_000)).numpy()
    found = LogLikelihood(values.mean(), values, NODES)
    law = reverse_law(DENOISER.probabilities, SCHEDULE.alpha.numpy(), routing, known)
    assert found.bound == pytest.approx(exact_elbo(labels, routing, known), abs=5 * found.bound_error)
    assert found.estimate == pytest.approx(np.log(law[labels]), abs=5 * values.std() / np.sqrt(len(values)))
    assert found.bound < found.estimate


def test_a_confident_first_walk_also_averages_to_the_likelihood():
    values = elbo(process("confident-first"), torch.tensor([1, 0, 1]), torch.arange(20_000)).numpy()
    law = reverse_law(DENOISER.probabilities, SCHEDULE.alpha.numpy(), "confident-first", FREE)
    assert np.exp(values).mean() == pytest.approx(law[1, 0, 1], rel=0.03)


def test_by_the_chain_rule_all_labellings_together_have_probability_one():
    """For a fixed order the product of conditionals is a distribution; the order depends on the chain alone."""
    chains = torch.arange(50)
    values = torch.stack([chain_rule(process(), torch.tensor(labels), chains) for labels in LABELLINGS])
    assert np.allclose(values.exp().sum(0).numpy(), 1, atol=1e-12)


def test_the_chain_rule_sees_what_the_same_step_revealed_before():
    one_step = ReverseProcess(DENOISER, Schedule.linear(1), get_routing("uniform"), torch.tensor(FREE), 0)
    labels, chains = torch.tensor([1, 1, 1]), torch.arange(400)
    apart = elbo(one_step, labels, chains)
    together = chain_rule(one_step, labels, chains)
    assert len(set(apart.tolist())) == 1  # all nodes at once, none sees another
    orders = set()
    for order in itertools.permutations(range(NODES)):
        state, total = list(FREE), 0.0
        for node in order:
            total += np.log(DENOISER.probabilities(tuple(state), 1)[node, 1])
            state[node] = 1
        orders.add(round(total, 9))
    assert {round(value, 9) for value in together.tolist()} == orders


def test_the_chain_rule_refuses_an_order_that_labels_change():
    with pytest.raises(ConfigError, match="labelled-first"):
        chain_rule(process("confident-first"), torch.tensor([0, 0, 0]), torch.arange(2))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 10**6))
def test_every_chain_takes_its_rows_one_at_a_time(sizes, seed):
    chain = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    key = torch.rand(len(chain), generator=torch.Generator().manual_seed(seed))
    turn = _turns(key, chain)
    for k, size in enumerate(sizes):
        mine = chain == k
        assert sorted(turn[mine].tolist()) == list(range(size))
        assert (key[mine][turn[mine].argsort()].diff() >= 0).all()
