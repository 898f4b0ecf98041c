"""The quick-start notebook runs from top to bottom in a fresh kernel."""

import copy
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import redisc

PAGE = Path(__file__).parents[1] / "docs" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def stored():
    return nbformat.read(PAGE, as_version=4)


def test_it_is_stored_without_outputs(stored):
    nbformat.validate(stored)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def test_it_runs_and_ends_with_a_good_score_and_a_picture(stored, tmp_path):
    here = {**os.environ, "PYTHONPATH": str(Path(redisc.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    client = NotebookClient(copy.deepcopy(stored), timeout=300, resources={"metadata": {"path": tmp_path}})
    ran = client.execute(env=here)
    outputs = [output for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]
    text = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    right, nodes = map(int, re.search(r"(\d+)% of (\d+) test nodes are right", text).groups())
    assert right >= 80
    assert nodes == 18
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
    assert len(pictures[0]) > 10_000
    assert not list(tmp_path.iterdir())
