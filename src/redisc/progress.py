"""The progress bar of a fit, or of a long answer."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from redisc.clock import Progress as FitProgress

_SHORT = 1.0
"""Seconds that an aside takes unseen."""

_PHASES = {"mean-field": "mean-field GNN", "diffusion": "diffusion (EM)"}


class ProgressBar:
    """Shows phase, count, live figures and time left on standard error; silent where it is switched off."""

    def __init__(self, visible: bool, metric: str) -> None:
        self.visible, self.metric = visible, metric.replace("_", " ")
        self._console = Console(stderr=True)
        columns = (
            TextColumn("{task.description:14}"),
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, TextColumn("{task.fields[figures]}"), console=self._console, disable=not visible)
        self._tasks: dict[str, TaskID] = {}
        self._aside: tuple[str, TaskID] | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, progress: FitProgress) -> None:
        """Show where the work stands; an aside has a bar while it lasts, if it lasts."""
        if not progress.is_aside or progress.phase_elapsed > _SHORT:
            self._bar.start()
        if progress.is_aside:
            self._update_aside(progress)
        else:
            self._update_phase(progress)

    def _update_aside(self, progress: FitProgress) -> None:
        if self._aside is not None and (progress.phase != self._aside[0] or progress.done == progress.total):
            self._bar.remove_task(self._aside[1])
            self._aside = None
        if self._aside is None and progress.phase_elapsed > _SHORT and progress.done < progress.total:
            self._aside = (progress.phase, self._bar.add_task(progress.phase, total=progress.total, figures=""))
            self._bar.tasks[-1].start_time = self._bar.get_time() - progress.phase_elapsed
        if self._aside is not None:
            figures = f"{_clock(progress.remaining)} left"
            self._bar.update(self._aside[1], completed=progress.done, total=progress.total, figures=figures)

    def _update_phase(self, progress: FitProgress) -> None:
        if progress.phase not in self._tasks:
            name = _PHASES.get(progress.phase, progress.phase)
            task = self._bar.add_task(name, total=progress.total, figures="")
            self._tasks[progress.phase] = task
            self._bar.tasks[-1].start_time = self._bar.get_time() - progress.phase_elapsed
        figures = progress.figures
        parts = [f"loss {figures['loss']:.3f}"] if "loss" in figures else []
        parts.append(f"{self.metric} {figures['validation']:.3f} (best {figures['best']:.3f})")
        parts.append(f"{_clock(progress.remaining)} left at the most")
        self._bar.update(self._tasks[progress.phase], completed=progress.done, figures=", ".join(parts))

    def conclude(self, line: str) -> None:
        """Print the closing line."""
        if self.visible:
            self._console.print(line, highlight=False)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
