"""The state of an unfinished fit on disk: the older one or the newer one, and a named error for all damage."""

import contextlib
import json
import os
from pathlib import Path

import pytest
import torch

from redisc.errors import CheckpointError
from redisc.io.state import StateFolder
from redisc.state import State


def a_state(number=0):
    figures = {"number": number, "odd": [float("-inf"), 0.1, 1e-310], "none": None}
    tensors = {"wide": torch.full((300,), number + 0.1), "labels": torch.arange(6, dtype=torch.uint8).view(2, 3)}
    return State(figures, {**tensors, "count": torch.tensor(number)})


def assert_holds(folder, number):
    found, expected = folder.load(), a_state(number)
    assert found.figures == expected.figures
    assert found.tensors.keys() == expected.tensors.keys()
    for name, value in expected.tensors.items():
        assert found.tensors[name].dtype == value.dtype
        assert torch.equal(found.tensors[name], value)


@pytest.fixture
def folder(tmp_path):
    folder = StateFolder(tmp_path / "state")
    folder.save(a_state())
    return folder


def names(folder):
    return sorted(path.suffix for path in folder.path.iterdir())


def test_a_state_comes_back_as_it_was(folder):
    assert folder.holds_state()
    assert_holds(folder, 0)


def test_there_is_one_state_at_most(folder):
    for number in range(1, 4):
        folder.save(a_state(number))
        assert names(folder) == [".json", ".safetensors"]
        assert_holds(folder, number)
    folder.remove()
    assert not folder.holds_state()
    assert not folder.path.exists()


def test_removing_a_state_leaves_other_files_alone(folder):
    (folder.path / "notes.txt").write_text("mine")
    folder.remove()
    assert [path.name for path in folder.path.iterdir()] == ["notes.txt"]
    folder.remove()


def test_parts_of_a_state_can_be_taken_out_again():
    whole = State({"a": 1}).joined(inner=a_state(3).joined(core=a_state(4)), other=a_state(5))
    assert whole.part("inner").figures["number"] == 3
    assert whole.part("inner").part("core").tensors["count"] == 4
    assert whole.part("other").tensors.keys() == a_state().tensors.keys()


class CrashError(Exception):
    """Stands for a process that is stopped."""


@pytest.mark.parametrize("place", ["fsync", "replace", "unlink"])
@pytest.mark.parametrize("call", [1, 2, 3, 4])
def test_a_crash_while_writing_leaves_the_older_state_or_the_newer(folder, monkeypatch, place, call):
    owner, calls = os if place == "fsync" else Path, []
    original = getattr(owner, place)

    def crashing(*arguments, **options):
        calls.append(arguments)
        if len(calls) >= call:
            raise CrashError  # and nothing after it is tidied up
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, place, crashing)
        with contextlib.suppress(CrashError):
            folder.save(a_state(1))
    assert_holds(folder, folder.load().figures["number"])
    folder.save(a_state(2))
    assert_holds(folder, 2)
    assert names(folder) == [".json", ".safetensors"]


def tensors_of(folder):
    return next(folder.path.glob("*.safetensors"))


def spoil(path, change):
    path.write_bytes(change(path.read_bytes()))


def edit(folder, **changes):
    head = folder.path / "state.json"
    head.write_text(json.dumps({**json.loads(head.read_text()), **changes}))


DAMAGES = {
    "cut tensors": lambda f: spoil(tensors_of(f), lambda b: b[: len(b) // 2]),
    "no tensors": lambda f: tensors_of(f).unlink(),
    "a flipped bit": lambda f: spoil(tensors_of(f), lambda b: b[:-1] + bytes([b[-1] ^ 1])),
    "cut text": lambda f: spoil(f.path / "state.json", lambda b: b[:-20]),
    "empty text": lambda f: spoil(f.path / "state.json", lambda b: b""),
    "another number": lambda f: spoil(f.path / "state.json", lambda b: b.replace(b"0.1,", b"0.2,")),
    "another format": lambda f: edit(f, format="redisc"),
    "another version": lambda f: edit(f, version=99),
    "no figures": lambda f: edit(f, figures=None),
    "a path for a name": lambda f: edit(f, tensors="../../etc/passwd"),
    "no name": lambda f: edit(f, tensors=None),
    "a list": lambda f: spoil(f.path / "state.json", lambda b: b"[]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_one_clear_sentence(folder, damage):
    damage(folder)
    with pytest.raises(CheckpointError) as fault:
        folder.load()
    assert "state" in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_place_that_holds_something_else_is_refused(tmp_path, folder):
    folder.check_usable()
    StateFolder(tmp_path / "new" / "state").check_usable()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    for place in ("file", "run"):
        with pytest.raises(CheckpointError, match="holds other things"):
            StateFolder(tmp_path / place).check_usable()
    with pytest.raises(CheckpointError, match="can't be written to"):
        StateFolder("/proc/nowhere/state").check_usable()
