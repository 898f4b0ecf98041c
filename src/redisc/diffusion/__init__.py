"""The probabilistic model: schedule, masking, routing, objective, reverse process. It knows no neural network."""

from redisc.diffusion.likelihood import LogLikelihood, chain_rule, elbo
from redisc.diffusion.masking import MASKED, mask_labels
from redisc.diffusion.objective import Objective, node_weights, weighted_cross_entropy
from redisc.diffusion.pruning import prune_sample
from redisc.diffusion.routing import ConfidentFirst, LabelledFirst, Routing, Uniform, get_routing
from redisc.diffusion.sampler import CHAINS_AT_ONCE, Denoise, Reveal, ReverseProcess, State
from redisc.diffusion.schedule import Schedule, get_schedule
from redisc.diffusion.trace import Trace, trace_chain

__all__ = [
    "CHAINS_AT_ONCE",
    "MASKED",
    "ConfidentFirst",
    "Denoise",
    "LabelledFirst",
    "LogLikelihood",
    "Objective",
    "Reveal",
    "ReverseProcess",
    "Routing",
    "Schedule",
    "State",
    "Trace",
    "Uniform",
    "chain_rule",
    "elbo",
    "get_routing",
    "get_schedule",
    "mask_labels",
    "node_weights",
    "prune_sample",
    "trace_chain",
    "weighted_cross_entropy",
]
