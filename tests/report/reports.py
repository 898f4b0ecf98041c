"""A small run whose names try to break out of the page, and the page that is made of it."""

import re

from examples import FAST
from redisc import Graph, ReDiSC, datasets
from redisc.baselines import LabelPropagation
from redisc.graph import Split
from redisc.run import Run
from redisc.source import SavedSource

CLASS_NAMES = ("</script><b>bold</b>", '"quoted" & plain', "três")


def awkward_graph() -> Graph:
    """Sixty nodes in communities; names of classes and nodes hold HTML."""
    made = datasets.load("planted", nodes=60, classes=3, community_size=10, train_fraction=0.3, val_fraction=0.2)
    ids = [f"<b>node {number}</b>" for number in range(made.num_nodes)]
    names = {"class_names": CLASS_NAMES, "node_ids": ids, "name": "<i>small</i> & odd"}
    return Graph(x=made.x, edge_index=made.edge_index(), y=made.y, splits=made.splits, directed=False, **names)


def fitted_run(folder, kind=ReDiSC, **settings) -> Run:
    """Fit a method to the awkward graph and keep it in `folder`."""
    awkward_graph().save(folder / "graph")
    source = SavedSource(str(folder / "graph"))
    graph = source.load()
    clf = kind(**settings).fit(graph)
    run = Run(folder / "run")
    split = Split(clf.train_mask_, clf.val_mask_, graph.splits[0].test)
    run.save(clf, source, split, {"seed": 0, "method": clf.name, "backbone": None, "verdict": clf.verdict()})
    return run


def redisc_run(folder) -> Run:
    """Fit ReDiSC for a second."""
    return fitted_run(folder, **FAST, random_state=0)


def propagation_run(folder) -> Run:
    """A method that reveals nothing step by step."""
    return fitted_run(folder, LabelPropagation)


def data_block(page: str) -> str:
    """The JSON text inside a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]
