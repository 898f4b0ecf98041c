"""Joint label completion on graphs by masked diffusion (ReDiSC)."""

from redisc import datasets, metrics
from redisc.errors import RediscError
from redisc.estimator import ReDiSC
from redisc.graph import Graph, Split

__version__ = "0.1.0"

__all__ = ["Graph", "ReDiSC", "RediscError", "Split", "__version__", "datasets", "metrics"]
