"""The report of a run: one HTML file that opens from disk."""

from redisc.report.page.content import Content, collect
from redisc.report.page.places import cached_places
from redisc.report.page.plots import draw_plots
from redisc.report.page.render import render_page

__all__ = ["Content", "cached_places", "collect", "draw_plots", "render_page"]
