"""A graph on disk is the graph that was saved, and a damaged folder says which file is wrong."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import FAST
from redisc import Graph, ReDiSC, datasets
from redisc.errors import ConfigError, FeatureError, RediscError, StoredGraphError

SHORT = {"iterations": 10, "warm_iterations": 4, "e_step_every": 4, "evaluate_every": 5, "mean_field_epochs": 5}
ARRAYS = ("indptr", "indices", "edge_weight", "y", "node_ids")


def values(x):
    return x.toarray() if scipy.sparse.issparse(x) else np.asarray(x)


def assert_same(one: Graph, other: Graph) -> None:
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.tolist() == right.tolist(), name
            assert left.dtype in (right.dtype, object)
    assert scipy.sparse.issparse(one.x) == scipy.sparse.issparse(other.x)
    assert one.x.dtype == other.x.dtype and np.array_equal(values(one.x), values(other.x))
    for name in ("name", "class_names", "feature_default", "dropped_self_loops"):
        assert getattr(one, name) == getattr(other, name)
    assert len(one.splits) == len(other.splits)
    for ours, theirs in zip(one.splits, other.splits, strict=True):
        assert all(np.array_equal(getattr(ours, part), getattr(theirs, part)) for part in ("train", "val", "test"))
    assert one.fingerprint() == other.fingerprint()


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    edges = np.array(draw(st.lists(st.tuples(node, node), max_size=15)), dtype=np.int64).reshape(-1, 2).T
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float16, np.float32, np.float64, np.int16, np.bool_]))
    dense = rng.integers(0, 2, (nodes, 3)).astype(dtype)
    x = draw(st.sampled_from([None, dense, np.asfortranarray(dense), scipy.sparse.csr_array(dense.astype(np.float32))]))
    text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
    ids = st.lists(st.one_of(text), min_size=nodes, max_size=nodes) | st.just(list(range(nodes))) | st.none()
    return Graph(
        x,
        edges,
        rng.integers(-1, 3, nodes),
        num_nodes=nodes,
        edge_weight=(edges.sum(axis=0) + 1) / 4 if draw(st.booleans()) else None,
        splits=[(rng.permutation(nodes)[:1], None, None) for _ in range(draw(st.integers(0, 3)))],
        name=draw(st.text(max_size=5)),
        class_names=draw(st.sampled_from([None, ("a", "β", "c")])),
        node_ids=draw(ids),
        directed=False,
    )


@given(graphs())
@settings(max_examples=15)
def test_saving_and_opening_loses_nothing(tmp_path_factory, graph) -> None:
    folder = tmp_path_factory.mktemp("graph") / "saved"
    graph.save(folder)
    opened = Graph.open(folder)
    assert_same(graph, opened)
    assert opened.fingerprint() == graph.fingerprint()
    for name in ("indptr", "indices", "y"):
        assert not getattr(opened, name).flags.writeable
    opened.save(folder)  # onto itself
    assert_same(graph, Graph.open(folder))


def small(**others) -> Graph:
    rng = np.random.default_rng(0)
    edges = [[0, 1, 2, 3], [1, 2, 3, 4]]
    given = {"x": rng.normal(size=(5, 3)).astype(np.float32), "y": [0, 1, 0, 1, -1], "splits": [([0, 1], [2], [3])]}
    return Graph(**{"edge_index": edges, "name": "small", **given, **others})


def test_an_opened_graph_can_be_asked_and_changed(tmp_path) -> None:
    graph = small()
    graph.save(tmp_path / "g")
    opened = Graph.open(tmp_path / "g")
    assert str(opened.describe()) == str(graph.describe()).replace("(dense)", "(memory-mapped)")
    assert opened.with_labels([0] * 5).fingerprint() == graph.fingerprint()
    assert opened.subgraph([0, 1, 2]).fingerprint() == graph.subgraph([0, 1, 2]).fingerprint() != graph.fingerprint()
    assert opened.largest_component().num_nodes == 5


def test_features_are_stored_in_the_dtype_asked_for(tmp_path) -> None:
    x = small().x.astype(np.float64)
    small(x=x).save(tmp_path / "g", dtype="float16")
    opened = Graph.open(tmp_path / "g")
    assert opened.x.dtype == np.float16
    assert opened.fingerprint() == small(x=x.astype(np.float16)).fingerprint() != small(x=x).fingerprint()
    sparse = scipy.sparse.csr_array(x)
    small(x=sparse).save(tmp_path / "g", dtype="float32")
    assert Graph.open(tmp_path / "g").fingerprint() == small(x=sparse.astype(np.float32)).fingerprint()
    with pytest.raises(ConfigError, match="sparse features can't be float16"):
        small(x=sparse).save(tmp_path / "g", dtype="float16")


def test_a_value_too_large_for_the_dtype_is_named(tmp_path) -> None:
    x = np.ones((5, 3))
    x[3, 1] = 1e6
    with pytest.raises(FeatureError, match=r"x\[3, 1\] is 1000000.0.*float16"):
        small(x=x).save(tmp_path / "g", dtype=np.float16)
    with pytest.raises(FeatureError, match="too large for float32"):
        small(x=scipy.sparse.csr_array(x * 1e40)).save(tmp_path / "g", dtype=np.float32)
    with pytest.raises(ConfigError, match="float16 or float32"):
        small().save(tmp_path / "g", dtype="int8")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ids", [[1, "b", 2, 3, 4], [(0, 1)] * 5, ["a\0", "b", "c", "d", "e"], [2**70, 1, 2, 3, 4]])
def test_ids_without_a_plain_form_are_refused(tmp_path, ids) -> None:
    with pytest.raises(StoredGraphError, match="id"):
        small(node_ids=ids).save(tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_only_a_saved_graph_is_replaced(tmp_path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").write_text("years of work")
    with pytest.raises(StoredGraphError, match="not a saved graph"):
        small().save(tmp_path / "work")
    small().save(tmp_path / "g")
    small(name="other").save(tmp_path / "g")
    assert Graph.open(tmp_path / "g").name == "other"
    (tmp_path / "g" / "notes.txt").write_text("mine")
    with pytest.raises(StoredGraphError, match="notes"):
        small().save(tmp_path / "g")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g", "work"]


def truncate(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-3])


def set_json(key, value):
    def change(folder, name):
        content = json.loads((folder / "graph.json").read_text())
        content[key] = value
        (folder / "graph.json").write_text(json.dumps(content))

    return change


def replace(array):
    return lambda folder, name: np.save(folder / name, array)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("x.npy", truncate),
        ("graph.json", truncate),
        ("indices.npy", lambda folder, name: (folder / name).unlink()),
        ("graph.json", lambda folder, name: (folder / name).unlink()),
        ("y.npy", lambda folder, name: (folder / name).write_bytes(b"")),
        ("y.npy", lambda folder, name: (folder / name).write_text("no array at all, but some text")),
        ("y.npy", replace(np.zeros(4, np.int64))),
        ("y.npy", replace(np.zeros(5, np.int32))),
        ("x.npy", replace(np.zeros((5, 2), np.float32))),
        ("x.npy", replace(np.array([[{}] * 3] * 5))),
        ("indptr.npy", replace(np.zeros(6, np.int64))),
        ("indptr.npy", set_json("nodes", 7)),
        ("indices.npy", set_json("edges", 3)),
        ("x.npy", set_json("features", 9)),
        ("graph.json", set_json("nodes", None)),
        ("graph.json", set_json("arrays", {})),
        ("graph.json", set_json("version", 99)),
        ("graph.json", set_json("format", "other")),
        ("graph.json", set_json("surprise", 1)),
    ],
)
def test_a_damaged_folder_is_refused_by_the_name_of_its_file(tmp_path, name, damage) -> None:
    small().save(tmp_path / "g")
    damage(tmp_path / "g", name)
    with pytest.raises(StoredGraphError, match=name.replace(".", r"\.")) as caught:
        Graph.open(tmp_path / "g")
    assert isinstance(caught.value, RediscError) and "\n" not in str(caught.value)


def test_opening_reads_no_data(tmp_path, monkeypatch) -> None:
    small().save(tmp_path / "g")
    monkeypatch.setattr(np, "isfinite", None)
    monkeypatch.setattr("redisc.graph.container.fingerprint", None)
    assert Graph.open(tmp_path / "g").fingerprint()


def test_a_fit_to_an_opened_graph_gives_the_same_bits(tmp_path) -> None:
    graph = datasets.load("karate")
    graph.save(tmp_path / "g")
    found = []
    for one in (graph, Graph.open(tmp_path / "g")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = ReDiSC(**FAST | SHORT, random_state=3).fit(one, one.splits[0].train, one.splits[0].val)
        found.append(clf.predict_proba(4))
    assert np.array_equal(*found)
