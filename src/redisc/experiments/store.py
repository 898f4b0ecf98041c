"""The result store: one JSON line a run, appended and never rewritten."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redisc.errors import CheckpointError


@dataclass(frozen=True)
class ResultStore:
    """A file of results, `results/runs.jsonl` by custom."""

    path: Path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield all rows, oldest first; a last line that was cut short by a crash is left out."""
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            try:
                yield json.loads(line)
            except ValueError:
                if number == len(lines) and not line.endswith("\n"):
                    return
                raise CheckpointError(f"{self.path}, line {number}: it is not JSON") from None

    def add(self, row: dict[str, Any]) -> None:
        """Append one row and flush it to the disk; several processes may do so at a time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._mend()
            file.write(json.dumps(row, sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _mend(self) -> None:
        """Drop a last line that was cut short, so that the next row does not grow out of it; end one that is whole."""
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        if not content or content.endswith(b"\n"):
            return
        start = content.rfind(b"\n") + 1
        with self.path.open("rb+") as file:
            if _is_json(content[start:]):
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
            else:
                file.truncate(start)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
