"""Packages that are imported only when they are needed."""

import importlib
from types import ModuleType

from redisc.errors import MissingDependencyError


def require(package: str, *, extra: str) -> ModuleType:
    """Import an optional package; where it is absent, the error names the extra that installs it."""
    try:
        return importlib.import_module(package)
    except ImportError as fault:
        raise MissingDependencyError.of(package, extra=extra) from fault
