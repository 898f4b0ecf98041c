"""The page itself: contents, styles and scripts in one HTML text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from redisc import __version__
from redisc.optional import require
from redisc.report.page.content import Content
from redisc.report.page.payload import json_block, player_payload
from redisc.report.page.plots import Plot
from redisc.report.page.wording import fact_list, finding, metrics_table

_SCRIPTS = ("chain.js", "colouring.js", "view.js", "panel.js", "player.js")

# Nothing may be fetched, from wherever; Plotly's WebGL code is put together at run time and needs unsafe-eval.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"


def render_page(content: Content, places: np.ndarray | None, plots: Sequence[Plot]) -> str:
    """Return the report as HTML; `places (N, 2)` are needed where there is a trace to play."""
    played = content.trace is not None and places is not None
    return Template(_asset("page.html")).substitute(
        policy=_POLICY,
        title=escape(content.graph.name),
        style=_asset("page.css"),
        finding=escape(finding(content)),
        metrics=metrics_table(content),
        facts=fact_list(content),
        player=_asset("player.html") if played else f'<p class="note">{escape(content.no_player)}</p>',
        plots=_plots(plots),
        version=__version__,
        scripts=_scripts(content, places),
    )


def _asset(name: str) -> str:
    return (files("redisc.report.page") / "assets" / name).read_text(encoding="utf-8")


def _scripts(content: Content, places: np.ndarray | None) -> str:
    """Return Plotly, the data and the player; nothing where there is no path to play."""
    if content.trace is None or places is None:
        return ""
    plotly: str = require("plotly.offline", extra="report").get_plotlyjs()
    data = json_block(player_payload(content, content.trace, places))
    code = '"use strict";\n' + "\n".join(_asset(name) for name in _SCRIPTS)
    blocks = (f"<script>{plotly}</script>", f'<script type="application/json" id="data">{data}</script>')
    return "\n".join((*blocks, f"<script>\n{code}</script>"))


def _plots(plots: Sequence[Plot]) -> str:
    if not plots:
        return ""
    figures = "\n".join(_figure(plot) for plot in plots)
    title = '<h2 id="plots-title">Plots</h2>'
    return f'<section aria-labelledby="plots-title">{title}<div class="plots">\n{figures}\n</div></section>'


def _figure(plot: Plot) -> str:
    words, source = escape(plot.words), f"data:image/{plot.kind};base64,{b64encode(plot.picture).decode()}"
    start = '<figure class="wide">' if plot.wide else "<figure>"
    image = f'<img alt="{words}" src="{source}">'
    return f"{start}<figcaption>{escape(plot.title)}</figcaption>{image}<p>{words}</p></figure>"
