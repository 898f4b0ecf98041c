"""Models on disk: `config.json` and `model.safetensors` in one folder, never a pickle.

A checkpoint appears whole or not at all: both files are written to a folder beside the target, flushed, and the
folder is renamed. The config holds the hash of the weights, so files of two checkpoints can't be mixed up.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as dump_tensors
from torch import Tensor

from redisc.errors import CheckpointError, ConfigError
from redisc.io.files import flush_folder

FORMAT = "redisc"
VERSION = 1


def save_checkpoint(path: str | Path, config: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write a checkpoint folder, replacing an older checkpoint but nothing else."""
    target = Path(path)
    _check_replaceable(target)
    weights = dump_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(weights).hexdigest()}
    try:
        text = json.dumps({**header, **config}, indent=2, allow_nan=True, default=_plain_number)
    except TypeError as fault:
        raise ConfigError(f"this model can't be saved: {fault}") from None
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write(draft / "model.safetensors", weights)
        _write(draft / "config.json", text.encode())
        _swap(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read a checkpoint folder: its config and its tensors."""
    folder = Path(path)
    config = _read_config(folder / "config.json")
    if config.get("format") != FORMAT:
        raise CheckpointError(f"{folder} is not a redisc checkpoint: config.json names no such format")
    if config.get("version") != VERSION:
        raise CheckpointError(f"{folder} has format version {config.get('version')}; this library reads {VERSION}")
    weights = _read(folder / "model.safetensors")
    if hashlib.sha256(weights).hexdigest() != config.get("sha256"):
        raise CheckpointError(f"{folder}/model.safetensors is truncated or belongs to another config.json")
    try:
        return config, load_tensors(weights)
    except SafetensorError as fault:
        raise CheckpointError(f"{folder}/model.safetensors is no safetensors file: {fault}") from None


def load_weights(module: torch.nn.Module, tensors: dict[str, Tensor], prefix: str) -> None:
    """Give `module` the tensors named `prefix.*`; a name or shape that does not fit is an error."""
    state = {name[len(prefix) + 1 :]: value for name, value in tensors.items() if name.startswith(prefix + ".")}
    try:
        module.load_state_dict(state, assign=True)
    except RuntimeError as fault:
        raise CheckpointError(f"the weights do not fit the model that config.json describes: {fault}") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise CheckpointError(f"{path} can't be read: {fault.strerror}") from None


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(_read(path))
    except (ValueError, RecursionError):
        raise CheckpointError(f"{path} is not JSON: it is damaged or no checkpoint") from None
    if not isinstance(config, dict):
        raise CheckpointError(f"{path} holds no checkpoint settings")
    return config


def _check_replaceable(target: Path) -> None:
    """Raise an error where writing to `target` would remove anything but an older checkpoint."""
    if not target.exists() and not target.is_symlink():
        return
    names = {entry.name for entry in target.iterdir()} if target.is_dir() else {""}
    if not names <= {"config.json", "model.safetensors"}:
        raise CheckpointError(f"{target} exists and is not a checkpoint, or holds other files: choose another path")
    if names and _read_config(target / "config.json").get("format") != FORMAT:
        raise CheckpointError(f"{target} exists and is not a redisc checkpoint: choose another path")


def _plain_number(value: object) -> object:
    """Turn a numpy scalar into the number that JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _swap(draft: Path, target: Path) -> None:
    """Rename the finished draft to its place; an older checkpoint steps aside first, and back if that fails."""
    draft.chmod(0o755)
    if not target.exists():
        draft.rename(target)
    else:
        _replace(draft, target)
    flush_folder(target.parent)


def _replace(draft: Path, target: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    older = aside / "checkpoint"
    try:
        target.rename(older)
        draft.rename(target)
    except BaseException:
        if older.exists():
            older.rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
