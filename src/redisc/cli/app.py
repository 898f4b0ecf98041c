"""The application that the commands hang on, and the options that they share."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from redisc.errors import RediscError

app = typer.Typer(
    help="Complete the labels of a partially labelled graph jointly.", no_args_is_help=True, add_completion=False
)

DATASET_HELP = "A name that `redisc datasets` lists, or a folder made by `redisc convert`."

Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by `redisc fit`.")]
DataDir = Annotated[str | None, typer.Option(help="Folder of NAME.npz files (default: REDISC_DATA).")]


def main() -> None:
    """Run the command; a wrong input is one line on standard error and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    try:
        app()
    except RediscError as fault:
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    except OSError as fault:
        print(f"error: {fault.strerror}: {fault.filename}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        sys.exit(130)
