"""Graphs on disk: a folder of `.npy` files, opened as memory maps, and `graph.json`."""

from redisc.graph.storage.draft import GraphDraft, graph_draft
from redisc.graph.storage.manifest import Manifest, is_saved_graph
from redisc.graph.storage.opening import open_graph
from redisc.graph.storage.saving import save_graph

__all__ = ["GraphDraft", "Manifest", "graph_draft", "is_saved_graph", "open_graph", "save_graph"]
