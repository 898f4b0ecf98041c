"""Checkpoints and tables."""
