"""Recipes: settings of ReDiSC as data files, one a dataset and backbone, and the two that follow a text.

`paper` follows the paper's text, `authors` the authors' public code where it departs from it, and `NAME-BACKBONE` is
what tuning found for a dataset. A file holds `about`, how it was found, and `settings`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from redisc.errors import ConfigError

_FOREIGN = frozenset({"metric", "dtype", "device", "scratch", "random_state", "verbose", "recipe"})
"""Settings that are about the user's purpose or machine: no recipe sets them."""


@cache
def _recipes() -> dict[str, dict[str, Any]]:
    found = (path for path in files("redisc.recipes").iterdir() if path.name.endswith(".json"))
    return {path.name[: -len(".json")]: json.loads(path.read_text(encoding="utf-8")) for path in found}


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(_recipes())


def recipe_settings(name: str) -> dict[str, Any]:
    """Return a recipe's settings; those of "default" are none."""
    if name == "default":
        return {}
    if not isinstance(name, str) or name not in _recipes():
        raise ConfigError(f"unknown recipe {name!r}; choose default or one of {', '.join(recipe_names())}")
    settings = dict(_recipes()[name]["settings"])
    strangers = _FOREIGN & set(settings)
    if strangers:
        raise ConfigError(f"recipe {name!r} sets {', '.join(sorted(strangers))}, which is for the user to say")
    return settings


def recipe_for(dataset: str, backbone: str) -> str:
    """Return the name of a dataset's own recipe, or "default" where it has none."""
    name = f"{dataset}-{backbone}"
    return name if name in _recipes() else "default"
