"""ReDiSC, the object that users hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import torch

from redisc.answers import JointAnswers
from redisc.classifier import saved_settings
from redisc.clock import Clock
from redisc.diffusion import Schedule, get_schedule
from redisc.em import EMConfig, Keeper, Trainer
from redisc.engine import Engine, FeatureScaling, Scale, memory_kept, threads_for
from redisc.errors import CheckpointError, ConfigError
from redisc.identity import identify
from redisc.io.checkpoint import load_checkpoint, save_checkpoint
from redisc.io.scratch import allocator
from redisc.model import Blueprint, JointModel
from redisc.nn import Architecture, ModuleMaker, Pooling, check_gate
from redisc.origin import Origin
from redisc.progress import ProgressBar
from redisc.recipes import WISHES, recipe_settings, yielding
from redisc.seeds import SeedLike, resolve_seed
from redisc.settings import check_kind
from redisc.task import Task, make_task
from redisc.world import world

Settings = TypeVar("Settings", Architecture, EMConfig)


class ReDiSC(JointAnswers):
    """Completes the labels of a partially labelled graph jointly, by masked diffusion.

    A mean-field GNN warms up a queue of label samples; then a denoiser is trained on them (M-step) and replaces
    them by its own (E-step). Predictions are samples of the joint distribution that keep the known labels.

    Args:
        backbone: "gcn", "gat", "sage", "gat_sep", "appnp" (the predictions of a row-wise network, spread in `layers`
            steps that return to them by `initial_residual`, which wants to be above 0), "hops" (features of `layers`
            hops computed ahead, for large graphs), or a function `make(in_width, out_width)` that builds a PyG module.
        hidden: Width of the hidden layers.
        layers: K, the number of graph convolutions.
        heads: Attention heads (GAT, GAT-sep); they share `hidden`.
        dropout: Dropout on hidden rows.
        input_dropout: Dropout on raw features.
        residual: Add a linear map of each layer's input to its output; not in APPNP.
        initial_residual: GCNII's share of the first embedding in every layer, APPNP's of the first predictions; 0
            leaves it out.
        normalisation: Row-wise normalisation after hidden layers: "none", "layer", "rms" or "l2"; not in APPNP.
        head_layers: Row-wise layers after the convolutions; with APPNP, further ones ahead of them.
        self_loop: Weight of self-loops in GCN and APPNP.
        time_aware: Gate the labels of every layer by time; False gives the paper's vanilla layers.
        gate: "vector" (the paper's), "scalar" or "added"; see `redisc.nn.TimeGate`.
        feature_scaling: "none", "row", "binary" or "standard".
        steps: T, the number of diffusion steps.
        schedule: "cosine", "authors-cosine", "linear", a function on [0, 1], or a `Schedule`.
        iterations: M-step updates at the most.
        masks: B, masked label states an update.
        batch_size: Nodes an update, for the mean-field GNN and the denoiser; 0 takes the whole graph.
        batches_of: "nodes", or "clusters" of neighbours, which read fewer rows a batch.
        fanout: Neighbours that a mini-batch samples for each node and layer; 0 takes all. Hops have no need of it.
        inference_fanout: Neighbours that chains sample for each node and layer, in E-steps, looks and answers, where
            mini-batches are asked for; 0 takes all, which is exact.
        batches_per_draw: Updates that one draw of masked states serves, in mini-batches.
        antithetic: Draw steps in pairs t, T+1-t.
        objective: "paper", "unweighted", "authors" or "labelled"; see `redisc.diffusion.node_weights`.
        learning_rate: Adam's, for the denoiser.
        weight_decay: Adam's coupled decay, for the denoiser.
        e_step_every: Updates between two E-steps.
        e_step_samples: Samples that an E-step pushes into the queue.
        e_step_routing: "labelled-first", "uniform" or "confident-first".
        e_step_temperature: Of the labels drawn in E-steps.
        warm_iterations: Updates before the first E-step.
        queue_size: S, samples kept.
        queue_temperature: tau, of the queue's priorities.
        keep_draw: Draw from the queue only after E-steps, as the authors' code does.
        priority: "validation" (the paper's: uses validation labels beyond selection), "train-cv" or "none".
        folds: Of the training labels, for "train-cv".
        evaluate_every: Updates between two looks at the validation metric.
        patience: Looks without a gain before the fit stops.
        evaluation_temperature: Of the chain that is validated and that `predict` returns.
        routing: Of the chains that are validated and of those that answer: "labelled-first" (the paper's inference),
            "uniform" or "confident-first".
        mean_field_epochs: Epochs of the warm start at the most.
        mean_field_patience: Epochs without a gain before the warm start stops.
        mean_field_learning_rate: Adam's, for the mean-field GNN.
        mean_field_weight_decay: Adam's coupled decay, for the mean-field GNN.
        mean_field_architecture: What the mean-field GNN has otherwise than the denoiser: a mapping from fields of
            `redisc.nn.Architecture` to values, such as {"backbone": "gcn", "layers": 4}, or several of them in a list,
            which members take in turn, as far as there are members. None: both are alike, unless a recipe has it
            otherwise; {} makes them alike in any case.
        mean_field_consistency: Weight of the disagreement between several passes with dropout in the warm start's loss,
            for graphs with few labels (after GRAND); 0 leaves it out.
        mean_field_views: How many such passes an update takes.
        mean_field_members: Mean-field GNNs that are trained one after the other; the mean of their probabilities is the
            warm start, and `history_["mean_field_epochs"]` counts the epochs of all.
        mean_field_generations: How often they are trained: from the second time on they begin anew, and learn on the
            nodes without a label what the generation before them answers. For graphs with few labels; it costs as many
            trainings, and needs `batch_size=0`.
        mean_field_reader: Weight, below 1, of a reader of features in the warm start's answer: softmax regression on
            each node's own features, blind to neighbours, which learns on all nodes what the mean-field GNNs answer.
            For graphs with hubs that are not what their neighbours are; it goes with an `anchor`, without which only
            the first samples hear it. 0 leaves it out; needs `batch_size=0`.
        mean_field_reader_decay: On the reader's squared weights, beside the mean cross-entropy.
        mean_field_temperature: Of the samples that first fill the queue.
        anchor: Share of the mean-field GNN's log-probabilities that the denoiser's logits start from, so that it learns
            what labels change in that answer; for graphs where it would lose some of what the warm start knows. 0
            leaves it out; with 1 / `mean_field_temperature` the answers hardly move away from the warm start's.
        hub_doubt: How fast GNNs lose weight as a node's number of neighbours d grows, where a reader of features sits
            beside them: (1 + d / mean) to the power of minus this times the networks' weight in the warm start's
            answer, the rest being the reader's, and times the logits of a denoiser with an anchor. For graphs whose
            hubs are not what their neighbours are; 0 hears GNNs alike at all nodes.
        class_shares: How common classes are among unlabelled nodes: "labelled" takes them to be as among the labels;
            "estimated" asks the mean-field GNN's answers and shifts both networks' logits, for higher accuracy where
            labels were drawn class by class from uneven classes.
        metric: "accuracy", "balanced_accuracy" or "roc_auc", for stopping and priority.
        class_weight: None, "balanced", or a mapping from class to weight.
        clamp: Labels that predictions are conditioned on: "train" or "train+val".
        dtype: "float32" or "float64".
        scratch: A folder for arrays that need not fit into memory: hops of features, cached samples. None keeps them
            in memory.
        device: A torch device.
        recipe: Settings to start from: "default", "paper", "authors", one of `redisc.recipes.recipe_names()`, or a file
            that `redisc tune` wrote. A recipe replaces the settings that are left at their defaults.
        random_state: An integer makes the fit reproducible to the bit.
        verbose: Show a progress bar and, at the end, what joint modelling gained.

    Attributes:
        classes_: Class values; the columns of `predict_proba`.
        known_: Labels `(N,)` that predictions are conditioned on, -1 elsewhere.
        history_: Curves and timings of the fit.
        graph_, train_mask_, val_mask_: The graph that was fitted and the masks that were used (absent after `load`).
    """

    name = "redisc"
    title = "ReDiSC"
    citation = "Li et al., 2025: ReDiSC"
    family = "diffusion"
    heterophilic = True
    cost = "O(B N d^2 + E d) an update, O(N D^K d) a sample for mean degree D and K layers"

    _recipe_read: tuple[str, dict[str, Any]] | None = None

    def __init__(  # noqa: PLR0915 (scikit-learn wants one attribute for each setting)
        self,
        backbone: str | ModuleMaker = "gcn",
        *,
        hidden: int = 64,
        layers: int = 2,
        heads: int = 8,
        dropout: float = 0.5,
        input_dropout: float = 0.5,
        residual: bool = False,
        initial_residual: float = 0.0,
        normalisation: str = "none",
        head_layers: int = 0,
        self_loop: float = 1.0,
        time_aware: bool = True,
        gate: str = "vector",
        feature_scaling: str = "none",
        steps: int = 80,
        schedule: str | Callable[[float], float] | Schedule = "cosine",
        iterations: int = 3000,
        masks: int = 8,
        batch_size: int = 0,
        batches_of: str = "nodes",
        fanout: int = 0,
        inference_fanout: int = 0,
        batches_per_draw: int = 8,
        antithetic: bool = True,
        objective: str = "unweighted",
        learning_rate: float = 0.01,
        weight_decay: float = 5e-3,
        e_step_every: int = 50,
        e_step_samples: int = 3,
        e_step_routing: str = "labelled-first",
        e_step_temperature: float = 0.3,
        warm_iterations: int = 200,
        queue_size: int = 100,
        queue_temperature: float = 0.1,
        keep_draw: bool = False,
        priority: str = "validation",
        folds: int = 5,
        evaluate_every: int = 50,
        patience: int = 20,
        evaluation_temperature: float = 0.02,
        routing: str = "labelled-first",
        mean_field_epochs: int = 500,
        mean_field_patience: int = 100,
        mean_field_learning_rate: float = 0.01,
        mean_field_weight_decay: float = 5e-4,
        mean_field_architecture: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        mean_field_consistency: float = 0.0,
        mean_field_views: int = 4,
        mean_field_members: int = 1,
        mean_field_generations: int = 1,
        mean_field_reader: float = 0.0,
        mean_field_reader_decay: float = 1e-4,
        mean_field_temperature: float = 0.5,
        anchor: float = 0.0,
        hub_doubt: float = 0.0,
        class_shares: str = "labelled",
        metric: str = "accuracy",
        class_weight: str | Mapping[Any, float] | None = None,
        clamp: str = "train",
        dtype: str = "float32",
        scratch: str | None = None,
        device: str = "cpu",
        recipe: str = "default",
        random_state: SeedLike = None,
        verbose: bool = False,
    ) -> None:
        self.backbone = backbone
        self.hidden = hidden
        self.layers = layers
        self.heads = heads
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.residual = residual
        self.initial_residual = initial_residual
        self.normalisation = normalisation
        self.head_layers = head_layers
        self.self_loop = self_loop
        self.time_aware = time_aware
        self.gate = gate
        self.feature_scaling = feature_scaling
        self.steps = steps
        self.schedule = schedule
        self.iterations = iterations
        self.masks = masks
        self.batch_size = batch_size
        self.batches_of = batches_of
        self.fanout = fanout
        self.inference_fanout = inference_fanout
        self.batches_per_draw = batches_per_draw
        self.antithetic = antithetic
        self.objective = objective
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.e_step_every = e_step_every
        self.e_step_samples = e_step_samples
        self.e_step_routing = e_step_routing
        self.e_step_temperature = e_step_temperature
        self.warm_iterations = warm_iterations
        self.queue_size = queue_size
        self.queue_temperature = queue_temperature
        self.keep_draw = keep_draw
        self.priority = priority
        self.folds = folds
        self.evaluate_every = evaluate_every
        self.patience = patience
        self.evaluation_temperature = evaluation_temperature
        self.routing = routing
        self.mean_field_epochs = mean_field_epochs
        self.mean_field_patience = mean_field_patience
        self.mean_field_learning_rate = mean_field_learning_rate
        self.mean_field_weight_decay = mean_field_weight_decay
        self.mean_field_architecture = mean_field_architecture
        self.mean_field_consistency = mean_field_consistency
        self.mean_field_views = mean_field_views
        self.mean_field_members = mean_field_members
        self.mean_field_generations = mean_field_generations
        self.mean_field_reader = mean_field_reader
        self.mean_field_reader_decay = mean_field_reader_decay
        self.mean_field_temperature = mean_field_temperature
        self.anchor = anchor
        self.hub_doubt = hub_doubt
        self.class_shares = class_shares
        self.metric = metric
        self.class_weight = class_weight
        self.clamp = clamp
        self.dtype = dtype
        self.scratch = scratch
        self.device = device
        self.recipe = recipe
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        graph: Any,
        train_mask: Any = None,
        val_mask: Any = None,
        *,
        split: int = 0,
        max_time: float | None = None,
        checkpoint: str | Path | Keeper | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> ReDiSC:
        """Fit to a Graph or PyG `Data`, with masks or arrays of node numbers.

        Without them the graph's own split number `split` is used, or all labelled nodes; without validation nodes a
        fifth of the training nodes is held out.

        `max_time` bounds the fit in seconds. An interrupt after the warm start ends the fit early; the best weights so
        far are kept.

        `checkpoint` names a folder for the state of the fit: it is written every `checkpoint_every` seconds and when
        the warm start ends, whole or not at all, and removed when the fit ends. After a kill `resume=True` goes on from
        it, to the same bits as if nothing had happened; time spent before counts towards `max_time`. Without a state
        the fit starts from the beginning. A state of other settings, masks, labels or seeds, or of another graph, is
        refused. A `Keeper` in place of the folder brings its own interval, and its owner removes the state.
        """
        self._recipe_read = None
        self._recipe_read = (self.recipe, self._recipe_settings())
        self.check()
        keeper = _keeper(checkpoint, checkpoint_every, resume)
        seed = self._seed(keeper)
        task = make_task(graph, train_mask, val_mask, split, seed)
        blueprint = self._blueprint()
        known, seen = task.known(self._setting("clamp")), task.train | task.val
        origin = Origin.of(task.graph, self._setting("feature_scaling"), task.classes, known, seen, seed)
        model = JointModel.new(blueprint, origin)
        if keeper is not None:
            keeper.claim(identify(task, self.settings(), blueprint.schedule, seed))
        with ProgressBar(self.verbose, self.metric) as bar, threads_for(task.graph.num_nodes), memory_kept():
            clock = Clock(max_time, bar.update if self.verbose else None)
            engine = model.engine(task.graph, clock.aside)
            trainer = self._trainer(model, engine, task, seed)
            trainer.fit(clock, keeper)
        if keeper is not None and keeper is not checkpoint:
            keeper.remove()
        self._model, self._max_time = model, max_time
        self._remember(task, trainer.engine, trainer.history.as_dict())
        self._settings = self.settings()
        bar.conclude(self.verdict())
        return self

    def _trainer(self, model: JointModel, engine: Engine, task: Task, seed: int) -> Trainer:
        return Trainer(
            model.denoiser,
            model.mean_field,
            engine,
            self._problem(task, self._setting("class_weight")),
            model.blueprint.schedule,
            self._pick(EMConfig),
            seed,
            allocator(self.scratch),
        )

    def num_parameters(self) -> int:
        """Count the parameters of the denoiser and the mean-field GNN."""
        model = self._fitted()
        return sum(p.numel() for part in (model.denoiser, model.mean_field) for p in part.parameters())

    def verdict(self) -> str:
        """Say in one line what joint modelling gained over the mean-field GNN on the validation nodes."""
        self._fitted()
        if self.history_.get("nothing_held_out"):
            return "no training node was held out for validation, so what joint modelling gained was not measured"
        before, after = self.history_["mean_field_validation"], self.history_["best_validation"]
        name = self.metric.replace("_", " ")
        return f"validation {name}: mean-field GNN {before:.4f}, ReDiSC {after:.4f} ({after - before:+.4f})"

    def save(self, path: str | Path) -> None:
        """Write `config.json` and `model.safetensors` into the folder `path`, whole or not at all."""
        config, tensors = self._fitted().to_checkpoint()
        # What was fitted, whatever set_params has changed since; only this one setting is read after a fit.
        settings = {**self._settings, "evaluation_temperature": self._setting("evaluation_temperature")}
        described = {"method": self.name, **config, "settings": _plain(settings), "history": self.history_}
        save_checkpoint(path, described, tensors)

    @classmethod
    def load(cls, path: str | Path, **overrides: Any) -> ReDiSC:
        """Read a saved model; it holds no graph, so `predict` takes one.

        `overrides` are settings to change, such as `device`. A model with a user's own backbone needs `backbone=`
        again.
        """
        config, tensors = load_checkpoint(path)
        settings = {**_known_settings(config, cls._get_param_names()), **overrides}
        clf = cls(**settings)
        if clf.backbone is None:
            raise CheckpointError("the model was fitted with a backbone of your own: pass it as backbone=")
        try:
            clf._check_settings()
            clf._check_forged_sizes(len(tensors))
            clf._pick(EMConfig)
            clf._model = JointModel.from_checkpoint(clf._blueprint(), clf._setting("feature_scaling"), config, tensors)
        except (ConfigError, TypeError, ValueError, ArithmeticError, RuntimeError) as fault:
            raise CheckpointError(f"no model can be built from the settings in config.json: {fault}") from None
        clf._settings = clf.get_params(deep=False)
        clf.classes_, clf.history_ = clf._model.origin.classes, config.get("history", {})
        return clf

    def _seed(self, keeper: Keeper | None) -> int:
        """Return the seed of the fit; one that was left to chance stays what it was when the fit is resumed."""
        if self.random_state is None and keeper is not None and keeper.seed is not None:
            return keeper.seed
        return world().agree(resolve_seed(self.random_state))

    def check(self) -> None:
        """Raise an error where settings are wrong, as far as that can be told without a graph; `fit` begins with it."""
        self._check_settings()
        self._pick(EMConfig)
        self._blueprint()

    def _check_settings(self) -> None:
        """Check what the parts do not check themselves."""
        clamp, class_weight = self._setting("clamp"), self._setting("class_weight")
        check_kind("steps", self._setting("steps"), int)
        for name in ("fanout", "inference_fanout"):
            check_kind(name, self._setting(name), int)
            if self._setting(name) < 0:
                raise ConfigError(f"{name}={self._setting(name)}: it must be 0 or more")
        if self._setting("class_shares") == "estimated":
            self._check_class_shares()
        if clamp not in ("train", "train+val"):
            raise ConfigError(f"clamp={clamp!r}: choose train or train+val")
        if isinstance(class_weight, str) and class_weight != "balanced":
            raise ConfigError(f"class_weight={class_weight!r}: choose None, 'balanced' or a mapping")
        self._check_committee()
        check_gate(self._setting("gate"))
        FeatureScaling(self._setting("feature_scaling"))
        self._check_place()

    def _check_committee(self) -> None:
        """Refuse networks of the warm start that are no mappings."""
        own = self._setting("mean_field_architecture")
        networks = [] if own is None else _several(own)
        if own is not None and not (networks and all(isinstance(changes, Mapping) for changes in networks)):
            expected = "a mapping such as {'layers': 4}, or several of them in a list"
            raise ConfigError(f"mean_field_architecture={own!r}: expected {expected}")

    def _check_class_shares(self) -> None:
        """Refuse estimated shares beside what they can't go with."""
        if not isinstance(self._setting("backbone"), str):
            raise ConfigError('class_shares="estimated" needs a built-in backbone')
        if self._setting("class_weight") is not None:
            raise ConfigError('class_shares="estimated" and class_weight contradict each other: leave one of them out')
        if self._setting("metric") == "balanced_accuracy":
            raise ConfigError('class_shares="estimated" is for accuracy: with metric="balanced_accuracy" leave it out')

    def _check_forged_sizes(self, num_tensors: int) -> None:
        """Refuse a loaded model whose settings would take memory that its weights do not account for."""
        own = _several(self._setting("mean_field_architecture") or {})
        counted = dict.fromkeys(("layers", "head_layers", "mean_field_members"), num_tensors)
        for name, most in {**counted, "steps": 10**6}.items():
            check_kind(name, self._setting(name), int)
            asked = max(self._setting(name), *(changes.get(name, 0) for changes in own))
            if asked > most:
                raise ConfigError(f"{name}={asked} does not fit the saved weights")

    def _blueprint(self) -> Blueprint:
        backbone = self._setting("backbone")
        architecture = self._pick(Architecture) if isinstance(backbone, str) else backbone
        gate: Any = self._setting("gate") if self._setting("time_aware") else "none"
        schedule = get_schedule(self._setting("schedule"), self._setting("steps"))
        fanouts = (self._setting("fanout"), self._setting("inference_fanout"))
        scale = Scale(bool(self._setting("batch_size")), *fanouts, allocator(self.scratch))
        parts = (architecture, gate, schedule, getattr(torch, self.dtype), self.device, scale)
        committee = (self._mean_field_architectures(architecture), self._setting("mean_field_members"))
        pooling = Pooling(self._setting("mean_field_reader"), self._setting("hub_doubt"))
        return Blueprint(*parts, *committee, pooling, self._setting("anchor"))

    def _mean_field_architectures(self, shared: Architecture | ModuleMaker) -> tuple[Architecture, ...]:
        """Return the mean-field GNNs' own architectures, none where they have the denoiser's."""
        own = self._setting("mean_field_architecture")
        if own is None:
            return ()
        if not isinstance(shared, Architecture):
            raise ConfigError("mean_field_architecture needs a built-in backbone")
        try:
            return tuple(shared.with_changes(changes) for changes in _several(own))
        except ConfigError as fault:
            raise ConfigError(f"mean_field_architecture: {fault}") from None

    def _pick(self, kind: type[Settings]) -> Settings:
        """Build one of the parts' settings from the hyper-parameters of the same names."""
        return kind(**{f.name: self._setting(f.name) for f in fields(kind)})

    def settings(self) -> dict[str, Any]:
        """Return all settings as they are in force, the recipe's included."""
        return {name: self._setting(name) for name in self._get_param_names()} | {"recipe": "default"}

    def _setting(self, name: str) -> Any:
        """Return a setting: what the user gave, else the recipe's, else the default."""
        value, recipe = getattr(self, name), self._recipe_settings()
        wishes = {wish: getattr(self, wish) for wish in WISHES}
        given = value != _DEFAULTS[name].default or name not in yielding(recipe, wishes)
        return value if given else recipe[name]

    def _recipe_settings(self) -> dict[str, Any]:
        """Return the recipe's settings; a fitted model keeps those of its fit, whatever becomes of the file."""
        if self._recipe_read is not None and self._recipe_read[0] == self.recipe:
            return self._recipe_read[1]
        return recipe_settings(self.recipe, self._get_param_names())


_DEFAULTS = signature(ReDiSC.__init__).parameters


def _keeper(checkpoint: str | Path | Keeper | None, every: float, resume: bool) -> Keeper | None:
    if isinstance(checkpoint, Keeper):
        return checkpoint
    if checkpoint is not None:
        return Keeper(checkpoint, every, resume)
    if resume:
        raise ConfigError("resume=True needs checkpoint=, the folder of the unfinished fit")
    return None


def _several(given: Any) -> list[Any]:
    """Return what was given as a list, in a list; anything else alone."""
    return list(given) if isinstance(given, list | tuple) else [given]


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Return hyper-parameters as JSON can hold them; a user's own backbone is left out, other objects are refused."""
    plain = {**settings, "scratch": None}  # a folder of this machine
    if not isinstance(plain["schedule"], str):
        raise ConfigError("a schedule that is not a name can't be saved")
    plain["backbone"] = plain["backbone"] if isinstance(plain["backbone"], str) else None
    plain["random_state"] = plain["random_state"] if isinstance(plain["random_state"], int) else None
    if isinstance(plain["class_weight"], Mapping):
        plain["class_weight"] = list(plain["class_weight"].items())
    own = plain["mean_field_architecture"]
    if own is not None:
        plain["mean_field_architecture"] = dict(own) if isinstance(own, Mapping) else [dict(each) for each in own]
    return plain


def _known_settings(config: dict[str, Any], names: list[str]) -> dict[str, Any]:
    settings = saved_settings(config, names)
    try:
        if isinstance(settings.get("class_weight"), list):
            settings["class_weight"] = dict(settings["class_weight"])
    except (TypeError, ValueError):
        raise CheckpointError("config.json garbles class_weight") from None
    return settings
