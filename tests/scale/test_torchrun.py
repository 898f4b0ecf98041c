"""`torchrun -m redisc`: the same samples on any number of ranks, training that agrees, and a rank that is killed."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from redisc import datasets
from scale.fit_script import results
from scale.ranks import TESTS, environment, launcher, torchrun

SMALL = [
    f"--set={name}={value}"
    for name, value in {
        "hidden": 16, "steps": 10, "iterations": 40, "warm_iterations": 10, "e_step_every": 10, "e_step_samples": 3,
        "evaluate_every": 10, "mean_field_epochs": 30, "queue_size": 10, "masks": 4,
    }.items()
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A saved graph of 1,500 nodes, opened by every rank as a memory map."""
    folder = tmp_path_factory.mktemp("data") / "graph"
    datasets.load("planted", nodes=1500, seed=1).save(folder)
    return folder


@pytest.fixture(scope="module")
def alone(data):
    return results(data, 1)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_together_do_what_one_process_does(data, alone, ranks, tmp_path):
    """Chains are the same to the bit; weights agree to rounding, for shared masks and for shared mini-batches."""
    torchrun(ranks, TESTS / "scale" / "fit_script.py", data, tmp_path)
    for rank in range(ranks):
        found = np.load(tmp_path / f"{rank}.npz")
        assert str(found["refusal"]) == f"masks=1 can't be shared by {ranks} processes"
        for name, expected in alone.items():
            if name.endswith("samples"):
                assert np.array_equal(found[name], expected), name
            else:
                np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


def weights(run):
    return load_file(run / "model" / "model.safetensors")


def workers_of(process):
    """Processes that torchrun has started, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            variables = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        ranks = [v for v in variables if v.startswith(b"RANK=")]
        if parent == process.pid and ranks:
            found[int(ranks[0][5:])] = int(entry.name)
    return found


def updates_in(folder):
    """How many M-steps the saved state has seen."""
    try:
        return json.loads((folder / "state.json").read_text())["figures"].get("fit state", {}).get("done", 0)
    except FileNotFoundError:
        return 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the ranks")
def test_a_rank_that_is_killed_between_two_m_steps_ends_the_run_and_resume_goes_on(data, tmp_path):
    longer = [*SMALL, "--set=iterations=60", "--backbone", "sage"]
    whole = torchrun(2, "redisc", "fit", data, "--out", tmp_path / "whole", *longer, module=True)
    assert whole.stdout.count("run saved in") == 1
    run, partial = tmp_path / "killed", tmp_path / "killed.partial"
    command = [*launcher(2), "-m", "redisc", "fit", data, "--out", run, *longer, "--checkpoint-every", 0]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, env=environment())
        while updates_in(partial) < 5:
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)
        os.kill(workers_of(process)[1], signal.SIGKILL)
        assert process.wait(timeout=120) != 0
    assert "--resume" in (tmp_path / "log").read_text()
    assert not run.exists()
    torchrun(2, "redisc", "fit", data, "--out", run, *longer, "--resume", module=True)
    mine, theirs = map(weights, (run, tmp_path / "whole"))
    assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)
    assert not partial.exists()
