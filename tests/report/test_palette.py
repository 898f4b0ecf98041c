"""Colours of classes: apart for every kind of sight, and stable as classes are added."""

import numpy as np
import pytest

from redisc.report.palette import MISTAKE, UNKNOWN, class_colours, class_shapes, node_colours

# Machado, Oliveira, Fernandes (2009): what linear RGB becomes without red, green or blue cones.
SIGHTS = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def as_lab(colours, sight):
    """The colours in CIELAB, where a distance of 2 is just seen and 10 is plain."""
    rgb = np.array([list(bytes.fromhex(colour[1:])) for colour in colours]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ np.transpose(SIGHTS[sight]), 0, 1) @ TO_XYZ.T / TO_XYZ.sum(1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def nearest(colours, sight):
    lab = as_lab(colours, sight)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return apart[np.triu_indices(len(lab), k=1)].min()


@pytest.mark.parametrize("sight", SIGHTS)
def test_eight_classes_mistakes_and_the_page_are_plain_to_every_sight(sight):
    assert nearest([*class_colours(8), MISTAKE, "#FFFFFF"], sight) > 10


def test_24_classes_have_colours_of_their_own():
    assert nearest(class_colours(24), "all cones") > 10


def test_no_class_looks_unknown():
    assert UNKNOWN not in class_colours(100)


def test_the_first_colours_of_many_are_those_of_few():
    assert class_colours(30)[:8] == class_colours(8)


def test_colour_and_shape_together_tell_64_classes_apart():
    assert len(set(zip(class_colours(64), class_shapes(64), strict=True))) == 64


def test_unknown_labels_are_pale():
    assert node_colours(np.array([1, -1]), 2).tolist() == [class_colours(2)[1], UNKNOWN]
    assert node_colours(np.array([-1]), 0).tolist() == [UNKNOWN]
