"""What a fit is built with: what suits gives way to a recipe, and both to what the user says."""

import pytest

from redisc import ReDiSC, datasets
from redisc.cli.inputs import build
from redisc.errors import ConfigError
from redisc.methods import METHODS
from redisc.recipes import recipe_settings
from redisc.source import named_source

KARATE = datasets.load("karate")


def built(option=None, kind=ReDiSC, /, **settings):
    return build(kind, KARATE, KARATE.y, named_source("karate", None, 0), option, settings).get_params()


def test_a_recipe_says_what_the_user_does_not():
    assert built()["backbone"] == KARATE.describe().suggested_backbone
    assert built(recipe="cora-gat")["backbone"] == "gat"
    assert built(recipe="cora-gat")["masks"] == recipe_settings("cora-gat")["masks"]


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_the_users_word_wins_even_where_it_is_the_default(backbone):
    assert built(backbone, recipe="cora-gat")["backbone"] == backbone
    assert built(recipe="cora-gat", masks=8)["masks"] == 8
    assert built("sage", backbone=backbone)["backbone"] == backbone


@pytest.mark.parametrize("wish", [{"class_weight": "balanced"}, {"metric": "balanced_accuracy"}])
def test_a_recipe_gives_way_where_it_contradicts_a_wish(wish):
    assert built(recipe="amazon_computers-gcn")["class_shares"] == "estimated"
    assert built(recipe="amazon_computers-gcn", **wish)["class_shares"] == "labelled"


def test_a_recipes_networks_give_way_to_a_backbone_that_they_cannot_go_with():
    assert built(recipe="amazon_computers-gat")["mean_field_architecture"]
    assert built("hops", recipe="amazon_computers-gat")["mean_field_architecture"] is None


def test_a_method_without_backbones_refuses_one():
    with pytest.raises(ConfigError, match="has none to choose"):
        built("gcn", METHODS["lp"])
