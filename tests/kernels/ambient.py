"""The watch over random state that belongs to the caller."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def ambient_randomness_untouched() -> Iterator[None]:
    """Fail where the block draws from, seeds or restores wrongly the global state of Python, numpy or torch."""
    python, legacy, tensor = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    yield
    assert random.getstate() == python
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), legacy, strict=True))  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), tensor)
