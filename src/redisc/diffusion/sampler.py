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


class Denoise(Protocol):
    """The denoiser as the sampler sees it."""

    def __call__(self, labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
        """Return logits `(R, C)` of the rows `(chain[r], node[r])`, given `labels (chains, N)` at step t."""
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
    """Y(t) of several chains: `labels (chains, N)`, the chains' identities, and what the last step revealed."""

    labels: Tensor
    chains: Tensor
    revealed: Reveal | None = None

    def keep(self, which: Tensor) -> State:
        """Return the chains that the boolean `which (chains,)` selects."""
        return State(self.labels[which], self.chains[which])


AfterStep = Callable[[State], State]


@dataclass(frozen=True)
class ReverseProcess:
    """Samples node labels by revealing each node once, from all masked at T to none at 0.

    `known (N,)` holds observed labels, MASKED elsewhere: they stand in every sample. `labelled (N,)` tells whom
    labelled-first routing prefers; by default those with a known label. `temperature` divides the logits; 0 takes
    the most probable label.
    """

    denoise: Denoise
    schedule: Schedule
    routing: Routing
    known: Tensor
    seed: int
    temperature: float = 1.0
    labelled: Tensor | None = None

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ConfigError(f"temperature={self.temperature}: it must be 0 or more")
        if self.labelled is None:
            object.__setattr__(self, "labelled", self.known != MASKED)

    def run(self, chains: Tensor | int, after_step: AfterStep | None = None) -> Tensor:
        """Run Algorithm 2 for the given chains (a number, or their identities) and return labels `(chains, N)`.

        `after_step` sees the state after every step and may replace it: observers record, pruning drops chains.
        """
        identities = torch.arange(chains) if isinstance(chains, int) else chains
        identities = identities.to(self.known.device)
        labels = torch.full((len(identities), len(self.known)), MASKED, device=self.known.device)
        state = State(labels, identities)
        for t in range(self.schedule.steps, 0, -1):
            state = self.step(state, t)
            state = after_step(state) if after_step is not None else state
        return state.labels

    def step(self, state: State, t: int) -> State:
        """Go from Y(t) to Y(t-1) (Eqs. 10 and 11): route, ask the denoiser for the chosen rows, reveal."""
        masked = state.labels == MASKED
        if self.routing.needs_confidence:
            return self._confident_step(state, masked, t)
        chosen = self.routing(self._lateness(state, t), masked, self._labelled_rows(masked), None)
        chain, node = self._unknown(chosen)
        logits = self.denoise(state.labels, t, chain, node) if len(node) else None
        return self._reveal(state, t, chosen, chain, node, logits)

    def _confident_step(self, state: State, masked: Tensor, t: int) -> State:
        """A step whose routing looks at every masked node's confidence before it chooses."""
        chain, node = self._unknown(masked)
        confidence = torch.ones(masked.shape, dtype=torch.float64, device=masked.device)
        logits = None
        if len(node):
            logits = self.denoise(state.labels, t, chain, node)
            confidence[chain, node] = logits.double().softmax(1).amax(1)
        chosen = self.routing(self._lateness(state, t), masked, self._labelled_rows(masked), confidence)
        taken = chosen[chain, node]
        return self._reveal(state, t, chosen, chain[taken], node[taken], None if logits is None else logits[taken])

    def _reveal(
        self, state: State, t: int, chosen: Tensor, chain: Tensor, node: Tensor, logits: Tensor | None
    ) -> State:
        """Write known labels and drawn ones into the chosen places; all others stay as they are."""
        labels = torch.where(chosen & (self.known != MASKED), self.known, state.labels)
        if logits is None or not len(node):
            return replace(state, labels=labels, revealed=None)
        drawn = self._draw(logits, state.chains[chain], node, t)
        labels[chain, node] = drawn
        return replace(state, labels=labels, revealed=Reveal(t, chain, node, logits, drawn))

    def _draw(self, logits: Tensor, chain: Tensor, node: Tensor, t: int) -> Tensor:
        """Draw labels from softmax(logits / temperature) by inverting its distribution function."""
        if self.temperature == 0:
            return logits.argmax(1)
        cumulative = (logits.double() / self.temperature).softmax(1).cumsum(1)
        uniforms = uniform(self.seed, Stream.LABEL, chain, t, node) * cumulative[:, -1]
        return (cumulative <= uniforms[:, None]).sum(1).clamp_max(logits.shape[1] - 1)

    def _lateness(self, state: State, t: int) -> Tensor:
        node = torch.arange(len(self.known), device=self.known.device)
        uniforms = uniform(self.seed, Stream.ROUTE, state.chains[:, None], t, node)
        return uniforms / self.schedule.reveal_rate(t).to(uniforms.device)

    def _labelled_rows(self, masked: Tensor) -> Tensor:
        assert self.labelled is not None
        return self.labelled.expand(masked.shape)

    def _unknown(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        chain, node = (chosen & (self.known == MASKED)).nonzero(as_tuple=True)
        return chain, node
