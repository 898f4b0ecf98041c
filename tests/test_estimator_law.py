"""Samples of a fitted ReDiSC on four nodes, against the enumerated laws of its own denoiser."""

import functools

import numpy as np
import pytest
import torch

from examples import FAST
from nn.networks import randomise
from oracles import condition, empirical, g_test, reverse_law, softmax, total_variation
from redisc import Graph, ReDiSC
from redisc.diffusion import ReverseProcess, get_routing, prune_sample

KNOWN, FREE, SAMPLES = (1, -1, -1, 0), (-1,) * 4, 4000


@pytest.fixture(scope="module")
def clf():
    """A fit on a path whose denoiser is then given random weights and large label embeddings, so that labels matter."""
    rng = np.random.default_rng(0)
    graph = Graph(x=rng.normal(size=(4, 3)), edge_index=[[0, 1, 2], [1, 2, 3]], y=[0, 1, 1, 0])
    recipe = {**FAST, "steps": 3, "dtype": "float64", "iterations": 1}
    clf = ReDiSC(**recipe, random_state=0).fit(graph, [0, 1], [2, 3])
    denoiser = randomise(clf._model.denoiser, seed=4)
    with torch.no_grad():
        for gate in denoiser.gates:
            gate.embedding.weight.mul_(10)
    return clf


@pytest.fixture(scope="module")
def probabilities(clf):
    """(labels, t) -> (N, C), asked from the network one state at a time."""
    engine, denoiser = clf._model.engine(clf.graph_), clf._model.denoiser

    @functools.cache
    def answer(state, t):
        with torch.no_grad():
            return softmax(engine.noisy_logits(denoiser, torch.tensor([state]), torch.tensor([t]))[:, 0].numpy())

    return answer


@pytest.fixture(scope="module")
def law(clf, probabilities):
    alpha = clf._model.blueprint.schedule.alpha.numpy()
    return lambda routing, known: reverse_law(probabilities, alpha, routing, known)


@pytest.fixture(scope="module")
def samples(clf):
    return clf.sample(SAMPLES, labels=np.array(KNOWN))


def test_samples_follow_the_enumerated_labelled_first_law(samples, law):
    assert g_test(samples, law("labelled-first", KNOWN)) > 1e-3


def test_the_law_couples_neighbours_and_the_samples_show_it(samples, law):
    enumerated = law("labelled-first", KNOWN)
    first = {a: sum(m for s, m in enumerated.items() if s[1] == a) for a in (0, 1)}
    second = {b: sum(m for s, m in enumerated.items() if s[2] == b) for b in (0, 1)}
    independent = {(1, a, b, 0): first[a] * second[b] for a in (0, 1) for b in (0, 1)}
    assert total_variation(enumerated, independent) > 0.05
    assert g_test(samples, independent) < 1e-6


def test_samples_are_as_far_from_the_exact_posterior_as_enumeration_says(samples, law):
    exact = condition(law("uniform", FREE), KNOWN)
    gap = total_variation(law("labelled-first", KNOWN), exact)
    noise = 2 * (len(exact) / SAMPLES) ** 0.5 / 2
    assert gap > 2 * noise / 2
    assert total_variation(empirical(samples), exact) == pytest.approx(gap, abs=noise)


def test_pruned_samples_follow_the_exact_posterior_and_tell_the_same_gap(clf, samples, law):
    model = clf._model
    denoise = model.engine(clf.graph_).denoise(model.denoiser)
    process = ReverseProcess(denoise, model.blueprint.schedule, get_routing("uniform"), torch.tensor(KNOWN), seed=1)
    pruned = prune_sample(process, SAMPLES).numpy()
    exact = condition(law("uniform", FREE), KNOWN)
    assert g_test(pruned, exact) > 1e-3
    gap = total_variation(law("labelled-first", KNOWN), exact)
    noise = 4 * (len(exact) / SAMPLES) ** 0.5 / 2
    assert total_variation(empirical(samples), empirical(pruned)) == pytest.approx(gap, abs=noise)


def test_the_law_is_that_of_these_labels_and_no_others(clf, law):
    other = clf.sample(1500, labels=np.array([-1, -1, 1, -1]))
    assert g_test(other, law("labelled-first", (-1, -1, 1, -1))) > 1e-3
    assert (other[:, 0] != 0).any()


def test_probabilities_are_the_marginals_of_the_enumerated_law(clf, law):
    enumerated = law("labelled-first", KNOWN)
    marginals = np.zeros((4, 2))
    for state, mass in enumerated.items():
        marginals[np.arange(4), state] += mass
    assert np.abs(clf.predict_proba(1500, labels=np.array(KNOWN)) - marginals).max() < 0.03


@pytest.mark.parametrize(("known", "routing"), [(KNOWN, "labelled-first"), (FREE, "uniform")], ids=["given", "free"])
def test_the_likelihood_of_a_labelling_agrees_with_enumeration(clf, law, known, routing):
    """Without known labels labelled-first routing is uniform, and the bound is the paper's."""
    enumerated = law(routing, known)
    for y in [(1, 1, 0, 0), (1, 0, 0, 0)]:
        found = clf.log_likelihood(np.array(y), n_samples=2000, labels=np.array(known))
        assert float(found) == found.bound < np.log(enumerated[y]) + 5 * found.bound_error
        assert found.estimate == pytest.approx(np.log(enumerated[y]), abs=5 * found.bound_error)
        assert found.nodes == known.count(-1)


def test_joint_probabilities_are_those_of_the_enumerated_law(clf, law):
    exact = np.zeros((2, 2))
    for state, mass in law("labelled-first", KNOWN).items():
        exact[state[1], state[2]] += mass
    found = clf.joint_proba([1, 2], 2000, labels=np.array(KNOWN)).matrix()
    assert np.abs(found - exact).max() < 0.03


def test_the_drivers_of_a_node_are_the_enumerated_changes_of_its_posterior(clf, law):
    found = clf.drivers([1], n_samples=1500, labels=np.array(KNOWN), top=2)
    assert {known for known, _ in found.of(1)} == {0, 3}

    def marginal(known, label):
        return sum(mass for state, mass in law("labelled-first", known).items() if state[1] == label)

    answer = int(marginal(KNOWN, 1) > 0.5)
    for node, change in found.of(1):
        rest = tuple(-1 if i == node else label for i, label in enumerate(KNOWN))
        assert change == pytest.approx(marginal(KNOWN, answer) - marginal(rest, answer), abs=0.03)


def test_the_best_of_many_candidates_has_the_highest_bound(clf):
    known = np.array(KNOWN)
    best = clf.predict(labels=known, decode="best-of-n", n_samples=32)
    bounds = {y: clf.log_likelihood(np.array(y), n_samples=200, labels=known).bound for y in
              [(1, a, b, 0) for a in (0, 1) for b in (0, 1)]}  # fmt: skip
    assert bounds[tuple(best.tolist())] > sorted(bounds.values())[-2] - 0.1
