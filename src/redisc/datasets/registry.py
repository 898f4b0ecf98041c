"""How names of datasets are understood."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from redisc.datasets.catalogue import ALIASES, ENTRIES
from redisc.datasets.entry import Entry
from redisc.errors import DatasetError


def canonical(name: str) -> str:
    """Return the name as the registry spells it: lower case, underscores, aliases resolved."""
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    return ALIASES.get(plain, plain)


def find(name: str, files: Mapping[str, Path]) -> Entry:
    """Return the entry of a dataset, or of one of the user's own `files` (canonical name to path)."""
    key = canonical(name)
    if key in ENTRIES:
        return ENTRIES[key]
    if key in files:
        return Entry(key, f"a graph of your own ({files[key]})", "local", "public")
    known = {**ENTRIES, **ALIASES, **files}
    close = get_close_matches(key, known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    raise DatasetError(
        f"there is no dataset '{name}'. {hint}Known are {', '.join(ENTRIES)}; a file {key}.npz in the folder "
        "that data_dir= or REDISC_DATA names can be loaded too."
    )
