"""The reverse process: one loop for every path (Algorithm 2 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.diffusion.routing import Routing
from redisc.diffusion.schedule import Schedule
from redisc.errors import ConfigError
from redisc.kernels.counter_random import Stream, uniform
from redisc.kernels.draw import draw_labels


class Denoise(Protocol):
    """The denoiser as the sampler sees it."""

    def __call__(self, labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
        """Return logits `(R, C)` of the rows `(chain[r], node[r])`, given `labels (chains, N)` at step t.

        Rows are sorted by chain.
        """
        ...


@dataclass(frozen=True)
class Reveal:
    """What one step revealed from the denoiser: row r is node `node[r]` of the chain at place `chain[r]`."""

    t: int
    chain: Tensor
    node: Tensor
    logits: Tensor
    labels: Tensor


@dataclass(frozen=True)
class State:
    """Y(t) of several chains: `labels (chains, N)`, the chains' identities, and what the last step revealed.

    Labels are written in place from step to step; copy what is to be kept.
    """

    labels: Tensor
    chains: Tensor
    revealed: Reveal | None = None

    def keep(self, which: Tensor) -> State:
        """Return the chains that the boolean `which (chains,)` selects."""
        return State(self.labels[which], self.chains[which])


CHAINS_AT_ONCE = 8
"""How many chains an answer runs together: enough to share work, few enough to bound memory. It changes no sample."""

AfterStep = Callable[[State], State]
Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class ReverseProcess:
    """Samples node labels by revealing each node once, from all masked at T to none at 0.

    `known (N,)` holds observed labels, MASKED elsewhere: they stand in every sample. `labelled (N,)` tells whom
    labelled-first routing prefers; by default those with a known label. `temperature` divides the logits; 0 takes the
    most probable label.
    """

    denoise: Denoise
    schedule: Schedule
    routing: Routing
    known: Tensor
    seed: int
    temperature: float = 1.0
    labelled: Tensor | None = None
    watch: Watch | None = None  # is told how many of the T steps are done

    def __post_init__(self) -> None:
        alpha = self.schedule.alpha
        if alpha.dim() == 2 and alpha.shape[1] != len(self.known):
            raise ConfigError(f"the schedule is for {alpha.shape[1]} nodes, but there are {len(self.known)}")
        if not self.temperature >= 0:
            raise ConfigError(f"temperature={self.temperature}: it must be 0 or more")

    def run(self, chains: Tensor | int, after_step: AfterStep | None = None) -> Tensor:
        """Run Algorithm 2 for the given chains (a number, or their identities) and return labels `(chains, N)`.

        `after_step` sees the state after every step and may replace it: observers record, pruning drops chains.
        """
        identities = torch.arange(chains) if isinstance(chains, int) else chains
        identities = identities.to(self.known.device)
        labels = torch.full((len(identities), len(self.known)), MASKED, device=self.known.device)
        state, plan = State(labels, identities), self.plan(identities)
        for t in range(self.schedule.steps, 0, -1):
            state = self.step(state, t) if plan is None else self._planned_step(state, t, plan)
            if after_step is not None:
                chains_before = state.chains
                state = after_step(state)
                if plan is not None and state.chains is not chains_before:
                    plan = self.plan(state.chains)
            if self.watch is not None:
                self.watch(self.schedule.steps - t + 1, self.schedule.steps)
        return state.labels

    def plan(self, chains: Tensor) -> Plan | None:
        """Work out ahead when each node will be revealed; None where the routing has to ask the denoiser first."""
        if self.known.device.type != "cpu":
            return None
        revealed_at = self.routing.plan(self.seed, chains, self.schedule, self._labelled())
        return None if revealed_at is None else Plan(revealed_at, self.known, self.schedule.steps)

    def _planned_step(self, state: State, t: int, plan: Plan) -> State:
        """Do what `step` does where it is known ahead whom it chooses."""
        chain, node, place = plan.unknown(t)
        labels, revealed = state.labels.view(-1), None
        if len(node):
            logits = self.denoise(state.labels, t, chain, node)
            drawn = draw_labels(logits, self.temperature, self.seed, state.chains[chain], t, node)
            labels[place] = drawn
            revealed = Reveal(t, chain, node, logits, drawn)
        known_place, given = plan.known(t)
        if len(given):
            labels[known_place] = given
        return State(state.labels, state.chains, revealed)

    def step(self, state: State, t: int) -> State:
        """Go from Y(t) to Y(t-1) (Eqs. 10 and 11): route, ask the denoiser for the chosen rows, reveal."""
        masked = state.labels == MASKED
        labelled = self._labelled().expand(masked.shape)
        if not self.routing.needs_confidence:
            chain, node = self._chosen(state, t, masked, labelled, None)
            return self._reveal(state, t, chain, node)
        asked = masked & (self.known == MASKED)
        confidence = torch.ones(masked.shape, dtype=torch.float64, device=masked.device)
        logits = self.denoise(state.labels, t, *asked.nonzero(as_tuple=True)) if asked.any() else None
        if logits is not None:
            confidence[asked] = logits.double().softmax(1).amax(1)
        chain, node = self._chosen(state, t, masked, labelled, confidence)
        taken = torch.zeros_like(masked)
        taken[chain, node] = True
        return self._reveal(state, t, chain, node, None if logits is None else logits[taken[asked]])

    def _chosen(
        self, state: State, t: int, masked: Tensor, labelled: Tensor, confidence: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        chosen = self.routing(self._lateness(state, t), masked, labelled, confidence)
        chain, node = chosen.nonzero(as_tuple=True)
        return chain, node

    def _reveal(self, state: State, t: int, chain: Tensor, node: Tensor, logits: Tensor | None = None) -> State:
        """Write known labels and drawn ones into the chosen rows; all others stay as they are.

        `logits` are those of the chosen rows without a known label, where they have been asked for already.
        """
        given = self.known[node]
        unknown = given == MASKED
        chain_, node_ = chain[unknown], node[unknown]
        if len(node_) and logits is None:
            logits = self.denoise(state.labels, t, chain_, node_)
        revealed = None
        if len(node_) and logits is not None:
            drawn = draw_labels(logits, self.temperature, self.seed, state.chains[chain_], t, node_)
            revealed = Reveal(t, chain_, node_, logits, drawn)
            given = given.masked_scatter(unknown, drawn)
        state.labels[chain, node] = given
        return replace(state, revealed=revealed)

    def _lateness(self, state: State, t: int) -> Tensor:
        node = torch.arange(len(self.known), device=self.known.device)
        uniforms = uniform(self.seed, Stream.ROUTE, state.chains[:, None], t, node)
        return uniforms / self.schedule.reveal_rate(t).to(uniforms.device)

    def _labelled(self) -> Tensor:
        return self.known != MASKED if self.labelled is None else self.labelled


class Plan:
    """The rows of every step, sorted by step: those that the denoiser decides, and those whose labels are known."""

    def __init__(self, revealed_at: Tensor, known: Tensor, steps: int) -> None:
        flat, nodes = revealed_at.reshape(-1), revealed_at.shape[1]
        is_known = (known != MASKED).repeat(len(revealed_at))
        self._place, self._bounds = _by_step(flat, ~is_known, steps)
        self._chain, self._node = self._place // nodes, self._place % nodes
        self._known_place, self._known_bounds = _by_step(flat, is_known, steps)
        self._given = known[self._known_place % nodes]

    def unknown(self, t: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return chain, node and flat place of the rows that the denoiser decides at step t."""
        here = slice(self._bounds[t], self._bounds[t + 1])
        return self._chain[here], self._node[here], self._place[here]

    def known(self, t: int) -> tuple[Tensor, Tensor]:
        """Return flat place and label of the known rows that step t reveals."""
        here = slice(self._known_bounds[t], self._known_bounds[t + 1])
        return self._known_place[here], self._given[here]


def _by_step(revealed_at: Tensor, which: Tensor, steps: int) -> tuple[Tensor, list[int]]:
    """Return the places of `which`, sorted by step, and where each step begins."""
    places = which.nonzero().squeeze(1)
    at = revealed_at[places]
    order = at.argsort(stable=True)
    return places[order], [0, *torch.bincount(at, minlength=steps + 1).cumsum(0).tolist()]
