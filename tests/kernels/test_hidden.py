"""The one-pass hidden layer equals its parts: mix labels, ReLU, dropout; forward and backward."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.kernels.hidden import mix_relu_dropout
from redisc.kernels.labels import mix_labels
from redisc.kernels.relu_dropout import relu_dropout


@given(
    rows=st.integers(1, 30),
    copies=st.integers(1, 4),
    width=st.integers(1, 20),
    states=st.integers(2, 5),
    shared_base=st.booleans(),
    one_table=st.booleans(),
    kept=st.integers(1, 256),
    seed=st.integers(0, 2**16),
)
def test_equals_its_parts(
    rows: int, copies: int, width: int, states: int, shared_base: bool, one_table: bool, kept: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.from_numpy(generator.standard_normal(shape)).requires_grad_()

    base, table = draw(rows, 1 if shared_base else copies, width), draw(1 if one_table else copies, states, width)
    counts = torch.from_numpy(generator.integers(0, 3, (rows, copies, states)).astype(float))
    random_bytes = generator.integers(0, 256, rows * copies * width, dtype=np.uint8)
    fused = mix_relu_dropout(base, counts, table, random_bytes, kept)
    parts = relu_dropout(mix_labels(base, counts, table), random_bytes, kept)
    torch.testing.assert_close(fused, parts, rtol=1e-12, atol=1e-12)
    into = draw(rows, copies, width).detach()
    for mine, reference in zip(
        torch.autograd.grad(fused, (base, table), into), torch.autograd.grad(parts, (base, table), into), strict=True
    ):
        torch.testing.assert_close(mine, reference, rtol=1e-11, atol=1e-11)
