"""The command `redisc`: parses, calls, prints. One file a group of commands."""

from redisc.cli import bench, experiments, lists, runs
from redisc.cli.app import app, main

__all__ = ["app", "bench", "experiments", "lists", "main", "runs"]
