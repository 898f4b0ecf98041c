"""All methods by name: ReDiSC and the baselines."""

from __future__ import annotations

from pathlib import Path

from redisc.baselines import BASELINES
from redisc.classifier import NodeClassifier
from redisc.errors import CheckpointError, ConfigError
from redisc.estimator import ReDiSC
from redisc.io.checkpoint import load_checkpoint

_KINDS: tuple[type[NodeClassifier], ...] = (ReDiSC, *BASELINES)
METHODS = {kind.name: kind for kind in _KINDS}


def method_named(name: str) -> type[NodeClassifier]:
    """Return a method's class; `-` is `_`."""
    canonical = name.replace("-", "_")
    if canonical not in METHODS:
        raise ConfigError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[canonical]


def title_of(method: str, backbone: str | None = None) -> str:
    """Return a method's name in print, with its backbone where it has one to choose."""
    title = method_named(method).title
    return title if backbone is None else f"{title} ({method_named(backbone).title})"


def load_model(path: str | Path) -> NodeClassifier:
    """Read a saved model of whatever method."""
    name = load_checkpoint(path)[0].get("method", "redisc")
    if name not in METHODS:
        raise CheckpointError(f"{path} holds a model of method {name!r}, which this library does not know")
    return METHODS[name].load(path)
