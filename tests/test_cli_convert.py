"""The command `convert`, and saved graphs where a dataset is asked for."""

import json
import sys

import numpy as np
import pytest

from redisc import Graph, datasets
from redisc.cli import main
from redisc.errors import CheckpointError, StoredGraphError
from redisc.io.tables import write_table
from redisc.run import Run
from redisc.source import DatasetSource, SavedSource, named_source, source_from_json, source_to_json

QUICK = ["--set=iterations=4", "--set=warm_iterations=2", "--set=evaluate_every=2", "--set=mean_field_epochs=3"]


@pytest.fixture
def redisc(monkeypatch, capsys):
    """Run the command here and return what it printed, or its complaint."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["redisc", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        printed = capsys.readouterr()
        if exit_.value.code:
            complaint = printed.err.splitlines()[-1]
            assert complaint.startswith("error: ")
            return complaint
        return printed.out

    return run


def test_a_dataset_becomes_a_folder(redisc, tmp_path) -> None:
    report = json.loads(redisc("convert", tmp_path / "club", "karate", "--dtype", "float16", "--json"))
    graph = Graph.open(tmp_path / "club")
    assert graph.x.dtype == np.float16
    assert (report["nodes"], report["edges"], report["dtype"]) == (34, 78, "float16")
    assert report["fingerprint"] == graph.fingerprint()
    assert report["bytes"] == sum(path.stat().st_size for path in (tmp_path / "club").iterdir())


def test_a_file_of_your_own_becomes_a_folder(redisc, tmp_path) -> None:
    graph = datasets.load("karate")
    datasets.save_npz(graph, tmp_path / "mine.npz")
    redisc("convert", tmp_path / "g", "mine", "--data-dir", tmp_path)
    assert Graph.open(tmp_path / "g").fingerprint() == graph.fingerprint()


def test_tables_become_a_folder(redisc, tmp_path, capsys) -> None:
    (tmp_path / "e.csv").write_text("w,a,b\n1,x,y\n2,y,z\n")
    (tmp_path / "n.csv").write_text("size,name,side\n1.5,x,left\n2.5,y,\n3.5,z,right\n")
    files = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--label", "side")
    columns = ("--id", "name", "--source", "a", "--target", "b")
    assert "feature_scaling" not in redisc("convert", tmp_path / "g", *files, *columns)
    graph = Graph.open(tmp_path / "g")
    assert graph.node_ids.tolist() == ["x", "y", "z"]
    assert (graph.y.tolist(), graph.class_names) == ([0, -1, 1], ("left", "right"))
    assert graph.indices.tolist() == [1, 0, 2, 1]


def test_a_saved_graph_is_fitted_like_the_dataset_and_remembered(redisc, tmp_path) -> None:
    redisc("convert", tmp_path / "club", "karate")
    found = []
    for name, out in (("karate", "by_name"), (tmp_path / "club", "by_folder")):
        report = json.loads(redisc("fit", name, "--out", tmp_path / out, "--json", *QUICK))
        found.append((report["history"]["validation"], report["sizes"]))
        predictions = tmp_path / f"{out}.csv"
        redisc("predict", tmp_path / out, "--samples", 2, "--out", predictions)
        found[-1] += (predictions.read_text(),)
    assert found[0] == found[1]
    source = source_from_json(Run(tmp_path / "by_folder").facts()["source"])
    assert source == SavedSource(str(tmp_path / "club"))
    datasets.load("karate").subgraph(range(9)).save(tmp_path / "club")
    assert "has changed since the fit" in redisc("predict", tmp_path / "by_folder")


@pytest.fixture
def tables(tmp_path):
    """Options that name the club's tables; the columns of numbers are far from 0 and of other sizes."""
    graph, rng = datasets.load("karate"), np.random.default_rng(0)
    sides = [None if k % 3 == 0 else ("left", "right")[label] for k, label in enumerate(graph.y)]
    sizes = {"height": 1e3 + 50 * graph.y + rng.normal(size=34), "born": 1990 + rng.integers(0, 9, 34)}
    write_table(tmp_path / "nodes.csv", {"id": range(34), "side": sides, **sizes})
    write_table(tmp_path / "edges.csv", dict(zip("ab", graph.edge_index().tolist(), strict=True)))
    return ["--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--label", "side"]


def test_tables_are_fitted_alike_before_and_after_conversion(redisc, tmp_path, tables) -> None:
    redisc("convert", tmp_path / "club", *tables)
    redisc("convert", tmp_path / "again", tmp_path / "club")
    found = []
    for name, given in (("tables", tables), ("folder", [tmp_path / "club"]), ("copy", [tmp_path / "again"])):
        report = json.loads(redisc("fit", *given, "--out", tmp_path / name, "--json", *QUICK))
        assert Run(tmp_path / name).model().feature_scaling == "standard"
        redisc("predict", tmp_path / name, "--samples", 2, "--out", tmp_path / f"{name}.csv")
        found.append((report["history"]["validation"], (tmp_path / f"{name}.csv").read_text()))
    assert found[0] == found[1] == found[2]


def test_a_setting_overrides_the_scaling_that_a_folder_notes(redisc, tmp_path, tables) -> None:
    redisc("convert", tmp_path / "club", *tables)
    redisc("fit", tmp_path / "club", "--set", "feature_scaling=row", "--out", tmp_path / "run", *QUICK)
    assert Run(tmp_path / "run").model().feature_scaling == "row"


def test_a_folder_without_a_note_leaves_the_scaling_to_the_method(redisc, tmp_path) -> None:
    redisc("convert", tmp_path / "club", "karate")
    assert "feature_scaling" not in json.loads((tmp_path / "club" / "graph.json").read_text())
    assert named_source(str(tmp_path / "club")).settings() == {}
    redisc("fit", tmp_path / "club", "--out", tmp_path / "run", *QUICK)
    assert Run(tmp_path / "run").model().feature_scaling == "none"


def test_names_of_datasets_come_before_folders(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.load("karate").save(tmp_path / "karate")
    datasets.load("karate").save(tmp_path / "club")
    (tmp_path / "empty").mkdir()
    assert isinstance(named_source("karate"), DatasetSource)
    for path in ("./karate", "club", tmp_path / "club"):
        source = named_source(str(path))
        assert isinstance(source, SavedSource)
        assert source_from_json(source_to_json(source)) == source
    with pytest.raises(StoredGraphError, match=r"not a saved graph: it has no graph\.json"):
        named_source("./empty").load()
    with pytest.raises(CheckpointError, match="does not say where"):
        source_from_json({"kind": "saved", "folder": "x"})


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ([], "give one of"),
        (["karate", "--ogb", "x.zip"], "give one of"),
        (["--edges", "e.csv"], "give one of"),
        (["karate", "--id", "name"], "give one of"),
        (["karate", "--split-name", "time"], "--ogb"),
        (["karate", "--dtype", "int8"], "float16 or float32"),
        (["karatee"], "karate"),
        (["--ogb", "no.zip"], "no.zip is neither a folder nor a zip file"),
        (["--edges", "no.csv", "--nodes", "no.csv", "--label", "y"], "no.csv"),
    ],
)
def test_a_wrong_conversion_gets_one_line_and_writes_nothing(redisc, tmp_path, monkeypatch, arguments, hint) -> None:
    monkeypatch.chdir(tmp_path)
    assert hint in redisc("convert", "out", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_left_alone(redisc, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert "not a saved graph" in redisc("convert", tmp_path, "karate")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
