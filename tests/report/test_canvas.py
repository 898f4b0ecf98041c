"""Pictures appear whole or not at all, in the format that their name says."""

import sys
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure
from PIL import Image

from redisc.errors import ConfigError, MissingDependencyError
from redisc.report.canvas import sheet


def draw(path):
    with sheet(path, (2, 1)) as panels:
        panels[0, 0].plot([0, 1], [0, 1])


def test_a_png_is_a_whole_image_of_the_asked_shape(tmp_path):
    draw(tmp_path / "new folder" / "a.png")
    with Image.open(tmp_path / "new folder" / "a.png") as image:
        image.load()
        assert image.width == 2 * image.height


def test_an_svg_is_well_formed_and_the_same_bytes_again(tmp_path):
    draw(tmp_path / "a.svg")
    draw(tmp_path / "b.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_fault_while_drawing_leaves_nothing_behind(tmp_path):
    with pytest.raises(ZeroDivisionError), sheet(tmp_path / "a.png", (2, 1)):
        _ = 1 / 0
    assert not list(tmp_path.iterdir())


def test_a_fault_while_writing_leaves_the_older_picture(tmp_path, monkeypatch):
    draw(tmp_path / "a.png")
    before = (tmp_path / "a.png").read_bytes()

    def fail_half_way(figure, path, **options):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail_half_way)
    with pytest.raises(OSError, match="disk full"):
        draw(tmp_path / "a.png")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.png", before)]


@pytest.mark.parametrize("name", ["a.docx", "a"])
def test_an_unknown_format_is_refused_before_anything_is_drawn(tmp_path, name):
    with pytest.raises(ConfigError, match=r"ends in \.png"):
        draw(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_drawing_leaves_the_callers_backend_alone(tmp_path):
    before = matplotlib.rcParams._get_backend_or_none()
    draw(tmp_path / "a.png")
    assert matplotlib.rcParams._get_backend_or_none() == before


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"redisc\[plot\]"):
        draw(tmp_path / "a.png")
