"""What the page says in words and tables."""

from __future__ import annotations

import math
from html import escape

from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.report.page.content import Content

_METRICS = {
    "node_accuracy": ("Node accuracy", "nodes with the right label"),
    "subgraph_accuracy": ("Subgraph accuracy", "nodes that are right together with all their neighbours"),
    "roc_auc": ("ROC-AUC", "how well probabilities rank the nodes"),
    "balanced_accuracy": ("Balanced accuracy", "mean over classes"),
    "calibration_error": ("Calibration error", "gap between confidence and accuracy; lower is better"),
}
_LOWER_IS_BETTER = {"calibration_error"}


def finding(content: Content) -> str:
    """Say in a sentence how good the run is, beside its mean-field GNN."""
    scores, title = content.scores, content.clf.title
    if content.kind == "training":
        return f"No node was held out from the fit, so how well {title} labels others was not measured."
    ours = 100 * scores[content.clf.name]["node_accuracy"]
    start = f"{title} labels {ours:.1f} % of {content.exam.mask.sum():,} {content.kind} nodes correctly"
    if "mean_field" not in scores:
        return start + "."
    theirs = 100 * scores["mean_field"]["node_accuracy"]
    beside = f"its mean-field GNN, which decides every node on its own, {theirs:.1f} %"
    return f"{start}; {beside} ({ours - theirs:+.1f} points)."


def metrics_table(content: Content) -> str:
    """Return the metrics as an HTML table, in percent, with differences where there is a mean-field GNN.

    Training nodes are scored without the mean-field GNN: to be ahead of it there means nothing.
    """
    ours = content.scores[content.clf.name]
    theirs = None if content.kind == "training" else content.scores.get("mean_field")
    heads = ["mean-field GNN", content.clf.title, "difference"] if theirs else [content.clf.title]
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in ["", *heads])
    rows = "\n".join(_row(name, ours[name], theirs[name] if theirs else None) for name in ours)
    caption = f"<caption>{escape(_scored_on(content))}</caption>"
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def fact_list(content: Content) -> str:
    """Return graph, split, model and fit as an HTML list of terms."""
    graph, facts, clf = content.graph, content.facts, content.clf
    backbone = facts.get("backbone")
    terms = {
        "graph": f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {graph.num_features:,} features",
        "classes": f"{len(content.class_names):,}",
        "labels known": _known(content),
        "split": _split(content),
        "model": clf.title + (f", backbone {backbone}" if backbone else ""),
        "parameters": f"{clf.num_parameters():,}",
        **_diffusion(content),
        "seed": str(facts.get("seed", "")),
        "verdict": str(facts.get("verdict", "")),
    }
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in terms.items()) + "</dl>"


def _known(content: Content) -> str:
    """Say how many labels the answers are conditioned on, and how many of the fit's are hidden because they score."""
    known = int(content.known.sum())
    told = f"{known:,} ({100 * known / content.graph.num_nodes:.1f} %)"
    hidden = 0 if content.kind == "new" else int((content.exam.mask & (content.clf.known_ != MASKED)).sum())
    return f"{told}; {hidden:,} more were hidden to score them" if hidden else told


def _split(content: Content) -> str:
    train, val, test = content.split.sizes
    validation = "none held out" if (content.split.train & content.split.val).any() else f"{val:,} validation"
    return f"{train:,} training, {validation}, {test:,} {'new' if content.kind == 'new' else 'test'}"


def _scored_on(content: Content) -> str:
    count = f"{content.exam.mask.sum():,}"
    if content.kind == "test":
        return f"In percent, on the {count} test nodes, whose labels the model has not seen."
    if content.kind == "new":
        return f"In percent, on the {count} labels of new tables, none of which the model was told."
    if content.kind == "training":
        return f"In percent, on the {count} training nodes, as none was held out: how good it is on others is unknown."
    return (
        f"In percent, on the {count} validation nodes, which chose the model and so flatter it: no test label is known."
    )


def _row(name: str, ours: float, theirs: float | None) -> str:
    title, words = _METRICS.get(name, (name.replace("_", " "), ""))
    head = f"<th scope='row'>{escape(title)}<small>{escape(words)}</small></th>"
    if theirs is None:
        return f"<tr>{head}<td>{_figure(ours)}</td></tr>"
    better = (ours < theirs) if name in _LOWER_IS_BETTER else (ours > theirs)
    cells = (
        (_figure(theirs), not better and theirs != ours),
        (_figure(ours), better),
        (_figure(ours - theirs, "+"), False),
    )
    body = "".join(f"<td{' class=best' if best else ''}>{text}</td>" for text, best in cells)
    return f"<tr>{head}{body}</tr>"


def _figure(value: float, sign: str = "") -> str:
    return "n/a" if math.isnan(value) else format(100 * value, f"{sign}.2f")


def _diffusion(content: Content) -> dict[str, str]:
    """Return what only ReDiSC has."""
    clf = content.clf
    if not isinstance(clf, ReDiSC):
        return {}
    elapsed = clf.history_.get("elapsed") or [0.0]
    return {"steps T": str(clf.settings()["steps"]), "fitted in": f"{elapsed[-1]:.0f} s"}
