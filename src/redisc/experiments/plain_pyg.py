"""The baseline of `redisc bench`: the work as the authors' public code does it, written anew on PyG's layers.

One full pass for every mask and every step, gate inputs of N x (128 + C), dense features, and messages that are
gathered and scattered over an edge list. It is measured, never used.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import softmax

from redisc.diffusion import MASKED
from redisc.nn.time_gate import TIME_WIDTH, sinusoidal_encoding

PLAIN_BACKBONES = ("gcn", "gat", "sage", "gat_sep")
"""The paper's layers, which stand here anew."""


class PlainLayer(MessagePassing):
    """One time-aware layer over an edge list: GCN, GraphSAGE, GAT or GAT-sep."""

    def __init__(self, backbone: str, in_width: int, out_width: int, num_classes: int, heads: int) -> None:
        super().__init__(aggr="mean" if backbone == "sage" else "add", node_dim=0)
        self.backbone, self.heads = backbone, heads
        self.features, self.labels = (
            nn.Linear(in_width, out_width, bias=False),
            nn.Linear(num_classes, out_width, bias=False),
        )
        self.gate = nn.Linear(TIME_WIDTH + num_classes, out_width)
        self.source, self.target = (nn.Parameter(torch.randn(heads, out_width // heads) * 0.1) for _ in range(2))
        self.update_rows = nn.Linear(2 * out_width, out_width)

    def forward(self, x: Tensor, labels: Tensor, time: Tensor, edges: dict[str, Tensor]) -> Tensor:
        """Fuse features and gated labels, `(N, d)`, and pass messages."""
        gamma = torch.sigmoid(self.gate(torch.cat([time.expand(len(x), -1), labels], dim=1)))
        fused = self.features(x) + gamma * self.labels(labels)
        if self.backbone == "gcn":
            return self.propagate(edges["looped"], x=fused, weight=edges["sym"])
        if self.backbone == "sage":
            return fused + self.propagate(edges["plain"], x=fused, weight=None)
        index = edges["looped"] if self.backbone == "gat" else edges["plain"]
        heads = fused.view(len(x), self.heads, -1)
        scores = [
            (heads * vector).sum(-1)[place] for vector, place in ((self.source, index[0]), (self.target, index[1]))
        ]
        alpha = softmax(F.leaky_relu(scores[0] + scores[1], 0.2), index[1], num_nodes=len(x))
        message = self.propagate(index, x=heads, weight=alpha[..., None]).flatten(1)
        return message if self.backbone == "gat" else self.update_rows(torch.cat([fused, message], dim=1))

    def message(self, x_j: Tensor, weight: Tensor | None) -> Tensor:
        """Weigh what an edge carries."""
        if weight is None:
            return x_j
        return (weight if weight.dim() == x_j.dim() else weight[:, None]) * x_j


class PlainDenoiser(nn.Module):
    """A denoiser of such layers; where the last is not as wide as the classes are many, a linear head follows."""

    def __init__(self, backbone: str, widths: list[int], num_classes: int, heads: int) -> None:
        super().__init__()
        pairs = itertools.pairwise(widths)
        self.layers = nn.ModuleList(PlainLayer(backbone, i, o, num_classes, heads) for i, o in pairs)
        self.time = nn.Sequential(nn.Linear(TIME_WIDTH, TIME_WIDTH), nn.ELU(), nn.Linear(TIME_WIDTH, TIME_WIDTH))
        self.head = nn.Linear(widths[-1], num_classes) if widths[-1] != num_classes else None
        self.num_classes = num_classes

    def forward(self, x: Tensor, labels: Tensor, t: int, steps: int, edges: dict[str, Tensor]) -> Tensor:
        """Return logits `(N, C)` of one label state `labels (N,)`."""
        one_hot = F.one_hot(labels.clamp_min(0), self.num_classes) * (labels != MASKED)[:, None].to(x.dtype)
        time = self.time(sinusoidal_encoding(torch.tensor([t]), steps).to(x.dtype))
        for k, layer in enumerate(self.layers):
            x = layer(x, one_hot, time, edges)
            if k + 1 < len(self.layers) or self.head is not None:
                x = F.dropout(F.relu(x), 0.5, self.training)
        return x if self.head is None else self.head(x)


def edge_lists(edge_index: Tensor, num_nodes: int) -> dict[str, Tensor]:
    """Return the edge list without and with self-loops, and GCN's weights of the latter."""
    looped, weight = gcn_norm(edge_index, None, num_nodes, add_self_loops=True)
    return {"plain": edge_index, "looped": looped, "sym": weight}


def plain_update(
    model: PlainDenoiser,
    optimiser: Any,
    x: Tensor,
    states: Tensor,
    t: Tensor,
    clean: Tensor,
    steps: int,
    edges: dict[str, Tensor],
) -> None:
    """One M-step update: a forward and a backward pass for every masked state."""
    model.train()
    optimiser.zero_grad()
    for state, step in zip(states, t.tolist(), strict=True):
        losses = F.cross_entropy(model(x, state, step, steps, edges), clean, reduction="none")
        (losses * (state == MASKED)).mean().backward()
    optimiser.step()


@torch.no_grad()
def plain_sample(
    model: PlainDenoiser, x: Tensor, rates: Tensor, known: Tensor, edges: dict[str, Tensor], generator: torch.Generator
) -> Tensor:
    """One labelled-first sample: a full pass for every step."""
    model.eval()
    labels = torch.full_like(known, MASKED)
    steps = len(rates) - 1
    for t in range(steps, 0, -1):
        masked = labels == MASKED
        budget = int((torch.rand(len(known), generator=generator)[masked] < rates[t]).sum())
        order = (torch.rand(len(known), generator=generator) + 2 * (known == MASKED) + 4 * ~masked).argsort()[:budget]
        logits = model(x, labels, t, steps, edges)
        drawn = torch.multinomial(logits.softmax(1), 1, generator=generator).squeeze(1)
        labels[order] = torch.where(known != MASKED, known, drawn)[order]
    return labels
