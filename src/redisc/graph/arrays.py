"""From what people pass (lists, tensors, frames) to NumPy arrays."""

import sys
from typing import Any

import numpy as np

from redisc.errors import GraphError


def is_tensor(value: Any) -> bool:
    """Whether the value is a torch tensor; torch is not imported for this: without it there is no tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_array(value: Any, what: str, error: type[GraphError]) -> np.ndarray:
    """The value as a NumPy array that shares its memory where it can; ragged lists raise `error`."""
    if is_tensor(value):
        value = value.detach().cpu()
        return value.float().numpy() if str(value.dtype) == "torch.bfloat16" else value.numpy()
    try:
        return np.asarray(value)
    except ValueError as fault:
        raise error(
            f"{what} is not a rectangular array: its rows differ in length or type; pass rows of one length"
        ) from fault


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of the array that refuses writes; the array itself keeps its own flag."""
    view = array.view()
    view.flags.writeable = False
    return view


def first_true(mask: np.ndarray) -> int:
    """Position of the first true entry of a mask that has one."""
    return int(np.argmax(mask))
