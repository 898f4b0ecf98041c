"""Looking at the validation metric now and then, where a look costs a chain."""

from __future__ import annotations

from collections.abc import Callable

from redisc.clock import Clock


class Looks:
    """Called after every update: scores after the first, every `every`, and the last; else repeats the last score."""

    def __init__(self, score: Callable[[], float], every: int, updates: int, clock: Clock) -> None:
        self.score, self.every, self.updates, self.clock = score, every, updates, clock
        self._done, self._latest = 0, float("-inf")

    def __call__(self) -> float:
        """Return the latest score."""
        self._done += 1
        ends = self._done == self.updates or self.clock.is_over()
        if self._done == 1 or ends or self._done % self.every == 0:
            self._latest = self.score()
        return self._latest
