"""The networks: time gate, convolutions, denoiser, mean-field GNN. Each formula is written once, against Blocks."""

from redisc.nn.affine import Affine, Features
from redisc.nn.architecture import BACKBONES, Architecture
from redisc.nn.block import Block, Weighting
from redisc.nn.committee import Committee, mean_probabilities, members_of, with_reader
from redisc.nn.denoiser import Conditioning, Denoiser
from redisc.nn.feature_reader import FeatureReader
from redisc.nn.mean_field import MeanField
from redisc.nn.module_backbone import ModuleDenoiser, ModuleMaker, ModuleMeanField
from redisc.nn.pooling import LEAST_PROBABILITY, Nodes, Pooling, crowding_of
from redisc.nn.stack import ConvStack, Projected
from redisc.nn.time_gate import Gate, TimeEncoder, TimeGate, check_gate, sinusoidal_encoding

__all__ = [
    "BACKBONES",
    "LEAST_PROBABILITY",
    "Affine",
    "Architecture",
    "Block",
    "Committee",
    "Conditioning",
    "ConvStack",
    "Denoiser",
    "FeatureReader",
    "Features",
    "Gate",
    "MeanField",
    "ModuleDenoiser",
    "ModuleMaker",
    "ModuleMeanField",
    "Nodes",
    "Pooling",
    "Projected",
    "TimeEncoder",
    "TimeGate",
    "Weighting",
    "check_gate",
    "crowding_of",
    "mean_probabilities",
    "members_of",
    "sinusoidal_encoding",
    "with_reader",
]
