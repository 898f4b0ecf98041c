"""Joint probabilities of a few nodes, from chains: what pairs and neighbourhoods are together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion import CHAINS_AT_ONCE, MASKED, ReverseProcess, State
from redisc.errors import MaskError
from redisc.task import place_of


@dataclass(frozen=True)
class JointTable:
    """The assignments that `nodes (K,)` may have together, the most probable first.

    `assignments (M, K)` holds class values, `probabilities (M,)` sum to 1. Assignments that no chain came near are left
    out: their probability is estimated as 0.
    """

    nodes: np.ndarray
    classes: np.ndarray
    assignments: np.ndarray
    probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.assignments)

    def probability(self, assignment: object) -> float:
        """Return the probability of one assignment `(K,)`."""
        same = (self.assignments == np.asarray(assignment)).all(axis=1)
        return float(self.probabilities[same].sum())

    def marginal(self, node: int) -> np.ndarray:
        """Return the probabilities `(C,)` of one of the nodes."""
        column = self.assignments[:, place_of(node, self.nodes)]
        return np.array([self.probabilities[column == c].sum() for c in self.classes])

    def matrix(self) -> np.ndarray:
        """Return the table of a pair as `(C, C)`: rows for the first node, columns for the second."""
        if len(self.nodes) != 2:
            raise MaskError(f"a matrix needs a pair of nodes, not {len(self.nodes)}")
        return np.array([[self.probability((a, b)) for b in self.classes] for a in self.classes])


class _LastReveal:
    """Observer that keeps, for each chain, which of some nodes came last and the denoiser's probabilities of it."""

    def __init__(self, nodes: Tensor, num_nodes: int, num_classes: int, chains: int) -> None:
        self._place = torch.full((num_nodes,), -1, device=nodes.device)
        self._place[nodes] = torch.arange(len(nodes), device=nodes.device)
        self.last = torch.full((chains,), -1, device=nodes.device)
        self.probabilities = torch.zeros(chains, num_classes, dtype=torch.float64, device=nodes.device)

    def __call__(self, state: State) -> State:
        """Look for the nodes among those that the last step revealed."""
        revealed = state.revealed
        if revealed is not None:
            rows = (self._place[revealed.node] >= 0).nonzero().squeeze(1)
            chain = revealed.chain[rows]
            rows = rows[torch.diff(chain, append=chain.new_full((1,), -1)) != 0]  # one a chain: rows are sorted by it
            self.last[revealed.chain[rows]] = self._place[revealed.node[rows]]
            self.probabilities[revealed.chain[rows]] = revealed.logits[rows].double().softmax(1)
        return state


def joint_table(process: ReverseProcess, nodes: np.ndarray, classes: np.ndarray, chains: int) -> JointTable:
    """Run chains and tabulate what `nodes` are together.

    A chain counts not only for what it drew: of the node that came last it tells the probabilities of all labels, given
    the others. That is unbiased and has less variance than counting draws.
    """
    totals: dict[tuple[int, ...], float] = {}
    where = torch.from_numpy(nodes).to(process.known.device)
    for group in torch.arange(chains).split(CHAINS_AT_ONCE):
        observer = _LastReveal(where, len(process.known), len(classes), len(group))
        drawn = process.run(group, observer)[:, where].tolist()
        for row, last, shares in zip(drawn, observer.last.tolist(), observer.probabilities.tolist(), strict=True):
            for assignment, share in _variants(row, last, shares):
                totals[assignment] = totals.get(assignment, 0.0) + share / chains
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    assignments = np.array([key for key, _ in ranked], dtype=np.int64).reshape(len(ranked), len(nodes))
    return JointTable(nodes, classes, classes[assignments], np.array([share for _, share in ranked]))


def _variants(row: list[int], last: int, shares: list[float]) -> list[tuple[tuple[int, ...], float]]:
    """Return what one chain says: its own labels, with the last of them free; all as drawn where all are known."""
    if last == MASKED:
        return [(tuple(row), 1.0)]
    return [(tuple(c if k == last else label for k, label in enumerate(row)), p) for c, p in enumerate(shares)]
