"""The report as a file: whole, alone, and true to the run."""

import json
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from redisc.cli import main
from redisc.evaluation import evaluate_run
from redisc.report.layout import place_nodes
from redisc.report.page import cached_places, collect, draw_plots, render_page
from redisc.report.page import places as places_module
from report.reports import CLASS_NAMES, data_block, propagation_run, redisc_run

SAMPLES = 4


class Loads(HTMLParser):
    """What a page would fetch, and what it says where nothing is known of a picture."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.pictures = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.targets += [found[key] for key in ("src", "href", "srcset", "data", "action") if key in found]
        if tag == "img":
            self.pictures.append(found.get("alt"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return redisc_run(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def content(run):
    return collect(run, SAMPLES)


@pytest.fixture(scope="module")
def page(run, content):
    places = cached_places(run.folder, content.graph)
    return render_page(content, places, draw_plots(content, places))


@pytest.fixture(scope="module")
def data(page):
    return json.loads(data_block(page))


def redisc(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["redisc", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr()


def test_the_page_is_one_file_that_loads_nothing(page):
    found = Loads(page)
    assert all(target.startswith("data:image/") for target in found.targets)
    assert "default-src 'none'" in page
    assert "@import" not in page.partition("</style>")[0]


def test_every_plot_is_told_in_words_too(page):
    words = Loads(page).pictures
    assert len(words) == 5
    assert all(len(alt) > 20 for alt in words)


def test_the_chain_in_the_page_is_the_one_that_predict_returns(run, content, data):
    clf, graph = run.model(), content.graph
    trace = clf.trace(graph)
    assert data["steps"] == trace.steps
    assert clf.classes_[data["labels"]].tolist() == trace.labels.tolist() == clf.predict(graph).tolist()
    assert data["revealed"] == trace.revealed_at.tolist()
    assert data["known"] == np.flatnonzero(trace.known).tolist()
    np.testing.assert_allclose(np.array(data["confidence"]) / 1000, trace.confidence, atol=0.00051)


def test_the_posterior_in_the_page_is_that_of_predict_proba(run, content, data):
    chance = run.model().predict_proba(SAMPLES, graph=content.graph)
    likely = np.array(data["likely"]).reshape(len(chance), data["top"])
    shown = np.array(data["chance"]).reshape(likely.shape) / 1000
    np.testing.assert_allclose(shown, np.take_along_axis(chance, likely, axis=1), atol=0.00051)
    np.testing.assert_allclose(shown[:, 0], chance.max(axis=1), atol=0.00051)


def test_edges_stand_in_the_page_once(content, data):
    pairs = np.array(data["edges"]).reshape(-1, 2)
    assert len(pairs) == content.graph.num_edges
    assert (content.graph.adjacency()[pairs[:, 0], pairs[:, 1]] == 1).all()


def test_true_labels_are_told_of_scored_nodes_alone(content, data):
    truth, mask = np.array(data["truth"]), content.split.test
    np.testing.assert_array_equal(truth[mask], content.graph.y[mask])
    assert (truth[~mask] == -1).all()


def test_metrics_are_those_of_the_evaluation(run, content, page):
    scores = evaluate_run(run.model(), content.graph, content.split.test, SAMPLES)
    assert content.scores == scores
    for name in ("redisc", "mean_field"):
        for value in scores[name].values():
            assert f"{100 * value:.2f}</td>" in page
    assert "test nodes, whose labels the model has not seen" in page


def test_names_are_text_and_cannot_leave_the_data(page, data):
    assert tuple(data["classes"]) == CLASS_NAMES
    assert data["ids"][7] == "<b>node 7</b>"
    assert "<" not in data_block(page)
    assert "<i>small</i>" not in page
    assert "&lt;i&gt;small&lt;/i&gt; &amp; odd" in page


def test_a_run_without_test_labels_says_that_validation_flatters(run, content, monkeypatch):
    hidden = content.graph.with_labels(np.where(content.split.test, -1, content.graph.y))
    monkeypatch.setattr(type(run), "graph", lambda self: hidden)
    told = collect(run, 2)
    assert told.kind == "validation"
    page = render_page(told, place_nodes(hidden), [])
    assert "which chose the model and so flatter it" in page
    truth = np.array(json.loads(data_block(page))["truth"])
    assert ((truth >= 0) == told.split.val).all()


def test_a_layout_is_computed_once_and_again_for_another_graph(run, content, tmp_path, monkeypatch):
    first = cached_places(tmp_path, content.graph)
    np.testing.assert_allclose(first, place_nodes(content.graph), atol=1e-4)
    with monkeypatch.context() as patched:
        patched.setattr(places_module, "place_nodes", lambda graph: pytest.fail("computed again"))
        np.testing.assert_array_equal(cached_places(tmp_path, content.graph), first)
    smaller = content.graph.subgraph(np.arange(20))
    assert cached_places(tmp_path, smaller).shape == (20, 2)
    (tmp_path / "layout.json").write_text("{broken")
    np.testing.assert_array_equal(cached_places(tmp_path, content.graph), first)


def test_drivers_are_shown_as_they_are_given(run):
    given = [[(3, -0.25), (5, 0.0625)]] + [[]] * 59
    content = replace(collect(run, 2), drivers=given)
    data = json.loads(data_block(render_page(content, place_nodes(content.graph), [])))
    assert data["drivers"][0] == [3, -250, 5, 62]
    assert data["drivers"][1] == []


def test_drivers_are_the_known_labels_whose_absence_changes_a_node(run):
    content = collect(run, 2, driver_groups=64)
    expected = content.clf.drivers(graph=content.graph, labels=content.exam.known, groups=64)
    assert expected.alone
    assert content.drivers == expected.lists()
    named = {known for pairs in content.drivers for known, _ in pairs}
    assert named
    assert all(content.known[list(named)])


def test_other_methods_get_a_report_without_a_player(tmp_path, monkeypatch, capsys):
    run = propagation_run(tmp_path)
    code, said = redisc(monkeypatch, capsys, "report", run.folder, "--json")
    told, page = json.loads(said.out), (run.folder / "report.html").read_text()
    assert (code, told["player"]) == (0, False)
    assert "nothing to play" in page
    assert "<script" not in page
    assert not (run.folder / "layout.json").exists()


def test_a_graph_too_large_for_the_player_gets_a_report_without_it(run, monkeypatch):
    monkeypatch.setattr("redisc.report.page.content.MOST_NODES", 50)
    content = collect(run, 2)
    assert content.trace is None
    assert "draws at most 50 nodes" in render_page(content, None, [])


def test_the_command_writes_the_file_or_nothing(run, tmp_path, monkeypatch, capsys):
    code, said = redisc(
        monkeypatch, capsys, "report", run.folder, "--samples", 2, "--out", tmp_path / "r.html", "--json"
    )
    told = json.loads(said.out)
    assert code == 0
    assert told["out"] == str(tmp_path / "r.html")
    assert told["bytes"] == (tmp_path / "r.html").stat().st_size
    assert set(told["redisc"]) == set(told["mean_field"])
    code, said = redisc(monkeypatch, capsys, "report", tmp_path / "nowhere")
    assert code == 2
    assert "redisc fit" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
