"""What `redisc tune` does: search a space of settings by validation score alone, and write the winner as a recipe."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import ConfigError
from redisc.estimator import ReDiSC
from redisc.experiments.tables import HETEROPHILIC
from redisc.io.files import write_atomically
from redisc.optional import require
from redisc.recipes import NOT_OF_RECIPES, recipe_settings
from redisc.source import FileSource, named_source

Space = dict[str, list[Any]]


def load_space(name: str) -> Space:
    """Return a space of settings: one that ships with the library ("paper", "wide"), or a JSON file of your own."""
    folder = files("redisc.recipes").joinpath("spaces")
    own, shipped = Path(name), folder.joinpath(f"{name}.json")
    if not own.suffix and not shipped.is_file():
        known = ", ".join(sorted(path.name[: -len(".json")] for path in folder.iterdir()))
        raise ConfigError(f"unknown space {name!r}; choose one of {known}, or name a JSON file")
    try:
        space = json.loads((own if own.suffix else shipped).read_text(encoding="utf-8"))
    except ValueError:
        raise ConfigError(f"{name} is not JSON") from None
    if not isinstance(space, dict) or not all(isinstance(choices, list) and choices for choices in space.values()):
        raise ConfigError(f"space {name}: it must map settings of ReDiSC to lists of choices")
    strangers = set(space) - set(ReDiSC().get_params()) | set(space) & (NOT_OF_RECIPES | {"backbone"})
    if strangers:
        raise ConfigError(f"space {name}: a search can't choose {', '.join(sorted(strangers))}")
    return space


def paper_space(dataset: str | None) -> str:
    """Return the name of the space that the paper searches on graphs like a dataset's."""
    return "paper-heterophilic" if dataset in HETEROPHILIC else "paper"


class Search:
    """A search over a space for one dataset and backbone; trials are kept in `folder` and go on where they stopped.

    Another space, start, number of seeds or time limit is another search: their trials don't mix.
    With `tables` the dataset is but a name, and every fit holds out a part of the tables' labels.

    A trial's value is the mean over seeds of the fit's best validation score. Seeds after the first are run only where
    the first ones keep up with the median of earlier trials. No test label is read.
    """

    def __init__(
        self,
        dataset: str,
        backbone: str,
        space: Space,
        folder: Path,
        *,
        start_from: str = "default",
        seeds: int = 3,
        data_dir: str | None = None,
        max_time: float | None = None,
        tables: FileSource | None = None,
    ) -> None:
        self.dataset, self.backbone, self.space = dataset, backbone, space
        self.start_from, self.seeds, self.data_dir, self.max_time = start_from, seeds, data_dir, max_time
        source = named_source(dataset, data_dir) if tables is None else tables
        graph = source.load()  # what is wrong with the graph or the settings is said before there is a study
        self._tables = None if tables is None else graph
        self._fixed = source.settings() | recipe_settings(start_from, ReDiSC().get_params())
        for name, value in [(name, value) for name, choices in space.items() for value in choices]:
            ReDiSC(**{**self._fixed, name: value, "backbone": backbone}).check()
        self._optuna = require("optuna", extra="tune")
        self._states = self._optuna.trial.TrialState
        self._settled = (self._states.COMPLETE, self._states.PRUNED)
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{Path(dataset).name}-{backbone}-{self._identity()}"
        self.study = self._optuna.create_study(
            study_name=name,
            storage=f"sqlite:///{(folder / name).resolve()}.db",
            direction="maximize",
            pruner=self._optuna.pruners.MedianPruner(n_startup_trials=4),
            load_if_exists=True,
        )
        # By its trials: a search that goes on would otherwise begin with the draws that it began with before.
        seed = len(self.study.trials)
        self.study.sampler = self._optuna.samplers.TPESampler(seed=seed, multivariate=True)

    def run(self, trials: int, report: Any = None) -> None:
        """Run until there are so many trials, those of earlier calls included; `start_from` is the first."""
        if not any(trial.state in (self._states.WAITING, *self._settled) for trial in self.study.trials):
            start = {**ReDiSC().get_params(), **self._fixed}
            fitting = {k: _written(start[k]) for k, choices in self.space.items() if start[k] in choices}
            self.study.enqueue_trial(fitting)
        left = max(trials - self.settled(), 0)
        self.study.optimize(self._value, n_trials=left, callbacks=[report] if report else None)

    def settled(self) -> int:
        """Count the trials that came to an end; those that were interrupted are none of them."""
        return sum(trial.state in self._settled for trial in self.study.trials)

    def told(self, trial: Any) -> str:
        """Return a line about a trial that came to an end, and the best so far."""
        value = f"{100 * trial.value:.2f}" if trial.state == self._states.COMPLETE else "pruned"
        return f"validation {value}, best {100 * self.study.best_value:.2f}: {trial.params}"

    def _identity(self) -> str:
        """Return what tells searches for one dataset and backbone apart; many tables are called edges.csv."""
        tables = None if self._tables is None else self._tables.fingerprint()
        space = {name: [_written(choice) for choice in choices] for name, choices in self.space.items()}
        told = json.dumps([space, self._fixed, self.seeds, self.max_time, tables], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:8]

    def _value(self, trial: Any) -> float:
        for name, choices in self.space.items():
            trial.suggest_categorical(name, [_written(choice) for choice in choices])
        chosen = self._chosen(trial)
        scores: list[float] = []
        for seed in range(self.seeds):
            scores.append(self._fit(chosen, seed))
            trial.report(float(np.mean(scores)), seed)
            if seed + 1 < self.seeds and trial.should_prune():
                raise self._optuna.TrialPruned
        return float(np.mean(scores))

    def _chosen(self, trial: Any) -> dict[str, Any]:
        """Return the settings that a trial chose."""
        return {
            name: next(choice for choice in self.space[name] if _written(choice) == value)
            for name, value in trial.params.items()
        }

    def _fit(self, chosen: dict[str, Any], seed: int) -> float:
        clf = ReDiSC(**{**self._fixed, **chosen, "backbone": self.backbone}, random_state=seed)
        if self._tables is not None:
            clf.fit(self._tables, max_time=self.max_time)
        else:
            graph = named_source(self.dataset, self.data_dir, seed).load()
            clf.fit(graph, split=seed % max(len(graph.splits), 1), max_time=self.max_time)
        return float(clf.history_["best_validation"])

    def recipe(self) -> dict[str, Any]:
        """Return the best trial as a recipe."""
        if not any(trial.state == self._states.COMPLETE for trial in self.study.trials):
            raise ConfigError("no trial was completed yet, so that there is no recipe: let the search run on")
        best = self.study.best_trial
        settings = {**self._fixed, **self._chosen(best), "backbone": self.backbone}
        about = (
            f"Found by `redisc tune {self.dataset} --backbone {self.backbone}`: best of {self.settled()} trials "
            f"by mean validation accuracy over {self.seeds} seeds, {100 * best.value:.2f} %."
        )
        return {"about": about, "settings": settings}

    def write(self, path: Path) -> None:
        """Write the best trial as a recipe file."""
        write_atomically(path, (json.dumps(self.recipe(), indent=1) + "\n").encode())


def _written(choice: Any) -> Any:
    """Return a choice as Optuna stores it: a mapping or a list as its JSON, anything else as it is."""
    return json.dumps(choice, sort_keys=True) if isinstance(choice, dict | list) else choice
