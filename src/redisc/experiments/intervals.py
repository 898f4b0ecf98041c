"""How sure a mean and a difference of means are: 95 % confidence intervals by Student's t."""

from __future__ import annotations

import numpy as np
from scipy import stats


def interval(gains: list[float]) -> dict[str, float | None]:
    """Mean and half-width of the interval of the mean; None for the latter where there is but one gain."""
    if len(gains) < 2:
        return {"difference": gains[0] if gains else None, "half_width": None}
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    return {"difference": float(np.mean(gains)), "half_width": float(stats.t.ppf(0.975, len(gains) - 1) * error)}


def half_width_between(deviations: tuple[float | None, float | None], counts: tuple[int, int]) -> float | None:
    """Half-width of the interval of the difference of two independent means (Welch's t); None if one has no deviation.

    Both standard deviations have `ddof=1`. Two deviations of 0 give 0.
    """
    if None in deviations:
        return None
    errors = np.square(np.array(deviations, float)) / counts
    if not errors.any():
        return 0.0
    freedom = errors.sum() ** 2 / np.sum(errors**2 / (np.array(counts) - 1))
    return float(stats.t.ppf(0.975, freedom) * np.sqrt(errors.sum()))
