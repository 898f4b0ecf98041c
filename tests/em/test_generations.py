"""A generation of mean-field GNNs learns what the one before it answers."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc import ReDiSC, datasets
from redisc.clock import Clock
from redisc.diffusion.masking import MASKED
from redisc.em import EMConfig
from redisc.em.committee import train_committee
from redisc.em.generations import handed_down, imitation
from redisc.em.warm_start import MeanFieldTraining
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import members_of
from redisc.seeds import derive_seed, numpy_generator, torch_generator

EPOCHS = 7


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def train(case, generations, clock=None, **settings):
    config = EMConfig(
        mean_field_epochs=EPOCHS, mean_field_patience=EPOCHS, mean_field_generations=generations, **settings
    )
    return train_committee(case.model.mean_field, case.engine, case.problem, config, 0, clock or Clock())


@given(st.integers(0, 99), st.integers(1, 4), st.integers(1, 5), st.integers(2, 4))
def test_imitation_is_the_mean_cross_entropy(seed, views, nodes, classes):
    logits, taught = drawn(seed, views, nodes, classes), drawn(seed + 1, nodes, classes).softmax(1)
    expected = np.mean([-(taught * view.log_softmax(1)).sum(1).mean().item() for view in logits])
    assert imitation(logits, taught).item() == pytest.approx(expected)


@given(st.integers(0, 99), st.integers(1, 5), st.integers(2, 4))
def test_nothing_imitates_better_than_the_answers_themselves(seed, nodes, classes):
    taught = drawn(seed, nodes, classes).softmax(1)
    best = imitation(taught.log()[None], taught)
    assert best <= imitation(drawn(seed + 1, 1, nodes, classes), taught) + 1e-12
    gradient = torch.autograd.functional.jacobian(lambda logits: imitation(logits, taught), taught.log()[None])
    assert gradient.abs().max() < 1e-12


def test_known_labels_are_handed_down_as_they_are():
    answers = torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]], dtype=torch.float64)
    taught = handed_down(answers, torch.tensor([1, MASKED, 0]))
    assert taught.tolist() == [[0.0, 1.0], [0.6, 0.4], [1.0, 0.0]]
    assert taught.dtype == answers.dtype


@pytest.mark.parametrize("settings", [{}, {"mean_field_consistency": 1.0, "mean_field_views": 2}], ids=str)
def test_the_second_generation_is_the_first_ones_pupil(bench, settings):
    case, by_hand = bench(members=2, dropout=0.5), bench(members=2, dropout=0.5)
    warm = train(case, 2, **settings)
    first = train(by_hand, 1, **settings)
    taught = handed_down(first.probabilities, by_hand.problem.known)
    config = EMConfig(mean_field_epochs=EPOCHS, mean_field_patience=EPOCHS, **settings)
    for turn, member in enumerate(members_of(by_hand.model.mean_field), start=2):
        member.reset_parameters(torch_generator(0, "mean-field", turn))
        dropout = Dropout(numpy_generator(0, "mean-field dropout", turn))
        batches = derive_seed(0, "mean-field batches", turn)
        MeanFieldTraining(member, by_hand.engine, by_hand.problem, config, dropout, batches, taught).run(Clock())
    assert torch.equal(warm.probabilities, by_hand.engine.opinion(by_hand.model.mean_field))
    assert not torch.allclose(warm.probabilities, first.probabilities)
    assert warm.epochs == 4 * EPOCHS


def test_a_pupils_loss_is_the_labels_and_the_imitation_of_one_pass(bench, monkeypatch):
    case, config = bench(dropout=0.0), EMConfig()
    model, engine = case.model.mean_field, case.engine
    model.reset_parameters(torch_generator(0, "mean-field"))
    taught = drawn(5, len(case.problem.known), case.problem.num_classes).softmax(1)
    trained = (model, engine, case.problem, config, Dropout(np.random.default_rng(0)), 0)
    alone, pupil = MeanFieldTraining(*trained), MeanFieldTraining(*trained, taught)
    expected = alone.loss() + imitation(engine.mean_field(model)[None], taught)
    passes, whole = [], type(engine).mean_field
    monkeypatch.setattr(type(engine), "mean_field", lambda *given: passes.append(given) or whole(*given))
    assert pupil.loss().item() == pytest.approx(expected.item())
    assert len(passes) == 1


def test_when_time_runs_out_members_of_the_first_generation_keep_their_voice(bench):
    case, whole, clock = bench(members=3), bench(members=3), Clock()
    asked = []

    def is_past(share):
        asked.append(share)
        return len(asked) >= 4 * (EPOCHS + 1)  # one turn of the second generation

    clock.is_past = is_past
    train(case, 2, clock)
    train(whole, 1)
    assert case.model.mean_field.voices.all()
    found, before = ([c.engine.mean_field(m) for m in members_of(c.model.mean_field)] for c in (case, whole))
    assert not torch.equal(found[0], before[0])
    assert torch.equal(found[1], before[1]) and torch.equal(found[2], before[2])


def test_progress_counts_the_turns_of_all_generations(bench):
    reports = []
    train(bench(members=2), 3, Clock(None, reports.append))
    assert [report.done for report in reports] == list(range(1, 6 * EPOCHS + 1))
    assert {report.total for report in reports} == {6 * EPOCHS}


FAST = {"hidden": 8, "iterations": 1, "queue_size": 2, "steps": 4, "mean_field_epochs": 30, "random_state": 0}


def mean_field(**changed):
    graph = datasets.load("karate")
    split = graph.splits[0]
    return ReDiSC(**FAST, **changed).fit(graph, split.train, split.val).mean_field_proba()


def test_the_estimator_can_be_asked_for_it():
    second = mean_field(mean_field_generations=2)
    assert np.array_equal(second, mean_field(mean_field_generations=2))
    assert not np.array_equal(second, mean_field())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mean_field_generations": 0}, "mean_field_generations=0: it must be at least 1"),
        ({"mean_field_generations": 2, "batch_size": 4}, "mean_field_generations needs the whole graph"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        mean_field(**settings)
