"""The state of an unfinished fit on disk: `state.json` and the one file of tensors that it names, never a pickle.

The tensors are written first, under a name of their own; then `state.json` is replaced in one step. A process that is
killed at any moment leaves the older state or the newer one, and perhaps a stray file that the next one clears away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as dump_tensors

from redisc.errors import CheckpointError
from redisc.io.files import flush, read_json, unwritable_part, write_atomically
from redisc.state import State

FORMAT = "redisc unfinished fit"
VERSION = 1


class StateFolder:
    """A folder that holds at most one state."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def _head(self) -> Path:
        return self.path / "state.json"

    def holds_state(self) -> bool:
        """Tell whether there is a state to go on from."""
        return self._head.is_file()

    def check_usable(self) -> None:
        """Refuse a place that holds something else, or that can't be written to."""
        if self.path.exists() and (not self.path.is_dir() or set(self.path.iterdir()) - set(self._own_files())):
            raise CheckpointError(f"{self.path} exists and holds other things than an unfinished fit: choose another")
        above = unwritable_part(self.path)
        if above is not None:
            raise CheckpointError(f"{above} can't be written to: choose another place for the unfinished fit")

    def save(self, state: State) -> None:
        """Write a state in place of the older one."""
        weights = dump_tensors({name: value.detach().cpu().contiguous() for name, value in state.tensors.items()})
        digest = _digest(state.figures, weights)
        tensors = self.path / f"state-{digest[:16]}.safetensors"
        head = {"format": FORMAT, "version": VERSION, "tensors": tensors.name, "sha256": digest}
        write_atomically(tensors, weights)
        flush(self.path)
        write_atomically(self._head, json.dumps({**head, "figures": state.figures}).encode())
        flush(self.path)
        self._clear_all_but({tensors, self._head})

    def load(self) -> State:
        """Read the state, or say in one sentence why that can't be done."""
        head = self._read_head()
        figures, weights = head.get("figures"), self._read_tensors(head.get("tensors"))
        if not isinstance(figures, dict) or _digest(figures, weights) != head.get("sha256"):
            raise CheckpointError(f"the unfinished fit in {self.path} is damaged: start anew without resuming")
        try:
            return State(figures, load_tensors(weights))
        except SafetensorError as fault:
            raise CheckpointError(f"the tensors in {self.path} are no safetensors file: {fault}") from None

    def remove(self) -> None:
        """Remove the state, and the folder with it unless it holds something else."""
        self._head.unlink(missing_ok=True)
        self._clear_all_but(set())
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def _read_head(self) -> dict[str, Any]:
        head = read_json(self._head)
        if head.get("format") != FORMAT:
            raise CheckpointError(f"{self._head} tells of no unfinished fit")
        if head.get("version") != VERSION:
            found = head.get("version")
            raise CheckpointError(f"{self._head} has format version {found}; this library reads {VERSION}")
        return head

    def _read_tensors(self, name: object) -> bytes:
        file = self.path / Path(str(name)).name
        try:
            return file.read_bytes()
        except OSError as fault:
            raise CheckpointError(
                f"the unfinished fit in {self.path} is damaged: its tensors can't be read ({fault.strerror})"
            ) from None

    def _own_files(self) -> Iterator[Path]:
        """Yield the state's files, strays of killed processes included."""
        for pattern in ("state.json", "state-*.safetensors", ".state.json.*", ".state-*.safetensors"):
            yield from self.path.glob(pattern)

    def _clear_all_but(self, kept: set[Path]) -> None:
        for file in set(self._own_files()) - kept:
            file.unlink(missing_ok=True)


def _digest(figures: dict[str, Any], weights: bytes) -> str:
    """Hash figures and tensors together; Python's JSON gives equal text for what it read from equal text."""
    digest = hashlib.sha256(json.dumps(figures, sort_keys=True).encode())
    digest.update(weights)
    return digest.hexdigest()
