"""`formrl.sweep`: many runs of the native trainer at once, on a Ray cluster.

A trial is one task, one method and one seed. It is trained by the package's own command line, `python -m formrl train`, in an
ordinary run folder, so that `form eval`, TensorBoard and everything else that knows run folders work on it. A worker that is
killed takes only its trial with it: the trial is started again, and goes on from its last checkpoint. A trial that is over is
not trained again, so that a sweep that was stopped goes on when it is called again. Whose run a folder holds stands in its
`trial.json`: the run of another trial is never taken for this one.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from formrl._native import Task

from .errors import DamagedFile, FormError, TrialFailed
from .extras import require
from .atomic_files import write_atomic
from .run_files import read_result


@dataclass(frozen=True)
class Trial:
    """One run: what is trained, and where."""

    task: str
    method: str
    seed: int
    folder: Path
    preset: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    threads: int = 1

    def command(self, program: Sequence[str]) -> list[str]:
        """The command that begins it, or goes on with it if it was begun."""
        # One page of all runs, `form report`, is more use than one of each.
        how = ["--threads", str(self.threads), "--quiet", "--json", "--no-report"]
        if (self.folder / "config.toml").exists():
            return [*program, "train", "--resume", str(self.folder), *how]
        wanted = ["--method", self.method, "--seed", str(self.seed), "--out", str(self.folder)]
        wanted += ["--preset", self.preset] if self.preset is not None else []
        for name, value in self._texts().items():
            wanted += ["--set", f"{name}={value}"]
        return [*program, "train", self.task, *wanted, *how]

    def claim_folder(self) -> None:
        """Makes the folder this trial's before its first attempt. One that holds the run of another trial is refused: it would be
        taken for this one.
        """
        identity, place = self._identity(), self.folder / "trial.json"
        advice = "name another folder with `out`, or remove it"
        if not any((self.folder / name).exists() for name in ("config.toml", "result.json")):
            # Nothing was begun here, even if another trial meant to.
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomic(place, json.dumps(identity, indent=1).encode())
            return
        try:
            found = json.loads(place.read_bytes())
        except FileNotFoundError:
            raise TrialFailed(f"{self.folder} holds a run of no sweep, without a trial.json: {advice}") from None
        except ValueError as error:
            raise TrialFailed(f"{place} is damaged: {error}: {advice}") from error
        if found != identity:
            raise TrialFailed(f"{self.folder} holds {_difference(found, identity)}: {advice}")

    def _texts(self) -> dict[str, str]:
        """The settings as the command line takes them: two spellings of one run are one trial."""
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in self.settings}

    def _identity(self) -> dict[str, Any]:
        """All that makes it this trial and no other: the task itself rather than where its file is."""
        try:
            task = Task(self.task).to_toml()
        except FormError as error:
            raise TrialFailed(str(error)) from error
        chosen = {"method": self.method, "seed": self.seed, "preset": self.preset, "settings": self._texts()}
        return {"task": task, **chosen}

    def result(self) -> dict[str, Any] | None:
        """What it came to, once it is over."""
        return read_result(self.folder)


@dataclass
class TrialResult:
    """What became of a trial."""

    trial: Trial
    result: dict[str, Any] | None = None
    """The run's `result.json`; nothing if it failed."""
    attempts: int = 0
    errors: list[str] = field(default_factory=list)
    """Why attempts failed, in order."""

    @property
    def success(self) -> float | None:
        """The success rate of the run's last evaluation: of all its episodes.

        None of a run that version 0.1 made and that did not converge: that version counted the episodes that had ended.
        """
        if self.result is None:
            return None
        measured = self.result.get("evaluation") is not None or self.result["ending"] == "converged"
        success: float | None = self.result["success"] if measured else None
        return success


def sweep(
    tasks: str | Iterable[str],
    methods: str | Iterable[str] = "form",
    seeds: int | Iterable[int] = 3,
    *,
    out: str | os.PathLike[str] = "runs",
    preset: str | None = None,
    iterations: int | None = None,
    layouts: int | None = None,
    settings: Mapping[str, Any] | None = None,
    cpus: int = 1,
    retries: int = 3,
    program: Sequence[str] | None = None,
    on_result: Callable[[TrialResult], None] | None = None,
) -> list[TrialResult]:
    """Trains every task by every method with every seed, and returns what became of each, in that order.

    `tasks` are names of built-in tasks or task files, `seeds` numbers, or how many of them, from 1. Folders are
    `out/TASK-METHOD-SEED`; one that holds a run of another task, of other settings or of no sweep is refused. `settings` are those of
    `config.toml` by name (`{"ppo.gamma": 0.99}`). Each trial has `cpus` processors of the cluster, which is the one that Ray is
    connected to, or a local one. `retries` is how often a trial whose worker died is started again; a trial that the trainer refused
    is not, nor one with a damaged file. `on_result` is called with each trial as soon as it is over.
    """
    ray = require("ray", "formrl.sweep", "ray")
    short = {"iterations": iterations, "layouts": layouts}
    chosen = {name: value for name, value in short.items() if value is not None} | dict(settings or {})
    trials = [
        Trial(task, method, seed, folder, preset, tuple(chosen.items()), cpus)
        for task, method, seed, folder in _places(tasks, methods, seeds, Path(out))
    ]
    program = tuple(program or (sys.executable, "-m", "formrl"))
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    # Attempts are counted here, so that every one of them is told about; Ray would repeat them silently.
    worker = ray.remote(num_cpus=cpus, max_retries=0)(train)
    results = {trial.folder: TrialResult(trial) for trial in trials}
    running: dict[Any, Trial] = {}

    def start(trial: Trial) -> None:
        results[trial.folder].attempts += 1
        running[worker.options(name=trial.folder.name).remote(trial, program)] = trial

    for trial in trials:
        start(trial)
    try:
        while running:
            (done,), _ = ray.wait(list(running), num_returns=1)
            trial = running.pop(done)
            outcome = results[trial.folder]
            try:
                outcome.result = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                outcome.errors.append(str(error.cause))
                if not isinstance(error.cause, (TrialFailed, DamagedFile)) and outcome.attempts <= retries:
                    start(trial)
                    continue
            except ray.exceptions.RayError as error:
                outcome.errors.append(f"{type(error).__name__}: the worker died")
                if outcome.attempts <= retries:
                    start(trial)
                    continue
            if on_result is not None:
                on_result(outcome)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
    return list(results.values())


def train(trial: Trial, program: Sequence[str]) -> dict[str, Any]:
    """One attempt at a trial, in this process's child; what it came to. Runs where Ray puts it."""
    trial.claim_folder()
    if (result := trial.result()) is not None:
        return result
    command = trial.command(program)
    ended = subprocess.run(command, capture_output=True, text=True, preexec_fn=_die_with_parent)
    if (result := trial.result()) is not None:
        return result
    message = ended.stderr.strip() or f"exit code {ended.returncode}"
    if ended.returncode < 0:
        raise RuntimeError(f"the trainer was ended by {signal.Signals(-ended.returncode).name}")
    if ended.returncode == 1:
        raise RuntimeError(f"the trainer was interrupted: {message}")
    raise TrialFailed(f"{' '.join(command)}: {message}")


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """The run that a folder holds, by the first thing in which it is not the one that is wanted."""
    try:
        if found["task"] != wanted["task"]:
            return "a run of another task, or of this one before its file was changed"
        for name in ("method", "seed", "preset"):
            if found[name] != wanted[name]:
                return f"a run with {name} = {found[name]}, not {wanted[name]}"
        there, here = found["settings"], wanted["settings"]
        for name in [*there, *here]:
            if there.get(name) != here.get(name):
                return f"a run with {name} = {there.get(name, 'its default')}, not {here.get(name, 'its default')}"
    except (AttributeError, KeyError, TypeError):
        pass
    return "a run that another version of this package began"


def _die_with_parent() -> None:
    """A trainer whose worker was killed would go on, and hold the lock of its folder. Only Linux can be asked to end it."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _places(
    tasks: str | Iterable[str], methods: str | Iterable[str], seeds: int | Iterable[int], out: Path
) -> list[tuple[str, str, int, Path]]:
    """Every task by every method with every seed, and the folder that it has to itself."""
    tasks = [tasks] if isinstance(tasks, str) else list(tasks)
    methods = [methods] if isinstance(methods, str) else list(methods)
    seeds = range(1, seeds + 1) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    places = []
    for task, method, seed in itertools.product(tasks, methods, seeds):
        # Workers may have another working directory.
        given = str(Path(task).resolve()) if task.endswith(".toml") else task
        places.append((given, method, seed, out.resolve() / f"{Path(task).stem}-{method}-{seed}"))
    if len({folder for *_, folder in places}) < len(places):
        raise ValueError("two trials would have the same folder: tasks, methods and seeds must differ")
    return places
