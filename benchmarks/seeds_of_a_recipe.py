"""What scripts about a recipe share: `python benchmarks/SCRIPT.py DATASET RECIPE --seeds 0 1 --settings JSON`."""

import argparse
from collections.abc import Iterator
from typing import Any

import torch

from redisc import Graph, datasets
from redisc.errors import ConfigError, DatasetError
from redisc.experiments.probe import read_settings
from redisc.experiments.splits import split_of
from redisc.graph import Split


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of such a command line, which a script may add options to."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("recipe")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--settings", default="{}", help="a JSON object, put over the recipe's settings")
    return parser


def each_seed(parser: argparse.ArgumentParser) -> Iterator[tuple[int, Graph, Split, dict[str, Any]]]:
    """Read the command line and yield, for each seed, its graph, its split and the settings."""
    given = parser.parse_args()
    torch.set_num_threads(1)
    try:
        settings = read_settings(given.recipe, given.settings)
        for seed in given.seeds:
            graph = datasets.load(given.dataset, seed=seed)
            yield seed, graph, split_of(graph, seed), dict(settings)
    except (ConfigError, DatasetError) as fault:
        parser.error(str(fault))
