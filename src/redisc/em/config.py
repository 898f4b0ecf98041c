"""Settings of the variational EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from redisc.diffusion.objective import Objective
from redisc.diffusion.routing import get_routing
from redisc.errors import ConfigError
from redisc.nn import Pooling
from redisc.settings import check_kinds

Priority = Literal["validation", "train-cv", "none"]
ClassShares = Literal["labelled", "estimated"]


@dataclass(frozen=True)
class EMConfig:
    """How Algorithm 1 is run; the defaults are the estimator's own."""

    iterations: int = 3000  # M-step updates at the most
    masks: int = 8  # B, masked states an update
    batch_size: int = 0  # nodes an update; 0: all of them
    batches_of: Literal["nodes", "clusters"] = "nodes"  # what a mini-batch is put together from
    batches_per_draw: int = 8  # updates that one draw of masked states serves, in mini-batches
    antithetic: bool = True  # draw steps in pairs t, T+1-t
    objective: Objective = "unweighted"  # weights of the cross-entropy
    learning_rate: float = 0.01  # Adam
    weight_decay: float = 5e-3  # coupled, as in the paper
    e_step_every: int = 50  # updates between two E-steps
    e_step_samples: int = 3  # samples pushed by an E-step
    e_step_routing: str = "labelled-first"  # how an E-step routes
    e_step_temperature: float = 0.3  # of the denoiser's distribution in an E-step
    warm_iterations: int = 200  # updates before the first E-step
    queue_size: int = 100  # S
    queue_temperature: float = 0.1  # tau
    keep_draw: bool = False  # draw from the queue only after E-steps, as the authors' code does
    priority: Priority = "validation"  # what a cached sample's chance follows
    folds: int = 5  # of the training labels, for priority="train-cv"
    evaluate_every: int = 50  # updates between two looks at the validation metric
    patience: int = 20  # looks without a gain before stopping
    evaluation_temperature: float = 0.02  # of the chain that is evaluated
    routing: str = "labelled-first"  # of the chains that are evaluated and of those that answer
    mean_field_epochs: int = 500  # of the warm start at the most
    mean_field_patience: int = 100  # epochs without a gain before the warm start stops
    mean_field_learning_rate: float = 0.01  # Adam
    mean_field_weight_decay: float = 5e-4  # coupled
    mean_field_consistency: float = 0.0  # weight of the disagreement between views of dropout
    mean_field_views: int = 4  # passes with dropout an update, where they are to agree
    mean_field_members: int = 1  # networks of the warm start, whose mean probabilities count
    mean_field_generations: int = 1  # how often they are trained, each time from the answers of the time before
    mean_field_reader: float = 0.0  # weight of a reader of features in the warm start's answer; 0: none
    mean_field_reader_decay: float = 1e-4  # on its squared weights
    mean_field_temperature: float = 0.5  # of the samples that fill the queue
    anchor: float = 0.0  # share of the mean-field GNN's log-probabilities that the denoiser's logits start from
    hub_doubt: float = 0.0  # how fast GNNs lose weight as degrees grow, where a reader sits beside them
    class_shares: ClassShares = "labelled"  # of the unlabelled nodes: as among the labels, or estimated

    def __post_init__(self) -> None:
        check_kinds(self)
        for names, fits, bound in _BOUNDS:
            for name in names:
                if not fits(getattr(self, name)):
                    raise ConfigError(f"{name}={getattr(self, name)}: it must be {bound}")
        if self.objective not in get_args(Objective):
            raise ConfigError(f"unknown objective {self.objective!r}; choose one of {', '.join(get_args(Objective))}")
        get_routing(self.e_step_routing)
        get_routing(self.routing)
        if self.batches_of not in ("nodes", "clusters"):
            raise ConfigError(f"batches_of={self.batches_of!r}: choose nodes or clusters")
        if self.priority not in ("validation", "train-cv", "none"):
            raise ConfigError(f"unknown priority {self.priority!r}; choose validation, train-cv or none")
        if self.class_shares not in get_args(ClassShares):
            raise ConfigError(f"class_shares={self.class_shares!r}: choose labelled or estimated")
        if self.batch_size:
            self._check_whole_graph()
        if not self.mean_field_reader < 1:
            raise ConfigError(f"mean_field_reader={self.mean_field_reader}: it must be below 1")
        if not self.anchor <= 100:
            raise ConfigError(f"anchor={self.anchor}: it must be 100 or less")
        if self.anchor and self.priority == "train-cv":
            raise ConfigError('anchor and priority="train-cv" contradict each other: it knows the hidden labels')
        if self.folds < 2:
            raise ConfigError(f"folds={self.folds}: train-cv needs at least 2")

    @property
    def pooling(self) -> Pooling:
        """How the mean-field GNNs' answer and a reader's become one."""
        return Pooling(self.mean_field_reader, self.hub_doubt)

    def _check_whole_graph(self) -> None:
        """Refuse mini-batches beside what has to see all nodes in an update."""
        whole = {
            "mean_field_consistency": bool(self.mean_field_consistency),
            "mean_field_generations": self.mean_field_generations > 1,
            "mean_field_reader": bool(self.mean_field_reader),
        }
        for name, asked in whole.items():
            if asked:
                raise ConfigError(f"{name} needs the whole graph in an update: set batch_size to 0")


_BOUNDS: tuple[tuple[tuple[str, ...], Callable[[float], bool], str], ...] = (
    (
        ("iterations", "masks", "e_step_every", "e_step_samples", "queue_size", "evaluate_every", "batches_per_draw",
         "mean_field_views", "mean_field_members", "mean_field_generations"),
        lambda value: value >= 1,
        "at least 1",
    ),
    (
        ("queue_temperature", "mean_field_temperature", "learning_rate", "mean_field_learning_rate"),
        lambda value: value > 0,
        "above 0",
    ),
    (
        ("e_step_temperature", "evaluation_temperature", "warm_iterations", "batch_size", "weight_decay", "patience",
         "mean_field_epochs", "mean_field_patience", "mean_field_weight_decay", "mean_field_consistency",
         "mean_field_reader", "mean_field_reader_decay", "hub_doubt", "anchor"),
        lambda value: value >= 0,
        "0 or more",
    ),
)  # fmt: skip
