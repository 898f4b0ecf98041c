"""The label trick: known labels as input features (Wang et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson
from redisc.baselines.partition import partition
from redisc.baselines.stacked import StackedBaseline
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture
from redisc.nn.affine import Affine
from redisc.nn.stack import ConvStack
from redisc.settings import check_share
from redisc.training import Trained


class LabelledStack(nn.Module):
    """A GNN whose first layer sees X || Y: `X W + Y V`, with V looked up by label and zero where there is none.

    A residual connection, where there is one, sees X alone.
    """

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.stack = ConvStack(architecture, num_features, num_classes)
        self.labels = Affine(num_classes, self.stack.layers[0].conv.width, bias=False)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None, known: Tensor) -> Tensor:
        """Return logits `(N, C)`, given labels `known (N,)` with MASKED elsewhere."""
        table = F.pad(self.labels.weight, (0, 0, 0, 1)).unsqueeze(0)
        blocks = [engine.block(engine.topology, known.unsqueeze(0))] * len(self.stack.layers)
        tables = [table, *[None] * (len(blocks) - 1)]
        return self.stack(blocks, self.stack.project(engine.features, dropout), tables, dropout=dropout).squeeze(1)


@dataclass(eq=False, repr=False, kw_only=True)
class LabelTrick(StackedBaseline):
    """The label trick: g(X || Y_in, A) learns to complete labels, the ReDiSC paper's "GNN+LP" hybrid.

    At each epoch every training label is input with probability λ (Y_in), and the loss is the cross-entropy of the
    other training labels (V_out): Eq. 3 of the ReDiSC paper. An answer has all known labels as input.

    Args:
        backbone: "gcn", "gat", "sage", "gat_sep" or "appnp".
        heads: Attention heads, of backbones that have them.
        label_rate: λ, the probability that a training label is input.
    """

    name = "label_trick"
    title = "Label trick"
    citation = "Wang et al., 2021: Bag of Tricks for Node Classification with Graph Neural Networks"
    family = "propagation"
    cost = "O(N d^2 + E d) an epoch"

    backbone: str = "gcn"
    heads: int = 8
    label_rate: float = 0.5

    def check(self) -> None:
        """Refuse a rate that is no share."""
        super().check()
        check_share("label_rate", self.label_rate)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the GNN over features and labels."""
        return LabelledStack(self.architecture(), num_features, num_classes)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Minimise the cross-entropy of labels that are not input, drawn anew each epoch."""
        generator, known = lesson.generator("label trick"), lesson.problem.known

        def loss() -> Tensor:
            given, asked = partition(known, self.label_rate, generator)
            return F.cross_entropy(network(lesson.engine, lesson.dropout, given)[asked], known[asked])

        return self.minimise(network, lesson, loss)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Complete the known labels."""
        return torch.softmax(network(engine, None, known), dim=1)
