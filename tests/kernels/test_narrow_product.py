"""The narrow product is torch's product, forward and backward."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.kernels.narrow_product import NARROW, narrow_product


@given(
    rows=st.integers(0, 40), copies=st.integers(1, 3), depth=st.integers(1, 70), width=st.integers(1, NARROW + 2)
)  # fmt: skip
def test_equals_the_product_and_its_gradients(rows: int, copies: int, depth: int, width: int) -> None:
    generator = torch.Generator().manual_seed(rows + 100 * depth + width)
    h = torch.randn(rows, copies, depth, dtype=torch.float64, generator=generator, requires_grad=True)
    weight = torch.randn(depth, width, dtype=torch.float64, generator=generator, requires_grad=True)
    ours, theirs = narrow_product(h, weight), h @ weight
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    into = torch.randn(theirs.shape, dtype=torch.float64, generator=generator)
    for mine, reference in zip(
        torch.autograd.grad(ours, (h, weight), into), torch.autograd.grad(theirs, (h, weight), into), strict=True
    ):
        torch.testing.assert_close(mine, reference, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("frozen", ["h", "weight"])
def test_a_side_without_gradient_gets_none(frozen: str) -> None:
    h, weight = torch.randn(5, 4, requires_grad=frozen != "h"), torch.randn(4, 3, requires_grad=frozen != "weight")
    narrow_product(h, weight).sum().backward()
    assert (h.grad is None) == (frozen == "h")
    assert (weight.grad is None) == (frozen == "weight")


def test_a_row_does_not_depend_on_its_company() -> None:
    h, weight = torch.randn(9_000, 64), torch.randn(64, 7)
    assert torch.equal(narrow_product(h, weight)[17:18], narrow_product(h[17:18], weight))
