"""The gallery shows pictures that the command makes, small enough for a repository."""

import re
from pathlib import Path

import numpy as np
from PIL import Image

from examples import FAST
from redisc.experiments.gallery import draw_karate, shrink

DOCS = Path(__file__).parents[2] / "docs"


def test_a_scene_is_fitted_and_drawn(tmp_path):
    (path,) = draw_karate(tmp_path, **FAST)
    with Image.open(path) as image:
        assert image.width > image.height > 300


def test_shrinking_keeps_every_colour_close(tmp_path):
    rng = np.random.default_rng(0)
    whole = np.full((200, 300, 3), 255, dtype=np.uint8)
    whole[50:150, 50:250] = rng.choice([[0, 114, 178], [230, 159, 0], [0, 158, 115]], size=(100, 200))
    whole[100, :] = np.linspace(0, 255, 300)[:, None]
    path = tmp_path / "a.png"
    Image.fromarray(whole).save(path, compress_level=1)
    before = path.stat().st_size
    shrink(path)
    with Image.open(path) as image:
        moved = np.abs(np.asarray(image.convert("RGB")).astype(int) - whole)
    assert path.stat().st_size < before
    assert moved.max() < 25
    assert not moved[:40].any()


def test_every_picture_of_the_page_is_there_and_small():
    linked = re.findall(r"\]\((images/[a-z_]+\.png)\)", (DOCS / "gallery.md").read_text())
    assert len(linked) == len(set(linked)) == 10
    for name in linked:
        assert (DOCS / name).stat().st_size < 150_000
