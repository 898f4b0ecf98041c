"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redisc.errors import CheckpointError, ConfigError


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """Yield a path beside `target` to write to; it takes the target's place if the block ends well, else it goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        _flush(draft)
        draft.chmod(0o644)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file by way of a draft beside it."""
    with draft_of(target) as draft:
        draft.write_bytes(content)


def flush(path: Path) -> None:
    """Make sure that a file, or what was renamed in a folder, stays so when the power goes."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable_part(path: Path) -> Path | None:
    """Return the nearest existing path at or above `path` if nothing can be created there, else nothing."""
    above = next(part for part in (path, *path.absolute().parents) if part.exists())
    try:
        Path(tempfile.mkdtemp(dir=above)).rmdir()
    except OSError:
        return above
    return None


def check_target(file: Path) -> None:
    """Raise an error where a file can't be written: to be called before what it will hold is computed."""
    if file.is_dir():
        raise ConfigError(f"{file} is a folder: name a file")
    above = unwritable_part(file.parent)
    if above is not None:
        raise ConfigError(f"{file} can't be written: nothing can be created in {above}")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say in one sentence why that can't be done."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as fault:
        raise CheckpointError(f"{path} can't be read: {fault.strerror}") from None
    except (ValueError, RecursionError):
        raise CheckpointError(f"{path} is not JSON: it is damaged or something else") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} holds no settings")
    return content


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
