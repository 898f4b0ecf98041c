import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.diffusion import Schedule, get_schedule
from redisc.errors import ConfigError

NAMES = st.sampled_from(["cosine", "linear", "authors-cosine", lambda fraction: (1 - fraction) ** 3])


@given(NAMES, st.integers(1, 200))
def test_alpha_falls_from_one_to_zero(name, steps):
    schedule = get_schedule(name, steps)
    assert schedule.steps == steps
    assert schedule.alpha[0] == 1
    assert (schedule.alpha.diff() <= 0).all()
    assert schedule.alpha[-1] == 0 if name != "authors-cosine" else schedule.alpha[-1] < 2e-3


def test_cosine_is_nichol_and_dhariwals_formula():
    t, steps = np.arange(81), 80
    f = np.cos((t / steps + 0.008) / 1.008 * np.pi / 2) ** 2
    np.testing.assert_allclose(Schedule.cosine(80).alpha, f / f[0], atol=1e-15)


def test_the_authors_schedule_keeps_betas_within_their_bounds():
    schedule = get_schedule("authors-cosine", 80)
    betas = torch.stack([schedule.beta(t) for t in range(1, 81)])
    assert betas.min() >= 0.001 - 1e-12
    assert betas.max() <= 0.999 + 1e-12


@given(NAMES, st.integers(1, 60))
def test_reveal_rate_is_the_papers_lambda(name, steps):
    schedule = get_schedule(name, steps)
    alpha = schedule.alpha.numpy()
    for t in range(1, steps + 1):
        assert float(schedule.reveal_rate(t)) == pytest.approx((alpha[t - 1] - alpha[t]) / (1 - alpha[t]), abs=1e-12)
        assert float(schedule.beta(t)) * alpha[t - 1] == pytest.approx(alpha[t], abs=1e-12)
    assert schedule.reveal_rate(1) == 1


@given(NAMES, st.integers(1, 60))
def test_revealing_at_lambda_undoes_masking_at_alpha(name, steps):
    schedule = get_schedule(name, steps)
    masked = 1.0
    for t in range(steps, 0, -1):
        before = masked
        masked *= 1 - float(schedule.reveal_rate(t))
        if t < steps:
            assert before == pytest.approx(1 - float(schedule.alpha[t]), abs=2e-3)
    assert masked == 0


@given(st.lists(st.floats(0.2, 5), min_size=1, max_size=6))
def test_per_node_schedules_are_powers_of_the_shared_one(powers):
    shared = Schedule.cosine(20)
    schedule = shared.per_node(torch.tensor(powers))
    for i, power in enumerate(powers):
        torch.testing.assert_close(schedule.alpha[:, i], shared.alpha ** torch.tensor(power).double())
    assert schedule.reveal_rate(7).shape == (len(powers),)


@pytest.mark.parametrize("alpha", [[1.0], [0.9, 0.0], [1.0, 0.5, 0.6, 0.0], [1.0, 0.5], [1.0, float("nan"), 0.0]])
def test_a_schedule_that_does_not_fall_from_one_to_zero_is_refused(alpha):
    with pytest.raises(ConfigError):
        Schedule(torch.tensor(alpha))


def test_an_unknown_schedule_is_refused_by_name():
    with pytest.raises(ConfigError, match="cosin"):
        get_schedule("cosin", 10)
    with pytest.raises(ConfigError, match="steps=0"):
        get_schedule("cosine", 0)
