"""Unfinished fits as users meet them: refusals in one sentence, real processes that are killed, and the command."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN

from examples import FAST, random_graph
from redisc import ReDiSC, datasets
from redisc.cli import main
from redisc.errors import CheckpointError, ConfigError
from redisc.io.state import StateFolder

NODES, TRAIN, VAL = 40, np.arange(16), np.arange(16, 28)
TINY = {**FAST, "iterations": 4, "mean_field_epochs": 4, "evaluate_every": 2, "warm_iterations": 0, "e_step_every": 2}
GRAPH = random_graph(0, nodes=NODES, edges=80)


def fit(folder, graph=GRAPH, train=TRAIN, val=VAL, resume=True, random_state=0, **settings):
    clf = ReDiSC(**{**TINY, **settings}, random_state=random_state)
    return clf.fit(graph, train, val, checkpoint=folder, checkpoint_every=0, resume=resume)


def leave_state(folder, **settings):
    """Fit as a process does that is killed just before its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redisc.em.keeper.Keeper.remove", lambda keeper: None)
        clf = fit(folder, resume=False, **settings)
    assert StateFolder(folder).holds_state()
    return clf


def weights(clf):
    networks = clf._model.denoiser, clf._model.mean_field
    return torch.cat([p.detach().flatten() for network in networks for p in network.parameters()])


@pytest.fixture
def state(tmp_path):
    leave_state(tmp_path / "state")
    return tmp_path / "state"


# Refusals


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"random_state": 1}, "the seed was 0 and is 1"),
        ({"hidden": 8}, "hidden was 16 and is 8"),
        ({"iterations": 9, "priority": "none"}, "iterations was 4 and is 9, priority was 'validation' and is 'none'"),
        ({"class_weight": {0: 2.0}}, "class_weight was None"),
        ({"mean_field_architecture": {"backbone": "sage"}}, "mean_field_architecture was None"),
        ({"mean_field_architecture": [{}, {"backbone": "sage"}]}, "mean_field_architecture was None"),
        ({"schedule": lambda fraction: 1 - fraction}, "schedule was 'cosine'"),
        ({"train": np.arange(15)}, "the train mask differs"),
        ({"val": np.arange(17, 28)}, "the validation mask differs"),
        ({"graph": random_graph(5, nodes=NODES, edges=80)}, "the graph differs"),
        ({"graph": GRAPH.with_labels((GRAPH.y + 1) % 3)}, "the labels differ"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_state_of_another_fit_is_refused_by_what_differs(state, change, named):
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    with pytest.raises(CheckpointError) as fault:
        fit(state, **change)
    assert named in str(fault.value)
    assert "\n" not in str(fault.value)
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before


def test_networks_of_a_committee_are_told_apart_by_what_they_hold(tmp_path):
    first, other = ([{}, {"backbone": "appnp", "initial_residual": share}] for share in (0.1, 0.9))
    leave_state(tmp_path / "state", mean_field_architecture=first, mean_field_members=2)
    with pytest.raises(CheckpointError, match=r"mean_field_architecture was .*0\.1.* and is .*0\.9"):
        fit(tmp_path / "state", mean_field_architecture=other, mean_field_members=2)
    fit(tmp_path / "state", mean_field_architecture=tuple(first), mean_field_members=2)


def test_what_does_not_touch_the_outcome_may_change(state):
    clf = fit(state, hidden=np.int64(16), verbose=True)
    assert not state.exists()
    assert torch.equal(weights(clf), weights(ReDiSC(**TINY, random_state=0).fit(GRAPH, TRAIN, VAL)))


def test_labels_outside_the_masks_are_no_part_of_a_fit(state):
    hidden = np.where(np.arange(NODES) < 28, GRAPH.y, -1)
    fit(state, graph=GRAPH.with_labels(hidden))
    assert not state.exists()


def test_a_seed_that_was_left_to_chance_is_kept(tmp_path):
    first = leave_state(tmp_path / "state", random_state=None)
    second = fit(tmp_path / "state", random_state=None)
    assert second._origin.seed == first._origin.seed
    assert torch.equal(weights(first), weights(second))


def test_a_module_of_the_users_own_can_be_resumed(tmp_path):
    def make(in_width, out_width):
        return GCN(in_width, 8, num_layers=2, out_channels=out_width, norm="batch_norm", dropout=0.5)

    first = leave_state(tmp_path / "state", backbone=make)
    second = fit(tmp_path / "state", backbone=make)
    assert torch.equal(weights(first), weights(second))
    assert np.array_equal(first.predict(), second.predict())


def test_a_damaged_state_is_refused_and_a_fit_anew_replaces_it(state):
    file = next(state.glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="damaged"):
        fit(state)
    fit(state, resume=False)
    assert not state.exists()


def test_resuming_needs_a_folder_that_is_free_or_holds_a_state(tmp_path):
    with pytest.raises(ConfigError, match="checkpoint="):
        fit(None)
    (tmp_path / "thesis.tex").write_text("years of work")
    for resume in (False, True):
        with pytest.raises(CheckpointError, match="holds other things"):
            fit(tmp_path, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


# Real processes

KILLED_AT_RANDOM = """
import os, random, signal, sys, time, warnings
from pathlib import Path
import numpy as np
from redisc import ReDiSC, datasets

folder, out, settings = Path(sys.argv[1]), sys.argv[2], eval(sys.argv[3])
warnings.simplefilter("ignore")
graph, flush = datasets.load("karate"), os.fsync


def slow_flush(handle):
    flush(handle)
    time.sleep(0.004)  # most moments are now moments of writing


def work():
    os.fsync = slow_flush
    clf = ReDiSC(**settings).fit(graph, checkpoint=folder, checkpoint_every=0, resume=True)
    np.savez(out, predict=clf.predict(), sample=clf.sample(3), validation=clf.history_["validation"])
    os._exit(0)


def kill_one(delay):
    seen, child = newest(), os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    while newest() == seen and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.001)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def newest():
    try:
        return (folder / "state.json").stat().st_mtime_ns
    except FileNotFoundError:
        return None


ReDiSC(**{**settings, "iterations": 3}).fit(graph)  # compiled code is loaded here, once for all processes
chance, strays = random.Random(int(sys.argv[4])), 0
for _ in range(8):
    kill_one(chance.uniform(0, 0.04))
    strays += len(list(folder.iterdir())) > 2
print(strays)
if os.fork() == 0:
    work()
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def test_a_fit_that_is_killed_at_random_moments_ends_in_the_same_bits(tmp_path):
    settings = {**FAST, "random_state": 3, "iterations": 50, "mean_field_epochs": 15, "keep_draw": True}
    paths = [str(tmp_path / "state"), str(tmp_path / "out.npz")]
    command = [sys.executable, "-c", KILLED_AT_RANDOM, *paths, repr(settings), "0"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0  # kills did happen in the middle of writing
    clf = ReDiSC(**settings).fit(datasets.load("karate"))
    with np.load(tmp_path / "out.npz") as found:
        assert np.array_equal(found["predict"], clf.predict())
        assert np.array_equal(found["sample"], clf.sample(3))
        assert found["validation"].tolist() == clf.history_["validation"]
    assert not (tmp_path / "state").exists()


# The command

LONG = {"iterations": 120, "patience": 120, "evaluate_every": 30, "mean_field_epochs": 15, "steps": 10, "hidden": 16}


def command(folder, *more, iterations=LONG["iterations"]):
    pairs = [f"--set={name}={value}" for name, value in {**LONG, "iterations": iterations}.items()]
    return ["fit", "karate", "--backbone", "gcn", "--out", str(folder), *pairs, *map(str, more)]


def redisc(monkeypatch, capsys, arguments):
    """Run the command here and return what it said on standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["redisc", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code in (0, None)
    return capsys.readouterr()


def start(arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "redisc", *arguments], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def until(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_killed_command_goes_on_with_resume(tmp_path, monkeypatch, capsys):
    partial = tmp_path / "run.partial"
    process = start(command(tmp_path / "run", "--checkpoint-every", 0, "--json"))
    until(lambda: "m_step" in head_of(partial), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "run").exists()
    monkeypatch.chdir(tmp_path)
    report = json.loads(redisc(monkeypatch, capsys, command("run", "--resume", "--json")).out)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    clf = ReDiSC(**LONG, random_state=0).fit(datasets.load("karate"))
    assert report["history"]["validation"] == clf.history_["validation"]
    assert np.array_equal(ReDiSC.load(tmp_path / "run" / "model").predict(clf.graph_), clf.predict())


def head_of(partial):
    try:
        return (partial / "state.json").read_text()
    except FileNotFoundError:
        return ""


def test_an_unfinished_fit_is_mentioned_and_made_anew_without_resume(tmp_path, monkeypatch, capsys):
    leave_state(tmp_path / "run.partial")
    said = redisc(monkeypatch, capsys, command(tmp_path / "run", "--json", iterations=5)).err.strip().splitlines()
    assert said == [f"note: {tmp_path}/run.partial holds an unfinished fit that --resume would continue; starting anew"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    said = redisc(monkeypatch, capsys, command(tmp_path / "run", "--json", "--resume", iterations=5)).err.splitlines()
    assert said == [
        f"note: {tmp_path}/run holds an earlier run, which this one replaces when the fit ends",
        f"note: there is no unfinished fit in {tmp_path}/run.partial: starting from the beginning",
    ]


def test_a_run_that_can_not_be_written_leaves_the_unfinished_fit(tmp_path, monkeypatch, capsys):
    def full(self, *_):
        raise OSError(28, "No space left on device", str(self.folder))

    arguments = command(tmp_path / "run", "--json", iterations=5)
    with monkeypatch.context() as patch:
        patch.setattr("redisc.run.Run.save", full)
        patch.setattr(sys, "argv", ["redisc", *arguments])
        with pytest.raises(SystemExit, match="2"):
            main()
    assert StateFolder(tmp_path / "run.partial").holds_state()
    capsys.readouterr()
    assert json.loads(redisc(monkeypatch, capsys, [*arguments, "--resume"]).out)["history"]["iteration"] == [5]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--resume"], "is another one"),
        (["--resume", "--method", "gcn"], "--resume: method gcn keeps no state"),
        (["--checkpoint-every", "5", "--method", "gcn"], "--checkpoint-every: method gcn keeps no state"),
        (["--checkpoint-every", "-5"], "checkpoint_every=-5.0"),
    ],
)
def test_what_can_not_be_resumed_is_one_line(tmp_path, monkeypatch, capsys, arguments, hint):
    leave_state(tmp_path / "run.partial")
    monkeypatch.setattr(sys, "argv", ["redisc", "fit", "karate", "--out", str(tmp_path / "run"), *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    lines = [line for line in capsys.readouterr().err.strip().splitlines() if not line.startswith("note: ")]
    assert exit_.value.code == 2
    assert len(lines) == 1
    assert hint in lines[0]
    assert [path.name for path in tmp_path.iterdir()] == ["run.partial"]


@pytest.mark.parametrize(("phase", "code"), [("mean-field", 130), ("diffusion", 0)])
def test_an_interrupt_saves_the_run_or_says_how_to_go_on(tmp_path, monkeypatch, capsys, phase, code):
    def interrupt(bar, progress):
        if progress.phase == phase and progress.done == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("redisc.progress.ProgressBar.update", interrupt)
    monkeypatch.setattr(sys, "argv", ["redisc", *command(tmp_path / "run", "--checkpoint-every", 0)])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert (exit_.value.code or 0) == code
    said = capsys.readouterr()
    if code:
        assert f"interrupted: the unfinished fit is in {tmp_path}/run.partial; --resume goes on with it" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["run.partial" if code else "run"]
