"""Many cells: those that are missing, several at a time, each in a process of its own, the store always up to date."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from typing import Any

import numpy as np

from redisc.errors import RediscError
from redisc.experiments.cell import Cell, row_key, runs_of
from redisc.experiments.store import ResultStore

Report = Callable[[str], None]


class CellError(RediscError):
    """A cell's process ended without a result."""


def missing(cells: Iterable[Cell], store: ResultStore) -> list[Cell]:
    """Return the cells that the store has no row of, each once."""
    done = {row_key(row) for row in runs_of(store)}
    return list({cell.key: cell for cell in cells if cell.key not in done}.values())


def run_missing(
    cells: Iterable[Cell],
    store: ResultStore,
    data_dir: str | None = None,
    workers: int | None = None,
    report: Report = lambda line: print(line, file=sys.stderr, flush=True),
) -> list[str]:
    """Run what is missing and return the complaints of cells that failed.

    Every finished cell is stored at once, so an interrupted batch goes on where it stopped; an interrupt ends the
    processes that are at work.
    """
    todo, at_once = missing(cells, store), workers or os.cpu_count() or 1
    failures: list[str] = []
    estimate, at_work = Estimate(store, at_once), set[subprocess.Popen[str]]()
    with ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(run_apart, cell, data_dir, at_work): cell for cell in todo}
        waiting = list(todo)
        try:
            for done, future in enumerate(as_completed(running), start=1):
                cell = running[future]
                waiting.remove(cell)
                line = _settle(future, cell, store, failures, estimate)
                report(f"[{done}/{len(todo)}] {line}; about {estimate.left(waiting) / 60:.0f} min left")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(at_work):
                process.terminate()
            raise
    return failures


class Estimate:
    """How long cells will take: as long as those of the same method and dataset, or as the mean of this batch."""

    def __init__(self, store: ResultStore, at_once: int) -> None:
        self._seconds, self._at_once = defaultdict[tuple[str, str], list[float]](list), at_once
        self._here: list[float] = []
        for row in runs_of(store):
            self._seconds[row["method"], row["dataset"]].append(row["seconds"])

    def learn(self, cell: Cell, seconds: float) -> None:
        """Take note of the time of a cell's fit."""
        self._seconds[cell.method, cell.dataset].append(seconds)
        self._here.append(seconds)

    def left(self, waiting: list[Cell]) -> float:
        """Return the seconds that cells take which are at work or wait, shared among the workers."""
        fallback = float(np.mean(self._here)) if self._here else 0.0
        known = (self._seconds.get((cell.method, cell.dataset)) for cell in waiting)
        return float(sum(fallback if times is None else np.median(times) for times in known)) / self._at_once


def run_apart(
    cell: Cell, data_dir: str | None = None, at_work: set[subprocess.Popen[str]] | None = None
) -> dict[str, Any]:
    """Run a cell in a process of its own with one thread: its peak memory is its own, and its crash too.

    On small graphs one thread each is the fastest way to use several cores. While it runs, the process is in `at_work`.
    """
    command = [sys.executable, "-m", "redisc.experiments.cell", json.dumps(asdict(cell)), data_dir or ""]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    at_work = set() if at_work is None else at_work
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=alone) as process:
        at_work.add(process)
        out, complaints = process.communicate()
        at_work.discard(process)
    if process.returncode:
        lines = complaints.strip().splitlines() or [f"exit code {process.returncode}"]
        raise CellError(lines[-1])
    row: dict[str, Any] = json.loads(out.splitlines()[-1])
    return row


def _settle(
    future: Future[dict[str, Any]], cell: Cell, store: ResultStore, failures: list[str], estimate: Estimate
) -> str:
    """Store a finished cell's row, or take down its complaint."""
    name = f"{cell.method} on {cell.dataset}, seed {cell.seed}"
    try:
        row = future.result()
    except CellError as fault:
        failures.append(f"{name}: {fault}")
        return f"{name}: failed: {fault}"
    store.add(row)
    estimate.learn(cell, row["seconds"])
    figures = ", ".join(f"{key} {100 * row['metrics'][key]:.2f}" for key in ("node_accuracy", "subgraph_accuracy"))
    return f"{name}: {figures}, {row['seconds']:.0f} s"
