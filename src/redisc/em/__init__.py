"""Variational EM (Algorithm 1 of the paper): warm start, priority queue, E-step, M-step, trainer."""

from redisc.em.clock import Clock, Progress
from redisc.em.config import EMConfig
from redisc.em.e_step import Sampled, draw_samples
from redisc.em.problem import Problem, Validation
from redisc.em.trainer import History, Trainer

__all__ = [
    "Clock",
    "EMConfig",
    "History",
    "Problem",
    "Progress",
    "Sampled",
    "Trainer",
    "Validation",
    "draw_samples",
]
