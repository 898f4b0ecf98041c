"""Rows written one chunk after the other make the array that is written at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisc.errors import FeatureError
from redisc.graph.storage.features import FeatureWriter
from redisc.io.npy import NpyAppender, map_npy


@given(st.lists(st.integers(0, 12), max_size=6), st.sampled_from(["float16", "int64", "bool", "<U3"]))
def test_appended_rows_are_one_npy_file(tmp_path_factory, sizes, dtype) -> None:
    path, rng = tmp_path_factory.mktemp("npy") / "rows.npy", np.random.default_rng(0)
    chunks = [rng.integers(0, 2, (size, 3)).astype(dtype) for size in sizes]
    with NpyAppender(path, dtype, (3,)) as rows:
        for chunk in chunks:
            rows.append(chunk)
    expected = np.concatenate([np.empty((0, 3), dtype), *chunks])
    for found in (np.load(path), map_npy(path)):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)


@pytest.mark.parametrize(("value", "dtype"), [(np.nan, "float32"), (-np.inf, "float32"), (7e4, "float16")])
def test_a_value_that_is_not_finite_is_named_by_its_row_in_the_whole(tmp_path, value, dtype) -> None:
    chunk = np.zeros((4, 3))
    with FeatureWriter(tmp_path / "x.npy", dtype, 3) as writer:
        writer.append(chunk)
        chunk[2, 1] = value
        with pytest.raises(FeatureError, match=rf"x\[6, 1\] is {value}.*finite in {dtype}"):
            writer.append(chunk)
