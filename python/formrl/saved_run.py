"""Training and its runs in a few lines: `formrl.train`, `formrl.load_run`, and what a run can be asked.

```python
run = formrl.train("all-yellow", out="runs/first")
run.machine, run.evaluate()
```

Training is that of `form train`, in a process of its own, so that Ctrl-C stops it cleanly and a notebook goes on: a run that was
stopped is continued by `formrl.resume`.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from formrl._native import Machine, Policy, Task

from .errors import FileError, FormError

Progress = bool | Callable[[dict[str, float | None]], object]
"""Whether the trainer's own progress is shown, or a function of every row of `metrics.csv` as it is written (the last evaluation of a
run is added to its last row afterwards)."""


class TrainError(FormError):
    """The trainer refused what it was asked for; the message is its own."""


class Run:
    """A run, in its folder: finished, stopped, or still training. What it returns is read when it is asked for."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        """Where it is."""
        if not (self.folder / "config.toml").is_file():
            raise FileError(f"{self.folder}: no run, there is no config.toml in it", os.fspath(self.folder))

    @property
    def config(self) -> dict[str, Any]:
        """Its configuration."""
        return tomllib.loads((self.folder / "config.toml").read_text())

    @property
    def result(self) -> dict[str, Any] | None:
        """Its `result.json`, once it is over."""
        place = self.folder / "result.json"
        return json.loads(place.read_text()) if place.exists() else None

    @property
    def success(self) -> float | None:
        """The success rate of the last evaluation while it was trained."""
        rates = [row["success"] for row in self.metrics if row.get("success") is not None]
        return rates[-1] if rates else None

    @property
    def metrics(self) -> list[dict[str, float | None]]:
        """The rows of `metrics.csv`; `None` where a row has no value."""
        return _rows(self.folder / "metrics.csv")

    @property
    def machine(self) -> Machine:
        """The machine that it ended with, or has come to so far."""
        machines = sorted((self.folder / "machines").glob("*.form"))
        if not machines:
            raise FileError(f"{self.folder}: the run has no machine yet", os.fspath(self.folder))
        return Machine.read(machines[-1])

    @property
    def machines(self) -> list[Machine]:
        """All its machines, in order."""
        return [Machine.read(place) for place in sorted((self.folder / "machines").glob("*.form"))]

    @property
    def task(self) -> Task:
        """Its task."""
        kept = self.folder / "task.toml"
        return Task(kept if kept.exists() else str(self.config["task"]))

    @property
    def checkpoint(self) -> Path:
        """The file of its policies: the final one, or the latest."""
        for name in ("final", "latest"):
            place = self.folder / "checkpoints" / f"{name}.safetensors"
            if place.exists():
                return place
        raise FileError(f"{self.folder}: the run has no checkpoint yet", os.fspath(self.folder))

    def policy(self, state: str | None = None) -> Policy:
        """The policy of a state of the machine; without one, that for all states."""
        return Policy(self.checkpoint, state)

    def evaluate(
        self, episodes: int | None = None, *, held_out: bool = False, greedy: bool | None = None, seed: int = 0
    ) -> list[dict[str, Any]]:
        """The rows of `form eval --json`: success on training maps and on held-out ones, sampled and greedy, with `random` play and
        `shortest` solutions beside."""
        command = ["eval", str(self.folder), "--json", "--seed", str(seed)]
        command += [] if episodes is None else ["--episodes", str(episodes)]
        command += ["--held-out"] if held_out else []
        command += [] if greedy is None else ["--greedy" if greedy else "--sample"]
        rows: list[dict[str, Any]] = json.loads(_answer(command))["evaluations"]
        return rows

    def draw(self, path: str | os.PathLike[str], *, map: int | None = None, held_out: bool = False, greedy: bool = False, seed: int = 0) -> Path:
        """Draws an episode that its policies play: `.gif` or `.svg` with every step, `.png` its end, `.txt` text."""
        command = ["draw", str(self.folder), "-o", os.fspath(path), "--seed", str(seed)]
        command += [] if map is None else ["--map", str(map)]
        command += (["--held-out"] if held_out else []) + (["--greedy"] if greedy else [])
        _answer(command)
        return Path(path)

    def __repr__(self) -> str:
        result = self.result
        state = "not over" if result is None else str(result.get("ending", "over"))
        return f"<Run {str(self.folder)!r}: {state}, {len(self.metrics)} iterations, success {self.success}>"


def load_run(folder: str | os.PathLike[str]) -> Run:
    """A run that `formrl.train` or `form train` made."""
    return Run(folder)


def train(
    task: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    method: str = "form",
    preset: str | None = None,
    machine: Machine | str | os.PathLike[str] | None = None,
    seed: int = 1,
    iterations: int | None = None,
    layouts: int | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = True,
) -> Run:
    """Trains a task, a built-in one by its name or a `.toml` file, as `form train` does; the run.

    `out` is its folder, `runs/TASK-METHOD-SEED` unless given. `method`: `form`, `handcrafted`, `propositional`, `ppo`, `recurrent-ppo`,
    `single-policy` or `reach-avoid`. `settings` are those of `config.toml` by name (`{"ppo.gamma": 0.99}`). Ctrl-C stops it after the
    iteration that is under way, and raises `KeyboardInterrupt`: `formrl.resume` goes on.
    """
    folder = Path(out) if out is not None else Path("runs") / f"{Path(task).stem}-{method}-{seed}"
    command = ["train", os.fspath(task), "--method", method, "--seed", str(seed), "--out", str(folder)]
    command += [] if preset is None else ["--preset", preset]
    for name, value in (("--iterations", iterations), ("--layouts", layouts)):
        command += [] if value is None else [name, str(value)]
    if isinstance(machine, Machine):
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = folder.parent / f"{folder.name}.form"
        machine.write(place)
        machine = place
    command += [] if machine is None else ["--machine", os.fspath(machine)]
    for name, given in (settings or {}).items():
        command += ["--set", f"{name}={given if isinstance(given, str) else json.dumps(given)}"]
    return _trained(command, folder, progress)


def resume(folder: str | os.PathLike[str], *, iterations: int | None = None, progress: Progress = True) -> Run:
    """Goes on with a run that was stopped; with `iterations`, up to that number of them."""
    command = ["train", "--resume", os.fspath(folder)]
    command += [] if iterations is None else ["--iterations", str(iterations)]
    return _trained(command, Path(folder), progress)


def _trained(command: list[str], folder: Path, progress: Progress) -> Run:
    shown = progress is True
    told = len(_rows(folder / "metrics.csv"))
    child = subprocess.Popen(
        [sys.executable, "-m", "formrl", *command],
        stdout=None if shown else subprocess.DEVNULL,
        stderr=None if shown else subprocess.PIPE,
        text=True,
        # A terminal's Ctrl-C would reach it as well as this process, and the second one means "at once".
        start_new_session=True,
    )
    try:
        while True:
            try:
                _, errors = child.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                told = _tell(folder, progress, told)
    except BaseException:
        child.send_signal(signal.SIGINT)
        child.communicate()
        raise
    _tell(folder, progress, told)
    if child.returncode not in (0, 1) or not (folder / "config.toml").exists():
        raise TrainError((errors or "").strip() or f"the trainer ended with exit code {child.returncode}: see above")
    return Run(folder)


def _tell(folder: Path, progress: Progress, told: int) -> int:
    if not callable(progress):
        return told
    rows = _rows(folder / "metrics.csv")
    for row in rows[told:]:
        progress(row)
    return max(told, len(rows))


def _rows(place: Path) -> list[dict[str, float | None]]:
    """The rows of a table that may be growing: a last line without an end is not there yet."""
    try:
        text = place.read_text()
    except FileNotFoundError:
        return []
    whole = text[: text.rfind("\n") + 1].splitlines()
    return [{name: float(value) if value else None for name, value in row.items()} for row in csv.DictReader(whole)]


def _answer(command: list[str]) -> str:
    ended = subprocess.run([sys.executable, "-m", "formrl", *command], capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise TrainError(ended.stderr.strip() or f"exit code {ended.returncode}")
    return ended.stdout
