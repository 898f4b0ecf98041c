"""Every error and warning that redisc raises, under one base class.

A message says what was given, what was expected and what to do, and names the first place that is wrong.
"""

import sklearn.exceptions


class RediscError(Exception):
    """Base class of all errors of redisc."""


class GraphError(RediscError, ValueError):
    """A graph could not be built from what was given."""


class EdgeIndexError(GraphError):
    """The edges have a wrong shape or type, or name a node that does not exist."""


class EdgeWeightError(GraphError):
    """An edge weight is missing, not positive or not finite, or differs between the directions of an edge."""


class FeatureError(GraphError):
    """The features are not a matrix of finite real numbers."""


class LengthError(GraphError):
    """Arrays that should have one entry a node (or an edge) differ in length."""


class LabelError(GraphError):
    """A label is not an integer from 0 upwards, or -1 for unknown."""


class MaskError(GraphError):
    """A mask is of the wrong type, empty, or overlaps with another mask."""


class EmptyGraphError(GraphError):
    """The graph has no nodes."""


class UnsupportedGraphError(GraphError):
    """A kind of graph that redisc does not model, such as several node types or several labels a node."""


class MetricError(RediscError, ValueError):
    """A metric cannot be computed from the predictions that were given."""


class DatasetError(RediscError):
    """A dataset is unknown, absent or damaged."""


class StoredGraphError(DatasetError):
    """A saved graph is absent, damaged or of another version, or a graph can't be saved."""


class CheckpointError(RediscError):
    """A saved model is absent, damaged or of another version."""


class ConfigError(RediscError, ValueError):
    """A setting is unknown or out of its range."""


class NotFittedError(RediscError, sklearn.exceptions.NotFittedError):
    """An estimator was asked for predictions before it was fitted."""


class RankError(RediscError):
    """Another process of a run on several ended or cannot be reached."""


class MissingDependencyError(RediscError, ImportError):
    """An optional package is not installed."""

    @classmethod
    def of(cls, package: str, *, extra: str) -> "MissingDependencyError":
        """The error for an absent package, naming the extra of redisc that installs it."""
        return cls(f'this needs the package {package}, which is not installed: pip install "redisc[{extra}]"')


class DirectedGraphWarning(UserWarning):
    """A directed graph was made undirected."""
