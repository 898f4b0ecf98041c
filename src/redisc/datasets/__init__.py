"""Datasets: built-in generators, local `.npz` folders and downloads behind one `load`."""

from redisc.datasets.entry import Entry
from redisc.datasets.loading import Availability, available, load
from redisc.datasets.npz import load_npz, save_npz

__all__ = ["Availability", "Entry", "available", "load", "load_npz", "save_npz"]
