"""The comparison of E-steps does both sides' work and measures both."""

import pytest

from redisc.errors import ConfigError
from redisc.experiments.e_step_bench import compare_e_steps
from redisc.source import DatasetSource


def test_both_e_steps_are_timed_and_weighed():
    result = compare_e_steps("dpm-snc", DatasetSource("karate"), "gcn", repeats=1)
    assert set(result["e_step"]) == {"redisc", "dpm_snc"}
    assert all(side["seconds"] > 0 for side in result["e_step"].values())
    assert result["e_step"]["dpm_snc"]["mib"] > 0
    assert result["shape"]["samples"] == 3


def test_a_method_without_an_e_step_is_refused():
    with pytest.raises(ConfigError, match="no E-step"):
        compare_e_steps("gcn", DatasetSource("karate"), "gcn")
