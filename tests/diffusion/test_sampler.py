import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from examples import HandMadeDenoiser, path
from oracles import condition, empirical, g_test, reverse_law, total_variation
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing, prune_sample
from redisc.errors import ConfigError

ROUTINGS = ["uniform", "labelled-first", "confident-first"]
KNOWN = (1, MASKED, MASKED, 0)
FREE = (MASKED,) * 4
SCHEDULE = Schedule.cosine(4)
DENOISER = HandMadeDenoiser(path(4), classes=2, coupling=1.5)


def process(routing="labelled-first", known=KNOWN, denoise=DENOISER, schedule=SCHEDULE, seed=0, **settings):
    return ReverseProcess(denoise, schedule, get_routing(routing), torch.tensor(known), seed, **settings)


def law(routing, known, labelled=None):
    return reverse_law(DENOISER.probabilities, SCHEDULE.alpha.numpy(), routing, known, labelled)


@pytest.mark.parametrize("known", [KNOWN, FREE], ids=["clamped", "free"])
@pytest.mark.parametrize("routing", ROUTINGS)
def test_samples_follow_the_enumerated_law_of_the_reverse_process(routing, known):
    samples = process(routing, known).run(40_000).numpy()
    assert g_test(samples, law(routing, known)) > 1e-3


def test_labelled_first_without_clamping_follows_its_enumerated_law():
    labelled = (True, False, False, True)
    samples = process("labelled-first", FREE, labelled=torch.tensor(labelled)).run(40_000).numpy()
    assert g_test(samples, law("labelled-first", FREE, labelled)) > 1e-3


def test_the_test_of_laws_tells_routings_apart():
    samples = process("uniform", FREE).run(40_000).numpy()
    assert g_test(samples, law("confident-first", FREE)) < 1e-6


@pytest.mark.parametrize("routing", ROUTINGS)
def test_pruning_samples_the_exact_posterior(routing):
    labelled = torch.tensor([True, False, False, True])
    samples = prune_sample(process(routing, KNOWN, labelled=labelled), 40_000).numpy()
    posterior = condition(law(routing, FREE, tuple(labelled.tolist())), KNOWN)
    assert g_test(samples, posterior) > 1e-3


def test_the_gap_of_labelled_first_to_the_posterior_is_what_the_docs_say():
    exact = condition(law("uniform", FREE), KNOWN)
    gap = total_variation(law("labelled-first", KNOWN), exact)
    assert gap == pytest.approx(0.098, abs=0.001)
    assert total_variation(law("uniform", KNOWN), exact) == pytest.approx(0.088, abs=0.001)
    sampled = process("labelled-first", KNOWN).run(40_000).numpy()
    assert total_variation(empirical(sampled), exact) == pytest.approx(gap, abs=0.02)


def neighbours_independence(steps):
    """p-value that the labels of two joined nodes are independent, over free samples."""
    denoiser = HandMadeDenoiser(path(2), classes=2, coupling=3.0, steps=steps)
    schedule = Schedule.cosine(steps)
    samples = process("uniform", (MASKED, MASKED), denoiser, schedule).run(20_000).numpy()
    table = np.zeros((2, 2))
    np.add.at(table, (samples[:, 0], samples[:, 1]), 1)
    return chi2_contingency(table).pvalue


def test_neighbours_are_correlated_beyond_their_marginals():
    assert neighbours_independence(steps=8) < 1e-12


def test_with_one_step_neighbours_are_independent():
    assert neighbours_independence(steps=1) > 0.01


@given(
    st.sampled_from(ROUTINGS),
    st.integers(1, 12),
    st.integers(0, 99),
    st.lists(st.integers(-1, 2), min_size=6, max_size=6),
)
def test_every_node_is_revealed_once_and_known_labels_survive(routing, steps, seed, known):
    denoiser = HandMadeDenoiser(path(6), classes=3, coupling=1.0, seed=seed)
    states = []

    def watch(state):
        states.append(state.labels.clone())
        return state

    process(routing, tuple(known), denoiser, Schedule.cosine(steps), seed).run(3, watch)
    for before, after in itertools.pairwise(states):
        revealed = before != MASKED
        assert (after[revealed] == before[revealed]).all()
    assert (states[-1] != MASKED).all()
    given_ = torch.tensor(known) != MASKED
    for state in states:
        shown = (state != MASKED) & given_
        assert (state == torch.tensor(known))[shown].all()


@given(st.integers(2, 30), st.integers(0, 50))
def test_the_masked_share_of_a_sample_follows_alpha(steps, seed):
    nodes, shares, schedule = 400, [], Schedule.cosine(steps)
    denoiser = HandMadeDenoiser(np.zeros((nodes, nodes)), classes=2, coupling=0.0)

    def watch(state):
        shares.append(float((state.labels == MASKED).double().mean()))
        return state

    process("labelled-first", (0,) * 100 + (MASKED,) * 300, denoiser, schedule, seed).run(8, watch)
    expected = 1 - schedule.alpha.numpy()[::-1][1:]
    bound = 5 * np.sqrt(expected * (1 - expected) / (8 * nodes)) + 1e-9
    assert (np.abs(np.array(shares) - expected) <= bound).all()


def test_a_sample_does_not_depend_on_who_runs_beside_it():
    together = process().run(5)
    alone = torch.cat([process().run(torch.tensor([k])) for k in range(5)])
    assert (together == alone).all()
    assert (process().run(torch.tensor([3, 1])) == together[[3, 1]]).all()


def test_the_denoiser_is_not_asked_while_the_budget_goes_to_labelled_nodes():
    denoiser = HandMadeDenoiser(path(40), classes=2, coupling=1.0)
    process("labelled-first", (0,) * 40, denoiser, Schedule.cosine(50)).run(2)
    assert denoiser.calls == 0
    process("labelled-first", (0,) * 20 + (MASKED,) * 20, denoiser, Schedule.linear(400)).run(1)
    assert denoiser.calls < 200


def test_temperature_sharpens_and_zero_takes_the_most_probable_label():
    still = HandMadeDenoiser(np.zeros((3, 3)), classes=3, coupling=0.0)
    still.drift[:] = 0
    best = still.bias.argmax(1)
    greedy = process("uniform", (MASKED,) * 3, still, temperature=0.0).run(50).numpy()
    assert (greedy == best).all()
    shares = [
        (process("uniform", (MASKED,) * 3, still, temperature=h).run(2000).numpy() == best).mean()
        for h in (2.0, 1.0, 0.3)
    ]
    assert shares == sorted(shares)
    with pytest.raises(ConfigError, match="temperature"):
        process(temperature=-1.0)


def test_pruning_gives_up_with_a_sentence_when_nothing_survives():
    denoiser = HandMadeDenoiser(np.zeros((2, 2)), classes=2, coupling=0.0)
    denoiser.bias[:] = [[200.0, -200.0], [200.0, -200.0]]
    with pytest.raises(ConfigError, match="pruning kept 0 of"):
        prune_sample(process("uniform", (1, MASKED), denoiser), 10, batch=100, max_chains=500)
