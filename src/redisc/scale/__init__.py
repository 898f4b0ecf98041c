"""Graphs larger than memory: built, converted and drawn straight to disk, in pieces."""
