"""One seed, many streams: equal purposes agree, different ones have nothing in common."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from redisc.errors import ConfigError
from redisc.seeds import derive_seed, numpy_generator, resolve_seed, torch_generator

SEEDS = st.integers(-(2**63), 2**64 - 1)
PURPOSES = st.lists(st.one_of(st.text(max_size=9), st.integers(0, 2**40)), max_size=3).map(tuple)


@given(SEEDS, PURPOSES)
def test_a_purpose_always_has_the_same_63_bit_seed(seed, words):
    derived = derive_seed(seed, *words)
    assert derived == derive_seed(seed, *words)
    assert 0 <= derived < 2**63


@given(SEEDS, PURPOSES, PURPOSES)
def test_different_purposes_have_different_seeds(seed, first, second):
    assert (derive_seed(seed, *first) == derive_seed(seed, *second)) == (first == second)


@given(SEEDS, SEEDS, PURPOSES)
def test_different_seeds_differ_for_every_purpose(first, second, words):
    same = first % 2**64 == second % 2**64
    assert (derive_seed(first, *words) == derive_seed(second, *words)) == same


@pytest.mark.parametrize(
    ("first", "second"),
    [((5,), (5, 0)), ((5, "abcd", "efgh"), (5, "abcdefgh")), ((5 + 7 * 2**32,), (5, 7)), ((5, "1"), (5, 1))],
)
def test_purposes_that_are_written_alike_are_still_different(first, second):
    assert derive_seed(*first) != derive_seed(*second)


def test_seeds_of_neighbouring_rounds_are_spread_evenly():
    drawn = np.array([derive_seed(0, round_) for round_ in range(2000)]) / 2**63
    assert kstest(drawn, "uniform").pvalue > 1e-3


@given(SEEDS, PURPOSES)
def test_generators_repeat_and_leave_ambient_random_state_alone(seed, words):
    before = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    draws = [
        (float(torch.rand((), generator=torch_generator(seed, *words))), numpy_generator(seed, *words).random())
        for _ in range(2)
    ]
    assert draws[0] == draws[1]
    after = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    assert before[0] == after[0]
    assert all(np.array_equal(a, b) for a, b in zip(before[1], after[1], strict=True))
    assert torch.equal(before[2], after[2])


@given(SEEDS)
def test_an_integer_is_its_own_seed(seed):
    assert resolve_seed(seed) == seed
    assert resolve_seed(np.int64(7)) == 7


def test_numpy_generators_give_the_seed_they_would_draw_next():
    assert resolve_seed(np.random.default_rng(3)) == resolve_seed(np.random.default_rng(3))
    assert resolve_seed(np.random.default_rng(3)) != resolve_seed(np.random.default_rng(4))
    assert resolve_seed(np.random.RandomState(3)) == resolve_seed(np.random.RandomState(3))
    generator = np.random.default_rng(3)
    assert resolve_seed(generator) != resolve_seed(generator)


def test_without_a_seed_every_fit_has_its_own():
    assert len({resolve_seed(None) for _ in range(20)}) == 20


@pytest.mark.parametrize("nonsense", ["zero", 1.5, [1]])
def test_anything_else_is_refused_by_name(nonsense):
    with pytest.raises(ConfigError, match="random_state"):
        resolve_seed(nonsense)
