"""The warm start by one mean-field GNN or a committee: members are trained one after the other and answer together."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from redisc.clock import Clock, Turn
from redisc.em.config import EMConfig
from redisc.em.generations import handed_down
from redisc.em.keeper import Keeper
from redisc.em.teaching import teach_reader
from redisc.em.warm_start import MEAN_FIELD, MeanFieldTraining, WarmStart, ask_mean_field
from redisc.engine import Engine
from redisc.kernels.dropout import Dropout
from redisc.nn import Committee, MeanField, members_of
from redisc.problem import Problem
from redisc.seeds import derive_seed, numpy_generator, torch_generator
from redisc.state import State, restore_network, weights_state

_SHARE_OF_TIME = 0.5
"""How much of `max_time` may be spent when another turn begins: the denoiser needs the rest."""


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
    """A committee under way: members have their turns one after the other, once in each generation."""

    def __init__(
        self, model: MeanField | Committee, engine: Engine, problem: Problem, config: EMConfig, seed: int
    ) -> None:
        self.model, self._members = model, members_of(model)
        self._shared, self._seed = (engine, problem, config), seed
        self._turns = len(self._members) * config.mean_field_generations
        self.epochs = 0  # of the turns that are over
        self._taught: Tensor | None = None  # by the generation before
        self._begin(0)

    def run(self, clock: Clock, keeper: Keeper | None = None) -> None:
        """Train the members from where the committee stands; no further turn begins when half of the time is over.

        Members that had no turn at all have no voice; those of an earlier generation keep theirs.
        """
        keep = None if keeper is None else self._kept_by(keeper, clock)
        self.epochs += self._training.run(Turn(clock, self._turn, self._turns), keep)
        while self._turn + 1 < self._turns and not clock.is_past(_SHARE_OF_TIME):
            self._go_on()
            self.epochs += self._training.run(Turn(clock, self._turn, self._turns), keep)
        self._silence_others()

    def resume(self, clock: Clock, keeper: Keeper) -> None:
        """Take over a state of the warm start, where there is one."""
        with keeper.reading():
            state = keeper.found(MEAN_FIELD, clock)
            if state is None:
                return
            restore_network(self.model, state.part("members"))
            self._taught = self._on_device(state.tensors.get("taught"))
            self._begin(state.figures["turn"])
            self.epochs = state.figures["epochs"]
            self._training.restore(state.part("under way"))

    def state(self) -> State:
        """Return the members' weights, how far they are, what they were taught, and the training under way."""
        taught = {} if self._taught is None else {"taught": self._taught}
        reached = State({"turn": self._turn, "epochs": self.epochs}, taught)
        return reached.joined(
            **{"members": weights_state(self.model.state_dict()), "under way": self._training.state()}
        )

    def _on_device(self, tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else tensor.to(self._shared[1].known.device)

    def _go_on(self) -> None:
        """Begin the next turn; the first of a generation takes over what the last one answers."""
        if (self._turn + 1) % len(self._members) == 0:
            engine, problem, config = self._shared
            lesson = (engine.answers(self.model), problem.known, config.mean_field_reader_decay)
            self._taught = handed_down(teach_reader(self.model, engine, *lesson), problem.known)
        self._begin(self._turn + 1)

    def _begin(self, turn: int) -> None:
        """Begin a turn; the first has the random numbers that one member alone has."""
        words, self._turn = _words_of(turn), turn
        member = self._draw_weights(turn)
        dropout = Dropout(numpy_generator(self._seed, "mean-field dropout", *words))
        batches = derive_seed(self._seed, "mean-field batches", *words)
        self._training = MeanFieldTraining(member, *self._shared, dropout, batches, self._taught)

    def _draw_weights(self, turn: int) -> MeanField:
        member = self._members[turn % len(self._members)]
        member.reset_parameters(torch_generator(self._seed, "mean-field", *_words_of(turn)))
        return member

    def _silence_others(self) -> None:
        """Take the voice from members that had no turn; their weights are drawn, so that all bits are known."""
        for number in range(self._turn + 1, len(self._members)):
            assert isinstance(self.model, Committee)
            self._draw_weights(number)
            self.model.voices[number] = False

    def _kept_by(self, keeper: Keeper, clock: Clock) -> Callable[[], None]:
        """Return what is to be called after every epoch."""

        def keep() -> None:
            if keeper.is_due():
                keeper.save(MEAN_FIELD, clock, self.state())

        return keep


def _words_of(turn: int) -> tuple[int, ...]:
    """Return what tells a turn's random numbers apart; the first has those that one member alone has."""
    return (turn,) if turn else ()
