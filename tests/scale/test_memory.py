"""The formula for memory against what was measured, as the page on scale tells it."""

import json
from pathlib import Path

import pytest

from redisc.scale.memory import hop_fit_bytes

ROWS = [json.loads(line) for line in (Path(__file__).parents[2] / "results" / "scale.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", [row for row in ROWS if row["part"] == "hops"], ids=lambda row: f"{row['nodes']:,}")
def test_measured_peaks_follow_the_formula(row):
    settings = row["settings"]
    expected = hop_fit_bytes(
        row["nodes"], row["edges"], 100, 47, settings["layers"], settings["hidden"], settings["queue_size"],
        settings["batch_size"],
    )  # fmt: skip
    assert row["peak_mib"] * 2**20 == pytest.approx(expected, rel=0.2)


def test_more_of_anything_takes_more():
    base = {"nodes": 1000, "edges": 5000, "features": 10, "classes": 3, "hops": 2, "hidden": 8, "queue": 5, "batch": 10}
    for name, value in base.items():
        assert hop_fit_bytes(**{**base, name: value + 1}) > hop_fit_bytes(**base)
