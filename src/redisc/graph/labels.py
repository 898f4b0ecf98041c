"""Node labels: integers from 0 upwards, -1 where unknown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from redisc.errors import LabelError, UnsupportedGraphError
from redisc.graph.arrays import as_array, first_true, read_only


def read_labels(y: Any) -> np.ndarray:
    """The labels as a read-only (N,) int64 copy; whole-numbered floats and shape (N, 1) are accepted."""
    values = _one_column(as_array(y, "y", LabelError))
    if values.size and values.dtype.kind not in "biu":
        _check_whole(values)
    labels = values.astype(np.int64)
    if (labels < -1).any():
        place = first_true(labels < -1)
        raise _negative(place, labels[place])
    return read_only(labels)


def _one_column(values: np.ndarray) -> np.ndarray:
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim == 2:
        raise UnsupportedGraphError(
            f"y has shape {values.shape}, several labels a node: only one is modelled; pass one column"
        )
    if values.ndim != 1:
        raise LabelError(f"y must have shape (number of nodes,), but has shape {values.shape}")
    return values


def _check_whole(values: np.ndarray) -> None:
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.floor(values))
    else:
        whole = np.array([is_whole_number(value) for value in values], dtype=bool)
    if whole.all():
        return
    place = first_true(~whole)
    raise LabelError(
        f"the label of node {place} is {values[place : place + 1].tolist()[0]!r}: labels are integers from 0 upwards, "
        "or -1 for unknown; number the classes and list their names in class_names"
    )


def is_whole_number(value: Any) -> bool:
    """Whether a scalar is an integer, or a float that holds one."""
    if isinstance(value, (float, np.floating)):
        return float(value).is_integer()
    return isinstance(value, (int, np.integer))


def check_class_names(labels: np.ndarray, class_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names as a tuple, after checking that each label has one."""
    if class_names is None:
        return None
    names = tuple(str(name) for name in class_names)
    if labels.size and int(labels.max()) >= len(names):
        place = first_true(labels >= len(names))
        raise LabelError(
            f"the label of node {place} is {labels[place]}, but class_names has only {len(names)} names "
            f"(0..{len(names) - 1})"
        )
    return names


def encode_labels(
    values: Sequence[Any], missing: np.ndarray, rows: Sequence[int] | None = None, *, minus_one_is_unknown: bool = True
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Labels of any type as integers and class names, with -1 where missing.

    Integers that are already 0..C-1 stay as they are and get no names; others are numbered in sorted order. In arrays
    -1 stands for unknown, and other negative numbers are refused; in files, where a gap does, all numbers are classes.
    An error names the place of a value, or its entry of `rows`.
    """
    labels = np.full(len(values), -1, dtype=np.int64)
    places = np.flatnonzero(~missing)
    present = [values[place] for place in places.tolist()]
    if all(is_whole_number(value) and not isinstance(value, (bool, np.bool_)) for value in present):
        labels[places], integers = _number_integers([int(value) for value in present], places, minus_one_is_unknown)
        return labels, integers
    for place, value in zip(places, present, strict=True):
        if isinstance(value, (float, np.floating)) and not is_whole_number(value):
            row = place if rows is None else rows[int(place)]
            raise LabelError(f"row {row} has the label {value}: a label is a whole number or a name, not a measure")
    names, numbers = np.unique([str(value) for value in present], return_inverse=True)
    labels[places] = numbers
    return labels, tuple(names.tolist())


def _number_integers(
    values: list[int], places: np.ndarray, minus_one_is_unknown: bool
) -> tuple[list[int], tuple[str, ...] | None]:
    """The number of each value, and the names of the classes where they are not 0..C-1; values may be of any size."""
    unknown = {-1} if minus_one_is_unknown else set()
    classes = sorted(set(values) - unknown)
    if minus_one_is_unknown and classes and classes[0] < 0:
        first = next(k for k, value in enumerate(values) if value < -1)
        raise _negative(places[first], values[first])
    codes = {value: code for code, value in enumerate(classes)} | dict.fromkeys(unknown, -1)
    names = None if classes == list(range(len(classes))) else tuple(str(value) for value in classes)
    return [codes[value] for value in values], names


def _negative(node: int, label: int) -> LabelError:
    return LabelError(f"the label of node {node} is {label}: labels are 0 upwards, or -1 for unknown")
