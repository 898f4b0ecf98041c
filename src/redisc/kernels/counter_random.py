"""Counter-based random numbers: a uniform is a function of (seed, stream, chain, step, node).

Who computes a number, in which batch and in which order, does not change it, so a sample is the same whether its
chain runs alone or among others. The bits are those of SplitMix64 (Steele, Lea & Flood, 2014), whose k-th
output is a hash of `key + k * GOLDEN`; the key is a hash of the other four counters.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import torch
from torch import Tensor

from redisc.kernels.compiled import serial

GOLDEN = 0x9E3779B97F4A7C15
_WORD = 2**64


class Stream(IntEnum):
    """What a number is drawn for; equal counters in different streams are independent."""

    ROUTE = 1
    LABEL = 2
    MASK = 3
    NEIGHBOUR = 4
    ORDER = 5


def uniform(seed: int, stream: Stream, chain: Tensor, step: int, node: Tensor) -> Tensor:
    """Return float64 uniforms in [0, 1), one for each pair of `chain` and `node` (int64, broadcast together)."""
    key = stream_key(seed, stream, step)
    if chain.device.type != "cpu":
        return _uniform_anywhere(key, chain, node)
    pairs = torch.broadcast_tensors(chain, node)
    flat = [part.reshape(-1).numpy() for part in pairs]
    return torch.from_numpy(_uniform_rows(np.uint64(key), *flat)).view(pairs[0].shape)


def stream_key(seed: int, stream: Stream, step: int) -> int:
    """Hash the counters that a whole step shares."""
    key = seed % _WORD
    for counter in (int(stream), step):
        key = _mix_integer((key + counter * GOLDEN) % _WORD)
    return key


def _mix_integer(x: int) -> int:
    """SplitMix64's finaliser on Python integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % _WORD
    return x ^ (x >> 31)


@serial
def mix_bits(x):  # type: ignore[no-untyped-def]
    """SplitMix64's finaliser, compiled."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@serial
def to_uniform(key, node):  # type: ignore[no-untyped-def]
    """Return the number of one node under a chain's key."""
    bits = mix_bits(key + np.uint64(node) * np.uint64(0x9E3779B97F4A7C15))
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@serial
def _uniform_rows(key, chain, node):  # type: ignore[no-untyped-def]
    out = np.empty(len(chain))
    for r in range(len(chain)):
        out[r] = to_uniform(mix_bits(key + np.uint64(chain[r]) * np.uint64(0x9E3779B97F4A7C15)), node[r])
    return out


def _uniform_anywhere(key: int, chain: Tensor, node: Tensor) -> Tensor:
    """The same numbers by torch operations, for any device; int64 products wrap, as they must."""
    chain_key = _mix_tensor(_signed(key) + chain * _signed(GOLDEN))
    bits = _mix_tensor(chain_key + node * _signed(GOLDEN))
    return _shift(bits, 11).to(torch.float64) * 2.0**-53


def _signed(value: int) -> int:
    """The int64 that has the same bits as `value` modulo 2**64."""
    return (value + 2**63) % _WORD - 2**63


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift; torch's own keeps the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix_tensor(x: Tensor) -> Tensor:
    x = (x ^ _shift(x, 30)) * _signed(0xBF58476D1CE4E5B9)
    x = (x ^ _shift(x, 27)) * _signed(0x94D049BB133111EB)
    return x ^ _shift(x, 31)
