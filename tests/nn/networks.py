"""Networks with random weights, biases included, and the states that they are asked about."""

import torch

from redisc.engine import FeatureScaling, FullGraphEngine, Topology
from redisc.nn import Architecture, Denoiser, MeanField

STEPS = 10
GATES = ["vector", "scalar", "added", "none"]


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomise(module, seed=0):
    """Give every parameter, also those that start at zero or one, a random value in float64."""
    module.double()
    with torch.no_grad():
        for k, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(1000 * seed + k, *parameter.shape) / len(parameter) ** 0.5)
    return module


def architecture(backbone="gcn", **settings):
    return Architecture(backbone, **{"hidden": 6, "heads": 2, **settings})


def denoiser(backbone="gcn", gate="vector", seed=0, features=5, classes=3, **settings):
    return randomise(Denoiser(architecture(backbone, **settings), features, classes, STEPS, gate), seed)


def mean_field(backbone="gcn", seed=0, features=5, classes=3, **settings):
    return randomise(MeanField(architecture(backbone, **settings), features, classes), seed)


def engine(graph, features=None):
    x = FeatureScaling().apply(graph.x, torch.float64) if features is None else features
    return FullGraphEngine(Topology(graph, torch.float64), x)


def noisy_labels(seed, copies, nodes=12, classes=3):
    """Label states `(copies, N)`, some of them masked."""
    return torch.randint(-1, classes, (copies, nodes), generator=torch.Generator().manual_seed(seed))


def steps_of(seed, copies):
    return torch.randint(1, STEPS + 1, (copies,), generator=torch.Generator().manual_seed(seed))
