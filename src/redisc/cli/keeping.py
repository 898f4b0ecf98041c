"""What `fit` does for a fit that may be killed: where its state goes, and what is said about one that is there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from redisc.classifier import NodeClassifier
from redisc.em import Keeper
from redisc.errors import ConfigError
from redisc.estimator import ReDiSC

_EVERY = 60.0


@contextmanager
def kept(clf: NodeClassifier, folder: Path, every: float | None, resume: bool) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `fit` that keep its state in `folder`; when the block ends well the state is removed.

    An interrupt that leaves a state ends the command and says how to go on.
    """
    keeper = _keeper(clf, folder, every, resume)
    if keeper is None:
        yield {}
        return
    try:
        yield {"checkpoint": keeper}
        keeper.remove()
    except KeyboardInterrupt:
        if not keeper.folder.holds_state():
            raise
        print(f"interrupted: the unfinished fit is in {folder}; --resume goes on with it", file=sys.stderr)
        raise typer.Exit(130) from None


def _keeper(clf: NodeClassifier, folder: Path, every: float | None, resume: bool) -> Keeper | None:
    """Return what keeps the state; of the methods only ReDiSC has one."""
    if not isinstance(clf, ReDiSC):
        if resume or every is not None:
            option = "--resume" if resume else "--checkpoint-every"
            raise ConfigError(f"{option}: method {clf.name} keeps no state while it is fitted, only redisc does")
        return None
    keeper = Keeper(folder, _EVERY if every is None else every, resume)
    if not resume and keeper.folder.holds_state():
        print(f"note: {folder} holds an unfinished fit that --resume would continue; starting anew", file=sys.stderr)
    return keeper
