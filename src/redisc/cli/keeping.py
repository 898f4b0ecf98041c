"""What `fit` does for a fit that may be killed: where its state goes, and what is said about one that is there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from redisc.classifier import NodeClassifier
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.io.state import StateFolder

_EVERY = 60.0


def keeping(clf: NodeClassifier, folder: Path, every: float | None, resume: bool) -> dict[str, Any]:
    """Return the arguments of `fit` that keep its state in `folder`; of the methods only ReDiSC can do that."""
    if not isinstance(clf, ReDiSC):
        if resume or every is not None:
            option = "--resume" if resume else "--checkpoint-every"
            raise ConfigError(f"{option}: method {clf.name} keeps no state while it is fitted, only redisc does")
        return {}
    if not resume and StateFolder(folder).holds_state():
        print(f"note: {folder} holds an unfinished fit that --resume would continue; starting anew", file=sys.stderr)
    return {"checkpoint": folder, "checkpoint_every": _EVERY if every is None else every, "resume": resume}


@contextmanager
def told_if_interrupted(folder: Path) -> Iterator[None]:
    """End a command that was interrupted before there was a model, and say how to go on where that can be done."""
    try:
        yield
    except KeyboardInterrupt:
        if not StateFolder(folder).holds_state():
            raise
        print(f"interrupted: the unfinished fit is in {folder}; --resume goes on with it", file=sys.stderr)
        raise typer.Exit(130) from None
