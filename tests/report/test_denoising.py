"""Six panels of one chain: what is shown at a step is what stands in Y(t)."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from examples import random_graph
from redisc.diffusion import Trace
from redisc.errors import LengthError
from redisc.report import draw_denoising
from redisc.report.denoising import panel_steps
from redisc.report.palette import UNKNOWN, class_colours


def chain(nodes, steps, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    revealed_at = rng.integers(1, steps + 1, nodes)
    labels = rng.integers(classes, size=nodes)
    return Trace(steps, labels, revealed_at, np.ones(nodes), rng.random(nodes) < 0.3)


@given(st.integers(1, 100), st.integers(1, 60), st.integers(0, 1000))
def test_panels_go_from_all_masked_to_all_revealed(nodes, steps, seed):
    trace = chain(nodes, steps, seed)
    shown = panel_steps(trace)
    assert shown[0] == steps
    assert shown[-1] == 0
    assert (np.diff(shown) < 0).all()
    assert len(shown) == min(6, steps + 1)


def test_panels_are_about_equal_shares_apart():
    trace = chain(5000, 80)
    shares = [(trace.revealed_at > t).mean() for t in panel_steps(trace)]
    np.testing.assert_allclose(shares, np.linspace(0, 1, 6), atol=0.02)


def dots(panel):
    """Colour of each drawn node, by its place, and the places that have a ring."""
    colours, ringed = {}, set()
    for marks in panel.collections[1:]:
        faces = np.broadcast_to(marks.get_facecolors(), (len(marks.get_offsets()), 4))
        for place, face in zip(marks.get_offsets().tolist(), faces, strict=True):
            colours[tuple(place)] = to_hex(face).upper()
            if marks.get_linewidths()[0] > 0:
                ringed.add(tuple(place))
    return colours, ringed


def test_each_panel_shows_the_labels_of_its_step(tmp_path, figures):
    graph, trace = random_graph(1, nodes=30, edges=50), chain(30, 12)
    places = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    draw_denoising(graph, trace, tmp_path / "a.png", places)
    assert len(figures[0].axes) == 6
    palette = [*class_colours(3), UNKNOWN]
    for panel in figures[0].axes:
        t, share = map(int, re.fullmatch(r"t = (\d+): (\d+)% revealed", panel.get_title()).groups())
        assert share == round(100 * (trace.revealed_at > t).mean())
        colours, ringed = dots(panel)
        assert colours == {tuple(place): palette[y] for place, y in zip(places.tolist(), trace.at(t), strict=True)}
        assert ringed == {tuple(place) for place in places[trace.known].tolist()}


def test_few_steps_give_few_panels_and_an_svg_works(tmp_path, figures):
    draw_denoising(random_graph(1), chain(12, 3), tmp_path / "a.svg")
    titles = [panel.get_title() for panel in figures[0].axes if panel.get_title()]
    assert [title.split(":")[0] for title in titles] == ["t = 3", "t = 2", "t = 1", "t = 0"]


def test_a_trace_of_another_graph_is_refused(tmp_path):
    with pytest.raises(LengthError, match="of 5 nodes, but the graph has 12"):
        draw_denoising(random_graph(1), chain(5, 3), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
