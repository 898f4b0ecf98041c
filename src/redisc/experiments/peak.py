"""How much memory a process has used at its height."""

from __future__ import annotations

from pathlib import Path


def peak_resident() -> float:
    """Peak resident memory of this process in MiB; zero where the system does not tell."""
    status = Path("/proc/self/status")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024 if status.exists() else 0.0
