from pathlib import Path

import numpy as np
import pytest

from redisc.datasets import Entry, available, load, save_npz
from redisc.datasets.catalogue import ALIASES, ENTRIES
from redisc.datasets.csbm import csbm
from redisc.datasets.karate import karate
from redisc.datasets.minesweeper import minesweeper
from redisc.datasets.splits import PROTOCOLS
from redisc.errors import DatasetError
from redisc.graph import Graph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    save_npz(minesweeper(rows=6, columns=6, num_splits=4), data / "minesweeper.npz")
    save_npz(karate(), data / "My-Club.npz")
    return data


@pytest.mark.parametrize("name", ["karate", "Karate", "KARATE-CLUB", "karate_club", "zachary"])
def test_capitals_hyphens_and_aliases_do_not_matter(name: str) -> None:
    assert load(name).name == "karate"


def test_the_stand_in_for_roman_empire_keeps_its_own_name() -> None:
    assert ENTRIES["roman_empire"].kind == "download"
    assert ENTRIES["roman_empire_glove"].kind == "local"
    assert set(ALIASES.values()) <= set(ENTRIES)


def test_an_unknown_name_gets_the_closest_ones_and_what_to_do() -> None:
    with pytest.raises(DatasetError, match=r"Did you mean citeseer.*REDISC_DATA"):
        load("citesear")


def test_an_unknown_parameter_gets_the_accepted_ones(folder: Path) -> None:
    with pytest.raises(DatasetError, match=r"no parameter colour: it takes rows, columns"):
        load("minesweeper", colour="red")
    with pytest.raises(DatasetError, match="it takes largest_component"):
        load("my_club", data_dir=folder, nodes=3)


def test_a_local_file_comes_before_the_generator_and_says_so(folder: Path) -> None:
    graph = load("minesweeper", data_dir=folder)
    assert (graph.name, graph.num_nodes) == ("minesweeper", 36)
    assert load("minesweeper_benchmark", data_dir=folder).num_nodes == 36


def test_parameters_ask_for_the_generator(folder: Path) -> None:
    graph = load("minesweeper", data_dir=folder, rows=5)
    assert (graph.name, graph.num_nodes) == ("minesweeper (generated)", 500)


def test_the_data_folder_may_come_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDISC_DATA", str(folder))
    assert load("my-club").num_nodes == 34
    assert load("minesweeper").num_nodes == 36


def test_a_data_folder_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetError, match="data_dir names"):
        load("karate", data_dir=tmp_path / "absent")
    monkeypatch.setenv("REDISC_DATA", str(tmp_path / "absent"))
    with pytest.raises(DatasetError, match="REDISC_DATA names"):
        load("karate")


def test_a_local_only_dataset_tells_which_file_is_missing() -> None:
    with pytest.raises(DatasetError, match=r"arxiv_2023\.npz into a folder"):
        load("arxiv_2023")


def test_available_says_what_is_at_hand_and_from_where(folder: Path) -> None:
    listed = {item.entry.name: item for item in available(folder)}
    assert listed["karate"].at_hand and listed["karate"].origin == "built in"
    assert listed["minesweeper"].origin == str(folder / "minesweeper.npz")
    assert listed["my_club"].at_hand and listed["my_club"].entry.kind == "local"
    assert not listed["cora"].at_hand and listed["cora"].origin == "download"
    assert not listed["arxiv_2023"].at_hand
    assert len(listed) == len(ENTRIES) + 1


def test_everything_built_in_loads_without_arguments_and_has_a_split() -> None:
    for item in available():
        if item.entry.kind == "built-in":
            graph = load(item.entry.name)
            assert graph.splits and min(graph.splits[0].sizes) > 0
            assert item.entry.classes in (None, graph.num_classes)
            assert item.entry.edges in (None, graph.num_edges)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_every_entry_has_a_summary_a_protocol_and_one_way_to_get_it(entry: Entry) -> None:
    assert entry.summary and entry.split in PROTOCOLS
    assert (entry.generator is not None) == (entry.kind == "built-in")
    assert (entry.source is not None) == (entry.kind == "download")


def test_by_default_all_columns_are_kept_and_column_keeps_the_seeds(folder: Path) -> None:
    every = load("minesweeper", data_dir=folder, seed=6)
    (one,) = load("minesweeper", data_dir=folder, seed=6, split="column").splits
    assert len(every.splits) == 4
    assert np.array_equal(one.train, every.splits[6 % 4].train)


def test_photo_is_drawn_per_class_on_its_largest_component(tmp_path: Path) -> None:
    graph = csbm(nodes=400, classes=4, mean_degree=12.0, homophily=0.5)
    island = graph.num_nodes + np.array([[0], [1]])
    rows = np.repeat(np.arange(400), graph.degree)
    joined = Graph(
        x=np.vstack([graph.x, graph.x[:2]]),
        edge_index=np.concatenate([np.stack([rows, graph.indices]), island], axis=1),
        y=np.concatenate([graph.y, [0, 1]]),
        directed=False,
    )
    save_npz(joined, tmp_path / "amazon_photo.npz")
    first, second = (load("photo", data_dir=tmp_path, seed=seed) for seed in (0, 1))
    assert first.num_nodes == 400
    assert first.splits[0].sizes == (80, 120, 200)
    assert not np.array_equal(first.splits[0].train, second.splits[0].train)
    assert load("photo", data_dir=tmp_path, largest_component=False).num_nodes == 402
    with pytest.raises(DatasetError, match="without masks"):
        load("photo", data_dir=tmp_path, split="public")


@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_a_seed_is_a_whole_number_from_zero(seed: object) -> None:
    with pytest.raises(DatasetError, match="seed"):
        load("karate", seed=seed)  # type: ignore[arg-type]
