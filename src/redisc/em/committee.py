"""The warm start by one mean-field GNN or a committee: members are trained one after the other and answer together."""

from __future__ import annotations

from collections.abc import Callable

from redisc.clock import Clock, Turn
from redisc.em.config import EMConfig
from redisc.em.keeper import Keeper
from redisc.em.warm_start import MEAN_FIELD, MeanFieldTraining, WarmStart, ask_mean_field
from redisc.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import Committee, MeanField, members_of
from redisc.problem import Problem
from redisc.seeds import derive_seed, numpy_generator, torch_generator
from redisc.state import State, restore_network, weights_state

_SHARE_OF_TIME = 0.5
"""How much of `max_time` members may have spent when another one begins: the denoiser needs the rest."""


def train_committee(
    model: MeanField | Committee,
    engine: Engine,
    problem: Problem,
    config: EMConfig,
    seed: int,
    clock: Clock,
    keeper: Keeper | None = None,
) -> WarmStart:
    """Train every member in place and return what they answer together.

    A `keeper` is given the state now and then, and the training goes on from the one that it found.
    """
    training = CommitteeTraining(model, engine, problem, config, seed)
    if keeper is not None:
        training.resume(clock, keeper)
    training.run(clock, keeper)
    return ask_mean_field(model, engine, problem, config, training.epochs)


class CommitteeTraining:
    """A committee under way: how many members are done, and the training of the next."""

    def __init__(
        self, model: MeanField | Committee, engine: Engine, problem: Problem, config: EMConfig, seed: int
    ) -> None:
        self.model, self._members = model, members_of(model)
        self._shared, self._seed = (engine, problem, config), seed
        self.epochs = 0  # of the members that are done
        self._begin(0)

    def run(self, clock: Clock, keeper: Keeper | None = None) -> None:
        """Train the members from where the committee stands; no further one begins when half of the time is over.

        Those whose turn does not come have no voice.
        """
        keep = None if keeper is None else self._kept_by(keeper, clock)
        count = len(self._members)
        self.epochs += self._training.run(Turn(clock, self._number, count), keep)
        while self._number + 1 < count and not clock.is_past(_SHARE_OF_TIME):
            self._begin(self._number + 1)
            self.epochs += self._training.run(Turn(clock, self._number, count), keep)
        self._silence_others()

    def resume(self, clock: Clock, keeper: Keeper) -> None:
        """Take over a state of the warm start, where there is one."""
        with keeper.reading():
            state = keeper.found(MEAN_FIELD, clock)
            if state is None:
                return
            restore_network(self.model, state.part("members"))
            self._begin(state.figures["member"])
            self.epochs = state.figures["epochs"]
            self._training.restore(state.part("under way"))

    def state(self) -> State:
        """Return the members' weights, how far they are, and the training under way."""
        reached = State({"member": self._number, "epochs": self.epochs})
        return reached.joined(
            **{"members": weights_state(self.model.state_dict()), "under way": self._training.state()}
        )

    def _begin(self, number: int) -> None:
        """Begin with a member; the first has the random numbers that one alone has."""
        words = _words_of(number)
        member, self._number = self._members[number], number
        self._draw_weights(number)
        dropout = Dropout(numpy_generator(self._seed, "mean-field dropout", *words))
        batches = derive_seed(self._seed, "mean-field batches", *words)
        self._training = MeanFieldTraining(member, *self._shared, dropout, batches)

    def _draw_weights(self, number: int) -> None:
        self._members[number].reset_parameters(torch_generator(self._seed, "mean-field", *_words_of(number)))

    def _silence_others(self) -> None:
        """Take the voice from members whose turn did not come; their weights are drawn, so that all bits are known."""
        for number in range(self._number + 1, len(self._members)):
            assert isinstance(self.model, Committee)
            self._draw_weights(number)
            self.model.voices[number] = False

    def _kept_by(self, keeper: Keeper, clock: Clock) -> Callable[[], None]:
        """Return what is to be called after every epoch."""

        def keep() -> None:
            if keeper.is_due():
                keeper.save(MEAN_FIELD, clock, self.state())

        return keep


def _words_of(number: int) -> tuple[int, ...]:
    """Return what tells a member's random numbers apart; the first has those that one alone has."""
    return (number,) if number else ()
