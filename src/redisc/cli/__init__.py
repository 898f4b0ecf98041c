"""The command `redisc`: parses, calls, prints. One file a group of commands."""

from redisc.cli import bench, convert, experiments, lists, predict, runs
from redisc.cli.app import app, main

__all__ = ["app", "bench", "convert", "experiments", "lists", "main", "predict", "runs"]
