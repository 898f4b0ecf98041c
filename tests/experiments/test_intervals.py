"""Intervals of means and of their differences are those of SciPy's tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from redisc.experiments.intervals import half_width_between, interval

figures = st.lists(st.floats(0, 100), min_size=2, max_size=12).filter(lambda values: np.std(values) > 1e-3)


@given(figures)
def test_the_interval_of_a_mean_is_the_one_of_the_t_test(gains):
    found = interval(gains)
    low, high = stats.ttest_1samp(gains, 0).confidence_interval()
    assert found["difference"] == pytest.approx((low + high) / 2, abs=1e-9)
    assert found["half_width"] == pytest.approx((high - low) / 2)


@given(figures, figures)
def test_the_interval_of_a_difference_is_the_one_of_welchs_test(ours, theirs):
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    deviations = np.std(ours, ddof=1), np.std(theirs, ddof=1)
    assert half_width_between(deviations, (len(ours), len(theirs))) == pytest.approx((high - low) / 2)


def test_one_figure_has_no_interval_and_equal_ones_have_a_point():
    assert interval([3.0]) == {"difference": 3.0, "half_width": None}
    assert interval([])["difference"] is None
    assert half_width_between((None, 1.0), (1, 10)) is None
    assert half_width_between((0.0, 0.0), (10, 10)) == 0
