"""The real PyG and OGB readers on small raw files of the benchmarks' layout; nothing is fetched."""

import gzip
import pickle
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from redisc.datasets import available, load, save_npz
from redisc.datasets.cache import CHECKSUMS, cache_dir, ensure_files
from redisc.datasets.karate import karate
from redisc.datasets.minesweeper import minesweeper
from redisc.errors import DatasetError


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, **_: object) -> None:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


def raw_folder(*parts: str) -> Path:
    folder = cache_dir().joinpath(*parts)
    folder.mkdir(parents=True)
    return folder


def write_heterophilous() -> Path:
    board = minesweeper(rows=5, columns=6, num_splits=10)
    rows = np.repeat(np.arange(30), board.degree)
    once = rows < board.indices
    np.savez(
        path := raw_folder("heterophilous", "roman_empire", "raw") / "roman_empire.npz",
        node_features=board.x,
        node_labels=board.y,
        edges=np.stack([rows, board.indices.astype(np.int64)], axis=1)[once],
        train_masks=np.stack([split.train for split in board.splits]),
        val_masks=np.stack([split.val for split in board.splits]),
        test_masks=np.stack([split.test for split in board.splits]),
    )
    return path


def write_planetoid() -> None:
    """700 papers in a ring: 14 for training, 500 for validation, the last 60 for testing in mixed order."""
    rng = np.random.default_rng(0)
    x = scipy.sparse.csr_matrix((rng.random((700, 20)) < 0.2).astype(np.float32))
    y = np.eye(7, dtype=np.int32)[np.arange(700) % 7]
    ring = {node: [(node + 1) % 700, (node - 1) % 700] for node in range(700)}
    order = 640 + rng.permutation(60)
    parts = {"x": x[:14], "y": y[:14], "allx": x[:640], "ally": y[:640], "tx": x[order], "ty": y[order]}
    folder = raw_folder("planetoid", "Cora", "raw")
    for part, value in {**parts, "graph": ring}.items():
        (folder / f"ind.cora.{part}").write_bytes(pickle.dumps(value))
    (folder / "ind.cora.test.index").write_text("".join(f"{node}\n" for node in order))


def write_amazon() -> None:
    club = karate(classes=2)
    rows = np.repeat(np.arange(34), club.degree)
    adjacency = scipy.sparse.csr_matrix((np.ones(rows.size), (rows, club.indices)), shape=(34, 34))
    features = scipy.sparse.csr_matrix(2.0 * np.eye(34))
    arrays = {
        f"{key}_{part}": getattr(matrix, part)
        for key, matrix in (("adj", adjacency), ("attr", features))
        for part in ("data", "indices", "indptr", "shape")
    }
    path = raw_folder("amazon", "Photo", "raw") / "amazon_electronics_photo.npz"
    np.savez(path, labels=club.y, **arrays)


def write_ogb(drop: str = "") -> Path:
    tables = {
        "raw/edge.csv.gz": "0,1\n1,0\n2,1\n3,3\n",
        "raw/node-feat.csv.gz": "0.5,1\n-1e-3,2\n0,3\n0.25,4\n",
        "raw/node-label.csv.gz": "2\n0\nnan\n1\n",
        "split/time/train.csv.gz": "0\n",
        "split/time/valid.csv.gz": "3\n",
        "split/time/test.csv.gz": "1\n",
    }
    path = raw_folder("ogb", "arxiv") / "arxiv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in tables.items():
            if member != drop:
                archive.writestr(f"arxiv/{member}", gzip.compress(text.encode()))
    return path


def test_a_heterophilous_graph_keeps_its_ten_splits() -> None:
    write_heterophilous()
    graph, board = load("Roman-Empire"), minesweeper(rows=5, columns=6, num_splits=10)
    assert graph.name == "roman_empire"
    assert np.array_equal(graph.indices, board.indices) and np.array_equal(graph.x, board.x)
    assert len(graph.splits) == 10
    for ours, theirs in zip(graph.splits, board.splits, strict=True):
        assert np.array_equal(ours.train, theirs.train) and np.array_equal(ours.test, theirs.test)


def test_a_planetoid_graph_has_its_public_split_and_sparse_features() -> None:
    write_planetoid()
    graph = load("cora")
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (700, 700, 20, 7)
    assert graph.splits[0].sizes == (14, 500, 60)
    assert scipy.sparse.issparse(graph.x)
    assert np.array_equal(graph.y, np.arange(700) % 7)


def test_an_amazon_graph_has_binary_words_and_no_split_of_its_own() -> None:
    write_amazon()
    graph = load("photo", split="stratified")
    assert (graph.num_nodes, graph.num_edges) == (34, 78)
    assert np.array_equal(graph.x.toarray(), np.eye(34))
    with pytest.raises(DatasetError, match="without masks"):
        load("photo", split="public")


def test_an_ogb_archive_becomes_an_undirected_graph_with_its_own_split() -> None:
    write_ogb()
    for _ in range(2):  # the second time from the parsed file
        graph = load("ogbn-arxiv")
        assert (graph.num_nodes, graph.num_edges) == (4, 2)
        assert graph.y.tolist() == [2, 0, -1, 1]
        assert graph.x.tolist() == np.float32([[0.5, 1], [-1e-3, 2], [0, 3], [0.25, 4]]).tolist()
        assert [part.nonzero()[0].tolist() for part in vars(graph.splits[0]).values()] == [[0], [3], [1]]
    assert (cache_dir() / "ogb" / "arxiv" / "ogbn_arxiv.npz").is_file()


def test_an_ogb_archive_that_lacks_a_table_says_which() -> None:
    write_ogb(drop="raw/edge.csv.gz")
    with pytest.raises(DatasetError, match=r"lacks raw/edge\.csv\.gz"):
        load("ogbn_arxiv")


def test_checksums_are_recorded_and_a_changed_file_is_refused() -> None:
    path = write_heterophilous()
    load("roman_empire")
    assert path.name in (path.parent / CHECKSUMS).read_text()
    load("roman_empire")
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(DatasetError, match=r"has changed since it was downloaded.*Delete the folder"):
        load("roman_empire")


def test_a_file_that_is_no_benchmark_tells_to_delete_it() -> None:
    (raw_folder("ogb", "arxiv") / "arxiv.zip").write_bytes(b"<html>log in to the network</html>")
    with pytest.raises(DatasetError, match=r"cannot be read.*delete that folder"):
        load("ogbn_arxiv")


@pytest.mark.parametrize("name", ["cora", "photo", "roman-empire", "ogbn-products"])
def test_without_a_network_the_error_says_where_to_put_the_file(name: str) -> None:
    with pytest.raises(DatasetError, match=r"could not be downloaded.*Put \w+\.npz into a folder.*REDISC_DATA"):
        load(name)


def test_download_false_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", None)
    with pytest.raises(DatasetError, match="download=False"):
        load("pubmed", download=False)


def test_a_local_file_wins_over_the_download(tmp_path: Path) -> None:
    write_heterophilous()
    save_npz(karate(), tmp_path / "roman_empire.npz")
    assert load("roman_empire", data_dir=tmp_path).num_nodes == 34


def test_a_cached_download_is_at_hand() -> None:
    write_ogb()
    listed = {item.entry.name: item for item in available()}
    assert listed["ogbn_arxiv"].at_hand and listed["ogbn_arxiv"].origin.startswith("cache: ")
    assert not listed["ogbn_products"].at_hand


def test_files_are_fetched_whole_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    source = tmp_path / "source.txt"
    source.write_text("content")
    folder = tmp_path / "fetched"
    ensure_files("some", folder, {"a.txt": source.as_uri()})
    assert (folder / "a.txt").read_text() == "content"
    with pytest.raises(DatasetError, match="could not be downloaded"):
        ensure_files("some", folder, {"b.txt": (tmp_path / "absent").as_uri()})
    assert sorted(path.name for path in folder.iterdir()) == [CHECKSUMS, "a.txt"]
