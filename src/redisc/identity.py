"""What makes a fit this fit and no other: settings, graph, labels, masks and seed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from redisc.diffusion import Schedule
from redisc.task import Task

_UNIMPORTANT = ("verbose", "scratch", "random_state")  # the seed stands for the last


def identify(task: Task, settings: Mapping[str, Any], schedule: Schedule, seed: int) -> dict[str, Any]:
    """Describe a fit as JSON can hold it; arrays by their hashes, functions by their names."""
    chosen = {name: _plain(value) for name, value in settings.items() if name not in _UNIMPORTANT}
    if not isinstance(chosen["schedule"], str):
        chosen["schedule"] = _digest(schedule.alpha.numpy())
    return {
        "seed": seed,
        "graph": task.graph.fingerprint(),
        "train mask": _digest(task.train),
        "validation mask": _digest(task.val),
        "labels": _digest(task.classes, task.labels),
        "settings": chosen,
    }


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name what differs between two descriptions, in words for people."""
    found = [f"the {name} differs" for name in ("graph", "train mask", "validation mask") if _differ(then, now, name)]
    if not found and _differ(then, now, "labels"):
        found.append("the labels differ")
    if _differ(then, now, "seed"):
        found.append(f"the seed was {then.get('seed')} and is {now.get('seed')}")
    before, after = dict(then.get("settings", {})), dict(now.get("settings", {}))
    changed = [name for name in sorted({*before, *after}) if _differ(before, after, name)]
    return found + [f"{name} was {before.get(name)!r} and is {after.get(name)!r}" for name in changed]


def _differ(then: Mapping[str, Any], now: Mapping[str, Any], name: str) -> bool:
    return bool(then.get(name) != now.get(name))


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


def _plain(value: Any) -> Any:
    """Return a setting as JSON gives it back."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return sorted([str(name), _plain(held)] for name, held in value.items())
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
