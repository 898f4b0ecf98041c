"""The application that the commands hang on, and the options that they share."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from redisc.errors import RankError, RediscError
from redisc.world import joined

_ORDER = ("demo", "fit", "predict", "sample", "evaluate", "report", "datasets", "methods", "convert", "tune")


class _InOrder(TyperGroup):
    """Lists commands in the order in which a user meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names; those without a place come last."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


app = typer.Typer(
    cls=_InOrder,
    help="Complete the labels of a partially labelled graph jointly.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)

DATASET_HELP = "A name that `redisc datasets` lists, or a folder made by `redisc convert`."

Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by `redisc fit`.")]
DataDir = Annotated[str | None, typer.Option(help="Folder of NAME.npz files (default: REDISC_DATA).")]


@contextmanager
def _quiet_unless(leads: bool) -> Iterator[None]:
    """Let one of several processes talk."""
    if leads:
        yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield


def _told_to_stop(*_: object) -> None:
    raise RankError(
        "stopped, as a process of this run is when another one ends: start it again with --resume to go on from the "
        "last checkpoint"
    )


def main() -> None:
    """Run the command; a wrong input is one line on standard error and exit code 2."""
    leads = os.environ.get("RANK", "0") == "0"
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr) if leads else None
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        signal.signal(signal.SIGTERM, _told_to_stop)
    try:
        with _quiet_unless(leads), joined():
            app()
    except RediscError as fault:
        if leads or isinstance(fault, RankError):  # a wrong input is the same for all ranks: one of them says so
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    except OSError as fault:
        print(f"error: {fault.strerror}: {fault.filename}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        sys.exit(130)
