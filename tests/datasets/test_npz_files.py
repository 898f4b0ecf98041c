import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from redisc.datasets import load_npz, save_npz
from redisc.datasets.karate import karate
from redisc.datasets.minesweeper import minesweeper
from redisc.errors import DatasetError
from redisc.graph import Graph


def assert_same(a: Graph, b: Graph) -> None:
    for key in ("indptr", "indices", "y"):
        assert np.array_equal(getattr(a, key), getattr(b, key))
    assert scipy.sparse.issparse(a.x) == scipy.sparse.issparse(b.x)
    difference = a.x != b.x
    assert (difference.nnz if scipy.sparse.issparse(a.x) else difference.sum()) == 0
    assert a.x.dtype == b.x.dtype
    assert a.class_names == b.class_names
    assert len(a.splits) == len(b.splits)
    for one, other in zip(a.splits, b.splits, strict=True):
        for part in ("train", "val", "test"):
            assert np.array_equal(getattr(one, part), getattr(other, part))


def write(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize("graph", [karate(), minesweeper(rows=8, columns=9, num_splits=3)])
def test_a_dense_graph_survives_the_round_trip(graph: Graph, tmp_path: Path) -> None:
    assert_same(graph, load_npz(save_npz(graph, tmp_path / "a.npz")))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_sparse_features_stay_sparse(dtype: type, tmp_path: Path) -> None:
    x = scipy.sparse.random_array((6, 40), density=0.2, rng=np.random.default_rng(0)).tocsr()
    x.data = np.ceil(x.data * 5)
    graph = Graph(x=x.astype(dtype), edge_index=[[0, 1, 2], [1, 2, 5]], y=[0, 1, -1, 1, 0, -1])
    assert_same(graph, load_npz(save_npz(graph, tmp_path / "a.npz")))


def test_a_graph_without_features_is_written_without(tmp_path: Path) -> None:
    graph = Graph(edge_index=[[0, 1], [1, 2]], y=[0, 1, 0])
    path = save_npz(graph, tmp_path / "a.npz")
    assert "x" not in np.load(path).files
    assert load_npz(path).feature_default == graph.feature_default


def test_a_file_has_the_documented_keys_and_each_edge_once(tmp_path: Path) -> None:
    arrays = np.load(save_npz(karate(), tmp_path / "a.npz"), allow_pickle=False)
    assert set(arrays.files) == {"x", "edge_index", "y", "train_mask", "val_mask", "test_mask"}
    assert arrays["edge_index"].shape == (2, 78) and arrays["edge_index"].dtype == np.int32
    assert (arrays["edge_index"][0] < arrays["edge_index"][1]).all()
    assert arrays["train_mask"].shape == (34,)


def test_class_names_are_read_as_a_list_or_under_classes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", edge_index=[[0], [1]], y=[0, 1])
    for content in (["cat", "dog"], {"classes": ["cat", "dog"], "other": 1}):
        (tmp_path / "a_classes.json").write_text(json.dumps(content))
        assert load_npz(path).class_names == ("cat", "dog")


@pytest.mark.parametrize("content", ["[1,", '{"names": []}', '["only one"]'])
def test_wrong_class_names_are_an_error(content: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", edge_index=[[0], [1]], y=[0, 1])
    (tmp_path / "a_classes.json").write_text(content)
    with pytest.raises(DatasetError):
        load_npz(path)


def test_what_a_foreign_file_lacks_is_named(tmp_path: Path) -> None:
    foreign = write(tmp_path / "a.npz", node_features=np.eye(3), edges=[[0, 1]])
    with pytest.raises(DatasetError, match=r"none of the expected arrays.*node_features, edges"):
        load_npz(foreign)
    with pytest.raises(DatasetError, match="lacks y"):
        load_npz(write(tmp_path / "b.npz", edge_index=[[0], [1]], x=np.eye(2)))
    with pytest.raises(DatasetError, match="lacks x_indptr"):
        load_npz(write(tmp_path / "c.npz", edge_index=[[0], [1]], y=[0, 1], x_data=[1], x_indices=[0], x_shape=[2, 1]))
    with pytest.raises(DatasetError, match="lacks test_mask"):
        mask = [True, False]
        load_npz(write(tmp_path / "d.npz", edge_index=[[0], [1]], y=[0, 1], train_mask=mask, val_mask=mask))


@pytest.mark.parametrize(
    "damage",
    [
        {"edge_index": [[0], [9]]},
        {"edge_index": [0, 1]},
        {"y": [0.5, 1.5]},
        {"y": 3},
        {"train_mask": [1, 0]},
        {"train_mask": [[True, False], [False, True]]},
        {"x": [[np.nan], [0.0]]},
        {"x_data": [1.0], "x_indices": [7], "x_indptr": [0, 1, 1], "x_shape": [2, 3]},
        {"x_data": [1.0], "x_indices": [0], "x_indptr": [0, 5], "x_shape": [2, 3]},
    ],
)
def test_damaged_contents_are_an_error_that_names_the_file(damage: dict, tmp_path: Path) -> None:
    masks = {"train_mask": [True, False], "val_mask": [False, True], "test_mask": [False, False]}
    arrays = {"edge_index": [[0], [1]], "y": [0, 1], **masks, **damage}
    with pytest.raises(DatasetError, match=r"a\.npz"):
        load_npz(write(tmp_path / "a.npz", **arrays))


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", edge_index=[[0], [1]], y=np.array([{}, None], dtype=object))
    with pytest.raises(DatasetError, match="plain arrays"):
        load_npz(path)


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    whole = save_npz(minesweeper(rows=20, columns=20), tmp_path / "whole.npz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 0xFF
    for content in (b"", b"not a zip", whole[: len(whole) // 2], bytes(flipped)):
        path = tmp_path / "broken.npz"
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"broken\.npz"):
            load_npz(path)
    np.save(tmp_path / "array.npy", np.eye(2))
    with pytest.raises(DatasetError):
        load_npz(tmp_path / "array.npy")
    with pytest.raises(DatasetError, match="does not exist"):
        load_npz(tmp_path / "absent.npz")


def test_edge_weights_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    graph = Graph(edge_index=[[0], [1]], y=[0, 1], edge_weight=[2.0])
    with pytest.raises(DatasetError, match="edge weights"):
        save_npz(graph, tmp_path / "a.npz")
    with pytest.raises(DatasetError, match=r"\.npz"):
        save_npz(karate(), tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())
