"""Labels of any type that come in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from redisc.graph.labels import encode_labels
from redisc.graph.tables import unlabelled
from redisc.optional import require


class LabelCodes:
    """Numbers the distinct labels as they come, and in the end as `encode_labels` numbers those of a file at once."""

    def __init__(self) -> None:
        self._codes: dict[tuple[type, Any], int] = {}
        self._rows: list[int] = []
        self._chunks: list[np.ndarray] = []

    def append(self, values: Any, first: int) -> None:
        """Take a part of the label column; its first row has the number `first`."""
        missing = unlabelled(values)
        numbers, distinct = require("pandas", extra="files").factorize(values.astype(object).where(~missing, None))
        known = np.array([*(self._code(v, first, numbers, k) for k, v in enumerate(distinct)), -1], dtype=np.int64)
        self._chunks.append(known[numbers])

    def _code(self, value: Any, first: int, numbers: np.ndarray, number: int) -> int:
        key = (type(value), value)
        if key not in self._codes:
            self._codes[key] = len(self._codes)
            self._rows.append(first + int(np.argmax(numbers == number)))
        return self._codes[key]

    def encoded(self) -> tuple[np.ndarray, tuple[str, ...] | None]:
        """The labels (N,), -1 where unknown, and the names of the classes."""
        distinct = [value for _, value in self._codes]
        none = np.zeros(len(distinct), dtype=bool)
        numbers, names = encode_labels(distinct, none, self._rows, minus_one_is_unknown=False)
        return np.append(numbers, -1)[np.concatenate(self._chunks)], names
