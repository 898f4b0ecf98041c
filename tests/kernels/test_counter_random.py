import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, kstest

from kernels.ambient import ambient_randomness_untouched
from redisc.kernels.counter_random import Stream, uniform

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
COUNTERS = ["stream", "chain", "step", "node"]


def mix(x: int) -> int:
    """SplitMix64's finaliser in integers without bounds."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % WORD
    return x ^ (x >> 31)


def splitmix64(state: int, count: int) -> list[int]:
    """The first outputs of the generator as it is published: it adds, then mixes."""
    return [mix((state + k * GOLDEN) % WORD) for k in range(1, count + 1)]


def reference(seed: int, stream: int, chain: int, step: int, node: int) -> float:
    key = seed % WORD
    for counter in (stream, step, chain, node):
        key = mix((key + counter * GOLDEN) % WORD)
    return (key >> 11) / 2**53


def one(seed, stream, chain, step, node):
    return float(uniform(seed, stream, torch.tensor(chain), step, torch.tensor(node)))


def draws(seed=0, stream=Stream.LABEL, chain=0, step=1, node=0, count=40_000):
    """`count` draws over nodes that start at `node`."""
    return uniform(seed, stream, torch.tensor(chain), step, torch.arange(node, node + count)).numpy()


def test_the_reference_of_this_file_is_the_published_splitmix64():
    assert splitmix64(1234567, 5) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(
    st.one_of(st.integers(0, 50), st.integers(-(2**63), 2**64 - 1)),
    st.sampled_from(list(Stream)),
    st.integers(0, 2**40),
    st.integers(0, 10_000),
    st.integers(0, 2**40),
)
def test_uniforms_are_the_hash_of_their_counters(seed, stream, chain, step, node):
    assert one(seed, stream, chain, step, node) == reference(seed, stream, chain, step, node)


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_along_nodes_the_numbers_are_the_published_sequence(seed):
    key = seed
    for counter in (int(Stream.ROUTE), 3, 5):
        key = mix((key + counter * GOLDEN) % WORD)
    expected = [(bits >> 11) / 2**53 for bits in splitmix64(key, 20)]
    assert draws(seed, Stream.ROUTE, chain=5, step=3, node=1, count=20).tolist() == expected


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 9), st.randoms(use_true_random=False))
def test_a_number_does_not_depend_on_what_is_drawn_beside_it(seed, chains, nodes, order):
    chain, node = torch.arange(chains), torch.arange(nodes)
    table = uniform(seed, Stream.MASK, chain[:, None], 2, node)
    assert table.shape == (chains, nodes)
    assert table.dtype == torch.float64
    pairs = [(c, n) for c in range(chains) for n in range(nodes)]
    order.shuffle(pairs)
    c, n = torch.tensor(pairs).T
    torch.testing.assert_close(uniform(seed, Stream.MASK, c, 2, n), table[c, n], rtol=0, atol=0)
    torch.testing.assert_close(uniform(seed, Stream.MASK, chain[-1], 2, node[1:]), table[-1, 1:], rtol=0, atol=0)
    torch.testing.assert_close(uniform(seed, Stream.MASK, chain, 2, node[:, None]), table.T, rtol=0, atol=0)


@pytest.mark.parametrize("stream", list(Stream))
def test_numbers_are_uniform_in_the_unit_interval(stream):
    n = 200_000
    u = draws(11, stream, count=n)
    assert u.min() >= 0
    assert u.max() < 1
    assert len(np.unique(u)) == n
    for power in (1, 2, 3):
        spread = (1 / (2 * power + 1) - 1 / (power + 1) ** 2) ** 0.5
        assert abs((u**power).mean() - 1 / (power + 1)) < 4 * spread / n**0.5
    assert kstest(u, "uniform").pvalue > 1e-3
    lowest = (u * 2**53).astype(np.int64) & 1
    assert abs(lowest.mean() - 0.5) < 2 / n**0.5


@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize("counter", [*COUNTERS, "seed"])
def test_numbers_that_differ_in_one_counter_are_independent(counter, seed):
    here = {"seed": seed, "stream": Stream.ROUTE, "chain": 0, "step": 1, "node": 0}
    there = {**here, counter: Stream.LABEL if counter == "stream" else here[counter] + 1}
    first, second = draws(**here), draws(**there)
    assert not np.array_equal(first, second)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / len(first) ** 0.5
    table = np.histogram2d(first, second, bins=10, range=[[0, 1], [0, 1]])[0]
    assert chi2_contingency(table).pvalue > 1e-3


@given(st.integers(0, 100), st.permutations(range(4)), st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_counters_are_not_interchangeable(seed, order, values):
    """Neither (chain, step) nor any other rearrangement of counters may meet in one number."""
    moved = [values[place] for place in order]
    same = one(seed, *values) == one(seed, *moved)
    assert same == (values == moved)


def test_ambient_randomness_is_not_used():
    with ambient_randomness_untouched():
        draws()
