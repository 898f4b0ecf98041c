"""Time spent, time left, and who is told about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from redisc.world import world


@dataclass(frozen=True)
class Progress:
    """Where a fit stands: phase, count, live figures, and seconds spent (in all, and in this phase) and expected."""

    phase: str
    done: int
    total: int
    elapsed: float
    remaining: float
    figures: dict[str, float] = field(default_factory=dict)
    phase_elapsed: float = 0.0
    is_aside: bool = False  # work within a phase


Told = Callable[[str, int, int], None]
"""Is told of a piece of work by name: how much of it is done, and how much there is."""


class Ticking(Protocol):
    """What a training asks of a clock."""

    def is_over(self) -> bool:
        """Tell whether the time has been spent."""
        ...

    def report(self, phase: str, done: int, total: int, **figures: float) -> None:
        """Take note of how far a phase is."""
        ...


class Clock:
    """Measures a fit against `max_time` seconds and passes live figures to a listener."""

    def __init__(self, max_time: float | None = None, listener: Callable[[Progress], None] | None = None) -> None:
        self.max_time, self.listener = max_time, listener
        self._start = self._phase_start = time.monotonic()
        self._phase = self._aside = ""
        self._aside_done, self._aside_first, self._aside_start = 0, 0, self._start

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._start

    def is_over(self) -> bool:
        """Tell whether `max_time` has been spent; of several processes the first one decides for all."""
        return self.is_past(1.0)

    def is_past(self, share: float) -> bool:
        """Tell whether this share of `max_time` has been spent."""
        if self.max_time is None:
            return False
        return world().agree(self.elapsed >= share * self.max_time)

    def report(self, phase: str, done: int, total: int, **figures: float) -> None:
        """Tell the listener; the estimate extrapolates the phase's pace and never passes `max_time`."""
        if phase != self._phase:
            self._phase, self._phase_start = phase, time.monotonic()
        if self.listener is None:
            return
        phase_elapsed = time.monotonic() - self._phase_start
        remaining = phase_elapsed / max(done, 1) * (total - done)
        if self.max_time is not None:
            remaining = min(remaining, max(self.max_time - self.elapsed, 0.0))
        self.listener(Progress(phase, done, total, self.elapsed, remaining, figures, phase_elapsed))

    def aside(self, work: str, done: int, total: int) -> None:
        """Tell the listener of work within a phase, such as the steps of a chain; phases go on as before."""
        if self.listener is None:
            return
        if work != self._aside or done <= self._aside_done:
            self._aside, self._aside_start, self._aside_first = work, time.monotonic(), done
        self._aside_done = done
        spent = time.monotonic() - self._aside_start
        remaining = spent / max(done - self._aside_first, 1) * (total - done)
        self.listener(Progress(work, done, total, self.elapsed, remaining, phase_elapsed=spent, is_aside=True))

    def state(self) -> dict[str, Any]:
        """Return the time spent so far, and in which phase."""
        return {
            "elapsed": self.elapsed,
            "phase": self._phase,
            "phase_elapsed": time.monotonic() - self._phase_start,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Count the time of an earlier process as spent."""
        now = time.monotonic()
        self._start, self._phase_start = now - state["elapsed"], now - state["phase_elapsed"]
        self._phase = state["phase"]


@dataclass(frozen=True)
class Turn:
    """A clock for one of several equal pieces of a phase: what is reported is how far the whole phase is."""

    clock: Clock
    number: int
    of: int

    def is_over(self) -> bool:
        """Tell whether `max_time` has been spent."""
        return self.clock.is_over()

    def report(self, phase: str, done: int, total: int, **figures: float) -> None:
        """Tell the clock how far all pieces are."""
        self.clock.report(phase, self.number * total + done, self.of * total, **figures)
