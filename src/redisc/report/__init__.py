"""Pictures of results: one function each, which writes a file whole or not at all; its suffix says the format."""

from redisc.report.by_degree import draw_accuracy_by_degree
from redisc.report.confusion import draw_confusion
from redisc.report.denoising import draw_denoising
from redisc.report.growth import draw_growth
from redisc.report.mistakes import draw_mistakes
from redisc.report.reliability import draw_reliability
from redisc.report.results import draw_table
from redisc.report.training import draw_training

__all__ = [
    "draw_accuracy_by_degree",
    "draw_confusion",
    "draw_denoising",
    "draw_growth",
    "draw_mistakes",
    "draw_reliability",
    "draw_table",
    "draw_training",
]
