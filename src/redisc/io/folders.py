"""Folders that appear whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redisc.io.files import flush


@contextmanager
def draft_folder_of(target: Path) -> Iterator[Path]:
    """Yield a folder beside `target` to write to; it takes the target's place if the block ends well, else it goes.

    An older folder of that name is replaced: whether it may be is for the caller to check.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield draft
        for file in sorted(draft.iterdir()):
            flush(file)
        _swap(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _swap(draft: Path, target: Path) -> None:
    """Rename the finished draft to its place; an older folder steps aside first, and back if that fails."""
    draft.chmod(0o755)
    if not target.exists():
        draft.rename(target)
    else:
        _replace(draft, target)
    flush(target.parent)


def _replace(draft: Path, target: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    older = aside / "older"
    try:
        target.rename(older)
        draft.rename(target)
    except BaseException:
        if older.exists():
            older.rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
