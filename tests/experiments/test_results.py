"""The page of results says what was measured, what was not, and where the paper's sign can't be seen."""

import pytest

from experiments.rows import stored
from redisc.experiments.results import page, sign_verdict
from redisc.experiments.store import ResultStore
from redisc.experiments.tables import Line


@pytest.fixture
def store(tmp_path):
    results = ResultStore(tmp_path / "runs.jsonl")
    for seed, (a, b, warm) in enumerate([(0.82, 0.80, 0.80), (0.84, 0.83, 0.81), (0.83, 0.80, 0.78)]):
        results.add(stored(Line("redisc", "cora", "gcn", "with"), seed, a, warm))
        results.add(stored(Line("redisc", "cora", "gcn", "without", {"time_aware": False}), seed, b))
    return results


def test_the_page_holds_tables_and_distances(store):
    text = page(store)
    # Welch: errors 1.00²/3 + 0.85²/10 with 2.93 degrees of freedom, 0.50²/3 + 0.80²/10 with 5.5.
    distances = "| 82.27 | +0.73 ± 2.05 | 41.50 ± 0.50 | 63.93 | -22.43 ± 0.96 | 3 of 10 |"
    assert f"| cora | gcn | 83.00 ± 1.00 {distances}" in text
    assert "- cora: +2.00 ± 2.48 over 3 pairs; the paper's sign is not visible." in text
    assert "redisc gat on citeseer" in text or "Not at hand" in text


def test_the_page_tells_what_the_chain_adds_to_its_warm_start(store):
    # Gains of 2, 3 and 5 points: mean 3.33, deviation 1.53, t(0.975, 2) = 4.303.
    assert "| cora | gcn | 79.67 ± 1.53 | +3.33 ± 3.79 | 39.83 ± 0.76 | +1.67 ± 1.90 | 3 |" in page(store)


def test_the_page_says_what_recipes_are(store):
    kinds = "2 gat layers and 8 appnp layers, initial residual 0.2"
    deep = "6 gat_sep layers, residuals, layer norm"
    text = page(store)
    assert f"| citeseer | 2 gcn layers | 4 networks: {kinds}; 3 generations; views that agree |" in text
    assert f'| minesweeper_benchmark | {deep}; objective "labelled"; confident-first answers | {deep} |' in text


def test_data_that_runs_had_is_at_hand_wherever_the_page_is_written(store, monkeypatch):
    monkeypatch.delenv("REDISC_DATA", raising=False)
    text = page(store)
    assert "redisc gat on cora" in text.split("At hand and not run yet: ")[1]
    assert not any("cora" in line for line in text.splitlines() if line.startswith("Not at hand"))


def test_an_empty_store_gives_a_page_without_figures(tmp_path):
    text = page(ResultStore(tmp_path / "none.jsonl"))
    assert text.count("Nothing was run yet.") == 8


@pytest.mark.parametrize(
    ("difference", "half_width", "said"),
    [(2.0, 1.0, "is visible"), (0.5, 1.0, "not visible"), (-2.0, 1.0, "opposite"), (2.0, None, "tells nothing")],
)
def test_a_sign_is_visible_only_outside_its_interval(difference, half_width, said):
    assert said in sign_verdict(difference, half_width)
