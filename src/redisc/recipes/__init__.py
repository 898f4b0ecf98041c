"""Recipes: settings of ReDiSC as data files, one a dataset and backbone, and those that follow a text.

`paper` follows the paper's text (`paper-heterophilic` and `paper-large` where it speaks of such graphs), `authors` the
authors' public code where it departs from it, and `NAME-BACKBONE` is what was found for a dataset, or taken over
from another. A file holds `about`, how it was found, and `settings`. Files of a user's own are named by their path.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from redisc.errors import ConfigError, RediscError
from redisc.io.files import read_json

NOT_OF_RECIPES = frozenset({"metric", "dtype", "device", "scratch", "random_state", "verbose", "recipe"})
"""Settings that are about the user's purpose or machine: no recipe sets them."""


_TUNED_AS = {"amazon_photo_whole": "amazon_photo", "amazon_computers_whole": "amazon_computers"}
"""Whole graphs, and the largest components whose settings they take."""


@cache
def _recipes() -> dict[str, dict[str, Any]]:
    found = (path for path in files("redisc.recipes").iterdir() if path.name.endswith(".json"))
    return {path.name[: -len(".json")]: json.loads(path.read_text(encoding="utf-8")) for path in found}


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(_recipes())


def recipe_settings(name: str | Path, known: Collection[str] | None = None) -> dict[str, Any]:
    """Return the settings of a recipe, by its name or its file's path; those of "default" are none.

    Where the `known` settings of a method are given, others are refused.
    """
    if name == "default":
        return {}
    if isinstance(name, str) and name in _recipes():
        settings = copy.deepcopy(_recipes()[name]["settings"])
    elif isinstance(name, str | Path) and Path(name).suffix.lower() == ".json":
        settings = _read(Path(name))
    else:
        ours = ", ".join(recipe_names())
        raise ConfigError(f"unknown recipe {name!r}; choose default, one of {ours}, or name a file that ends in .json")
    strangers = set(settings) & NOT_OF_RECIPES
    if strangers:
        raise ConfigError(f"recipe {str(name)!r} sets {', '.join(sorted(strangers))}, which is for the user to say")
    strangers = set() if known is None else set(settings) - set(known)
    if strangers:
        raise ConfigError(f"recipe {str(name)!r}: there is no setting {', '.join(sorted(strangers))}")
    return settings


WISHES = ("backbone", "class_weight", "metric", "priority", "batch_size")
"""Settings of the user's that a recipe may have to give way to."""


_OF_WHOLE_GRAPHS = ("mean_field_reader", "hub_doubt", "mean_field_generations", "mean_field_consistency")


def yielding(settings: dict[str, Any], wishes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe's settings without those that contradict what the user wishes."""
    own_module = not isinstance(wishes.get("backbone", ""), str)
    other_features = own_module or wishes.get("backbone") == "hops"
    weighs = wishes.get("class_weight") is not None or wishes.get("metric") == "balanced_accuracy"
    in_parts = bool(wishes.get("batch_size"))
    barred = {
        "class_shares": own_module or weighs,
        "mean_field_architecture": other_features,
        "anchor": wishes.get("priority") == "train-cv",
        **dict.fromkeys(_OF_WHOLE_GRAPHS, in_parts),
    }
    return {name: value for name, value in settings.items() if not barred.get(name, False)}


def _read(path: Path) -> dict[str, Any]:
    """Read a file of a user's own; every fit reads it anew, since it may have been edited."""
    try:
        settings = read_json(path).get("settings")
    except RediscError as fault:
        raise ConfigError(f"recipe {fault}") from None
    if not isinstance(settings, dict):
        raise ConfigError(f"recipe {path}: it has no settings")
    return settings


def tuned_as(dataset: str) -> str:
    """Return the dataset whose settings another one takes: its largest component's, or its own."""
    return _TUNED_AS.get(dataset, dataset)


def recipe_for(dataset: str, backbone: str) -> str:
    """Return the name of a dataset's own recipe, or "default" where it has none."""
    name = f"{tuned_as(dataset)}-{backbone}"
    return name if name in _recipes() else "default"
