"""Collective learning (Hang, Neville & Ribeiro, 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.partition import partition
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine
from redisc.kernels.draw import draw_labels
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture
from redisc.nn.affine import Affine
from redisc.nn.stack import ConvStack
from redisc.settings import check_count, check_share
from redisc.training import Trained, train


class LabelledGNN(nn.Module):
    """A GNN on features beside one-hot labels, whose logits are averaged over label states.

    A label that is not there is a zero vector. The labels' share of the first product is a table look-up.
    """

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.stack = ConvStack(architecture, num_features, num_classes)
        self.labels = Affine(num_classes, self.stack.layers[0].conv.width, bias=False)

    def forward(self, engine: FullGraphEngine, labels: Tensor, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`, the mean over the label states `labels (S, N)`."""
        depth = len(self.stack.layers)
        table = F.pad(self.labels.weight, (0, 0, 0, 1))[None]
        blocks = [engine.block(engine.topology, labels)] * depth
        projected = self.stack.project(engine.features, dropout)
        return self.stack(blocks, projected, [table] + [None] * (depth - 1), dropout=dropout).mean(1)


class CollectiveNetwork(nn.Module):
    """One GNN a round of collective inference; `rounds` tells how many of them answer."""

    rounds: Tensor

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int, rounds: int) -> None:
        super().__init__()
        self.stages = nn.ModuleList(LabelledGNN(architecture, num_features, num_classes) for _ in range(rounds + 1))
        self.register_buffer("rounds", torch.zeros((), dtype=torch.int64))


def sample(probabilities: Tensor, known: Tensor, count: int, seed: int, number: int) -> Tensor:
    """Draw label states `(count, N)` from a round's `probabilities (N, C)`; known labels stand."""
    nodes, classes = probabilities.shape
    logits = probabilities.log().expand(count, nodes, classes).reshape(-1, classes)
    chain, node = (index.flatten() for index in torch.cartesian_prod(torch.arange(count), torch.arange(nodes)).T)
    drawn = draw_labels(logits, 1.0, seed, chain.to(known.device), number, node.to(known.device)).view(count, nodes)
    return torch.where(known == MASKED, drawn, known)


@dataclass(eq=False, repr=False, kw_only=True)
class CLGNN(NeuralBaseline):
    """Collective learning: a GNN whose inputs are features, some true labels and labels drawn from its predictions.

    In round 0 labels that are not given are absent. In round t they are drawn S times from round t-1's predictions,
    and logits are averaged over the draws, a Monte Carlo estimate of E[GNN(X, Ŷ)] under Ŷ ~ p^(t-1) (Section 3 of its
    paper). In training every update gives a random part of the known labels and asks for the others, whose labels
    enter no round's input. The round that validates best answers.

    Args:
        backbone: Of the GNN: "gcn", "gat", "sage", "gat_sep" or "appnp".
        rounds: Of collective inference after round 0.
        samples: S, draws a round while training; `predict_proba` takes `n_samples` of them.
        given: The share of the known labels that an update gives.
    """

    name = "clgnn"
    title = "CL-GNN"
    citation = "Hang, Neville & Ribeiro, 2021: A Collective Learning Framework to Boost GNN Expressiveness"
    family = "structured"
    cost = "O(S (N d^2 + E d)) an epoch with S samples"

    backbone: str = "gcn"
    rounds: int = 2
    samples: int = 8
    given: float = 0.3

    def architecture(self) -> Architecture:
        """Return the shape of the GNN."""
        shape = (self.backbone, self.hidden, self.layers)
        return Architecture(*shape, dropout=self.dropout, input_dropout=self.input_dropout)

    def check(self) -> None:
        """Leave the shape's checks to `Architecture`."""
        super().check()
        self.architecture()
        check_count("rounds", self.rounds)
        check_count("samples", self.samples)
        check_share("given", self.given)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build one GNN a round."""
        return CollectiveNetwork(self.architecture(), num_features, num_classes, self.rounds)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Train the rounds one after the other, each from the weights of the one before."""
        assert isinstance(network, CollectiveNetwork)
        best, epochs = -float("inf"), 0
        for number, stage in enumerate(network.stages):
            if number > 0:
                stage.load_state_dict(network.stages[number - 1].state_dict())
            trained = self._train_stage(network, number, lesson)
            epochs += trained.epochs
            if trained.validation >= best:
                best = trained.validation
                network.rounds.fill_(number)
            if lesson.clock.is_over():
                break
        return Trained(best, epochs)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Run the rounds with `n_samples` draws each; the draws are a function of the question alone."""
        assert isinstance(network, CollectiveNetwork)
        number = int(network.rounds)
        inputs = self.inputs(network, number, engine, known, n_samples)
        return network.stages[number](engine, inputs, None).softmax(1)

    def decide(self, network: nn.Module, engine: FullGraphEngine, known: Tensor) -> Tensor:
        """Return the most probable labels, with as many draws as in training."""
        return self.infer(network, engine, known, self.samples).argmax(1)

    @torch.no_grad()
    def inputs(
        self, network: CollectiveNetwork, number: int, engine: FullGraphEngine, known: Tensor, count: int, seed: int = 0
    ) -> Tensor:
        """Return the label states `(S, N)` that a round reads, by running the rounds before it."""
        labels = known[None]
        for k, stage in enumerate(network.stages[:number]):
            labels = sample(stage(engine, labels, None).softmax(1), known, count, seed, k)
        return labels

    def _train_stage(self, network: CollectiveNetwork, number: int, lesson: Lesson) -> Trained:
        stage, engine, known = network.stages[number], lesson.engine, lesson.problem.known
        generator = lesson.generator(f"round {number}")
        certain = self.inputs(network, number, engine, known, self.samples)

        def loss() -> Tensor:
            shown, asked = partition(known, self.given, generator)
            seed = int(generator.integers(2**62))
            states = self.inputs(network, number, engine, shown, self.samples, seed)
            return F.cross_entropy(stage(engine, states, lesson.dropout)[asked], known[asked])

        def validate() -> float:
            return lesson.validate(stage(engine, certain, None).softmax(1))

        return train(stage, loss, validate, self.pace, lesson.clock, f"round {number}")
