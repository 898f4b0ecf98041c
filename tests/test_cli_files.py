"""The command on a user's own files: in, out, and files that the fit never saw."""

import csv
import gzip
import json
import sys

import numpy as np
import pandas as pd
import pytest

from redisc import datasets
from redisc.cli import main
from redisc.experiments import bench
from redisc.io.tables import read_table, write_table
from redisc.source import source_to_json
from redisc.tables.predictions import split_names
from test_cli import refused

QUICK = [f"--set={s}" for s in ("iterations=20", "mean_field_epochs=20", "hidden=8", "steps=5", "evaluate_every=10")]
CLASSES = ["NA", "a|b, c"]
IDS = [f"{k:03}" for k in range(33)] + ['the "last", \nand é']


@pytest.fixture(scope="module")
def redisc():
    """Run the command here; a wrong exit is a fault."""

    def run(*arguments):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as exit_:
            patch.setattr(sys, "argv", ["redisc", *map(str, arguments)])
            main()
        assert not exit_.value.code, arguments

    return run


def club(**changes):
    """Zachary's club: half of the members have a side, and all have an age and some words."""
    graph, rng = datasets.load("karate"), np.random.default_rng(0)
    sides = [CLASSES[label] if rng.random() < 0.5 else "" for label in graph.y]
    words = [f"{('chess', 'go')[label]} and {'tea' if rng.random() < 0.5 else 'rum'}" for label in graph.y]
    ages = np.round(rng.normal(40, 9, graph.num_nodes), 1).tolist()
    ends = [(IDS[a], IDS[b]) for a, b in zip(*graph.edge_index(), strict=True) if a < b]
    edges = {"kind": ["x"] * len(ends), "to": [b for _, b in ends], "from": [a for a, _ in ends]}
    return edges, {"age": ages, "member": IDS, "likes": words, "side": sides} | changes


def save(folder, edges, nodes, suffix="csv"):
    folder.mkdir(exist_ok=True)
    paths = []
    for name, columns in (("edges", edges), ("nodes", nodes)):
        write_table(folder / f"{name}.{suffix}", {k: [v or None for v in values] for k, values in columns.items()})
        paths += [f"--{name}", folder / f"{name}.{suffix}"]
    return paths


NAMED = ["--id", "member", "--source", "from", "--target", "to"]


@pytest.fixture(scope="module")
def run(redisc, tmp_path_factory):
    """A fit with words, and its predictions."""
    folder = tmp_path_factory.mktemp("club")
    files = save(folder, *club())
    redisc("fit", *files, *NAMED, "--label", "side", "--text", "likes", "--out", folder / "run", *QUICK)
    redisc("predict", folder / "run", "--samples", 4)
    return folder, files


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_class_called_minus_one_is_predicted_as_such(redisc, tmp_path):
    graph = datasets.load("karate")
    sides = [None if k % 3 == 0 else (-1, 1)[label] for k, label in enumerate(graph.y)]
    write_table(tmp_path / "n.csv", {"id": range(34), "side": sides, "size": graph.y})
    write_table(tmp_path / "e.csv", dict(zip("ab", graph.edge_index().tolist(), strict=True)))
    files = ["--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"]
    redisc("fit", *files, "--label", "side", "--out", tmp_path / "run", *QUICK)
    redisc("predict", tmp_path / "run", "--samples", 4)
    rows = rows_of(tmp_path / "run" / "predictions.csv")
    assert {row["label"] for row in rows} == {"-1", "1"}
    assert [row["label"] if row["known"] == "True" else None for row in rows] == [
        None if side is None else str(side) for side in sides
    ]


def test_predictions_have_ids_names_and_sets_as_the_files_spell_them(run):
    folder, _ = run
    rows, sides = rows_of(folder / "run" / "predictions.csv"), club()[1]["side"]
    assert list(rows[0]) == ["id", "label", "confidence", "set", "known"]
    assert [row["id"] for row in rows] == IDS
    for row, side in zip(rows, sides, strict=True):
        assert row["known"] == str(bool(side))
        assert row["label"] == side if side else row["label"] in CLASSES
        assert set(split_names(row["set"])) <= set(CLASSES)
        if side:
            assert split_names(row["set"]) == [side]
    assert {len(split_names(row["set"])) for row in rows} == {1, 2}


def test_what_was_written_can_be_read_as_a_table_of_nodes(run):
    folder, _ = run
    frame = read_table(folder / "run" / "predictions.csv", {"id": "id", "label": "label", "set": "text"})
    assert frame["id"].tolist() == IDS
    assert frame["known"].dtype == bool


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_same_tables_as_new_ones_give_the_same_predictions(redisc, run, tmp_path, suffix):
    folder, _ = run
    files = save(tmp_path, *club(), suffix)
    redisc("predict", folder / "run", *files, "--samples", 4, "--out", tmp_path / f"p.{suffix}")
    old = read_table(folder / "run" / "predictions.csv", {"id": "id", "label": "text", "set": "text"})
    new = read_table(tmp_path / f"p.{suffix}", {"id": "id", "label": "text", "set": "text"})
    pd.testing.assert_frame_equal(old, new, check_dtype=False)
    for name, asked in (("old", []), ("new", files)):
        redisc("sample", folder / "run", *asked, "-n", 2, "--out", tmp_path / f"{name}.csv")
    assert (tmp_path / "old.csv").read_bytes() == (tmp_path / "new.csv").read_bytes()


def test_labels_of_new_tables_are_known_and_absent_ones_are_not(redisc, run, tmp_path):
    folder, _ = run
    edges, nodes = club()
    other = CLASSES[1 - CLASSES.index(next(filter(None, nodes["side"])))]
    nodes["side"] = [other if side else "" for side in nodes["side"]]
    redisc("predict", folder / "run", *save(tmp_path, edges, nodes), "--samples", 2, "--out", tmp_path / "p.csv")
    for row, side in zip(rows_of(tmp_path / "p.csv"), nodes["side"], strict=True):
        assert row["label"] == other if side else row["known"] == "False"
    del nodes["side"]
    redisc("predict", folder / "run", *save(tmp_path, edges, nodes), "--samples", 2, "--out", tmp_path / "p.csv")
    assert {row["known"] for row in rows_of(tmp_path / "p.csv")} == {"False"}


def test_new_tables_may_hold_other_nodes_in_another_order_of_columns(redisc, run, tmp_path):
    folder, _ = run
    edges = {"from": [1, 2], "to": [2, 3]}
    nodes = {"member": [1, 2, 3], "likes": ["chess", "", "new words"], "age": [30, 40.5, 50]}
    redisc("predict", folder / "run", *save(tmp_path, edges, nodes), "--samples", 2, "--out", tmp_path / "p.parquet")
    assert read_table(tmp_path / "p.parquet")["id"].tolist() == [1, 2, 3]


def test_new_tables_are_evaluated_on_all_their_labels(redisc, run, capsys):
    folder, files = run
    capsys.readouterr()
    redisc("evaluate", folder / "run", *files, "--samples", 2, "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["nodes"], report["count"]) == ("new", sum(map(bool, club()[1]["side"])))
    assert set(report["redisc"]) == set(report["mean_field"])


def test_the_plan_holds_no_path(run):
    folder, _ = run
    text = (folder / "run" / "tables.json").read_text()
    assert str(folder) not in text
    assert json.loads(text)["texts"][0]["terms"] == ["and", "chess", "go", "rum", "tea"]


def test_wrong_questions_about_new_tables_get_one_line(run, redisc, tmp_path, monkeypatch, capsys):
    folder, files = run
    edges, nodes = club()

    def complaint(*arguments):
        return refused(monkeypatch, capsys, *arguments)

    nodes["side"] = ["", "", "Absent", *nodes["side"][3:]]
    wrong = save(tmp_path, edges, nodes)
    assert "nodes row 2, column 'side': 'Absent'" in complaint("predict", folder / "run", *wrong)
    assert "'age'" in complaint("sample", folder / "run", *save(tmp_path, edges, club()[1] | {"age": [""] * 34}))
    assert "both --edges and --nodes" in complaint("predict", folder / "run", *files[:2])
    assert "leave --edges, --nodes and --drivers out" in complaint("predict", folder / "run", *files, "--in-parts")
    unlabelled = save(tmp_path, edges, club()[1] | {"side": [""] * 34})
    assert "no label to score in column 'side'" in complaint("evaluate", folder / "run", *unlabelled)
    redisc("fit", "karate", "--method", "lp", "--out", tmp_path / "lp", "--json")
    assert "fitted to karate, not to tables" in complaint("predict", tmp_path / "lp", *files)


def test_a_class_that_was_kept_for_testing_is_not_taken_as_known(redisc, tmp_path, monkeypatch, capsys):
    edges, nodes = {"a": [1, 2, 3, 4], "b": [2, 3, 4, 5]}, {"id": [1, 2, 3, 4, 5], "y": ["u", "v", "u", "v", "w"]}
    files, kept = save(tmp_path, edges, nodes), 1
    while np.random.default_rng(kept).permutation(5)[0] != 4:
        kept += 1
    given = ["--label", "y", "--method", "lp", "--test-fraction", 0.2, "--seed", kept, "--out", tmp_path / "run"]
    redisc("fit", *files, *given, "--json")
    capsys.readouterr()
    assert "nodes row 4: no training node had the class 'w'" in refused(
        monkeypatch, capsys, "predict", tmp_path / "run", *files
    )


def test_settings_are_searched_on_tables(redisc, tmp_path):
    pytest.importorskip("optuna")
    space = {"hidden": [4], "iterations": [10], "evaluate_every": [5], "mean_field_epochs": [5], "steps": [3]}
    (tmp_path / "space.json").write_text(json.dumps(space))
    given = ["--label", "side", "--text", "likes", "--space", tmp_path / "space.json", "--trials", 1, "--seeds", 1]
    redisc("tune", *save(tmp_path, *club()), *NAMED, *given, "--folder", tmp_path, "--out", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["settings"]["feature_scaling"] == "none"


def test_tables_are_benchmarked(redisc, tmp_path, monkeypatch, capsys):
    def peak_memory(source, backbone):
        return {"none_mib": bench._one_side("none", json.dumps(source_to_json(source)), backbone)}

    monkeypatch.setattr(bench, "peak_memory", peak_memory)
    files = save(tmp_path, *club())
    redisc("bench", *files, *NAMED, "--label", "side", "--text", "likes", "--repeats", 1, "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["dataset"], result["shape"]["layers"]) == ("edges", 2)
    assert result["memory"]["none_mib"] > 0
    assert "either" in refused(monkeypatch, capsys, "bench", "--dataset", "karate", *files)


def test_calibrated_sets_come_with_a_promise_and_drivers_with_the_files_ids(redisc, run, capsys):
    folder, files = run
    words = [*NAMED, "--label", "side", "--text", "likes", *QUICK]
    redisc("fit", *files, *words, "--calibration", 0.4, "--out", folder / "calibrated")
    split = json.loads((folder / "calibrated" / "split.json").read_text())
    seen = {*split["train"], *split["val"]}
    assert split["calibration"]
    assert not seen & set(split["calibration"])
    assert not any(rows_of_known(folder, redisc)[node]["known"] == "True" for node in split["calibration"])
    capsys.readouterr()
    redisc("predict", folder / "calibrated", "--samples", 4, "--alpha", 0.4, "--drivers")
    said = capsys.readouterr().out
    assert "the true label of 60 % of nodes or more" in " ".join(said.split())
    assert f"calibrated on {len(split['calibration'])} nodes" in " ".join(said.split())
    rows = rows_of(folder / "calibrated" / "predictions.csv")
    assert all(set(split_names(row["set"])) <= set(CLASSES) and row["set"] for row in rows)
    named = {name.rsplit(" (", 1)[0] for row in rows for name in split_names(row["drivers"]) if name}
    assert named
    assert named <= {row["id"] for row in rows if row["known"] == "True"}


def rows_of_known(folder, redisc):
    redisc("predict", folder / "calibrated", "--samples", 2, "--out", folder / "plain.csv")
    return rows_of(folder / "plain.csv")


@pytest.mark.parametrize("share", [1, 1.5, 0.01, 0.99])
def test_a_share_that_leaves_nothing_on_one_side_is_refused(run, share, tmp_path, monkeypatch, capsys):
    words = [*NAMED, "--label", "side", "--text", "likes"]
    message = refused(monkeypatch, capsys, "fit", *run[1], *words, "--calibration", share, "--out", tmp_path / "run")
    assert "--calibration" in message
    assert not (tmp_path / "run").exists()


def test_a_report_on_new_files_scores_their_labels_and_knows_none(redisc, run, tmp_path, monkeypatch, capsys):
    folder, files = run
    capsys.readouterr()
    redisc("report", folder / "run", *files, "--samples", 2, "--out", tmp_path / "new.html", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["nodes"], told["player"]) == ("new", True)
    assert told["count"] == sum(side != "" for side in club()[1]["side"])
    assert "none of which the model was told" in (tmp_path / "new.html").read_text()
    unlabelled = save(tmp_path, club()[0], club()[1] | {"side": [""] * 34})
    out = tmp_path / "none.html"
    assert "no label to score" in refused(monkeypatch, capsys, "report", folder / "run", *unlabelled, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("command", ["predict", "sample", "report"])
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_computed(
    run, tmp_path, monkeypatch, capsys, command
):
    folder, _ = run
    monkeypatch.setattr("redisc.run.Run.model", lambda run: pytest.fail("the model was loaded"))
    (tmp_path / "taken.csv").mkdir()

    def complaint(out):
        return refused(monkeypatch, capsys, command, folder / "run", "--out", out)

    assert complaint(tmp_path / "taken.csv") == f"error: {tmp_path / 'taken.csv'} is a folder: name a file"
    assert "/proc/nowhere/p.csv can't be written" in complaint("/proc/nowhere/p.csv")
    if command != "report":
        assert "p.xlsx can't be written: a table's name ends in .csv" in complaint(tmp_path / "p.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.csv"]


def test_predictions_are_compressed_where_their_name_says_so(redisc, run, tmp_path):
    folder, _ = run
    redisc("predict", folder / "run", "--samples", 4, "--out", tmp_path / "p.csv.gz")
    packed = gzip.decompress((tmp_path / "p.csv.gz").read_bytes())
    assert packed == (folder / "run" / "predictions.csv").read_bytes()


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["predict", "sample", "report"])
def test_no_output_replaces_a_table_or_a_file_of_a_run(redisc, run, tmp_path, monkeypatch, capsys, command):
    folder, files = run
    new = save(tmp_path / "new", *club())
    datasets.load("karate").save(tmp_path / "graph")
    (tmp_path / "link.csv").symlink_to(folder / "nodes.csv")
    monkeypatch.setattr("redisc.run.Run.model", lambda run: pytest.fail("the model was loaded"))
    monkeypatch.chdir(folder)
    before = contents(folder), contents(tmp_path)

    def complaint(out, *asked):
        return refused(monkeypatch, capsys, command, folder / "run", *asked, "--out", out)

    for out in (files[1], files[3], "run/../nodes.csv", tmp_path / "link.csv"):
        assert complaint(out) == f"error: {out} is a table that the graph is read from: choose another --out"
    assert "is a table" in complaint(new[3], *new)
    for name in ("run.json", "split.json", "tables.json", "model/model.safetensors", "model/p.csv"):
        assert f"{name} belongs to a run" in complaint(folder / "run" / name)
    assert "the folder of a saved graph" in complaint(tmp_path / "graph" / "y.npy")
    assert (contents(folder), contents(tmp_path)) == before


def test_the_recipe_of_a_search_replaces_no_table(tmp_path, monkeypatch, capsys):
    pytest.importorskip("optuna")
    files = save(tmp_path, *club())
    assert "is a table" in refused(monkeypatch, capsys, "tune", *files, "--label", "side", "--out", files[3])


def answered_run(redisc, folder):
    """A quick run with files beside it that `predict`, `sample`, `report` and its owner have left."""
    files = [*save(folder, *club()), "--label", "side", *NAMED, "--method", "lp", "--out", folder / "run"]
    redisc("fit", *files, "--json")
    for name in ("predictions.csv", "samples.csv", "report.html", "notes.txt"):
        (folder / "run" / name).write_text("of the first fit")
    return files


def test_a_fit_tells_that_it_replaces_a_run_and_removes_what_that_run_answered(redisc, tmp_path, capsys):
    files = answered_run(redisc, tmp_path)
    assert "earlier run" not in capsys.readouterr().err
    redisc("fit", *files, "--seed", 1, "--json")
    assert f"note: {tmp_path / 'run'} holds an earlier run, which this one replaces" in capsys.readouterr().err
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert left == {"run.json", "split.json", "tables.json", "model", "notes.txt"}


def test_a_fit_that_does_not_end_leaves_the_earlier_run_whole(redisc, tmp_path, monkeypatch):
    files = answered_run(redisc, tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr("redisc.baselines.LabelPropagation.learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr(sys, "argv", ["redisc", "fit", *map(str, files)])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 130
    assert contents(tmp_path) == before


def test_a_fit_to_the_predictions_of_the_run_that_it_replaces_keeps_them(redisc, tmp_path, monkeypatch, capsys):
    files = answered_run(redisc, tmp_path)
    redisc("predict", tmp_path / "run")
    again = [*files[:2], "--nodes", tmp_path / "run" / "predictions.csv", "--label", "label", "--id", "id"]
    redisc("fit", *again, "--source", "from", "--target", "to", "--method", "lp", "--out", tmp_path / "run")
    assert (tmp_path / "run" / "predictions.csv").exists()
    assert not (tmp_path / "run" / "samples.csv").exists()
    capsys.readouterr()
    assert "predictions.csv is a table" in refused(monkeypatch, capsys, "predict", tmp_path / "run")


def test_where_nothing_could_be_held_out_no_command_claims_a_gain(redisc, tmp_path, capsys):
    names = [f"class {k}" if k % 2 else "" for k in range(34)]
    files = save(tmp_path, *club(side=names))
    redisc("fit", *files, *NAMED, "--label", "side", "--out", tmp_path / "run", *QUICK)
    said = capsys.readouterr()
    assert "what joint modelling gained was not measured" in " ".join(said.err.split())
    redisc("evaluate", tmp_path / "run", "--samples", 2)
    said = capsys.readouterr().out
    assert "17 training nodes" in said
    assert "no node was held out" in said
    assert "difference" not in said
    redisc("report", tmp_path / "run", "--samples", 2, "--drivers", 0)
    words = (tmp_path / "run" / "report.html").read_text().partition("<script")[0]
    assert "<dd>no training node was held out for validation, so what joint modelling gained was not measured" in words
    assert "how well ReDiSC labels others was not measured" in words
    assert "<dd>17 training, none held out, 0 test</dd>" in words
    assert "<dd>0 (0.0 %); 17 more were hidden to score them</dd>" in words
    assert "on the 17 training nodes, as none was held out" in words
    assert "mean-field GNN</th>" not in words
