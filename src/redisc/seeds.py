"""From one seed to every generator: nothing in the library draws from ambient random state."""

from __future__ import annotations

import hashlib
import operator
from typing import Any

import numpy as np
import torch

from redisc.errors import ConfigError

SeedLike = int | np.random.Generator | np.random.RandomState | None


def resolve_seed(random_state: SeedLike) -> int:
    """Turn scikit-learn's `random_state` forms into one integer; `None` asks the operating system."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    try:
        return operator.index(random_state)
    except TypeError:
        raise ConfigError(f"random_state={random_state!r}: give an integer, a numpy generator or None") from None


def derive_seed(seed: int, *words: str | int) -> int:
    """Return a 63-bit seed for one purpose; different words give independent streams.

    The words are hashed as they are written, since `np.random.SeedSequence` takes `[5]` and `[5, 0]` for the same.
    """
    written = repr((int(seed) % 2**64, *words)).encode()
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "little") >> 1


def torch_generator(seed: int, *words: str | int) -> torch.Generator:
    """Return a CPU torch generator for one purpose."""
    return torch.Generator().manual_seed(derive_seed(seed, *words))


def numpy_generator(seed: int, *words: str | int) -> np.random.Generator:
    """Return a numpy generator for one purpose (SFC64: the fastest source of random bytes in numpy)."""
    return np.random.Generator(np.random.SFC64(derive_seed(seed, *words)))


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return where a numpy generator stands, as JSON can hold it."""
    state = generator.bit_generator.state
    inner = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in state["state"].items()}
    return {**state, "state": inner}


def restore_generator(generator: np.random.Generator, state: dict[str, Any]) -> None:
    """Put a numpy generator of the same kind where `generator_state` found another."""
    inner = {
        name: np.array(value, dtype=np.uint64) if isinstance(value, list) else value
        for name, value in state["state"].items()
    }
    generator.bit_generator.state = {**state, "state": inner}
