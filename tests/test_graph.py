import json
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from redisc.errors import (
    DirectedGraphWarning,
    EdgeIndexError,
    EdgeWeightError,
    EmptyGraphError,
    FeatureError,
    GraphError,
    LabelError,
    LengthError,
    MaskError,
    MissingDependencyError,
    RediscError,
    UnsupportedGraphError,
)
from redisc.graph import Graph, Split, as_mask, check_split

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
few = settings(max_examples=40, deadline=None)
PATH = [[0, 1], [1, 2]]


@st.composite
def edge_lists(draw):
    nodes = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    pairs = draw(st.lists(pair, max_size=30))
    return nodes, np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def random_graph(seed, sparse=False, weighted=False, splits=1):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(4, 12))
    edges = np.array(np.triu_indices(nodes, 1))[:, rng.random(nodes * (nodes - 1) // 2) < 0.4]
    x = rng.random((nodes, 3)).astype(np.float32) * (rng.random((nodes, 3)) < 0.5)
    order = [rng.permutation(nodes) for _ in range(splits)]
    return Graph(
        scipy.sparse.csr_array(x) if sparse else x,
        edges,
        rng.integers(-1, 3, nodes),
        edge_weight=rng.random(edges.shape[1]) + 0.5 if weighted else None,
        splits=[(nodes_[:2], nodes_[2:3], nodes_[3:]) for nodes_ in order],
    )


def same_structure(one, other):
    weights = (one.edge_weight is None) == (other.edge_weight is None)
    if weights and one.edge_weight is not None:
        weights = np.array_equal(one.edge_weight, other.edge_weight)
    return weights and np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


# Adjacency


@few
@given(edge_lists())
def test_adjacency_is_the_symmetric_simple_pattern_of_the_edges(case):
    nodes, edges = case
    graph = Graph(edge_index=edges, num_nodes=nodes, directed=False)
    expected = np.zeros((nodes, nodes), dtype=bool)
    expected[edges[0], edges[1]] = expected[edges[1], edges[0]] = True
    np.fill_diagonal(expected, False)
    assert np.array_equal(graph.adjacency().toarray(), expected)
    assert np.array_equal(graph.degree, expected.sum(axis=1))
    assert graph.num_edges == expected.sum() // 2
    assert graph.dropped_self_loops == (edges[0] == edges[1]).sum()
    assert graph.adjacency().has_canonical_format
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)


@few
@given(edge_lists(), st.randoms(use_true_random=False), st.booleans())
def test_duplicates_and_order_of_edges_change_nothing(case, random, weighted):
    nodes, edges = case
    weight = (edges.sum(axis=0) + 1) / 4 if weighted else None
    order = [*range(edges.shape[1]), *range(0, edges.shape[1], 2)]
    random.shuffle(order)
    other = None if weight is None else weight[order]
    one = Graph(edge_index=edges, num_nodes=nodes, edge_weight=weight, directed=False)
    two = Graph(edge_index=edges[:, order], num_nodes=nodes, edge_weight=other, directed=False)
    assert same_structure(one, two)
    assert one.fingerprint() == two.fingerprint()


@few
@given(edge_lists())
def test_edge_index_gives_both_directions_and_builds_the_same_graph(case):
    nodes, edges = case
    graph = Graph(edge_index=edges, num_nodes=nodes, directed=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Graph(edge_index=graph.edge_index(), num_nodes=nodes)
    assert same_structure(graph, again)
    assert again.edge_index().shape == (2, 2 * graph.num_edges)


@pytest.mark.parametrize("edges", [PATH, [[0, 1, 1, 2], [1, 0, 2, 1]], [[0, 1, 1], [1, 2, 1]]])
def test_edges_given_once_or_in_both_directions_are_undirected(edges, recwarn):
    assert Graph(edge_index=edges).num_edges == 2
    assert not recwarn


@pytest.mark.parametrize(("edges", "directed"), [([[0, 1, 1], [1, 0, 2]], None), (PATH, True)])
def test_directed_edges_are_symmetrised_with_a_warning(edges, directed):
    with pytest.warns(DirectedGraphWarning, match="of its 2 edges have no reverse"):
        assert Graph(edge_index=edges, directed=directed).num_edges == 2


def test_saying_that_edges_have_no_direction_silences_the_warning(recwarn):
    Graph(edge_index=[[0, 1, 1], [1, 0, 2]], directed=False)
    assert not recwarn


def test_of_duplicate_weights_the_largest_counts():
    graph = Graph(edge_index=[[0, 0], [1, 1]], edge_weight=[1.0, 3.0])
    assert graph.edge_weight.tolist() == [3.0, 3.0]
    assert graph.edge_weight.dtype == np.float32


def test_edges_may_be_lists_tensors_or_any_integers():
    given_forms = [PATH, torch.tensor(PATH), np.array(PATH, dtype=np.uint8), np.array(PATH, dtype=np.int32)]
    assert len({Graph(edge_index=form).fingerprint() for form in given_forms}) == 1


# Features


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "int64", "bool"])
def test_dense_features_keep_their_type_and_are_not_copied(dtype):
    x = np.ones((3, 2), dtype=dtype)
    graph = Graph(x)
    assert graph.x.dtype == x.dtype
    assert np.shares_memory(graph.x, x)
    assert x.flags.writeable
    assert not graph.x.flags.writeable
    assert graph.feature_default is None


def test_memory_maps_stay_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    graph = Graph(mapped, [[0], [1]])
    assert graph.x is mapped
    assert graph.describe().feature_kind == "memory-mapped"
    assert graph.fingerprint() == Graph(np.array(mapped), [[0], [1]]).fingerprint()


@pytest.mark.parametrize("layout", ["csr_array", "csr_matrix", "coo_array", "torch_coo", "torch_csr"])
def test_sparse_features_stay_sparse(layout):
    dense = np.array([[0, 2.0], [1.0, 0]], dtype=np.float32)
    forms = {
        "torch_coo": lambda: torch.tensor(dense).to_sparse_coo(),
        "torch_csr": lambda: torch.tensor(dense).to_sparse_csr(),
    }
    graph = Graph(forms.get(layout, lambda: getattr(scipy.sparse, layout)(dense))())
    assert isinstance(graph.x, scipy.sparse.csr_array)
    assert np.array_equal(graph.x.toarray(), dense)
    assert graph.describe().feature_kind == "sparse"


def test_unsorted_sparse_features_are_tidied_without_touching_the_callers():
    x = scipy.sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    graph = Graph(x)
    assert graph.x.has_canonical_format
    assert x.indices.tolist() == [1, 0]


def test_without_features_structural_ones_are_built_and_stated():
    triangle_with_tail = Graph(edge_index=[[0, 1, 2, 2], [1, 2, 0, 3]], num_nodes=5)
    assert triangle_with_tail.x.shape == (5, 11)
    assert triangle_with_tail.x[:, 3] == pytest.approx([1, 1, 1 / 3, 0, 0])
    assert triangle_with_tail.x[3, :3] == pytest.approx(np.log([2, 4, 4]))
    assert triangle_with_tail.x[:, 4:].argmax(axis=1).tolist() == [2, 2, 3, 1, 0]
    assert "clustering" in triangle_with_tail.feature_default
    assert triangle_with_tail.describe().feature_kind == "structural default"


def test_clustering_is_left_out_where_it_would_be_slow():
    hub = Graph(edge_index=[[0] * 8000, list(range(1, 8001))])
    assert hub.num_features == 10
    assert "clustering" not in hub.feature_default


# Labels and splits


@pytest.mark.parametrize(
    "y",
    [[0, -1, 2], np.array([0.0, -1.0, 2.0]), torch.tensor([[0], [-1], [2]]), np.array([0, -1, 2], object)],
)
def test_labels_are_int64_whatever_their_form(y):
    graph = Graph(y=y)
    assert graph.y.dtype == np.int64
    assert graph.y.tolist() == [0, -1, 2]
    assert graph.num_classes == 3


def test_callers_arrays_are_neither_changed_nor_frozen():
    y, edges, weight = np.array([0, 1, 0]), np.array([[0, 1, 2], [1, 2, 2]]), np.ones(3)
    mask = np.array([True, False, False])
    graph = Graph(edge_index=edges, y=y, edge_weight=weight, splits=[(mask, None, None)])
    y[0] = edges[0, 0] = 2
    mask[1] = True
    assert graph.y[0] == 0
    assert graph.splits[0].sizes == (1, 0, 0)
    with pytest.raises(ValueError, match="read-only"):
        graph.y[0] = 1


@few
@given(st.sets(st.integers(0, 9)))
def test_masks_and_node_numbers_say_the_same(chosen):
    mask = as_mask(sorted(chosen), 10, "mask")
    assert set(np.flatnonzero(mask)) == chosen
    assert np.array_equal(as_mask(torch.tensor(mask), 10, "mask"), mask)


def test_splits_come_from_masks_numbers_and_split_objects():
    masks = np.eye(3, dtype=bool)
    graph = Graph(num_nodes=3, splits=[Split(*masks), ([0], [1], [2]), tuple(torch.tensor(masks))])
    assert all(np.array_equal(split.val, masks[1]) for split in graph.splits)
    assert graph.describe().splits == ((1, 1, 1),) * 3


def test_disjoint_masks_pass_the_check():
    check_split(np.array([True, False]), np.array([False, True]))


# Wrong input

NAN_FEATURES = np.array([[0, 1], [0, np.nan]])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"edge_index": [[0, 3], [1, 40]], "num_nodes": 34},
            EdgeIndexError,
            r"edge 1 joins nodes 3 and 40.*34 nodes",
        ),
        ({"edge_index": [[0, -1], [1, 1]]}, EdgeIndexError, "edge 1 joins nodes -1 and 1"),
        ({"edge_index": [[0, 1], [1, 2], [2, 3]]}, EdgeIndexError, r"\(3, 2\): it looks transposed"),
        ({"edge_index": [0, 1]}, EdgeIndexError, r"shape \(2,\)"),
        ({"edge_index": [[0, 1], [1]]}, EdgeIndexError, "rectangular"),
        ({"edge_index": [[0.0], [1.0]]}, EdgeIndexError, "float64"),
        ({"edge_index": scipy.sparse.eye_array(3)}, EdgeIndexError, "from_scipy"),
        ({"edge_index": PATH, "edge_weight": [1.0]}, LengthError, "2 edges"),
        ({"edge_index": PATH, "edge_weight": [1.0, -2.0]}, UnsupportedGraphError, "edge 1 .* -2"),
        ({"edge_index": PATH, "edge_weight": [0.0, 1.0]}, EdgeWeightError, "edge 0 has the weight 0"),
        ({"edge_index": PATH, "edge_weight": [1.0, np.nan]}, EdgeWeightError, "edge 1 has the weight nan"),
        ({"edge_index": PATH, "edge_weight": ["a", "b"]}, EdgeWeightError, "real numbers"),
        ({"edge_index": [[0, 2], [2, 0]], "edge_weight": [1, 2]}, EdgeWeightError, "between nodes 0 and 2"),
        ({"x": NAN_FEATURES}, FeatureError, r"x\[1, 1\] is nan"),
        ({"x": scipy.sparse.csr_array(NAN_FEATURES)}, FeatureError, r"x\[1, 1\] is nan"),
        ({"x": [1.0, 2.0]}, FeatureError, "reshape"),
        ({"x": np.empty((3, 0))}, FeatureError, "no columns"),
        ({"x": [["a"], ["b"]]}, FeatureError, "real numbers"),
        ({"x": [[1.0, 2.0], [1.0]]}, FeatureError, "rectangular"),
        ({"x": np.ones((3, 1)), "y": [0, 1], "num_nodes": 4}, LengthError, "3 rows, y has 2 .* is 4"),
        ({"num_nodes": 2, "node_ids": ["a"]}, LengthError, "node_ids has 1"),
        ({"num_nodes": 2.5}, GraphError, "2.5"),
        ({"num_nodes": -2}, GraphError, "-2"),
        ({"num_nodes": 0}, EmptyGraphError, "no nodes"),
        ({}, EmptyGraphError, "no nodes"),
        ({"y": [0, 0.5]}, LabelError, "node 1 is 0.5"),
        ({"y": [0, np.nan]}, LabelError, "node 1 is nan"),
        ({"y": [0, None]}, LabelError, "node 1 is None"),
        ({"y": ["cat", "dog"]}, LabelError, "node 0 is 'cat'"),
        ({"y": [0, 1, -2]}, LabelError, "node 2 is -2"),
        ({"y": [0, 3], "class_names": ["a", "b"]}, LabelError, "node 1 is 3.*2 names"),
        ({"y": np.array(1)}, LabelError, "shape"),
        ({"y": [[0, 1], [1, 0]]}, UnsupportedGraphError, "several labels a node"),
        ({"num_nodes": 3, "splits": [([0], [1], [1])]}, MaskError, "node 1 .* val mask and the test mask"),
        ({"num_nodes": 3, "splits": [([], [1], [2])]}, MaskError, "split 0: the train mask is empty"),
        ({"num_nodes": 3, "splits": [([True], [1], [2])]}, LengthError, "train mask of split 0 has 1"),
        ({"num_nodes": 3, "splits": [[0, 1]]}, MaskError, "split 0 must be"),
    ],
)
def test_wrong_input_gets_a_named_error_that_names_the_place(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        Graph(**arguments)
    assert isinstance(caught.value, RediscError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([0, 5], MaskError, "entry 1 is 5.*3 nodes"),
        ([-1], MaskError, "entry 0 is -1"),
        ([2, 2], MaskError, "node 2 is listed more than once"),
        ([0, 1, 1], MaskError, "zeros and ones"),
        ([0.0, 1.0], MaskError, "float64"),
        (np.ones((3, 2), bool), MaskError, "pick one column"),
        ([True, False], LengthError, "2 entries.*3 nodes"),
    ],
)
def test_wrong_masks_are_named(value, error, message):
    with pytest.raises(error, match=f"train mask.*{message}"):
        as_mask(value, 3, "train mask")


# Conversions


@few
@given(st.integers(0, 1000), st.booleans(), st.booleans(), st.integers(0, 3))
def test_pyg_round_trip_keeps_everything(seed, sparse, weighted, splits):
    graph = random_graph(seed, sparse, weighted, splits)
    again = Graph.from_pyg(graph.to_pyg())
    assert again.fingerprint() == graph.fingerprint()
    assert np.array_equal(again.y, graph.y)
    assert len(again.splits) == splits
    for one, two in zip(again.splits, graph.splits, strict=True):
        assert np.array_equal([one.train, one.val, one.test], [two.train, two.val, two.test])


def test_pyg_adjacency_matrices_and_single_edge_attributes_are_read():
    weight = torch.tensor([2.0, 2.0])
    both = torch.tensor([[0, 1], [1, 0]])
    expected = Graph(np.ones((2, 1)), both, edge_weight=weight).fingerprint()
    matrix = torch.sparse_coo_tensor(both, weight, (2, 2)).to_sparse_csr()
    x = torch.ones(2, 1, dtype=torch.float64)
    assert Graph.from_pyg(Data(x=x, edge_index=both, edge_attr=weight[:, None])).fingerprint() == expected
    assert Graph.from_pyg(Data(x=x, adj_t=matrix)).fingerprint() == expected


def test_one_pyg_test_mask_serves_several_training_masks():
    train = torch.tensor([[True, False], [False, True], [False, False]])
    data = Data(num_nodes=3, edge_index=torch.tensor(PATH), train_mask=train, test_mask=~train.any(dim=1))
    assert [split.sizes for split in Graph.from_pyg(data).splits] == [(1, 0, 1), (1, 0, 1)]


def test_pyg_labels_say_how_many_nodes_there_are(recwarn):
    both_ways = torch.tensor(np.hstack([PATH, np.flipud(PATH)]))
    data = Data(edge_index=both_ways, y=torch.tensor([0, 1, 0, 1, -1]))
    assert Graph.from_pyg(data).num_nodes == 5
    assert not recwarn


def test_one_way_edges_of_pyg_are_directed_and_symmetrised_with_a_warning():
    with pytest.warns(DirectedGraphWarning):
        graph = Graph.from_pyg(Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 2]])))
    assert graph.degree.tolist() == [1, 2, 1]


def test_a_column_of_measures_is_no_label():
    nodes = pd.DataFrame({"id": [0, 1, 2], "price": [0.5, np.nan, 2.25]})
    with pytest.raises(LabelError, match=r"row 0 has the label 0\.5"):
        Graph.from_pandas(pd.DataFrame({"a": [0], "b": [1]}), nodes, label="price")


def test_describing_a_huge_label_takes_no_huge_memory():
    counts = Graph(edge_index=[[0], [1]], y=[0, 10**9]).describe().class_counts
    assert counts == {"0": 1, "1000000000": 1}


def mask_data(**masks):
    return Data(num_nodes=3, edge_index=torch.tensor(PATH), **masks)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (HeteroData(), UnsupportedGraphError, "HeteroData"),
        (Data(x=torch.ones(2, 1)), EdgeIndexError, "neither edge_index nor adj_t"),
        (mask_data(edge_attr=torch.ones(2, 3)), UnsupportedGraphError, "3 columns"),
        (mask_data(train_mask=torch.ones(4, dtype=torch.bool)), LengthError, "3 nodes"),
        (
            mask_data(train_mask=torch.ones(3, 2) > 0, val_mask=torch.ones(3, 4) > 0),
            MaskError,
            r"\[2, 4\]",
        ),
        (Data(x=torch.ones(3, 1), adj_t=torch.eye(2).to_sparse_coo()), LengthError, "3 rows.* is 2"),
        ("graph", GraphError, "not str"),
    ],
)
def test_unusable_pyg_data_gets_a_named_error(data, error, message):
    with pytest.raises(error, match=message):
        Graph.from_pyg(data)


def test_networkx_attributes_and_ids_are_read():
    source = nx.Graph()
    source.add_node("a", x=[1.0, 2.0], y="red")
    source.add_node("b", x=[3.0, 4.0])
    source.add_edge("a", "b", weight=2.5)
    graph = Graph.from_networkx(source)
    assert graph.node_ids.tolist() == ["a", "b"]
    assert graph.x.tolist() == [[1, 2], [3, 4]]
    assert graph.y.tolist() == [0, -1]
    assert graph.class_names == ("red",)
    assert graph.edge_weight.tolist() == [2.5, 2.5]


def test_networkx_tuples_can_be_ids():
    assert Graph.from_networkx(nx.grid_2d_graph(2, 2)).node_ids[3] == (1, 1)


def test_networkx_faults_are_named():
    with pytest.warns(DirectedGraphWarning):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.raises(UnsupportedGraphError, match="several edges"):
        Graph.from_networkx(nx.MultiGraph([(0, 1)]))
    partly = nx.Graph([("a", "b"), ("b", "c")])
    partly.edges["a", "b"]["weight"] = 1.0
    with pytest.raises(EdgeWeightError, match="'b' and 'c' has no weight"):
        Graph.from_networkx(partly)
    nodes = nx.Graph()
    nodes.add_nodes_from([("a", {"x": [1.0]}), ("b", {})])
    with pytest.raises(FeatureError, match="node 'b' has no attribute 'x'"):
        Graph.from_networkx(nodes)
    nodes.nodes["b"]["x"] = [1.0, 2.0]
    with pytest.raises(FeatureError, match="at node 'b'"):
        Graph.from_networkx(nodes)


@few
@given(st.integers(0, 1000), st.booleans())
def test_scipy_round_trip_keeps_the_structure(seed, weighted):
    graph = random_graph(seed, weighted=weighted)
    again = Graph.from_scipy(graph.adjacency(), x=graph.x, y=graph.y, splits=graph.splits)
    assert again.fingerprint() == graph.fingerprint() or graph.num_edges == 0


def test_scipy_matrices_must_be_square():
    with pytest.raises(EdgeIndexError, match=r"\(2, 3\)"):
        Graph.from_scipy(scipy.sparse.csr_array((2, 3)))


EDGES = pd.DataFrame({"from": ["x", "y", "z"], "to": ["y", "z", "w"]})
NODES = pd.DataFrame({"key": list("wxyz"), "kind": ["b", None, "a", ""], "size": [1, 2, 3, 4], "text": list("pqrs")})


def test_tables_give_ids_labels_and_features():
    graph = Graph.from_pandas(EDGES, NODES, label="kind")
    assert graph.node_ids.tolist() == list("wxyz")
    assert graph.y.tolist() == [1, -1, 0, -1]
    assert graph.class_names == ("a", "b")
    assert graph.x.tolist() == [[1], [2], [3], [4]]
    assert graph.degree.tolist() == [1, 1, 2, 2]


def test_tables_columns_can_be_named_and_nodes_left_out():
    edges = EDGES.assign(weight=[1.0, 2.0, 3.0], strength=[4.0, 4.0, 5.0])[["weight", "to", "strength", "from"]]
    named = Graph.from_pandas(edges, source="from", target="to", weight="strength")
    assert named.node_ids.tolist() == list("wxyz")
    assert sorted(set(named.edge_weight)) == [4.0, 5.0]
    assert Graph.from_pandas(EDGES.assign(weight=2.0)).edge_weight.tolist() == [2.0] * 6


def test_whole_numbered_labels_keep_their_meaning():
    plain = Graph.from_pandas(EDGES, NODES.assign(kind=[0, 1, np.nan, -1]), label="kind")
    assert plain.y.tolist() == [0, 1, -1, -1]
    assert plain.class_names is None
    years = Graph.from_pandas(EDGES, NODES.assign(kind=[2021, 2019, np.nan, -1]), label="kind")
    assert years.y.tolist() == [1, 0, -1, -1]
    assert years.class_names == ("2019", "2021")
    with pytest.raises(LabelError, match="the label of node 3 is -5: labels are 0 upwards, or -1 for unknown"):
        Graph.from_pandas(EDGES, NODES.assign(kind=[0, 1, np.nan, -5]), label="kind")


@pytest.mark.parametrize(
    ("edges", "nodes", "named", "error", "message"),
    [
        (EDGES, NODES[:3], {}, EdgeIndexError, "edges row 2, column 'from': 'z' is not among the 3"),
        (EDGES.replace("y", None), NODES, {}, EdgeIndexError, "edges row 1, column 'from': .* missing"),
        (EDGES[["to"]], NODES, {}, GraphError, "each end"),
        (EDGES, NODES, {"source": "start"}, GraphError, "edges has no column 'start'.*'from', 'to'"),
        (EDGES, NODES, {"label": "colour"}, GraphError, "nodes has no column 'colour'"),
        (EDGES, NODES.replace("x", None), {}, GraphError, "nodes row 1, column 'key': .* missing"),
        (EDGES, NODES.replace("z", "x"), {}, GraphError, "nodes row 3, column 'key': .*'x' .* row 1"),
        (EDGES, NODES, {"features": ["size", "text"]}, FeatureError, "nodes row 0, column 'text': 'p'"),
        (EDGES, NODES.replace(3, np.nan), {}, FeatureError, "nodes row 2, column 'size': nan"),
        (EDGES.assign(weight=[1, None, 2]), NODES, {}, EdgeWeightError, "edges row 1, column 'weight'"),
        (EDGES, None, {"label": "kind"}, GraphError, "pass nodes="),
    ],
)
def test_faults_of_tables_are_named_by_row_and_column(edges, nodes, named, error, message):
    with pytest.raises(error, match=message):
        Graph.from_pandas(edges, nodes, **named)


def test_an_absent_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "redisc\[files\]"'):
        Graph.from_pandas(EDGES)


# Parts, descriptions, fingerprints


@few
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_subgraphs_are_induced_in_the_given_order(seed, sparse, weighted):
    graph = random_graph(seed, sparse, weighted)
    nodes = np.random.default_rng(seed).permutation(graph.num_nodes)[:3]
    part = graph.subgraph(nodes)
    assert np.array_equal(part.adjacency().toarray(), graph.adjacency().toarray()[np.ix_(nodes, nodes)])
    assert part.adjacency().has_canonical_format
    assert (part.indptr.dtype, part.indices.dtype) == (np.int64, np.int32)
    assert np.array_equal(part.y, graph.y[nodes])
    assert part.x.shape == (3, graph.num_features)
    assert len(part.splits) == bool(graph.splits[0].train[nodes].any())


def test_subgraphs_refuse_nothing_and_repeated_nodes():
    graph = Graph(edge_index=PATH)
    with pytest.raises(EmptyGraphError):
        graph.subgraph([])
    with pytest.raises(MaskError, match="node 1"):
        graph.subgraph([1, 1])


def test_of_equal_components_the_first_is_the_largest():
    graph = Graph(edge_index=[[4, 1], [3, 2]], node_ids=list("abcde"))
    assert graph.largest_component().node_ids.tolist() == ["b", "c"]
    connected = Graph(edge_index=PATH)
    assert connected.largest_component() is connected


def test_other_labels_and_splits_share_the_arrays():
    graph = Graph(edge_index=PATH, y=[0, 1, 0], class_names=["a", "b"])
    other = graph.with_labels([1, 1, -1]).with_splits([([0], [1], [2])])
    assert other.indices is graph.indices
    assert other.y.tolist() == [1, 1, -1]
    assert graph.y.tolist() == [0, 1, 0]
    assert (len(graph.splits), len(other.splits)) == (0, 1)
    with pytest.raises(LengthError, match="y has 2"):
        graph.with_labels([0, 1])
    with pytest.raises(LabelError, match="2 names"):
        graph.with_labels([0, 1, 2])


def test_fingerprint_sees_structure_weights_and_features_but_not_labels():
    x = np.eye(3, dtype=np.float32)
    graph = Graph(x, PATH, y=[0, 1, 0])
    others = [Graph(x, [[0], [1]]), Graph(x + 1, PATH), Graph(x, PATH, edge_weight=[2, 2])]
    assert graph.fingerprint() == Graph(x, PATH, splits=[([0], [1], [2])]).fingerprint()
    assert len({graph.fingerprint(), *(other.fingerprint() for other in others)}) == 4
    assert len(graph.fingerprint()) == 16


def test_description_counts_what_is_there():
    graph = Graph(edge_index=[[0, 1, 2], [1, 2, 0]], y=[0, 0, 1, -1], name="toy", splits=[([0], [1], [2])])
    figures = graph.describe()
    assert (figures.nodes, figures.edges, figures.isolated, figures.components) == (4, 3, 1, 2)
    assert (figures.mean_degree, figures.max_degree, figures.label_rate) == (1.5, 2, 0.75)
    assert figures.class_counts == {"0": 2, "1": 1}
    assert figures.edge_homophily == pytest.approx(1 / 3)
    assert figures.suggested_backbone == "gat_sep"
    assert json.loads(json.dumps(figures.as_dict()))["splits"]["count"] == 1
    assert "suggested backbone  gat_sep" in str(figures)
    assert repr(graph) == "Graph('toy', nodes=4, edges=3, features=11, classes=2, splits=1)"


def test_backbone_is_suggested_by_size_and_homophily():
    assert Graph(edge_index=PATH, y=[0, 0, 0]).describe().suggested_backbone == "gcn"
    assert Graph(edge_index=PATH).describe().suggested_backbone == "gcn"
    assert Graph(num_nodes=100_001).describe().suggested_backbone == "sage"
