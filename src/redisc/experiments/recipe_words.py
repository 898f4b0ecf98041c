"""What a recipe departs in from two plain layers and one warm start of the same kind, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redisc.estimator import ReDiSC
from redisc.nn import Architecture
from redisc.recipes import recipe_settings

_SHAPE = frozenset(Architecture.__dataclass_fields__)


def denoiser_words(recipe: str) -> str:
    """Say what the denoiser is, and what it learns from."""
    settings = _complete(recipe)
    words = [_network(settings)]
    if settings["objective"] != "unweighted":
        words.append(f'objective "{settings["objective"]}"')
    if settings["routing"] != "labelled-first":
        words.append(f"{settings['routing']} answers")
    if settings["anchor"]:
        words.append("starts from the warm start's answer")
    if settings["e_step_temperature"] == 1:
        words.append("samples at temperature 1")
    if settings["feature_scaling"] != "none":
        words.append(f"{settings['feature_scaling']} features")
    if settings["class_shares"] == "estimated":
        words.append("estimated class shares")
    return "; ".join(words)


def warm_start_words(recipe: str) -> str:
    """Say what the mean-field GNNs are, and how they learn."""
    settings = _complete(recipe)
    given = settings["mean_field_architecture"] or {}
    kinds = [_network({**settings, **own}) for own in ([given] if isinstance(given, Mapping) else given)]
    members = settings["mean_field_members"]
    words = [" and ".join(kinds) if members == 1 else f"{members} networks: {' and '.join(kinds)}"]
    if settings["mean_field_generations"] > 1:
        words.append(f"{settings['mean_field_generations']} generations")
    if settings["mean_field_reader"]:
        words.append(f"a reader of features{', heard more at hubs' if settings['hub_doubt'] else ''}")
    if settings["mean_field_consistency"]:
        words.append("views that agree")
    return "; ".join(words)


def _complete(recipe: str) -> dict[str, Any]:
    return {**ReDiSC().get_params(), **recipe_settings(recipe)}


def _network(settings: Mapping[str, Any]) -> str:
    shape = Architecture(**{name: value for name, value in settings.items() if name in _SHAPE})
    words = [f"{shape.layers} {shape.backbone} layers"]
    if shape.initial_residual:
        words.append(f"initial residual {shape.initial_residual:g}")
    if shape.residual:
        words.append("residuals")
    if shape.normalisation != "none":
        words.append(f"{shape.normalisation} norm")
    return ", ".join(words)
