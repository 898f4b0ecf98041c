"""What scripts about a recipe share: `python benchmarks/SCRIPT.py DATASET RECIPE --seeds 0 1`."""

import argparse
from collections.abc import Iterator
from typing import Any

import torch

from redisc import Graph, datasets
from redisc.experiments.splits import split_of
from redisc.graph import Split
from redisc.recipes import recipe_settings


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of such a command line, which a script may add options to."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("recipe")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    return parser


def each_seed(parser: argparse.ArgumentParser) -> Iterator[tuple[int, Graph, Split, dict[str, Any]]]:
    """Read the command line and yield, for each seed, its graph, its split and the recipe's settings."""
    given = parser.parse_args()
    torch.set_num_threads(1)
    for seed in given.seeds:
        graph = datasets.load(given.dataset, seed=seed)
        yield seed, graph, split_of(graph, seed), recipe_settings(given.recipe)
