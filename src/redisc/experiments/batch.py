"""Many cells: those that are missing, several at a time, each in a process of its own, the store always up to date."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from typing import Any

import numpy as np

from redisc.errors import RediscError
from redisc.experiments.cell import TETHERED, Cell, complete_settings, row_key, runs_of
from redisc.experiments.store import ResultStore

Report = Callable[[str], None]
_Kind = tuple[str, str, str | None]


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
    estimate, crew, waiting = Estimate(store, at_once), Crew(), list(todo)
    with ThreadPoolExecutor(at_once) as pool:
        try:
            running = {pool.submit(run_apart, cell, data_dir, crew): cell for cell in todo}
            for done, future in enumerate(as_completed(running), start=1):
                cell = running[future]
                waiting.remove(cell)
                line = _settle(future, cell, store, failures, estimate)
                report(f"[{done}/{len(todo)}] {line}; about {estimate.left(waiting) / 60:.0f} min left")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            crew.stop()
            raise
    return failures


class Crew:
    """The processes that are at work. Once stopped, they are ended and no other begins."""

    def __init__(self) -> None:
        self._lock, self._at_work, self._stopped = threading.Lock(), set[subprocess.Popen[str]](), False

    def run(self, command: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
        """Run a process to its end: its exit code, and what it wrote to both streams."""
        with self._lock:
            if self._stopped:
                raise CellError("stopped before it began")
            process, tether = _begin(command, environment)
            self._at_work.add(process)
        try:
            out, complaints = process.communicate()
        finally:
            os.close(tether)
        with self._lock:
            self._at_work.discard(process)
        return process.returncode, out, complaints

    def stop(self) -> None:
        """End every process at work."""
        with self._lock:
            self._stopped = True
            for process in self._at_work:
                process.terminate()


def _begin(command: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[str], int]:
    """Begin a process whose standard input ends when the returned descriptor is closed, or this process is gone."""
    piped = subprocess.PIPE
    held, tether = os.pipe()
    try:
        process = subprocess.Popen(command, stdin=held, stdout=piped, stderr=piped, text=True, env=environment)
    except BaseException:
        os.close(tether)
        raise
    finally:
        os.close(held)
    return process, tether


class Estimate:
    """How long fits will take: as long as those of the same method, dataset and backbone, or as the mean so far."""

    def __init__(self, store: ResultStore, at_once: int) -> None:
        self._seconds, self._at_once = defaultdict[_Kind, list[float]](list), at_once
        self._here: list[float] = []
        for row in runs_of(store):
            self._seconds[row["method"], row["dataset"], row["backbone"]].append(row["seconds"])

    def learn(self, row: dict[str, Any]) -> None:
        """Take note of a row of this batch."""
        self._seconds[row["method"], row["dataset"], row["backbone"]].append(row["seconds"])
        self._here.append(row["seconds"])

    def left(self, waiting: list[Cell]) -> float:
        """Return the seconds that cells take which are at work or wait, shared among the workers."""
        if not waiting:
            return 0.0
        each = [self._expected(cell) for cell in waiting]
        return max(sum(each) / self._at_once, *each)

    def _expected(self, cell: Cell) -> float:
        backbone = complete_settings(cell.method, cell.settings).get("backbone")
        known = self._seconds.get((cell.method, cell.dataset, backbone), self._here)
        return float(np.median(known)) if known else 0.0


def run_apart(cell: Cell, data_dir: str | None, crew: Crew) -> dict[str, Any]:
    """Run a cell in a process of its own with one thread: its peak memory is its own, and its crash too.

    On small graphs one thread each is the fastest way to use several cores.
    """
    command = [sys.executable, "-m", "redisc.experiments.cell", json.dumps(asdict(cell)), data_dir or "", TETHERED]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    code, out, complaints = crew.run(command, alone)
    if code:
        lines = complaints.strip().splitlines() or [f"exit code {code}"]
        raise CellError(lines[-1])
    try:
        row: dict[str, Any] = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        raise CellError("it came to an end without a result") from None
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
    estimate.learn(row)
    figures = ", ".join(f"{key} {100 * row['metrics'][key]:.2f}" for key in ("node_accuracy", "subgraph_accuracy"))
    return f"{name}: {figures}, {row['seconds']:.0f} s"
