"""Fixtures and the Hypothesis profile of the whole suite."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
torch.set_num_threads(1)
if os.environ.get("REDISC_DATA"):  # a relative folder is meant from here, and some tests run in folders of their own
    os.environ["REDISC_DATA"] = str(Path(os.environ["REDISC_DATA"]).resolve())


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of benchmark files; tests that need it are skipped where it is not named."""
    if "REDISC_DATA" not in os.environ:
        pytest.skip("REDISC_DATA does not name a folder of benchmark files")
    return Path(os.environ["REDISC_DATA"])
