"""A plan is fitted to one pair of tables and reads every other pair alike."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from redisc.errors import CheckpointError, ConfigError, FeatureError, GraphError, LabelError
from redisc.source import FileSource, source_from_json, source_to_json
from redisc.tables import TableColumns, TablePlan

NODES = """key,topic,size,title,born
007,"left, mostly",1.5,"Red, red wine",1990
7,,2.5,white wine,1991
NA,NA,4,"a red
car",1992
"x y","left, mostly",0,,1993
"""
EDGES = "from,to,strength\n007,7,1\n7,NA,2\nNA,x y,3\n"


@pytest.fixture
def files(tmp_path):
    """Write two tables; `nodes` and `edges` may be changed by a function of their text."""

    def write(nodes=NODES, edges=EDGES, **columns):
        (tmp_path / "nodes.csv").write_text(nodes)
        (tmp_path / "edges.csv").write_text(edges)
        return FileSource(str(tmp_path / "edges.csv"), str(tmp_path / "nodes.csv"), "topic", **columns)

    return write


def as_dense(x):
    return x.toarray() if scipy.sparse.issparse(x) else np.asarray(x)


def test_ids_classes_and_numbers_are_what_stands_in_the_file(files):
    with pytest.warns(UserWarning, match="no numbers in 'title', left out"):
        graph = files().load()
    assert graph.node_ids.tolist() == ["007", "7", "NA", "x y"]
    assert graph.class_names == ("NA", "left, mostly")
    assert graph.y.tolist() == [1, -1, 0, 1]
    assert graph.x.tolist() == [[1.5, 1990], [2.5, 1991], [4, 1992], [0, 1993]]
    assert graph.degree.tolist() == [1, 2, 2, 1]
    assert graph.edge_weight is None


def test_a_source_of_files_survives_json(files):
    source = files(text=["title"], weight="strength")
    assert source_from_json(json.loads(json.dumps(source_to_json(source)))) == source


def test_the_columns_of_edges_can_be_named(files):
    edges = "strength,to,from\n1,7,007\n2,NA,7\n3,x y,NA\n"
    named = files(edges=edges, source="from", target="to", weight="strength").load()
    assert sorted(set(named.edge_weight)) == [1, 2, 3]
    assert named.degree.tolist() == [1, 2, 2, 1]


def test_texts_are_tf_idf_and_numbers_beside_them_are_standardised(files):
    graph, plan = files(text=["title"]).load_with_plan()
    assert plan.texts[0].terms == ("red", "wine")
    assert scipy.sparse.issparse(graph.x)
    x = as_dense(graph.x)
    assert x.dtype == np.float32
    assert x[:, :2].mean(0) == pytest.approx(0, abs=1e-6)
    assert x[:, :2].std(0) == pytest.approx(1, abs=1e-6)
    # Both terms stand in two rows, so their weights are equal: "red" twice and "wine" once is (2, 1), of length 1.
    assert x[:, 2:] == pytest.approx(np.array([[2, 1], [0, 5**0.5], [5**0.5, 0], [0, 0]]) / 5**0.5, abs=1e-6)


@pytest.mark.parametrize("text", [(), ("title",)])
def test_a_plan_read_back_gives_the_same_bits(files, text):
    source = files(text=text)
    graph, plan = source.load_with_plan()
    again = TablePlan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = source.load_by(again)
    assert other.fingerprint() == graph.fingerprint()
    assert (other.y.tolist(), other.class_names) == (graph.y.tolist(), graph.class_names)


def test_new_tables_are_scaled_and_spelled_by_the_old(files):
    graph, plan = files(text=["title"]).load_with_plan()
    new = "born,key,title,size\n1990,5,Red and new,1.5\n1993,6,wine,4\n"
    other = files(new, "from,to\n5,6\n").load_by(plan)
    old, x = as_dense(graph.x), as_dense(other.x)
    assert x[0].tolist() == [*old[0, :2], 1, 0]
    assert x[1].tolist() == [old[2, 0], old[3, 1], 0, 1]
    assert other.y.tolist() == [-1, -1]
    assert other.node_ids.tolist() == [5, 6]
    assert other.class_names == graph.class_names


def test_labels_of_new_tables_are_those_of_the_fit(files):
    _, plan = files().load_with_plan()
    other = files(NODES.replace("7,,", "7,NA,"), EDGES).load_by(plan)
    assert other.y.tolist() == [1, 0, 0, 1]
    with pytest.raises(
        LabelError, match=r"nodes row 1, column 'topic': 'right' .* classes of the fit \('NA', 'left, mostly'\)"
    ):
        files(NODES.replace("7,,", "7,right,"), EDGES).load_by(plan)


@pytest.mark.parametrize(
    ("fitted", "new", "expected"),
    [
        (["0", "1", "2"], ["1", "", "2"], [1, -1, 2]),
        (["2019", "2021", ""], ["2021", "", "2019.0"], [1, -1, 0]),
        (["-1", "1", ""], ["1", "-1", "-1.0"], [1, 0, 0]),
        (["1.0", "2.0", "1.0"], ["2", "1.0", ""], [1, 0, -1]),
        (["12345678901234567890", "12345678901234567891", ""], ["12345678901234567891", "", ""], [1, -1, -1]),
        (["01", "1", ""], ["1", "01", ""], [1, 0, -1]),
        (["1.0", "x", "-1"], ["1.0", "-1", ""], [1, 0, -1]),
        (["True", "False", ""], ["False", "", "True"], [0, -1, 1]),
    ],
)
def test_labels_mean_the_same_whatever_stands_beside_them(files, fitted, new, expected):
    def table(labels):
        return "key,topic\n" + "".join(f"{name},{label}\n" for name, label in zip("abc", labels, strict=True))

    edges = "from,to\na,b\nb,c\n"
    _, plan = files(table(fitted), edges).load_with_plan()
    assert files(table(new), edges).load_by(plan).y.tolist() == expected


def test_minus_one_is_no_class_where_the_fit_had_none(files):
    _, plan = files("key,topic\na,0\nb,1\n", "from,to\na,b\n").load_with_plan()
    with pytest.raises(LabelError, match=r"row 1, column 'topic': '-1' is not among the classes of the fit .*empty"):
        files("key,topic\na,0\nb,-1\n", "from,to\na,b\n").load_by(plan)


def test_columns_that_are_new_or_gone_are_named(files):
    source = files(text=["title"])
    _, plan = source.load_with_plan()
    with pytest.warns(UserWarning, match="^nodes: 'price', 'shop' not among the columns of the fit, left out"):
        other = files("key,size,price,title,born,shop\n1,1,9,red,2,x\n2,1,9,red,2,y\n", "from,to\n1,2\n").load_by(plan)
    assert other.num_features == 4
    with pytest.raises(FeatureError, match="nodes has no column 'size'"):
        files("key,title,born\n1,red,2\n", "from,to\n").load_by(plan)
    with pytest.raises(FeatureError, match="nodes has no column 'title'"):
        files("key,size,born\n1,1,2\n", "from,to\n").load_by(plan)
    with pytest.raises(GraphError, match="nodes has no column 'key'"):
        files("name,size,title,born\n1,1,x,2\n", "from,to\n").load_by(plan)
    with pytest.raises(GraphError, match="edges has no column 'from'"):
        files(NODES, "a,b\n007,7\n").load_by(plan)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("7,,2.5", "7,,", "nodes row 1, column 'size': nan is not a finite number"),
        ("7,,2.5", "7,,NA", r"nodes row 1, column 'size': 'NA' is not a finite number: .*--text"),
        ("7,,2.5", "007,,2.5", "nodes row 1, column 'key': the id '007' stands already in row 0"),
        ("7,,2.5", ",,2.5", "nodes row 1, column 'key': the node id is missing"),
        ("7,,2.5", "8,,2.5", "edges row 1, column 'from': '7' is not among the 4 node ids"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_wrong_cells_are_named_by_column_and_row(files, tmp_path, old, new, complaint, suffix):
    source = files(NODES.replace(old, new, 1))
    if suffix == "parquet":
        frame = pd.read_csv(source.nodes, dtype={"key": str, "topic": str}, keep_default_na=False, na_values=[""])
        frame.to_parquet(tmp_path / "nodes.parquet")
        source = FileSource(source.edges, str(tmp_path / "nodes.parquet"), "topic")
    with pytest.raises(GraphError, match=complaint):
        source.load()


def test_one_strange_end_does_not_hide_behind_the_type_of_all(files):
    nodes = "key,topic,x\n1,a,0\n2,b,1\n3,,2\n"
    with pytest.raises(GraphError, match="edges row 1, column 'to': 'x' is not among the 3 node ids"):
        files(nodes, "from,to\n1,2\n2,x\n").load()
    assert files(nodes.replace("3,,2", "x,,2"), "from,to\n1,2\n").load().node_ids.tolist() == ["1", "2", "x"]


def test_texts_must_be_columns_with_shared_words(files):
    with pytest.raises(GraphError, match="no column 'abstract'"):
        files(text=["abstract"]).load()
    for wrong in (["topic"], ["key"], ["title", "title"]):
        with pytest.raises(ConfigError, match=f"--text {wrong[0]}"):
            files(text=wrong).load()
    with pytest.raises(FeatureError, match="column 'title': no word stands in two rows"):
        files("key,topic,title\na,l,one\nb,r,two\n", "from,to\na,b\n", text=["title"]).load()


def test_a_vocabulary_is_bounded(files):
    words = [f"word{k}" for k in range(2100)]
    nodes = f"key,topic,title\na,l,{' '.join(words)}\nb,r,{' '.join(words)}\n"
    graph, plan = files(nodes, "from,to\na,b\n", text=["title"]).load_with_plan()
    assert len(plan.texts[0].terms) == graph.num_features == 2000


@pytest.mark.parametrize(
    "change", [{"version": 2}, {"format": "x"}, {"classes": None}, {"texts": [{}]}, {"numbers": 3}]
)
def test_a_garbled_plan_is_refused(change):
    plan = TablePlan.fit(pd.DataFrame({"id": [1, 2], "y": [0, 1], "x": [2, 3]}), TableColumns("y", "id"))
    with pytest.raises(CheckpointError, match=r"tables\.json"):
        TablePlan.from_json({**plan.to_json(), **change})


def test_weights_are_read_where_the_fit_read_them_and_only_there(files):
    _, plan = files().load_with_plan()
    assert files(edges="from,to,weight\n007,7,5\n").load_by(plan).edge_weight is None
    _, weighted = files(edges="from,to,weight\n007,7,5\n").load_with_plan()
    assert files(edges="from,to,weight\n007,7,3\n").load_by(weighted).edge_weight.tolist() == [3, 3]
