"""Keeps the state of a fit on disk, so that another process can go on where this one was killed."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redisc.clock import Clock
from redisc.errors import CheckpointError, ConfigError, RankError
from redisc.identity import differences
from redisc.io.state import StateFolder
from redisc.state import State
from redisc.world import world


class Keeper:
    """Writes the state of a fit into a folder every so many seconds and hands back the one that was found there.

    A state that can't be written is a warning: the fit goes on, and the older state stays.
    """

    def __init__(self, path: str | Path, every: float = 60.0, resume: bool = False) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, float)) or not 0 <= every < math.inf:
            raise ConfigError(f"checkpoint_every={every!r}: give seconds, 0 or more")
        self.folder, self.every = StateFolder(path), every
        self.folder.check_usable()
        self._found = self._find() if resume else None
        self._check_shared()
        self._identity: dict[str, Any] = {}
        self._saved_at = time.monotonic()

    @property
    def seed(self) -> int | None:
        """The seed of the fit that is resumed, if there is one."""
        return None if self._found is None else int(self._fit_of(self._found)["seed"])

    def claim(self, identity: dict[str, Any]) -> None:
        """Say which fit this is; a state of another fit is refused."""
        self._identity = identity
        if self._found is None:
            return
        differing = differences(self._fit_of(self._found), identity)
        if differing:
            raise CheckpointError(
                f"the unfinished fit in {self.folder.path} is another one: {', '.join(differing)} "
                "(go back to what it had, or start anew without resuming)"
            )

    def found(self, phase: str, clock: Clock) -> State | None:
        """Return the state to go on from if it was saved in `phase`; the clock then counts its time as spent."""
        found = self._found
        if found is None or found.figures.get("phase") != phase:
            return None
        self._found = None  # it may be large, and is needed only once
        clock.restore(found.figures["clock"])
        return found.part("fit state")

    def is_due(self) -> bool:
        """Tell whether the interval is over."""
        return time.monotonic() - self._saved_at >= self.every

    def save(self, phase: str, clock: Clock, state: State) -> None:
        """Write the state that a fit has reached in `phase`; of several processes the first one writes."""
        self._saved_at = time.monotonic()
        if not world().leads:
            return
        about = State({"fit": self._identity, "phase": phase, "clock": clock.state()})
        try:
            self.folder.save(about.joined(**{"fit state": state}))
        except OSError as fault:
            warnings.warn(
                f"the state of the fit can't be written to {self.folder.path} ({fault.strerror}): the fit goes on",
                stacklevel=2,
            )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn whatever goes wrong while a state is taken over into one clear error."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as fault:
            reason = f"{type(fault).__name__}: {fault}".splitlines()[0]
            raise CheckpointError(
                f"the unfinished fit in {self.folder.path} does not fit this model ({reason}): start anew"
            ) from None

    def remove(self) -> None:
        """Remove the state: the fit has ended."""
        if not world().leads:
            return
        try:
            self.folder.remove()
        except OSError as fault:
            warnings.warn(f"{self.folder.path} can't be removed ({fault.strerror}); it is of no use now", stacklevel=2)

    def _check_shared(self) -> None:
        """Refuse to go on where processes found different states, as on disks that they do not share."""
        found = None if self._found is None else [self._found.figures.get("phase"), self._found.figures.get("clock")]
        if any(other != found for other in world().gather([found])):
            raise RankError(f"not all processes find the same unfinished fit in {self.folder.path}: share the folder")

    def _find(self) -> State | None:
        if self.folder.holds_state():
            return self.folder.load()
        warnings.warn(f"there is no unfinished fit in {self.folder.path}: starting from the beginning", stacklevel=4)
        return None

    def _fit_of(self, state: State) -> dict[str, Any]:
        fit = state.figures.get("fit")
        if not isinstance(fit, dict) or not isinstance(fit.get("seed"), int):
            raise CheckpointError(f"the unfinished fit in {self.folder.path} does not say what it is a fit of")
        return fit
