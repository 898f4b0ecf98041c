"""Counter-based random numbers: a uniform is a function of (seed, stream, chain, step, node).

Who computes a number, in which batch and in which order, does not change it, so a sample is the same whether its
chain runs alone or among others. The bits are those of SplitMix64 (Steele, Lea & Flood, 2014), whose k-th
output is a hash of `key + k * GOLDEN`; the key is a hash of the other four counters.
"""

from __future__ import annotations

from enum import IntEnum

import torch
from torch import Tensor


class Stream(IntEnum):
    """What a number is drawn for; equal counters in different streams are independent."""

    ROUTE = 1
    LABEL = 2
    MASK = 3


def uniform(seed: int, stream: Stream, chain: Tensor, step: int, node: Tensor) -> Tensor:
    """Return float64 uniforms in [0, 1), one for each pair of `chain` and `node` (int64, broadcast together)."""
    key = torch.tensor(_signed(seed), dtype=torch.int64, device=chain.device)
    for counter in (int(stream), step):
        key = _mix(key + _signed(counter * _GOLDEN))
    key = _mix(key + chain * _GOLDEN)
    bits = _mix(key + node * _GOLDEN)
    return _shift(bits, 11).to(torch.float64) * 2.0**-53


def _signed(value: int) -> int:
    """The int64 that has the same bits as `value` modulo 2**64."""
    return (value + 2**63) % 2**64 - 2**63


_GOLDEN = _signed(0x9E3779B97F4A7C15)
_FIRST = _signed(0xBF58476D1CE4E5B9)
_SECOND = _signed(0x94D049BB133111EB)


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift; torch's own keeps the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    """SplitMix64's finaliser; int64 products wrap, as they must."""
    x = (x ^ _shift(x, 30)) * _FIRST
    x = (x ^ _shift(x, 27)) * _SECOND
    return x ^ _shift(x, 31)
