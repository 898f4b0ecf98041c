"""The page of results says what was measured, what was not, and where the paper's sign can't be seen."""

import pytest

from experiments.rows import stored
from redisc.experiments.results import page, sign_verdict
from redisc.experiments.store import ResultStore
from redisc.experiments.tables import Line


@pytest.fixture
def store(tmp_path):
    results = ResultStore(tmp_path / "runs.jsonl")
    for seed, (a, b) in enumerate([(0.82, 0.80), (0.84, 0.83), (0.83, 0.80)]):
        results.add(stored(Line("redisc", "cora", "gcn", "with"), seed, a))
        results.add(stored(Line("redisc", "cora", "gcn", "without", {"time_aware": False}), seed, b))
    return results


def test_the_page_holds_tables_distances_and_findings(store):
    text = page(store, "## What did not help\n\nNothing.")
    assert "| cora | gcn | 83.00 ± 1.00 | 82.27 | +0.73 | 41.50 ± 0.50 | 63.93 | -22.43 | 3 |" in text
    assert "- cora: +2.00 ± 2.48 (95 %) over 3 pairs; the paper's sign is not visible." in text
    assert "redisc gat on citeseer" in text or "Not at hand" in text
    assert text.endswith("Nothing.\n")


def test_the_page_tells_what_the_chain_adds_to_its_warm_start(store):
    # Gains of 2, 4 and 3 points: mean 3, deviation 1, t(0.975, 2) = 4.303.
    assert "| cora | gcn | 80.00 ± 0.00 | +3.00 ± 2.48 | 40.00 ± 0.00 | +1.50 ± 1.24 | 3 |" in page(store, "")


def test_an_empty_store_gives_a_page_without_figures(tmp_path):
    text = page(ResultStore(tmp_path / "none.jsonl"), "")
    assert text.count("Nothing was run yet.") == 7


@pytest.mark.parametrize(
    ("difference", "half_width", "said"),
    [(2.0, 1.0, "is visible"), (0.5, 1.0, "not visible"), (-2.0, 1.0, "opposite"), (2.0, None, "tells nothing")],
)
def test_a_sign_is_visible_only_outside_its_interval(difference, half_width, said):
    assert said in sign_verdict(difference, half_width)
