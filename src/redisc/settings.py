"""Settings that are frozen dataclasses: each value must be of its field's kind."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from redisc.errors import ConfigError


def check_kinds(settings: Any) -> None:
    """Raise an error where a setting is not of the kind of its default: a truth value, an integer, a number, a name."""
    for field in fields(settings):
        check_kind(field.name, getattr(settings, field.name), type(field.default))


def check_kind(name: str, value: Any, kind: type) -> None:
    """Raise an error where `value` is not of `kind`; integers pass as numbers, and numbers must be finite."""
    if kind is bool:
        fits, expected = isinstance(value, bool), "True or False"
    elif kind is int:
        fits, expected = isinstance(value, Integral) and not isinstance(value, bool), "an integer"
    elif kind is float:
        fits = isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)
        expected = "a finite number"
    else:
        fits, expected = isinstance(value, kind), "a name"
    if not fits:
        raise ConfigError(f"{name}={value!r}: it must be {expected}")


def _is_finite(value: Real) -> bool:
    """Tell whether a number is finite as a float; an integer can be too large for one."""
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def check_count(name: str, value: int) -> None:
    """Raise an error where `value` is below 1."""
    if value < 1:
        raise ConfigError(f"{name}={value}: it must be at least 1")


def check_positive(name: str, value: float) -> None:
    """Raise an error where `value` is not above 0."""
    if value <= 0:
        raise ConfigError(f"{name}={value}: it must be above 0")


def check_share(name: str, value: float) -> None:
    """Raise an error where `value` does not lie strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ConfigError(f"{name}={value}: it must lie between 0 and 1")
