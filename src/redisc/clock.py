"""Time spent, time left, and who is told about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """Where a fit stands: phase, count, live figures, and seconds spent and expected."""

    phase: str
    done: int
    total: int
    elapsed: float
    remaining: float
    figures: dict[str, float] = field(default_factory=dict)


class Clock:
    """Measures a fit against `max_time` seconds and passes live figures to a listener."""

    def __init__(self, max_time: float | None = None, listener: Callable[[Progress], None] | None = None) -> None:
        self.max_time, self.listener = max_time, listener
        self._start = self._phase_start = time.monotonic()
        self._phase = ""

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._start

    def is_over(self) -> bool:
        """Tell whether `max_time` has been spent."""
        return self.max_time is not None and self.elapsed >= self.max_time

    def report(self, phase: str, done: int, total: int, **figures: float) -> None:
        """Tell the listener; the estimate extrapolates the phase's pace and never passes `max_time`."""
        if self.listener is None:
            return
        if phase != self._phase:
            self._phase, self._phase_start = phase, time.monotonic()
        pace = (time.monotonic() - self._phase_start) / max(done, 1)
        remaining = pace * (total - done)
        if self.max_time is not None:
            remaining = min(remaining, max(self.max_time - self.elapsed, 0.0))
        self.listener(Progress(phase, done, total, self.elapsed, remaining, figures))
