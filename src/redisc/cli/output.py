"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

console = Console(highlight=False, soft_wrap=True)


class ProgressLine:
    """One line that tells what is being done; where it goes to no terminal, one line a stage."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._live, self._stage, self._width = stream, stream.isatty(), "", 0

    def show(self, text: str) -> None:
        """Show the text, whose words before a colon name the stage."""
        stage = text.partition(":")[0]
        if self._live:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif stage != self._stage:
            self._stream.write(f"{stage}\n")
        self._stage = stage
        self._stream.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live and self._width:
            self._stream.write("\r" + " " * self._width + "\r")


def print_comparison(
    results: list[tuple[str, dict[str, Any]]], method: str = "redisc", differences: bool = True
) -> None:
    """Print a method's metrics in percent, beside those of the mean-field GNN where there is one."""
    beside = all("mean_field" in scores for _, scores in results)
    title = "ReDiSC" if method == "redisc" else method
    shown = slice(0 if beside else 1, 3 if beside and differences else 2)
    table = Table("graph", "metric", *("mean-field GNN", title, "difference")[shown])
    for name, scores in results:
        for metric, after in scores[method].items():
            before = scores["mean_field"][metric] if beside else math.nan
            cells = (f"{100 * before:.2f}", f"{100 * after:.2f}", f"{100 * (after - before):+.2f}")
            table.add_row(name, metric.replace("_", " "), *cells[shown])
    console.print(table)


def print_json(value: Any) -> None:
    """Print JSON to standard output; NaN becomes null."""
    print(json.dumps(_finite(value), indent=2))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
