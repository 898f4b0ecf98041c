"""A search chooses by validation score alone, resumes, and writes a recipe."""

import json

import pytest

pytest.importorskip("optuna")

from redisc import Graph, ReDiSC, datasets
from redisc.errors import ConfigError, RediscError
from redisc.experiments.tune import Search, load_space, paper_space
from redisc.graph.storage import save_graph

SPACE = {
    "hidden": [4, 8, 16],
    "iterations": [20],
    "warm_iterations": [5],
    "evaluate_every": [10],
    "mean_field_epochs": [10],
    "steps": [5],
    "masks": [2],
}


def test_a_search_goes_on_where_it_stopped_and_writes_its_best(tmp_path):
    Search("karate", "gcn", SPACE, tmp_path, seeds=2).run(2)
    search = Search("karate", "gcn", SPACE, tmp_path, seeds=2)
    assert len(search.study.trials) == 2
    search.run(3)
    assert len(search.study.trials) == 3
    search.write(tmp_path / "recipe.json")
    recipe = json.loads((tmp_path / "recipe.json").read_text())
    assert recipe["settings"]["hidden"] in SPACE["hidden"]
    assert recipe["settings"]["backbone"] == "gcn"
    assert "3 trials" in recipe["about"]
    finished = [trial.value for trial in search.study.trials if trial.value is not None]
    assert search.study.best_value == max(finished)


def test_a_search_that_goes_on_draws_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(Search, "_fit", lambda self, chosen, seed: 0.5)
    space = {"hidden": [4, 8, 16, 32], "masks": [1, 2, 3, 4], "steps": [5, 6, 7, 8]}
    for trials in range(2, 9, 2):
        Search("karate", "gcn", space, tmp_path, seeds=1).run(trials)
    drawn = [tuple(t.params.values()) for t in Search("karate", "gcn", space, tmp_path, seeds=1).study.trials]
    assert len(drawn) == 8
    assert len(set(drawn)) >= 6


def test_a_mapping_is_a_choice_like_any_other(tmp_path, recwarn):
    networks = [{"backbone": "gcn", "layers": 3}, {"backbone": "sage"}]
    space = {**SPACE, "mean_field_architecture": networks}
    start = {"about": "A start.", "settings": {"mean_field_architecture": networks[1]}}
    (tmp_path / "start.json").write_text(json.dumps(start))
    asked = ("karate", "gcn", space, tmp_path)
    Search(*asked, start_from=str(tmp_path / "start.json"), seeds=1).run(1)
    search = Search(*asked, start_from=str(tmp_path / "start.json"), seeds=1)
    assert search.recipe()["settings"]["mean_field_architecture"] == networks[1]
    search.run(2)
    assert search.recipe()["settings"]["mean_field_architecture"] in networks
    assert not [warning for warning in recwarn if "categorical" in str(warning.message)]


def test_another_search_does_not_take_over_the_trials_of_one(tmp_path):
    Search("karate", "gcn", SPACE, tmp_path, seeds=1).run(1)
    others = {"seeds": 2}, {"max_time": 9.0}, {"start_from": "paper"}, {"space": {**SPACE, "hidden": [4, 8]}}
    for other in others:
        asked = {"space": SPACE, "seeds": 1, **other}
        assert not Search("karate", "gcn", folder=tmp_path, **asked).study.trials
    assert len(Search("karate", "gcn", SPACE, tmp_path, seeds=1).study.trials) == 1


def test_an_interrupted_trial_counts_for_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Search, "_fit", interrupt)
        Search("karate", "gcn", SPACE, tmp_path, seeds=1).run(1)
    search = Search("karate", "gcn", SPACE, tmp_path, seeds=1)
    with pytest.raises(ConfigError, match="no trial was completed"):
        search.recipe()
    search.run(1)
    assert search.settled() == 1
    assert "best of 1 trials" in search.recipe()["about"]


def test_a_graph_without_splits_holds_labels_out(tmp_path):
    karate = datasets.load("karate")
    Graph(x=karate.x, edge_index=karate.edge_index(), y=karate.y).save(tmp_path / "graph")
    search = Search(str(tmp_path / "graph"), "gcn", SPACE, tmp_path, seeds=1)
    search.run(1)
    assert 0 <= search.study.best_value <= 1


def test_a_trial_is_the_mean_validation_score_of_its_fits(tmp_path):
    search = Search("karate", "gcn", SPACE, tmp_path, seeds=2)
    search.run(1)
    scores = []
    for seed in range(2):
        graph = datasets.load("karate", seed=seed)
        split = graph.splits[0]
        clf = ReDiSC(**search.study.best_params, backbone="gcn", random_state=seed).fit(graph, split.train, split.val)
        scores.append(clf.history_["best_validation"])
    assert search.study.best_value == pytest.approx(sum(scores) / 2)


def test_a_folder_without_splits_is_searched_with_the_scaling_that_it_notes(tmp_path):
    graph = datasets.load("karate").with_splits([])
    save_graph(graph, tmp_path / "club", feature_scaling="standard")
    search = Search(str(tmp_path / "club"), "gcn", SPACE, tmp_path, seeds=1)
    search.run(1)
    settings = search.recipe()["settings"]
    assert settings["feature_scaling"] == "standard"
    assert search.study.best_value == ReDiSC(**settings, random_state=0).fit(graph).history_["best_validation"]


def test_spaces_that_ship_name_settings_of_ours():
    for name in ("paper", "paper-heterophilic", "wide"):
        for setting, choices in load_space(name).items():
            for choice in choices:
                assert getattr(ReDiSC(**{setting: choice}), setting) == choice


def test_the_papers_space_is_that_of_such_graphs():
    assert paper_space("minesweeper_benchmark") == "paper-heterophilic"
    assert paper_space("cora") == paper_space(None) == "paper"


def test_what_is_wrong_is_said_before_there_is_a_study(tmp_path):
    with pytest.raises(ConfigError, match="magic"):
        Search("karate", "magic", SPACE, tmp_path / "t")
    with pytest.raises(RediscError, match="nowhere"):
        Search("nowhere", "gcn", SPACE, tmp_path / "t")
    with pytest.raises(ConfigError, match="masks"):
        Search("karate", "gcn", {**SPACE, "masks": [2, 0]}, tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_pruned_trial_is_told_as_such(tmp_path, monkeypatch):
    scores = iter([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1])
    monkeypatch.setattr(Search, "_fit", lambda *_: next(scores))
    search, told = Search("karate", "gcn", SPACE, tmp_path, seeds=2), []
    search.run(5, lambda _, trial: told.append(search.told(trial)))
    assert told[0].startswith("validation 90.00, best 90.00")
    assert told[4].startswith("validation pruned, best 90.00")


def test_a_wrong_space_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="unknown space 'magic'"):
        load_space("magic")
    (tmp_path / "own.json").write_text('{"colour": ["red"]}')
    with pytest.raises(ConfigError, match="colour"):
        load_space(str(tmp_path / "own.json"))
    (tmp_path / "own.json").write_text('{"random_state": [0, 1], "backbone": ["gcn", "gat"]}')
    with pytest.raises(ConfigError, match="can't choose backbone, random_state"):
        load_space(str(tmp_path / "own.json"))
    (tmp_path / "own.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON"):
        load_space(str(tmp_path / "own.json"))
