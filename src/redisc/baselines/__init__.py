"""Every method of the paper's tables behind one interface, one file a method."""

from redisc.baselines.base import Baseline, Lesson, NeuralBaseline
from redisc.baselines.clgnn import CLGNN
from redisc.baselines.correct_and_smooth import CorrectAndSmooth
from redisc.baselines.cpgnn import CPGNN
from redisc.baselines.dpm_snc import DPMSNC
from redisc.baselines.fagcn import FAGCN
from redisc.baselines.fsgnn import FSGNN
from redisc.baselines.gat import GAT
from redisc.baselines.gat_sep import GATSep
from redisc.baselines.gbkgnn import GBKGNN
from redisc.baselines.gcn import GCN
from redisc.baselines.gcnii import GCNII
from redisc.baselines.gin import GIN
from redisc.baselines.glognn import GloGNN
from redisc.baselines.gmnn import GMNN
from redisc.baselines.gprgnn import GPRGNN
from redisc.baselines.gt import GT
from redisc.baselines.gt_sep import GTSep
from redisc.baselines.h2gcn import H2GCN
from redisc.baselines.jacobiconv import JacobiConv
from redisc.baselines.jknet import JKNet
from redisc.baselines.label_propagation import LabelPropagation
from redisc.baselines.label_spreading import LabelSpreading
from redisc.baselines.label_trick import LabelTrick
from redisc.baselines.lgd import LGD
from redisc.baselines.lpa import LPA
from redisc.baselines.mlp import MLP
from redisc.baselines.pta import PTA
from redisc.baselines.sage import GraphSAGE
from redisc.baselines.uniform_diffusion import UniformDiffusion

BASELINES: tuple[type[Baseline], ...] = (
    GCN,
    GAT,
    GraphSAGE,
    GATSep,
    GT,
    GTSep,
    MLP,
    GIN,
    JKNet,
    GCNII,
    GMNN,
    CLGNN,
    LabelPropagation,
    LabelSpreading,
    PTA,
    LPA,
    LabelTrick,
    CorrectAndSmooth,
    H2GCN,
    CPGNN,
    GPRGNN,
    FSGNN,
    GloGNN,
    FAGCN,
    GBKGNN,
    JacobiConv,
    LGD,
    UniformDiffusion,
    DPMSNC,
)
"""All of them, in the order in which they are listed."""

__all__ = [
    "BASELINES",
    "CLGNN",
    "CPGNN",
    "DPMSNC",
    "FAGCN",
    "FSGNN",
    "GAT",
    "GBKGNN",
    "GCN",
    "GCNII",
    "GIN",
    "GMNN",
    "GPRGNN",
    "GT",
    "H2GCN",
    "LGD",
    "LPA",
    "MLP",
    "PTA",
    "Baseline",
    "CorrectAndSmooth",
    "GATSep",
    "GTSep",
    "GloGNN",
    "GraphSAGE",
    "JKNet",
    "JacobiConv",
    "LabelPropagation",
    "LabelSpreading",
    "LabelTrick",
    "Lesson",
    "NeuralBaseline",
    "UniformDiffusion",
]
