"""The E-step: samples with known labels, and the priorities that they get."""

import numpy as np
import pytest
import torch

from redisc.diffusion import MASKED
from redisc.em import EMConfig
from redisc.em.e_step import EStep

PRIORITIES = ["validation", "train-cv", "none"]


class Watched:
    """An engine that notes which nodes its denoiser is asked about, and what it is shown of the others."""

    def __init__(self, logits):
        self.logits, self.asked, self.shown = logits, set(), []

    def denoise(self, denoiser):
        def answer(labels, t, chain, node):
            self.asked |= set(node.tolist())
            self.shown.append(labels.clone())
            return self.logits(labels, node)

        return answer


def always_zero(labels, node):
    return torch.tensor([50.0, 0.0, 0.0], dtype=torch.float64).expand(len(node), 3)


def coin(labels, node):
    return torch.zeros(len(node), 3, dtype=torch.float64)


def e_step(case, logits=coin, seed=0, **settings):
    engine = Watched(logits)
    config = EMConfig(**{"e_step_samples": 4, "e_step_temperature": 1.0, **settings})
    return EStep(case.problem, engine, case.schedule, config, seed), engine


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("routing", ["labelled-first", "uniform", "confident-first"])
def test_known_labels_stand_in_every_sample(bench, priority, routing):
    case = bench()
    step, _ = e_step(case, priority=priority, e_step_routing=routing)
    for round_ in range(6):
        pushed = step(None, round_)
        assert len(pushed) == 4
        for labels, _ in pushed:
            assert (labels[case.trained] == case.problem.known[case.trained]).all()
            assert ((labels >= 0) & (labels < 3)).all()


def test_samples_differ_between_chains_and_rounds_and_repeat_with_the_seed(bench):
    case = bench()
    samples = {tuple(s.tolist()) for round_ in range(3) for s, _ in e_step(case)[0](None, round_)}
    assert len(samples) == 12
    again = {tuple(s.tolist()) for round_ in range(3) for s, _ in e_step(case)[0](None, round_)}
    assert again == samples
    other = {tuple(s.tolist()) for s, _ in e_step(case, seed=1)[0](None, 0)}
    assert not other & samples


def test_validation_priority_is_the_accuracy_of_that_sample(bench):
    case = bench()
    nodes, truth = case.problem.validation.nodes, case.problem.validation.labels
    pushed = [pair for round_ in range(5) for pair in e_step(case, priority="validation")[0](None, round_)]
    for labels, priority in pushed:
        assert priority == pytest.approx((labels.numpy()[nodes] == truth).mean())
    assert len({priority for _, priority in pushed}) > 2


def test_no_priority_is_given_where_none_is_asked_for(bench):
    assert [priority for _, priority in e_step(bench(), priority="none")[0](None, 0)] == [None] * 4


@pytest.mark.parametrize("priority", ["validation", "none"])
def test_without_folds_the_denoiser_is_never_asked_about_a_known_node(bench, priority):
    case = bench()
    step, engine = e_step(case, priority=priority)
    for round_ in range(3):
        step(None, round_)
    assert engine.asked == set(range(30)) - set(case.trained.tolist())


def folds_of(case, rounds, folds=5, seed=0):
    """The known nodes that the denoiser was asked about in each round: the fold that was really withheld."""
    found = []
    for round_ in range(rounds):
        step, engine = e_step(case, priority="train-cv", folds=folds, seed=seed)
        step(None, round_)
        found.append(engine.asked & set(case.trained.tolist()))
    return found


def test_folds_partition_the_training_nodes_evenly_and_take_turns(bench):
    case = bench(train=14)
    folds = folds_of(case, 7)
    assert sorted(node for fold in folds[:5] for node in fold) == case.trained.tolist()
    assert sorted(map(len, folds[:5])) == [2, 3, 3, 3, 3]
    assert folds[5:] == folds[:2]
    assert folds_of(case, 2, seed=1) != folds[:2]


def test_the_withheld_fold_is_not_clamped_and_alone_makes_the_priority(bench):
    case = bench()
    known = case.problem.known
    seen = set()
    for round_, fold in enumerate(folds_of(case, 5)):
        step, engine = e_step(case, always_zero, priority="train-cv")
        truth = known[sorted(fold)].numpy()
        for labels, priority in step(None, round_):
            assert priority == pytest.approx((truth == 0).mean())
            assert (labels[case.trained] == known[case.trained]).all()
            rest = np.setdiff1d(np.arange(30), case.trained)
            assert (labels[rest] == 0).all()
        shown = torch.cat(engine.shown)[:, sorted(fold)]
        assert ((shown == MASKED) | (shown == 0)).all()
        seen.add(round((truth == 0).mean(), 6))
    assert len(seen) > 1


def test_train_cv_priorities_use_the_metric_of_the_fit(bench):
    case = bench(metric="balanced_accuracy")
    known = case.problem.known
    expected = [1 / len(set(known[sorted(fold)].tolist())) for fold in folds_of(case, 5, folds=2)[:2]]
    for round_ in range(2):
        step, _ = e_step(case, always_zero, priority="train-cv", folds=2)
        assert all(priority == pytest.approx(expected[round_]) for _, priority in step(None, round_))


def test_an_empty_fold_gives_no_priority(bench):
    case = bench(train=3)
    rounds = [e_step(case, priority="train-cv", folds=5)[0](None, round_) for round_ in range(5)]
    assert [pushed[0][1] is None for pushed in rounds] == [False, False, False, True, True]


@pytest.mark.parametrize("priority", ["train-cv", "none"])
def test_validation_labels_have_no_part_in_other_priorities(bench, priority):
    case = bench()
    other = case.with_validation((case.problem.validation.labels + 1) % 3)
    for round_ in range(5):
        first, second = (e_step(b, priority=priority)[0](None, round_) for b in (case, other))
        for (labels, chance), (labels_too, chance_too) in zip(first, second, strict=True):
            assert chance == chance_too
            assert torch.equal(labels, labels_too)


def test_a_low_temperature_sharpens_the_samples(bench):
    case = bench()
    unknown = np.setdiff1d(np.arange(30), case.trained)

    def leaning(labels, node):
        return torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64).expand(len(node), 3)

    shares = [
        np.mean([(s[unknown] == 0).double().mean() for s, _ in e_step(case, leaning, e_step_temperature=h)[0](None, 0)])
        for h in (5.0, 1.0, 0.1)
    ]
    assert shares == sorted(shares)
    assert shares[-1] > 0.95
