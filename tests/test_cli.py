"""The command, as a person or a script meets it."""

import contextlib
import csv
import io
import json
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import typer

from redisc import datasets
from redisc.cli import app, main

QUICK = [
    f"--set={pair}"
    for pair in ("iterations=40", "warm_iterations=20", "evaluate_every=20", "mean_field_epochs=30", "steps=10")
]


def redisc_process(*arguments):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "redisc", *map(str, arguments)], check=False, capture_output=True, text=True
    )


def redisc(*arguments):
    """Run the command here, which spares a process the seconds in which torch is loaded."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as exit_,
    ):
        patch.setattr(sys, "argv", ["redisc", *map(str, arguments)])
        main()
    return SimpleNamespace(returncode=exit_.value.code or 0, stdout=out.getvalue(), stderr=err.getvalue())


def refused(monkeypatch, capsys, *arguments):
    """Run the command here, expect exit code 2, and return its one line of complaint."""
    monkeypatch.setattr(sys, "argv", ["redisc", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        main()
    complaint = capsys.readouterr().err.strip()
    assert exit_.value.code == 2
    assert complaint.startswith("error: ")
    assert "\n" not in complaint
    return complaint


@pytest.fixture(scope="module")
def karate_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("karate") / "run"
    done = redisc("fit", "karate", "--out", folder, "--json", *QUICK)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Zachary's club as a user would have it: text ids, class names, some labels missing, a column with a comma."""
    folder, graph = tmp_path_factory.mktemp("tables"), datasets.load("karate")
    source, target = graph.edge_index()
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["from", "to"], *[[f"m{a}", f"m{b}"] for a, b in zip(source, target, strict=True) if a < b]]
        )
    rng = np.random.default_rng(0)
    known = rng.random(graph.num_nodes) < 0.5
    names = [graph.class_names[c] if k else "" for c, k in zip(graph.y, known, strict=True)]
    rows = [[f"m{i}", f"Member, no. {i}", round(20 + 40 * rng.random(), 1), name] for i, name in enumerate(names)]
    with (folder / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["member", "title", "age", "side"], *rows])
    return folder, names


def test_a_fit_reports_its_run_and_what_it_gained(karate_run):
    folder, report = karate_run
    assert report["run"] == str(folder)
    assert report["verdict"].startswith("validation accuracy: mean-field GNN")
    assert report["sizes"] == [8, 8, 18]
    assert len(report["history"]["validation"]) == 2


def test_predictions_cover_every_node_and_keep_known_labels(karate_run, tmp_path):
    folder, _ = karate_run
    done = redisc("predict", folder, "--out", tmp_path / "p.csv", "--json")
    assert json.loads(done.stdout) == {
        "out": str(tmp_path / "p.csv"),
        "nodes": 34,
        "known": 8,
        "stated_coverage": None,
        "calibration_nodes": 0,
    }
    rows = list(csv.DictReader((tmp_path / "p.csv").open()))
    graph = datasets.load("karate")
    assert [int(row["id"]) for row in rows] == list(range(34))
    for row in rows:
        assert 0 <= float(row["confidence"]) <= 1
        assert set(row["set"].split("|")) <= {"Mr. Hi", "Officer"}
        if row["known"] == "True":
            assert row["label"] == graph.class_names[graph.y[int(row["id"])]] == row["set"]
            assert float(row["confidence"]) == 1


def test_samples_are_columns_and_seeds_tell_them_apart(karate_run, tmp_path):
    folder, _ = karate_run
    texts = []
    for number, seed in enumerate([0, 0, 1]):
        out = tmp_path / f"{number}.csv"
        assert redisc("sample", folder, "-n", 3, "--seed", seed, "--out", out, "--temperature", 2).returncode == 0
        texts.append(out.read_text())
    assert texts[0].splitlines()[0] == "id,sample_0,sample_1,sample_2"
    assert texts[0] == texts[1] != texts[2]


def test_evaluate_scores_the_test_nodes_of_both_models(karate_run):
    folder, _ = karate_run
    report = json.loads(redisc("evaluate", folder, "--json").stdout)
    assert (report["nodes"], report["count"]) == ("test", 18)
    keys = {"node_accuracy", "subgraph_accuracy", "roc_auc", "balanced_accuracy", "calibration_error"}
    assert set(report["redisc"]) == set(report["mean_field"]) == keys
    assert "ReDiSC" in redisc("evaluate", folder).stdout


def test_a_csv_becomes_labels_with_two_commands(tables, tmp_path):
    folder, names = tables
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv")
    done = redisc_process("fit", *files, "--label", "side", "--out", tmp_path / "run", *QUICK)
    assert done.returncode == 0, done.stderr
    assert redisc_process("predict", tmp_path / "run").returncode == 0
    rows = list(csv.DictReader((tmp_path / "run" / "predictions.csv").open()))
    assert [row["id"] for row in rows] == [f"m{i}" for i in range(34)]
    for row, name in zip(rows, names, strict=True):
        assert row["known"] == str(bool(name))
        assert row["label"] == name if name else row["label"] in {"Mr. Hi", "Officer"}


def test_kept_back_labels_are_not_known_to_the_model(tables, tmp_path):
    folder, names = tables
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv")
    arguments = ("--label", "side", "--test-fraction", 0.4, "--out", tmp_path / "run", "--json", *QUICK)
    sizes = json.loads(redisc("fit", *files, *arguments).stdout)["sizes"]
    assert sum(sizes) == sum(map(bool, names))
    assert sizes[2] == round(0.4 * sum(map(bool, names)))
    assert json.loads(redisc("evaluate", tmp_path / "run", "--json").stdout)["nodes"] == "test"
    assert redisc("predict", tmp_path / "run").returncode == 0
    rows = list(csv.DictReader((tmp_path / "run" / "predictions.csv").open()))
    assert sum(row["known"] == "True" for row in rows) == sizes[0] + sizes[1]


def test_a_run_whose_classes_changed_is_refused(tables, tmp_path, monkeypatch, capsys):
    folder, names = tables
    for name in ("edges.csv", "nodes.csv"):
        (tmp_path / name).write_text((folder / name).read_text())
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    assert redisc("fit", *files, "--label", "side", "--out", tmp_path / "run", *QUICK).returncode == 0
    unknown = names.index("")
    lines = (tmp_path / "nodes.csv").read_text().splitlines()
    lines[unknown + 1] += "Absent"
    (tmp_path / "nodes.csv").write_text("\n".join(lines))
    assert "classes" in refused(monkeypatch, capsys, "predict", tmp_path / "run")


def test_the_backbone_is_not_chosen_by_test_labels(tmp_path, monkeypatch):
    graph, chosen = datasets.load("csbm", nodes=300, homophily=0.9), []
    split = graph.splits[0]
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    for name, y in (("plain", graph.y), ("shuffled", shuffled)):
        datasets.save_npz(graph.with_labels(y), tmp_path / f"{name}.npz")
        arguments = ("--data-dir", tmp_path, "--out", tmp_path / name, "--json", *QUICK)
        chosen.append(json.loads(redisc("fit", name, *arguments).stdout)["backbone"])
    assert chosen[0] == chosen[1]


def test_a_run_whose_files_changed_is_refused(tables, tmp_path, monkeypatch, capsys):
    folder, _ = tables
    for name in ("edges.csv", "nodes.csv"):
        (tmp_path / name).write_text((folder / name).read_text())
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    assert redisc("fit", *files, "--label", "side", "--out", tmp_path / "run", *QUICK).returncode == 0
    (tmp_path / "edges.csv").write_text((folder / "edges.csv").read_text() + "m0,m9\n")
    assert "has changed since the fit" in refused(monkeypatch, capsys, "predict", tmp_path / "run")
    assert not (tmp_path / "run" / "predictions.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["fit", "cora_"], "cora"),
        (["fit"], "--edges, --nodes and --label"),
        (["fit", "karate", "--edges", "e.csv"], "either"),
        (["fit", "karate", "--set", "itterations=5"], "iterations"),
        (["fit", "karate", "--set", "hidden=-3"], "hidden=-3"),
        (["fit", "karate", "--backbone", "gnn"], "gcn, gat, sage, gat_sep"),
        (["fit", "karate", "--split", "4"], "splits 0..0"),
        (["fit", "karate", "--set", "hidden=abc"], "hidden='abc'"),
        (["fit", "karate", "--set", "steps=2.5"], "steps=2.5"),
        (["fit", "karate", "--test-fraction", "0.5"], "--test-fraction"),
        (["fit", "karate", "--label", "side"], "either"),
        (["fit", "karate", "--out", "/proc/nowhere/run"], "/proc"),
        (["fit", "--edges", "no.csv", "--nodes", "no.csv", "--label", "y"], "no.csv"),
        (["fit", "karate", "--data-dir", "/no/such/folder"], "/no/such/folder"),
        (["predict", "nowhere"], "nowhere is not a run"),
        (["evaluate", "nowhere"], "redisc fit"),
    ],
)
def test_a_wrong_input_gets_one_line_and_writes_nothing(arguments, hint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert hint in refused(monkeypatch, capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_run_is_left_alone(tmp_path, monkeypatch, capsys):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert "not a run" in refused(monkeypatch, capsys, "fit", "karate", "--out", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_wrong_tables_are_named_by_column_and_row(tables, tmp_path, monkeypatch, capsys):
    folder, _ = tables
    files = ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv"]
    assert "'topic'" in refused(monkeypatch, capsys, "fit", *files, "--label", "topic")
    (tmp_path / "edges.csv").write_text("from,to\nm0,m1\nm0,m99\n")
    files[1] = tmp_path / "edges.csv"
    complaint = refused(monkeypatch, capsys, "fit", *files, "--label", "side")
    assert "row 1" in complaint
    assert "m99" in complaint


def test_every_command_has_an_example_of_itself_in_its_help():
    commands = typer.main.get_command(app).commands
    assert {"demo", "fit", "predict", "report"} <= set(commands)
    for name, command in commands.items():
        assert f"Example: `redisc {name}" in command.help


def test_datasets_are_listed_for_people_and_programs():
    assert "minesweeper" in redisc("datasets").stdout
    names = {row["name"] for row in json.loads(redisc("datasets", "--json").stdout)}
    assert {"minesweeper", "karate", "digits", "csbm", "planted", "cora", "ogbn_arxiv"} <= names


def test_the_demo_ends_with_joint_labels_above_the_mean_field_gnn(tmp_path):
    done = redisc_process("demo", "--json", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    results = {r["dataset"]: r for r in json.loads(done.stdout)["results"]}
    for metric in ("node_accuracy", "subgraph_accuracy"):
        assert results["planted"]["redisc"][metric] > results["planted"]["mean_field"][metric] + 0.05
    for result in results.values():
        assert (tmp_path / "demo" / result["dataset"] / "mistakes.png").stat().st_size > 10_000
        assert result["run"] == str(tmp_path / "demo" / result["dataset"])
