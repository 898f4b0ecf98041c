"""One message-passing layer a file, each written once against Blocks."""

from redisc.nn.convs.conv import Conv
from redisc.nn.convs.gat import GATConv
from redisc.nn.convs.gat_sep import GATSepConv
from redisc.nn.convs.gcn import GCNConv
from redisc.nn.convs.hops import HopConv
from redisc.nn.convs.linear import LinearConv
from redisc.nn.convs.propagation import PropagationConv
from redisc.nn.convs.sage import SAGEConv

__all__ = ["Conv", "GATConv", "GATSepConv", "GCNConv", "HopConv", "LinearConv", "PropagationConv", "SAGEConv"]
