"""Models on disk: the same predictions in another process, and a named error for every kind of damage."""

import hashlib
import json
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from examples import FAST, random_graph
from redisc import ReDiSC
from redisc.errors import CheckpointError, ConfigError, NotFittedError

NODES, TRAIN, VAL = 30, np.arange(12), np.arange(12, 20)
TINY = {**FAST, "iterations": 6, "mean_field_epochs": 6, "evaluate_every": 3, "warm_iterations": 0, "e_step_every": 3}
GRAPH = random_graph(2, nodes=NODES, edges=50)
CONFIG, WEIGHTS = "config.json", "model.safetensors"


def fit(seed=0, **settings):
    return ReDiSC(**{**TINY, **settings}, random_state=seed).fit(GRAPH, TRAIN, VAL)


@pytest.fixture(scope="module")
def clf():
    return fit()


@pytest.fixture
def folder(clf, tmp_path):
    clf.save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder, change):
    config = json.loads((folder / CONFIG).read_text())
    change(config)
    (folder / CONFIG).write_text(json.dumps(config))


def forge_weights(folder, content):
    """Replace the weights and mend the hash: what a careful forger would do."""
    (folder / WEIGHTS).write_bytes(content)
    edit(folder, lambda config: config.update(sha256=hashlib.sha256(content).hexdigest()))


def forge_tensors(folder, change):
    tensors = safetensors.torch.load_file(folder / WEIGHTS)
    change(tensors)
    forge_weights(folder, safetensors.torch.save(tensors))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Saving and loading


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"backbone": "gat_sep", "residual": True, "normalisation": "layer", "head_layers": 1},
        {"backbone": "sage", "time_aware": False, "dtype": "float64", "initial_residual": 0.1},
        {"feature_scaling": "standard", "class_weight": {0: 2.0, 2: 0.5}, "clamp": "train+val"},
        {"schedule": "linear", "gate": "scalar", "hidden": np.int64(8), "evaluation_temperature": 0.5},
        {"anchor": 0.8, "mean_field_members": 3},
    ],
    ids=["default", "gat_sep", "sage", "scaled", "numpy settings", "anchored committee"],
)
def test_a_loaded_model_says_the_same_to_the_bit(settings, tmp_path):
    clf = fit(**settings)
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(GRAPH), clf.predict())
    assert np.array_equal(loaded.sample(3, graph=GRAPH), clf.sample(3))
    assert np.array_equal(loaded.predict_proba(2, graph=GRAPH), clf.predict_proba(2))
    assert np.array_equal(loaded.mean_field_proba(GRAPH), clf.mean_field_proba())
    assert np.array_equal(loaded.known_, clf.known_)
    assert loaded.classes_.tolist() == clf.classes_.tolist()
    assert loaded.history_ == clf.history_
    assert loaded.verdict() == clf.verdict()
    assert loaded.get_params() == clf.get_params()


def test_a_model_gives_the_same_predictions_in_a_new_process(clf, folder, tmp_path):
    np.savez(tmp_path / "graph.npz", x=GRAPH.x, edge_index=GRAPH.edge_index())
    script = """
import sys
import numpy as np
from redisc import Graph, ReDiSC
arrays = np.load(sys.argv[2])
graph = Graph(x=arrays["x"], edge_index=arrays["edge_index"])
clf = ReDiSC.load(sys.argv[1])
np.savez(sys.argv[3], predict=clf.predict(graph), sample=clf.sample(3, graph=graph))
"""
    paths = [str(folder), str(tmp_path / "graph.npz"), str(tmp_path / "out.npz")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", script, *paths], check=True, env=environment, timeout=120)
    with np.load(tmp_path / "out.npz") as found:
        assert np.array_equal(found["predict"], clf.predict())
        assert np.array_equal(found["sample"], clf.sample(3))


def test_a_checkpoint_is_two_files_and_no_pickle(folder):
    assert sorted(contents(folder)) == [CONFIG, WEIGHTS]
    config = json.loads((folder / CONFIG).read_text())
    assert config["format"] == "redisc"
    assert config["settings"]["hidden"] == 16
    assert "denoiser.time.inner.weight" in safetensors.torch.load_file(folder / WEIGHTS)


def test_a_loaded_model_holds_no_graph_and_says_so(folder):
    loaded = ReDiSC.load(folder)
    for use in (loaded.predict, loaded.sample, loaded.predict_proba, loaded.score):
        with pytest.raises(NotFittedError, match="pass one"):
            use()
    assert loaded.score(GRAPH) == pytest.approx((loaded.predict(GRAPH) == GRAPH.y)[12:].mean())


def test_settings_may_be_changed_while_loading(folder):
    assert ReDiSC.load(folder, evaluation_temperature=0.0).evaluation_temperature == 0.0
    with pytest.raises(TypeError, match="hiden"):
        ReDiSC.load(folder, hiden=3)


def test_a_model_is_saved_as_it_was_fitted_whatever_was_set_since(clf, tmp_path):
    changed = fit()
    changed.set_params(hidden=99, steps=3, backbone="sage")
    changed.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(GRAPH), clf.predict())
    assert loaded.hidden == 16


def test_a_model_can_be_loaded_saved_and_fitted_again(clf, folder, tmp_path):
    loaded = ReDiSC.load(folder)
    loaded.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)
    assert np.array_equal(loaded.fit(GRAPH, TRAIN, VAL).predict(), clf.predict())


def test_a_schedule_that_has_no_name_is_refused_by_save(tmp_path):
    with pytest.raises(ConfigError, match="schedule"):
        fit(schedule=lambda fraction: 1 - fraction).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# Damage


def broken(message="."):
    return pytest.raises(CheckpointError, match=message)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with broken(name):
        ReDiSC.load(folder)


def test_a_missing_folder_is_named(tmp_path):
    with broken("nowhere"):
        ReDiSC.load(tmp_path / "nowhere")


@pytest.mark.parametrize("length", [0, 4, 100, -1])
def test_truncated_weights_are_recognised(folder, length):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:length])
    with broken("truncated"):
        ReDiSC.load(folder)
    forge_weights(folder, whole[:length])
    with broken("no safetensors file"):
        ReDiSC.load(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"format": "redisc"', "[" * 100_000, '{"a":' * 100_000, "\x00\xff garbage", "1" * 5000],
    ids=["empty", "brace", "truncated", "nested lists", "nested objects", "garbage", "long number"],
)
def test_a_config_that_is_not_json_is_recognised(folder, text):
    (folder / CONFIG).write_bytes(text.encode("latin-1"))
    with broken("is not JSON"):
        ReDiSC.load(folder)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"redisc"'])
def test_json_that_is_no_config_is_recognised(folder, text):
    (folder / CONFIG).write_text(text)
    with broken("holds no checkpoint settings"):
        ReDiSC.load(folder)


def test_a_config_of_another_program_is_recognised(folder):
    (folder / CONFIG).write_text('{"architectures": ["BertModel"]}')
    with broken("not a redisc checkpoint"):
        ReDiSC.load(folder)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_named(folder, version):
    edit(folder, lambda config: config.update(version=version))
    with broken(f"format version {version}; this library reads 1"):
        ReDiSC.load(folder)


def test_an_unknown_setting_is_named(folder):
    edit(folder, lambda config: config["settings"].update(hidden_size=3))
    with broken("hidden_size"):
        ReDiSC.load(folder)


@pytest.mark.parametrize("name", ["settings", "classes", "num_features", "fingerprint", "seed", "sha256"])
def test_a_missing_entry_is_recognised(folder, name):
    edit(folder, lambda config: config.pop(name))
    with broken("settings|lacks|truncated"):
        ReDiSC.load(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden", "wide"),
        ("hidden", -1),
        ("hidden", 2.5),
        ("layers", None),
        ("layers", 3),
        ("steps", {}),
        ("steps", 0),
        ("schedule", ["cosine"]),
        ("schedule", "cosinus"),
        ("backbone", 7),
        ("backbone", "gnc"),
        ("gate", "matrix"),
        ("dtype", "float16"),
        ("metric", {}),
        ("device", "abacus"),
        ("clamp", 1),
        ("class_weight", [1, 2]),
        ("mean_field_architecture", ["gcn"]),
        ("mean_field_architecture", {"layers": 10**9}),
        ("mean_field_architecture", {"hidden": 64.5}),
        ("mean_field_architecture", [{}, {"layers": 10**9}]),
        ("evaluation_temperature", "cold"),
        ("feature_scaling", "standard"),
    ],
)
def test_a_setting_that_builds_no_model_is_recognised(folder, name, value):
    edit(folder, lambda config: config["settings"].update({name: value}))
    with broken("no model can be built|do not fit|garbles|lacks"):
        ReDiSC.load(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes", [0, 1]),
        ("classes", []),
        ("classes", [[0, 1, 2]]),
        ("classes", [2, 1, 0]),
        ("classes", ["a", "b", "c"]),
        ("classes", [0, 1, 10**30]),
        ("num_features", 4),
        ("num_features", -5),
        ("num_features", "many"),
        ("seed", "zero"),
        ("seed", None),
    ],
)
def test_sizes_and_classes_that_do_not_fit_are_recognised(folder, name, value):
    edit(folder, lambda config: config.update({name: value}))
    with broken("fit|lacks|rising|more than"):
        ReDiSC.load(folder)


@pytest.mark.parametrize("size", [10**9, 10**18, 10**30])
@pytest.mark.parametrize(
    "name", ["hidden", "layers", "head_layers", "heads", "steps", "num_features", "mean_field_members"]
)
def test_a_forged_size_allocates_nothing(folder, name, size):
    def forge(config):
        place = config if name == "num_features" else config["settings"]
        place[name] = size
        config["settings"]["backbone"] = "gat" if name == "heads" else "gcn"

    edit(folder, forge)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with broken():
        ReDiSC.load(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_weights_of_another_checkpoint_are_recognised(folder, tmp_path):
    fit(seed=1).save(tmp_path / "other")
    (folder / WEIGHTS).write_bytes((tmp_path / "other" / WEIGHTS).read_bytes())
    with broken("belongs to another config.json"):
        ReDiSC.load(folder)


def test_foreign_tensors_are_recognised(folder):
    forge_weights(folder, safetensors.torch.save({"bert.weight": torch.zeros(3)}))
    with broken("does not fit the saved weights"):
        ReDiSC.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.pop("known"),
        lambda t: t.pop("denoiser.time.inner.weight"),
        lambda t: t.update({"denoiser.stranger": torch.zeros(1)}),
        lambda t: t.update({"mean_field.stack.layers.0.conv.bias": torch.zeros(7)}),
        lambda t: t.update(known=torch.full((NODES,), 3)),
        lambda t: t.update(known=torch.full((NODES,), -2)),
        lambda t: t.update(known=torch.zeros(NODES)),
        lambda t: t.update(known=torch.zeros(NODES, 1, dtype=torch.int64)),
    ],
)
def test_tensors_that_do_not_fit_are_recognised(folder, change):
    forge_tensors(folder, change)
    with broken("fit|lacks"):
        ReDiSC.load(folder)


class Payload:
    """A pickle of this creates a file when it is read."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_a_pickle_is_never_executed(folder, tmp_path, name):
    marker = tmp_path / "marker"
    content = pickle.dumps(Payload(marker))
    pickle.loads(content)
    assert marker.exists()
    marker.unlink()
    if name == WEIGHTS:
        forge_weights(folder, content)
    else:
        (folder / CONFIG).write_bytes(content)
    with broken("no safetensors file|is not JSON"):
        ReDiSC.load(folder)
    torch.save(Payload(marker), folder / WEIGHTS)
    with broken():
        ReDiSC.load(folder)
    assert not marker.exists()


# Writing


def test_saving_again_replaces_the_older_checkpoint(folder, tmp_path):
    other = fit(seed=1)
    before = contents(folder)
    other.save(folder)
    assert contents(folder) != before
    assert np.array_equal(ReDiSC.load(folder).predict(GRAPH), other.predict())
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_saving_makes_missing_parents_and_takes_an_empty_folder(clf, tmp_path):
    clf.save(tmp_path / "a" / "b")
    assert sorted(contents(tmp_path / "a" / "b")) == [CONFIG, WEIGHTS]
    (tmp_path / "empty").mkdir()
    clf.save(tmp_path / "empty")
    assert sorted(contents(tmp_path / "empty")) == [CONFIG, WEIGHTS]


FOREIGN = {
    "a folder of notes": {"notes.txt": "mine"},
    "another program's config": {CONFIG: '{"architectures": ["BertModel"]}'},
    "another program's model": {CONFIG: '{"architectures": ["BertModel"]}', WEIGHTS: "theirs"},
    "a config that can't be read": {CONFIG: "{", "precious.txt": "mine"},
    "weights alone": {WEIGHTS: "theirs"},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_folder_is_refused_and_left_alone(clf, tmp_path, name):
    target = tmp_path / "target"
    target.mkdir()
    for file, text in FOREIGN[name].items():
        (target / file).write_text(text)
    before = contents(target)
    with pytest.raises(CheckpointError, match="target"):
        clf.save(target)
    assert contents(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_checkpoint_with_other_files_beside_it_is_refused_and_left_alone(clf, folder):
    (folder / "notes.txt").write_text("mine")
    before = contents(folder)
    with pytest.raises(CheckpointError, match="other files"):
        clf.save(folder)
    assert contents(folder) == before


def test_a_file_is_refused_and_left_alone(clf, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CheckpointError, match="file"):
        clf.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


class CrashError(Exception):
    """Stands for a full disk, or a process that is stopped."""


def fails_at(call, original):
    """`original`, but its `call`-th call raises."""
    count = 0

    def wrapped(*arguments):
        nonlocal count
        count += 1
        if count == call:
            raise CrashError
        return original(*arguments)

    return wrapped


@pytest.mark.parametrize(
    ("place", "call"),
    [("fsync", 1), ("fsync", 2), ("rename", 1), ("rename", 2)],
)
def test_a_crash_while_writing_leaves_the_older_checkpoint_and_no_litter(folder, tmp_path, monkeypatch, place, call):
    other, before = fit(seed=1), contents(folder)
    owner = os if place == "fsync" else Path
    with monkeypatch.context() as patch:
        patch.setattr(owner, place, fails_at(call, getattr(owner, place)))
        with pytest.raises(CrashError):
            other.save(folder)
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(("place", "call"), [("fsync", 1), ("fsync", 2), ("rename", 1)])
def test_a_crash_of_the_first_save_leaves_nothing(clf, tmp_path, monkeypatch, place, call):
    owner = os if place == "fsync" else Path
    monkeypatch.setattr(owner, place, fails_at(call, getattr(owner, place)))
    with pytest.raises(CrashError):
        clf.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
