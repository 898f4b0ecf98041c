"""Variational EM (Algorithm 1 of the paper): warm start, priority queue, E-step, M-step, trainer."""

from redisc.em.config import EMConfig
from redisc.em.e_step import Sampled, draw_samples, watched
from redisc.em.keeper import Keeper
from redisc.em.trainer import History, Trainer

__all__ = [
    "EMConfig",
    "History",
    "Keeper",
    "Sampled",
    "Trainer",
    "draw_samples",
    "watched",
]
