"""A graph converted in small chunks is the graph that is read whole and saved."""

import gzip
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from redisc import Graph
from redisc.datasets.ogb import read_archive
from redisc.errors import DatasetError, DirectedGraphWarning, EdgeWeightError, EmptyGraphError, GraphError, RediscError
from redisc.graph.storage import save_graph
from redisc.scale import convert_ogb, convert_tables
from redisc.scale.from_tables import TableChunks
from redisc.source import FileSource
from scale.same import assert_same_folders

NODES = 23


def edge_frame(ids, **others):
    rng = np.random.default_rng(1)
    ends = rng.integers(0, NODES, (2, 61))
    return pd.DataFrame({"from": np.take(ids, ends[0]), "to": np.take(ids, ends[1]), **others})


def node_frame(ids, label, **others):
    rng = np.random.default_rng(2)
    columns = {"age": rng.integers(0, 90, NODES), "height": rng.random(NODES), "old": rng.random(NODES) < 0.5}
    return pd.DataFrame({"key": ids, "side": label, "town": ["x"] * NODES, **columns, **others})


def gaps(values, every=4):
    return [None if k % every == 2 else value for k, value in enumerate(values)]


NUMBERS = list(range(100, 100 + NODES))
TEXTS = [f"n{k}" for k in range(NODES)]
NAMES = [("left", "right", "none of these")[k % 3] for k in range(NODES)]
CASES = {
    "numbers as ids, names as labels": (NUMBERS, NAMES),
    "text as ids, gaps among the labels": (TEXTS, gaps(NAMES)),
    "ids that turn into text late": ([*map(str, NUMBERS[:-1]), "last"], gaps([0, 1, 2] * 8)[:NODES]),
    "labels that are numbers with one late gap": (NUMBERS, [3, 1] * 11 + [None]),
    "labels that turn into text late": (NUMBERS, ["1"] * 20 + ["one", "1", "2"]),
    "truth values with gaps": (TEXTS, gaps([True, False] * 12)[:NODES]),
    "no label at all": (TEXTS, [None] * NODES),
    "leading zeros and a name that looks missing": (
        [f"{k:03}" for k in range(NODES)],
        ["NA", "01", "1"] * 7 + ["", "1"],
    ),
    "large labels with a gap": (NUMBERS, [str(2**53 + 1), str(2**53), None] * 7 + ["1", "1"]),
    "digits beyond 64 bits": (NUMBERS, [str(10**19 + 1), str(10**19), None] * 7 + ["1", "1"]),
    "decimals after numbers that floats would round": (NUMBERS, [str(2**53 + 1), str(2**53), "3"] * 7 + ["1.0"] * 2),
    "minus one is a class": (NUMBERS, [-1, 0, 1] * 7 + [None, -1]),
}


def write(folder, edges, nodes, suffix):
    paths = folder / f"edges.{suffix}", folder / f"nodes.{suffix}"
    for frame, path in zip((edges, nodes), paths, strict=True):
        if suffix == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
    return paths


@pytest.fixture(autouse=True)
def _directions_do_not_matter_here():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectedGraphWarning)
        yield


def save_whole(folder, source):
    save_graph(source.load(), folder, **source.settings())


def both_ways(folder, paths, **columns):
    """Convert in chunks of seven rows, and whole; returns what was complained about, if anything."""
    complaints = []
    for make in (
        lambda: convert_tables(folder / "pieces", *paths, chunk_rows=7, **columns),
        lambda: save_whole(folder / "whole", FileSource(*map(str, paths), **columns)),
    ):
        try:
            make()
        except RediscError as fault:
            complaints.append(str(fault))
    return complaints


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_tables_in_chunks_mean_what_they_mean_whole(tmp_path, suffix, case) -> None:
    ids, label = CASES[case]
    paths = write(tmp_path, edge_frame(ids), node_frame(ids, label), suffix)
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("first", [-1, -5])
def test_negative_labels_are_classes_and_gaps_alone_unknown(tmp_path, suffix, first) -> None:
    labels = [first, 1] * 10 + [None, 1, 1]
    paths = write(tmp_path, edge_frame(TEXTS), node_frame(TEXTS, labels), suffix)
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    graph = Graph.open(tmp_path / "pieces")
    assert graph.class_names == (str(first), "1")
    assert graph.y.tolist() == [0, 1] * 10 + [-1, 1, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_two_names_of_many_digits_are_merged(tmp_path, suffix) -> None:
    names = [str(10**19), str(10**19 + 1)]
    paths = write(tmp_path, edge_frame(TEXTS), node_frame(TEXTS, [*names * 11, None]), suffix)
    assert both_ways(tmp_path, paths, label="side") == []
    graph = Graph.open(tmp_path / "pieces")
    assert graph.class_names == tuple(names)
    assert graph.y.tolist() == [0, 1] * 11 + [-1]


def test_unsigned_labels_of_parquet_may_be_of_any_size(tmp_path) -> None:
    labels = np.array([2**64 - 1, 2**64 - 2] * 11 + [7], dtype=np.uint64)
    paths = write(tmp_path, edge_frame(TEXTS), node_frame(TEXTS, labels), "parquet")
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    assert Graph.open(tmp_path / "pieces").class_names == ("7", str(2**64 - 2), str(2**64 - 1))


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (gaps(["cat"] * NODES), "cat"),
        ([-1] * NODES, "-1"),
        ([0] * NODES, "0"),
    ],
)
def test_one_class_alone_is_refused(tmp_path, labels, name) -> None:
    paths = write(tmp_path, edge_frame(TEXTS), node_frame(TEXTS, labels), "csv")
    complaint = f"label column 'side' has one class alone, '{name}': there is nothing to tell apart"
    assert both_ways(tmp_path, paths, label="side") == [complaint, complaint]
    assert not (tmp_path / "pieces").exists()


def test_columns_can_be_named_and_weights_are_read(tmp_path) -> None:
    edges = edge_frame(TEXTS, weight=[0.5, 1, 2.25] * 20 + [1])
    edges = edges[~edges.apply(lambda row: frozenset((row["from"], row["to"])), axis=1).duplicated()]
    edges = edges.assign(strength=edges["weight"] + 1)[["weight", "to", "strength", "from"]]
    nodes = node_frame(TEXTS, NAMES)[["age", "side", "key", "height"]]
    paths = write(tmp_path, edges, nodes, "csv")
    assert both_ways(tmp_path, paths, label="side", id="key", source="from", target="to") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    assert sorted(set(np.load(tmp_path / "pieces" / "edge_weight.npy"))) == [0.5, 1, 2.25]
    others = {"id": "key", "source": "from", "target": "to", "weight": "strength"}
    assert both_ways(tmp_path, paths, label="side", **others) == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    assert sorted(set(np.load(tmp_path / "pieces" / "edge_weight.npy"))) == [1.5, 2, 3.25]


def test_a_table_without_features_gets_structural_ones(tmp_path) -> None:
    paths = write(tmp_path, edge_frame(NUMBERS), node_frame(NUMBERS, NAMES)[["key", "side"]], "csv")
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_without_edges_is_a_graph(tmp_path, suffix) -> None:
    paths = write(tmp_path, edge_frame(TEXTS).iloc[:0], node_frame(TEXTS, NAMES), suffix)
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")


def test_an_index_with_a_name_is_a_column(tmp_path) -> None:
    paths = tmp_path / "edges.parquet", tmp_path / "nodes.parquet"
    edge_frame(TEXTS).to_parquet(paths[0])
    node_frame(TEXTS, NAMES).set_index("key").to_parquet(paths[1])
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    assert FileSource(*map(str, paths), label="side", id="key").load().node_ids.tolist() == TEXTS


def test_columns_of_one_name_are_told_apart(tmp_path) -> None:
    nodes = node_frame(TEXTS, NAMES).rename(columns={"height": "age"})
    paths = write(tmp_path, edge_frame(TEXTS), nodes, "csv")
    assert both_ways(tmp_path, paths, label="side") == []
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")


def wrong(edges=None, nodes=None):
    frames = edge_frame(NUMBERS, weight=1.0), node_frame(NUMBERS, NAMES)
    for frame, changes in zip(frames, (edges, nodes), strict=True):
        for (row, column), value in (changes or {}).items():
            frame[column] = frame[column].astype(object)
            frame.loc[row, column] = value
    return frames


@pytest.mark.parametrize(
    "frames",
    [
        wrong(edges={(50, "to"): 7}),
        wrong(edges={(50, "to"): "x"}),
        wrong(edges={(50, "to"): None}),
        wrong(edges={(50, "weight"): -1.0}),
        wrong(edges={(50, "weight"): 0.0}),
        wrong(edges={(50, "weight"): "heavy"}),
        wrong(nodes={(20, "height"): None}),
        wrong(nodes={(20, "height"): "tall"}),
        wrong(nodes={(20, "old"): None}),
        wrong(nodes={(20, "key"): None}),
        wrong(nodes={(20, "key"): NUMBERS[3]}),
        wrong(nodes={(k, "side"): k + 0.5 for k in range(NODES)}),
        wrong(nodes={(k, "side"): -2 for k in range(NODES)}),
    ],
)
def test_a_wrong_table_gets_the_same_complaint_in_chunks(tmp_path, frames) -> None:
    complaints = both_ways(tmp_path, write(tmp_path, *frames, "csv"), label="side")
    assert len(complaints) == 2
    assert complaints[0] == complaints[1]
    assert not (tmp_path / "pieces").exists()


def test_what_is_no_graph_is_refused(tmp_path) -> None:
    edges, nodes = write(tmp_path, edge_frame(NUMBERS), node_frame(NUMBERS, NAMES), "csv")
    with pytest.raises(DatasetError, match="no file"):
        convert_tables(tmp_path / "g", edges, tmp_path / "absent.csv")
    with pytest.raises(GraphError, match="no column 'colour'"):
        convert_tables(tmp_path / "g", edges, nodes, label="colour")
    nodes.write_text("key,side\n")
    with pytest.raises(EmptyGraphError, match="no rows"):
        convert_tables(tmp_path / "g", edges, nodes)
    (tmp_path / "broken.parquet").write_bytes(b"no table")
    with pytest.raises(DatasetError, match=r"broken\.parquet can't be read"):
        TableChunks(tmp_path / "broken.parquet").columns()
    conflict = pd.DataFrame({"a": [100, 101], "b": [101, 100], "weight": [1.0, 2.0]})
    paths = write(tmp_path, conflict, node_frame(NUMBERS, NAMES), "csv")
    with pytest.raises(EdgeWeightError, match="weight 1 in one direction and 2 in the other"):
        convert_tables(tmp_path / "g", *paths)


# OGB


def ogb_tables(nodes=37):
    rng = np.random.default_rng(3)
    labels = [str(k) if k else "nan" for k in rng.integers(0, 4, nodes)]
    order = rng.permutation(nodes)
    tables = {
        "raw/num-node-list.csv.gz": [[nodes]],
        "raw/edge.csv.gz": rng.integers(0, nodes, (101, 2)),
        "raw/node-feat.csv.gz": rng.normal(size=(nodes, 5)),
        "raw/node-label.csv.gz": [[label] for label in labels],
        "split/time/train.csv.gz": order[:10, None],
        "split/time/valid.csv.gz": order[10:15, None],
        "split/time/test.csv.gz": order[15:, None],
    }
    return {name: "".join(",".join(map(str, row)) + "\n" for row in rows) for name, rows in tables.items()}


def write_ogb(folder, tables):
    """Write OGB's files as a zip and unpacked."""
    with zipfile.ZipFile(folder / "toy.zip", "w") as archive:
        for name, text in tables.items():
            archive.writestr(f"toy/{name}", gzip.compress(text.encode()))
        archive.extractall(folder)
    return folder / "toy.zip", folder / "toy"


def test_ogb_files_in_chunks_give_the_graph_of_the_archive(tmp_path) -> None:
    archive, folder = write_ogb(tmp_path, ogb_tables())
    read_archive(archive, name="toy", split="time").save(tmp_path / "whole")
    for path in (archive, folder):
        convert_ogb(tmp_path / "pieces", path, chunk_rows=4)
        assert_same_folders(tmp_path / "pieces", tmp_path / "whole")
    convert_ogb(tmp_path / "pieces", archive, split_name="time", dtype="float16", chunk_rows=4)
    read_archive(archive, name="toy", split="time").save(tmp_path / "whole", dtype="float16")
    assert_same_folders(tmp_path / "pieces", tmp_path / "whole")


@pytest.mark.parametrize(
    ("member", "text", "complaint"),
    [
        ("raw/edge.csv.gz", None, "lacks raw/edge.csv.gz"),
        ("raw/edge.csv.gz", "0,1\n3,99\n", "edge 1 joins nodes 3 and 99"),
        ("raw/edge.csv.gz", "0,a\n", "raw/edge.csv.gz of .* can't be read"),
        ("raw/node-label.csv.gz", "0\n1\n", "has 2 rows, but there are 37 nodes"),
        ("raw/node-feat.csv.gz", "0\n1\n", "has 2 rows, but there are 37 nodes"),
        ("raw/node-feat.csv.gz", "0\n" * 30 + "inf\n" * 7, r"x\[30, 0\] is inf"),
        ("split/sales/train.csv.gz", "0\n", "name one of the splits; it has sales, time"),
    ],
)
def test_damaged_ogb_files_are_named(tmp_path, member, text, complaint) -> None:
    tables = ogb_tables() | {member: text}
    archive, _ = write_ogb(tmp_path, {name: text for name, text in tables.items() if text is not None})
    with pytest.raises(RediscError, match=complaint):
        convert_ogb(tmp_path / "g", archive, chunk_rows=4)
    assert not (tmp_path / "g").exists()
