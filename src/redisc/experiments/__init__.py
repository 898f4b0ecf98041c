"""Runs that show or check what the library does."""
