"""Where a figure comes from: the code that ran, and the processor, whose rounding is a seed of its own."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import redisc

_CPU_INFO = Path("/proc/cpuinfo")
_CPU_FIELDS = ("model name", "cpu family", "model", "stepping")


def versions() -> dict[str, str]:
    """Return versions of Python and of what computes, and a fingerprint of the library's own files."""
    names = ("redisc", "torch", "torch_geometric", "numpy", "numba")
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return {**found, "source": _source_hash()}


def processor(cpu_info: Path = _CPU_INFO) -> str:
    """Name the processor and the instructions that torch uses on it: `AMD EPYC 26 2 1, AVX512`.

    Virtual machines call many processors by one name; family, model and stepping tell them apart.
    """
    model = _linux_processor(cpu_info) or platform.processor() or platform.machine()
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}"


def _linux_processor(cpu_info: Path) -> str:
    """Return what the kernel says of the first core, empty where it says nothing (ARM, other systems)."""
    if not cpu_info.exists():
        return ""
    told: dict[str, str] = {}
    for line in cpu_info.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        told.setdefault(name.strip(), value.strip())
    return " ".join(told[name] for name in _CPU_FIELDS if name in told)


def _source_hash() -> str:
    """Return a short fingerprint of the library's own files: a version stays the same over many changes of them."""
    package, told = Path(redisc.__file__).parent, hashlib.sha256()
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.json")]):
        told.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return told.hexdigest()[:12]
