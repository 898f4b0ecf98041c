"""Other methods than ReDiSC, by the same commands."""

import csv
import json
import sys

import pytest

from redisc.cli import main
from redisc.methods import METHODS
from test_cli import redisc, refused


def test_methods_are_listed_with_name_citation_family_and_cost():
    rows = json.loads(redisc("methods", "--json").stdout)
    assert [row["name"] for row in rows] == list(METHODS)
    assert all(row[key] for row in rows for key in ("name", "citation", "family", "cost"))
    shown = redisc("methods").stdout
    assert all(name in shown for name in METHODS)


SHORT = {
    "epochs": 3, "hidden": 8, "heads": 2, "steps": 4, "sampling_steps": 2, "iterations": 10, "mean_field_epochs": 5
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_fitted_by_name(method, tmp_path, monkeypatch, capsys):
    names = METHODS[method]().get_params()
    short = [f"--set={name}={value}" for name, value in SHORT.items() if name in names]
    given = ["redisc", "fit", "karate", "--method", method, "--out", str(tmp_path / "run"), "--json", *short]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as exit_:
        main()
    assert not exit_.value.code
    assert json.loads(capsys.readouterr().out)["method"] == method
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()


@pytest.mark.parametrize("method", ["lp", "gcn"])
def test_a_method_is_fitted_asked_and_evaluated(method, tmp_path):
    folder = tmp_path / "run"
    done = redisc("fit", "karate", "--method", method, "--out", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == method
    assert redisc("predict", folder, "--out", tmp_path / "p.csv").returncode == 0
    with (tmp_path / "p.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 34
    scores = json.loads(redisc("evaluate", folder, "--json").stdout)
    assert scores[method]["node_accuracy"] > 0.6
    assert "node accuracy" in redisc("evaluate", folder).stdout


def test_wrong_questions_are_refused_in_one_line(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    assert redisc("fit", "karate", "--method", "lp", "--out", folder, "--json").returncode == 0
    assert "draws no joint samples" in refused(monkeypatch, capsys, "sample", folder)
    assert "unknown method 'magic'" in refused(monkeypatch, capsys, "fit", "karate", "--method", "magic")
    given = ("fit", "karate", "--method", "lp", "--backbone", "gcn", "--out", tmp_path / "other")
    assert "has none to choose" in refused(monkeypatch, capsys, *given)
    assert "expected NAME=VALUE" in refused(
        monkeypatch, capsys, "fit", "karate", "--method", "gcn", "--set", "steps=3", "--out", tmp_path / "other"
    )
