"""Tables on disk: what is written is what is read, and what can't be read is named."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from redisc.errors import ConfigError, DatasetError
from redisc.io.tables import check_table_target, read_table, table_head, write_table

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
TRAPS = ["007", "7", "NA", "null", "nan", "", "True", "1e5", "0x1", "-0", "+3", "a,b", 'say "hi"', "two\nlines", " x "]
KEYS = {"id": "id", "label": "label"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=6), st.sampled_from(["csv", "parquet"]))
@example([(trap or "x", trap or "y") for trap in TRAPS], "csv")
@example([("007", "01"), ("7", "1")], "csv")
@example([("12345678901234567890", "\r"), ("1", "\n")], "csv")
def test_a_round_trip_keeps_every_character_of_ids_and_names(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.mktemp("trip") / f"t.{suffix}"
    # Beside a name that is none, a label can't be taken for a number: 1.0 and 1 are one class.
    ids, labels = [row[0] for row in rows], [*(row[1] for row in rows[1:]), "a name"]
    write_table(path, {"id": ids, "label": labels})
    frame = read_table(path, KEYS)
    assert [str(value) for value in frame["id"]] == ids
    assert frame["label"].tolist() == labels


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), st.sampled_from(["csv", "parquet"]))
def test_whole_numbers_stay_whole_and_exact(tmp_path_factory, numbers, suffix):
    path = tmp_path_factory.mktemp("trip") / f"t.{suffix}"
    write_table(path, {"id": numbers, "label": numbers})
    frame = read_table(path, KEYS)
    assert frame["id"].tolist() == frame["label"].tolist() == numbers
    assert frame["id"].dtype == np.int64


def test_an_empty_cell_alone_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text('id,label,x,flag\nNA,null,1,true\n,"",,\nN/A,None,2.5,FALSE\n')
    frame = read_table(tmp_path / "t.csv", KEYS)
    assert frame["id"].isna().tolist() == frame["label"].isna().tolist() == [False, True, False]
    assert frame["id"].tolist()[::2] == ["NA", "N/A"]
    assert frame["label"].tolist()[::2] == ["null", "None"]
    assert frame["x"].tolist()[::2] == [1, 2.5]
    assert frame["flag"].tolist()[::2] == [True, False]


def test_a_gap_does_not_round_large_labels(tmp_path):
    (tmp_path / "t.csv").write_text("id,label\na,123456789012345678\nb,\n")
    assert read_table(tmp_path / "t.csv", KEYS)["label"].tolist() == [123456789012345678, None]


@pytest.mark.parametrize(
    "labels",
    [
        ["12345678901234567890", "12345678901234567891"],
        ["9007199254740993.0", "9007199254740992.0"],
        ["9007199254740993", "1.0"],
        ["1.00000000000000000001", "1"],
        ["0.99999999999999999999", "1"],
        ["1" + "0" * 400, "-1"],
    ],
)
def test_labels_that_floats_would_merge_stay_text(tmp_path, labels):
    write_table(tmp_path / "t.csv", {"label": [*labels, None]})
    assert read_table(tmp_path / "t.csv", KEYS)["label"].dropna().tolist() == labels


@pytest.mark.parametrize("labels", [["1.0", "-2.00"], ["999999999999999.0", "1"], ["0.5", "0.13436424411240122"]])
def test_plain_decimals_are_numbers(tmp_path, labels):
    write_table(tmp_path / "t.csv", {"label": labels})
    assert read_table(tmp_path / "t.csv", KEYS)["label"].tolist() == [float(label) for label in labels]


def test_values_are_numbers_whatever_their_spelling(tmp_path):
    (tmp_path / "t.csv").write_text("month,share,code\n01, .5,1\n12,1e-3,x\n")
    frame = read_table(tmp_path / "t.csv")
    assert frame["month"].tolist() == [1, 12]
    assert frame["share"].tolist() == [0.5, 0.001]
    assert frame["code"].tolist() == ["1", "x"]
    assert read_table(tmp_path / "t.csv", {"month": "text"})["month"].tolist() == ["01", "12"]


@pytest.mark.parametrize("content", ["\ufeffa,b\r\n1,é\r\n", 'a,"b"\n1,é', "a,b\n\n1,é\n\n"])
def test_the_many_ways_to_write_a_csv(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content.encode())
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content.encode()))
    for name in ("t.csv", "t.csv.gz"):
        assert read_table(tmp_path / name).to_dict("list") == {"a": [1], "b": ["é"]}
        assert table_head(tmp_path / name).columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "its first row is empty"),
        (b"a,b\n1,2\n1,2,3\n", "row 1: Expected 2 columns, got 3"),
        (b"a,b\n1\n", "row 0: Expected 2 columns, got 1"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
        (b'a,b\n1,"x\n2,y\n3,z\n', "a quote is never closed; .* 'x"),
    ],
)
def test_a_broken_csv_is_named(tmp_path, content, complaint):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DatasetError, match=rf"t\.csv can't be read as a table: (.|\n)*{complaint}"):
        read_table(tmp_path / "t.csv")


def test_a_cell_may_end_with_a_line_break(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,"x\n"\n')
    assert read_table(tmp_path / "t.csv")["b"].tolist() == ["x\n"]


def test_a_million_edges_are_read_as_they_are(tmp_path):
    ends = np.random.default_rng(0).integers(0, 10**6, (2, 10**6))
    table = pa.table({"a": ends[0], "b": pa.array(ends[1]).cast(pa.string())})
    pyarrow.csv.write_csv(table, tmp_path / "edges.csv")
    frame = read_table(tmp_path / "edges.csv", {"a": "id", "b": "id"})
    assert (frame["a"].to_numpy() == ends[0]).all()
    assert (frame["b"].to_numpy() == ends[1]).all()
    assert frame.memory_usage(deep=True).sum() < 20e6


def test_parquet_keeps_its_own_types(tmp_path):
    frame = pd.DataFrame({"id": ["1", "2"], "x": [1, 2], "when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet", KEYS), frame)


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.csv.gz", "T.CSV.GZ", "t.parquet", "t.PARQUET", "t.pq"])
def test_a_table_is_written_as_its_suffix_says(tmp_path, name):
    write_table(tmp_path / name, {"id": ["a", "b"], "x": [1, 2]})
    start = {"g": b"\x1f\x8b", "p": b"PAR1"}.get(name.lower().removeprefix("t.").removeprefix("csv.")[0], b"id,x")
    assert (tmp_path / name).read_bytes().startswith(start)
    assert read_table(tmp_path / name).to_dict("list") == {"id": ["a", "b"], "x": [1, 2]}
    assert table_head(tmp_path / name).columns.tolist() == ["id", "x"]


def test_the_same_table_is_the_same_bytes_when_it_is_compressed(tmp_path, monkeypatch):
    for number, name in enumerate(("a.csv.gz", "b.csv.gz")):
        monkeypatch.setattr("time.time", lambda now=number: 1e9 + now)
        write_table(tmp_path / name, {"id": [1]})
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@pytest.mark.parametrize("name", ["t.xlsx", "t.tsv", "t.gz", "t", "t.parquet.gz", "csv"])
def test_a_table_of_another_suffix_is_refused(tmp_path, name):
    for refuse in (check_table_target, lambda file: write_table(file, {"id": [1]})):
        with pytest.raises(ConfigError, match=r"ends in \.csv, \.csv\.gz, \.parquet or \.pq"):
            refuse(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_a_place_that_cannot_be_written_is_refused_by_its_name(tmp_path):
    (tmp_path / "t.csv").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"t\.csv is a folder"):
        check_table_target(tmp_path / "t.csv")
    with pytest.raises(ConfigError, match=r"file/sub/t\.csv can't be written: nothing can be created in .*/file$"):
        check_table_target(tmp_path / "file" / "sub" / "t.csv")
    check_table_target(tmp_path / "new" / "t.csv")
    assert not (tmp_path / "new").exists()
