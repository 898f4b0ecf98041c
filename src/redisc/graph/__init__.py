"""The Graph container: CSR adjacency, features, labels and splits, with validation and conversions."""

from redisc.graph.container import Graph
from redisc.graph.describe import Description
from redisc.graph.splits import Split, as_mask, check_split

__all__ = ["Description", "Graph", "Split", "as_mask", "check_split"]
