import pytest
import torch

from examples import HandMadeDenoiser, path
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing, trace_chain

KNOWN = (1, MASKED, MASKED, 0)
DENOISER = HandMadeDenoiser(path(4), classes=2, coupling=1.5)
ROUTINGS = ["uniform", "labelled-first", "confident-first"]


def process(routing, seed=0):
    return ReverseProcess(DENOISER, Schedule.cosine(4), get_routing(routing), torch.tensor(KNOWN), seed)


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("seed", range(5))
def test_a_trace_shows_every_state_of_its_chain(routing, seed):
    states = []

    def keep(state):
        states.append(state.labels[0].tolist())
        return state

    labels = process(routing, seed).run(torch.tensor([3]), keep)[0]
    trace = trace_chain(process(routing, seed), chain=3)
    assert trace.labels.tolist() == labels.tolist()
    assert [trace.at(t).tolist() for t in (3, 2, 1, 0)] == states
    assert trace.at(4).tolist() == [MASKED] * 4


@pytest.mark.parametrize("routing", ROUTINGS)
def test_confidence_is_the_denoisers_probability_at_the_reveal(routing):
    trace = trace_chain(process(routing))
    assert trace.known.tolist() == [True, False, False, True]
    assert trace.confidence[[0, 3]].tolist() == [1, 1]
    for node in (1, 2):
        t = int(trace.revealed_at[node])
        expected = DENOISER.probabilities(tuple(trace.at(t).tolist()), t)[node, trace.labels[node]]
        assert trace.confidence[node] == pytest.approx(expected)
