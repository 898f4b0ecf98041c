"""Checks of generator parameters: each returns the value it was given or says what was expected."""

from __future__ import annotations

import math
from numbers import Integral, Real

from redisc.errors import DatasetError


def integer(name: str, value: object, *, minimum: int) -> int:
    """Return `value` as a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise DatasetError(f"{name}={value!r}: expected a whole number of at least {minimum}.")
    return int(value)


def number(name: str, value: object, *, minimum: float, maximum: float = math.inf) -> float:
    """Return `value` as a finite number from `minimum` to `maximum`, both included."""
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    if not is_number or not minimum <= float(value) <= maximum:  # type: ignore[arg-type]
        upper = "" if math.isinf(maximum) else f" and at most {maximum:g}"
        raise DatasetError(f"{name}={value!r}: expected a number of at least {minimum:g}{upper}.")
    return float(value)  # type: ignore[arg-type]


def fraction(name: str, value: object) -> float:
    """Return `value` as a share between 0 and 1, both included."""
    return number(name, value, minimum=0.0, maximum=1.0)
