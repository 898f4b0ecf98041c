import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.diffusion import MASKED, mask_labels
from redisc.kernels.counter_random import Stream, uniform


@given(st.floats(0, 1), st.integers(0, 1000))
def test_the_masked_fraction_follows_alpha(alpha, seed):
    n = 20_000
    labels = torch.arange(n) % 5
    noisy = mask_labels(
        labels, torch.tensor([[alpha]]), uniform(seed, Stream.MASK, torch.tensor([[0]]), 1, torch.arange(n))
    )
    kept = noisy != MASKED
    assert abs(float(kept.double().mean()) - alpha) <= 5 * (alpha * (1 - alpha) / n) ** 0.5 + 1e-12
    assert (noisy[kept] == labels[None][kept]).all()


def test_every_copy_and_node_can_have_its_own_alpha():
    labels = torch.tensor([0, 1, 2])
    alpha = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    noisy = mask_labels(labels, alpha, torch.full((2, 3), 0.5))
    assert noisy.tolist() == [[0, MASKED, 2], [MASKED, 1, MASKED]]
