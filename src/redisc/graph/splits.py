"""Training, validation and test nodes as boolean masks."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from redisc.errors import LengthError, MaskError
from redisc.graph.arrays import as_array, first_true, read_only


@dataclass(frozen=True, eq=False)
class Split:
    """Which nodes are for training, validation and testing: three boolean masks (N,)."""

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of training, validation and test nodes."""
        return int(self.train.sum()), int(self.val.sum()), int(self.test.sum())


def as_mask(value: Any, num_nodes: int, what: str = "mask") -> np.ndarray:
    """A boolean mask (N,) from a boolean mask or an array of node numbers; `what` names it in errors.

    An empty list is an empty mask.
    """
    given = as_array(value, what, MaskError)
    if given.ndim != 1:
        hint = "; pick one column" if given.ndim == 2 else ""
        raise MaskError(f"{what} must be a boolean mask or an array of node numbers, not of shape {given.shape}{hint}")
    if given.dtype.kind == "b":
        return _check_mask_length(given, num_nodes, what)
    if given.size == 0:
        return np.zeros(num_nodes, dtype=bool)
    if given.dtype.kind not in "iu":
        raise MaskError(f"{what} must hold booleans or node numbers, but holds {given.dtype}: convert it first")
    return _mask_from_numbers(given, num_nodes, what)


def _check_mask_length(mask: np.ndarray, num_nodes: int, what: str) -> np.ndarray:
    if mask.size != num_nodes:
        raise LengthError(f"{what} has {mask.size} entries, but the graph has {num_nodes} nodes")
    return mask.copy()


def _mask_from_numbers(numbers: np.ndarray, num_nodes: int, what: str) -> np.ndarray:
    outside = (numbers < 0) | (numbers >= num_nodes)
    if outside.any():
        place = first_true(outside)
        raise MaskError(
            f"{what}: entry {place} is {numbers[place]}, but there are {num_nodes} nodes (0..{num_nodes - 1})"
        )
    mask = np.zeros(num_nodes, dtype=bool)
    mask[numbers] = True
    if np.count_nonzero(mask) < numbers.size:
        raise _duplicate_number(numbers, num_nodes, what)
    return mask


def _duplicate_number(numbers: np.ndarray, num_nodes: int, what: str) -> MaskError:
    repeated = int(np.argmax(np.bincount(numbers, minlength=num_nodes) > 1))
    message = f"{what}: node {repeated} is listed more than once"
    if numbers.size == num_nodes and numbers.max() <= 1:
        message += "; these look like a mask of zeros and ones: convert it to bool"
    return MaskError(message)


def check_split(train: np.ndarray, val: np.ndarray | None = None, test: np.ndarray | None = None) -> None:
    """Raise an error where the training mask is empty, or where two of the boolean masks share a node."""
    if not train.any():
        raise MaskError("the train mask is empty: at least one training node is needed")
    masks = [(name, mask) for name, mask in (("train", train), ("val", val), ("test", test)) if mask is not None]
    for number, (name, mask) in enumerate(masks):
        for other_name, other in masks[number + 1 :]:
            if (mask & other).any():
                node = first_true(mask & other)
                raise MaskError(f"node {node} is in both the {name} mask and the {other_name} mask: keep it in one")


def read_splits(splits: Iterable[Any], num_nodes: int) -> tuple[Split, ...]:
    """Splits from Split objects or triples of masks or node numbers, in which None is an empty mask."""
    return tuple(_read_split(split, number, num_nodes) for number, split in enumerate(splits))


def _read_split(split: Any, number: int, num_nodes: int) -> Split:
    if isinstance(split, Split):
        parts = (split.train, split.val, split.test)
    elif isinstance(split, (tuple, list)) and len(split) == 3:
        parts = tuple(split)
    else:
        raise MaskError(f"split {number} must be a Split or a (train, val, test) triple, not {type(split).__name__}")
    masks = [
        as_mask([] if part is None else part, num_nodes, f"{name} mask of split {number}")
        for name, part in zip(("train", "val", "test"), parts, strict=True)
    ]
    try:
        check_split(*masks)
    except MaskError as fault:
        raise MaskError(f"split {number}: {fault}") from None
    return Split(*(read_only(mask) for mask in masks))
