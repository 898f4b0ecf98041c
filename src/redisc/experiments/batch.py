"""Many cells: those that are missing, several at a time, each in a process of its own, the store always up to date."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from typing import Any

from redisc.errors import RediscError
from redisc.experiments.cell import Cell, row_key
from redisc.experiments.store import ResultStore

Report = Callable[[str], None]


class CellError(RediscError):
    """A cell's process ended without a result."""


def missing(cells: Iterable[Cell], store: ResultStore) -> list[Cell]:
    """Return the cells that the store has no row of, each once."""
    done = {row_key(row) for row in store}
    return list({cell.key: cell for cell in cells if cell.key not in done}.values())


def run_missing(
    cells: Iterable[Cell],
    store: ResultStore,
    data_dir: str | None = None,
    workers: int | None = None,
    report: Report = lambda line: print(line, file=sys.stderr, flush=True),
) -> list[str]:
    """Run what is missing and return the complaints of cells that failed.

    Every finished cell is stored at once, so an interrupted batch goes on where it stopped.
    """
    todo, start = missing(cells, store), time.monotonic()
    failures: list[str] = []
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        running = {pool.submit(run_apart, cell, data_dir): cell for cell in todo}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                line = _settle(future, running[future], store, failures)
                left = (time.monotonic() - start) / done * (len(todo) - done)
                report(f"[{done}/{len(todo)}] {line}; about {left / 60:.0f} min left")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return failures


def run_apart(cell: Cell, data_dir: str | None = None) -> dict[str, Any]:
    """Run a cell in a process of its own with one thread: its peak memory is its own, and its crash too.

    On small graphs one thread each is the fastest way to use several cores.
    """
    command = [sys.executable, "-m", "redisc.experiments.cell", json.dumps(asdict(cell)), data_dir or ""]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=alone, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise CellError(lines[-1])
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def _settle(future: Future[dict[str, Any]], cell: Cell, store: ResultStore, failures: list[str]) -> str:
    """Store a finished cell's row, or take down its complaint."""
    name = f"{cell.method} on {cell.dataset}, seed {cell.seed}"
    try:
        row = future.result()
    except CellError as fault:
        failures.append(f"{name}: {fault}")
        return f"{name}: failed: {fault}"
    store.add(row)
    figures = ", ".join(f"{key} {100 * row['metrics'][key]:.2f}" for key in ("node_accuracy", "subgraph_accuracy"))
    return f"{name}: {figures}, {row['seconds']:.0f} s"
