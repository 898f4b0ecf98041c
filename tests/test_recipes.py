"""A recipe is a starting point: it fills in what the user left alone, and nothing else."""

import numpy as np
import pytest

from examples import FAST, random_graph
from redisc import ReDiSC
from redisc.errors import ConfigError
from redisc.recipes import recipe_for, recipe_names, recipe_settings


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_holds_settings_that_fit(name):
    settings = recipe_settings(name)
    assert set(settings) <= set(ReDiSC().get_params())
    short = {k: v for k, v in FAST.items() if k not in ("hidden", "heads")}
    clf = ReDiSC(recipe=name, random_state=0, **short).fit(random_graph(0, nodes=30), np.arange(30) < 15)
    assert clf.predict().shape == (30,)


@pytest.mark.parametrize("name", recipe_names())
def test_no_recipe_ends_before_its_first_e_step(name):
    settings = ReDiSC(recipe=name).settings()
    assert settings["iterations"] > settings["warm_iterations"]


def test_both_recipes_of_computers_have_one_warm_start():
    gcn, gat = (ReDiSC(recipe=f"amazon_computers-{backbone}") for backbone in ("gcn", "gat"))
    assert gcn._blueprint().mean_field == gat._blueprint().mean_field
    assert gcn._blueprint().pooling == gat._blueprint().pooling


def test_a_recipe_fills_in_what_was_left_alone():
    clf = ReDiSC(recipe="authors", masks=5)
    assert clf.settings()["masks"] == 5
    assert clf.settings()["objective"] == "authors"
    assert clf.settings()["hidden"] == 64
    assert clf.get_params()["objective"] == ReDiSC().objective


def test_a_saved_model_knows_the_settings_that_were_in_force(tmp_path):
    graph = random_graph(0, nodes=30)
    clf = ReDiSC(recipe="authors", random_state=0, **FAST).fit(graph, np.arange(30) < 15)
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    assert loaded.gate == "scalar"
    assert loaded.settings() == clf.settings()
    assert np.array_equal(loaded.predict(graph), clf.predict())


def test_what_is_done_to_a_recipes_settings_stays_with_whoever_did_it():
    recipe_settings("pubmed-gat")["mean_field_architecture"][0]["layers"] = 99
    assert recipe_settings("pubmed-gat")["mean_field_architecture"][0]["layers"] == 4


def test_unknown_recipes_are_refused_by_name():
    with pytest.raises(ConfigError, match="unknown recipe 'magic'"):
        ReDiSC(recipe="magic").fit(random_graph(0))
    assert recipe_for("amazon_photo_whole", "gat") == "amazon_photo-gat"
    assert recipe_for("nowhere", "gcn") == "default"
    assert recipe_settings("default") == {}


def test_a_recipe_of_ones_own_is_named_by_its_file(tmp_path):
    own = tmp_path / "own.json"
    own.write_text('{"about": "mine", "settings": {"hidden": 12, "masks": 3}}')
    assert ReDiSC(recipe=str(own), masks=5).settings() == ReDiSC(hidden=12, masks=5).settings()
    faults = {"{": "not JSON", '{"about": ""}': "no settings", '{"settings": {"device": "cpu"}}': "user"}
    for text, said in faults.items():
        own.write_text(text)
        with pytest.raises(ConfigError, match=said):
            ReDiSC(recipe=str(own)).settings()
    with pytest.raises(ConfigError, match="can't be read"):
        recipe_settings(str(tmp_path / "none.json"))
    own.write_text('{"settings": {"hiden": 12}}')
    with pytest.raises(ConfigError, match="there is no setting hiden"):
        ReDiSC(recipe=own).check()


def test_a_fitted_model_does_not_need_its_recipes_file_any_more(tmp_path):
    own, graph = tmp_path / "own.json", random_graph(0, nodes=30)
    own.write_text('{"settings": {"hidden": 12, "evaluation_temperature": 0.5}}')
    settings = {key: value for key, value in FAST.items() if key != "hidden"}
    clf = ReDiSC(recipe=own, random_state=0, **settings).fit(graph, np.arange(30) < 15)
    answer = clf.predict()
    own.write_text('{"settings": {"hidden": 12, "evaluation_temperature": 9.0}}')
    assert np.array_equal(clf.predict(), answer)
    own.unlink()
    assert clf.settings()["hidden"] == 12
    assert np.array_equal(clf.predict(), answer)


def test_settings_are_checked_before_a_graph_is_there():
    ReDiSC().check()
    for name in ("backbone", "schedule", "clamp", "gate", "feature_scaling", "class_weight", "class_shares"):
        with pytest.raises(ConfigError, match="magic"):
            ReDiSC(**{name: "magic"}).check()
    with pytest.raises(ConfigError, match="masks"):
        ReDiSC(masks=0).check()
