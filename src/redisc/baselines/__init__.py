"""Every method of the paper's tables behind one interface, one file a method."""

from redisc.baselines.base import Baseline, Lesson, NeuralBaseline
from redisc.baselines.gat import GAT
from redisc.baselines.gat_sep import GATSep
from redisc.baselines.gcn import GCN
from redisc.baselines.sage import GraphSAGE

BASELINES: tuple[type[Baseline], ...] = (GCN, GAT, GraphSAGE, GATSep)
"""All of them, in the order in which they are listed."""

__all__ = ["BASELINES", "GAT", "GCN", "Baseline", "GATSep", "GraphSAGE", "Lesson", "NeuralBaseline"]
