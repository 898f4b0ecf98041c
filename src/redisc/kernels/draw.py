"""Drawing labels from logits by inverting their distribution function."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redisc.kernels.compiled import serial, view
from redisc.kernels.counter_random import Stream, mix_bits, stream_key, to_uniform, uniform


def draw_labels(logits: Tensor, temperature: float, seed: int, chain: Tensor, step: int, node: Tensor) -> Tensor:
    """Draw a label for each row of `logits (R, C)` from softmax(logits / temperature); 0 takes the most probable.

    The random number of a row is that of its chain's identity, its node and the step.
    """
    if temperature == 0:
        return logits.argmax(1)
    if logits.device.type != "cpu":
        return _draw_anywhere(logits, temperature, uniform(seed, Stream.LABEL, chain, step, node))
    key = np.uint64(stream_key(seed, Stream.LABEL, step))
    return torch.from_numpy(_draw_rows(view(logits), temperature, key, chain.numpy(), node.numpy()))


def _draw_anywhere(logits: Tensor, temperature: float, uniforms: Tensor) -> Tensor:
    cumulative = (logits.double() / temperature).softmax(1).cumsum(1)
    below = cumulative <= (uniforms * cumulative[:, -1])[:, None]
    return below.sum(1).clamp_max(logits.shape[1] - 1)


@serial
def _draw_rows(logits, temperature, key, chain, node):  # type: ignore[no-untyped-def]
    rows, classes = logits.shape
    out = np.empty(rows, np.int64)
    cumulative = np.empty(classes)
    for r in range(rows):
        peak, total = -np.inf, 0.0
        for c in range(classes):
            peak = max(peak, np.float64(logits[r, c]))
        for c in range(classes):
            total += np.exp((np.float64(logits[r, c]) - peak) / temperature)
            cumulative[c] = total
        u = to_uniform(mix_bits(key + np.uint64(chain[r]) * np.uint64(0x9E3779B97F4A7C15)), node[r]) * total
        label = 0
        while label < classes - 1 and cumulative[label] <= u:
            label += 1
        out[r] = label
    return out
