"""The classes of a label column, and the labels of another table in their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from redisc.errors import LabelError
from redisc.graph.labels import is_whole_number
from redisc.graph.tables import read_label_column, unlabelled
from redisc.optional import require

_WHOLE = re.compile(r"(-?\d+)(\.0+)?")


@dataclass(frozen=True)
class Classes:
    """Names in the order of their numbers; `numbered` where the labels were 0..C-1 already and need no names."""

    names: tuple[str, ...]
    numbered: bool

    @classmethod
    def fit(cls, nodes: Any, column: Any) -> Classes:
        """Find the classes of a table; -1 is one like others."""
        labels, names = read_label_column(nodes, column, minus_one_is_unknown=False)
        check_several(labels, names, column)
        count = int(labels.max(initial=-1)) + 1
        return cls(tuple(map(str, range(count))), True) if names is None else cls(names, False)

    def labels(self, nodes: Any, column: Any) -> np.ndarray:
        """The labels (N,) of a table, -1 where there is none; a class that is not among these is named by its row."""
        values = nodes[column]
        present = values.astype(object).where(~unlabelled(values), None)
        codes, distinct = require("pandas", extra="files").factorize(present)
        places = {name: place for place, name in enumerate(self.names)}
        numbers = [self._number(value, places) for value in distinct]
        for code, number in enumerate(numbers):
            if number is None:
                row = int(np.argmax(codes == code))
                raise LabelError(
                    f"nodes row {row}, column {column!r}: {distinct[code]!r} is not among the classes of the fit "
                    f"({self._listed()}): correct it, leave it empty, or fit again"
                )
        return np.array([*numbers, -1], dtype=np.int64)[codes]

    def _number(self, value: Any, places: dict[str, int]) -> int | None:
        spelled = str(int(value)) if _is_number(value) else str(value)
        whole = _WHOLE.fullmatch(spelled)
        for text in (spelled, whole[1] if whole else spelled):
            if text in places:
                return places[text]
        return None

    def _listed(self, most: int = 10) -> str:
        return ", ".join(map(repr, self.names[:most])) + (", ..." if len(self.names) > most else "")


def check_several(labels: np.ndarray, names: tuple[str, ...] | None, column: Any) -> None:
    """Raise an error where all labels that are known are of one class."""
    known = np.unique(labels[labels >= 0])
    if known.size == 1:
        name = str(known[0]) if names is None else names[known[0]]
        raise LabelError(f"label column {column!r} has one class alone, {name!r}: there is nothing to tell apart")


def _is_number(value: Any) -> bool:
    return is_whole_number(value) and not isinstance(value, (bool, np.bool_))
