"""What a model knows beyond one label a node: sets of labels, joint probabilities, and who drives an answer."""

from redisc.uncertainty.conformal import PredictionSets, conformal_sets, split_for_calibration
from redisc.uncertainty.drivers import Drivers, find_drivers
from redisc.uncertainty.joint import JointTable, joint_table

__all__ = [
    "Drivers",
    "JointTable",
    "PredictionSets",
    "conformal_sets",
    "find_drivers",
    "joint_table",
    "split_for_calibration",
]
