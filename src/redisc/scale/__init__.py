"""Graphs larger than memory: built, converted and drawn straight to disk, in pieces."""

from redisc.scale.csr_builder import build_csr
from redisc.scale.from_ogb import convert_ogb
from redisc.scale.from_tables import convert_tables
from redisc.scale.planted import planted_on_disk

__all__ = ["build_csr", "convert_ogb", "convert_tables", "planted_on_disk"]
