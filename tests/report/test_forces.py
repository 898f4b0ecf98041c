"""The field stands in for all pairs: the same push, at a cost that does not grow with their number."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from redisc.report.forces import Field, pairwise_push

few = settings(max_examples=8)


def scattered(seed, count=500):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, 2)) * [1, 0.4] + rng.normal(size=2), rng.uniform(0.5, 3, count)


@few
@given(st.integers(0, 1000))
def test_the_field_pushes_as_all_pairs_do(seed):
    places, mass = scattered(seed)
    exact, field = pairwise_push(places, mass), Field(len(places))(places, mass)
    error = np.linalg.norm(field - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.median(error) < 0.1
    assert np.average(error, weights=np.linalg.norm(exact, axis=1)) < 0.3


@few
@given(st.integers(0, 1000))
def test_no_node_pushes_itself_and_pushes_cancel(seed):
    places, mass = scattered(seed)
    field = Field(len(places))
    total = field(places, mass).sum(0)
    assert np.abs(total).max() < 1e-6 * np.abs(field(places, mass)).sum()
    apart = np.array([[0.0, 0.0], [1.0, 0.3]])
    np.testing.assert_allclose(field(apart, np.ones(2)), pairwise_push(apart, np.ones(2)), rtol=0.02)


@few
@given(st.integers(0, 1000), st.floats(0.1, 50))
def test_a_larger_drawing_pushes_less(seed, scale):
    places, mass = scattered(seed)
    field = Field(len(places))
    np.testing.assert_allclose(field(scale * places, mass) * scale, field(places, mass), rtol=1e-4, atol=1e-4)
