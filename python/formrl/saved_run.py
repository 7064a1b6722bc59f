"""Training and its runs in a few lines: `formrl.train`, `formrl.load_run`, and what a run can be asked.

```python
run = formrl.train("all-yellow", out="runs/first")
run.machine, run.evaluate()
run.rollout(map=3, held_out=True)
```

A run acts in its own environment, with the policies of all methods, reach-avoid included:

```python
env = run.env()
observation, info = env.reset(seed=1)
while not over:
    observation, reward, terminated, truncated, info = env.step(run.act(observation))
    over = terminated or truncated
```

Training is that of `form train`, in a process of its own, so that Ctrl-C stops it cleanly and a notebook goes on: a run that was
stopped is continued by `formrl.resume`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from formrl._native import Machine, Player, Policy, Task, Trace, play_episode

from .atomic_files import write_atomic
from .errors import FileError, FormError, WorldError
from .run_files import damaged, read_result, read_rows, read_text

if TYPE_CHECKING:
    from .worlds import GridWorldEnv

T = TypeVar("T", str, int)

Progress = bool | Callable[[dict[str, float | None]], object]
"""Whether the trainer's own progress is shown, or a function of every row of `metrics.csv` as it is written (the last evaluation of a
run is added to its last row afterwards)."""


ERROR_FILE = "--internal-error-file"
"""Before a command of `python -m formrl`: it writes its error to the file that follows rather than show it, since `train` raises it."""


class TrainError(FormError):
    """The trainer refused what it was asked for; the message is its own."""


@dataclass(frozen=True)
class Rollout:
    """An episode that the policies of a run played. What it lists after every step begins with the start of the episode."""

    map: int
    """The number of its map."""
    held_out: bool
    """Whether that is one of the held-out maps."""
    observations: npt.NDArray[np.uint8] = field(repr=False)
    """What the world showed, at the start and after every step."""
    actions: list[int] = field(repr=False)
    """The actions, by number: their names are `run.env().actions`."""
    labels: list[list[str]] = field(repr=False)
    """What was true, at the start and after every step."""
    states: list[str] = field(repr=False)
    """The states of the machine; of the task's own where the policies know none."""
    outcome: Literal["goal", "dead-end", "out-of-time", "running"]
    """How the world ended it; `"running"` if it was cut off because the machine is wrong."""
    shortest: int | None
    """The length of a shortest solution; `None` if there is none."""
    shortest_is_exact: bool = field(repr=False)
    """Whether it is known exactly; else it is a lower bound."""

    @property
    def success(self) -> bool:
        """Whether the task was completed."""
        return self.outcome == "goal"

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.actions)

    @property
    def trace(self) -> Trace:
        """What was observed, as a trace."""
        return Trace(self.outcome if self.outcome in ("goal", "dead-end") else "incomplete", self.labels)


class _Seat:
    """The policies of a run in one environment, and how far they have followed it."""

    def __init__(self, folder: Path, env: GridWorldEnv) -> None:
        self.env = env
        self.player = Player(folder, env.worlds)
        self.episodes, self.steps = 0, 0

    def probabilities(self) -> npt.NDArray[np.float64]:
        """Follows the environment to where it is, and asks."""
        env, worlds = self.env, self.env.worlds
        taken = env.actions_taken
        if env.episodes == 0:
            raise WorldError("call env.reset() before the first action")
        if env.episodes != self.episodes:
            if taken:
                raise WorldError("the policies have not seen this episode begin: ask them after env.reset() and after every step")
            self.player.begin(worlds)
            self.episodes, self.steps = env.episodes, 0
        elif len(taken) == self.steps + 1:
            self.player.observe(worlds, taken[-1])
            self.steps += 1
        elif len(taken) != self.steps:
            raise WorldError(f"the policies were last asked after {self.steps} steps of {len(taken)}: ask them after every step")
        return self.player.probabilities(worlds)


class Run:
    """A run, in its folder: finished, stopped, or still training. What it returns is read when it is asked for."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        """Where it is."""
        self._seat: _Seat | None = None
        if not (self.folder / "config.toml").is_file():
            raise FileError(f"{self.folder}: no run, there is no config.toml in it", os.fspath(self.folder))

    @property
    def config(self) -> dict[str, Any]:
        """Its configuration."""
        place = self.folder / "config.toml"
        try:
            return tomllib.loads(read_text(place))
        except tomllib.TOMLDecodeError as error:
            found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
            if found is None:
                raise damaged(place, str(error)) from None
            raise damaged(place, found[1], int(found[2]), int(found[3])) from None

    @property
    def result(self) -> dict[str, Any] | None:
        """Its `result.json`, once it is over."""
        return read_result(self.folder)

    @property
    def success(self) -> float | None:
        """The success rate of the last evaluation while it was trained."""
        rates = [row["success"] for row in self.metrics if row.get("success") is not None]
        return rates[-1] if rates else None

    @property
    def metrics(self) -> list[dict[str, float | None]]:
        """The rows of `metrics.csv`; `None` where a row has no value."""
        return read_rows(self.folder / "metrics.csv")

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
        return Task(kept if kept.exists() else self._setting("task", str))

    @property
    def checkpoint(self) -> Path:
        """The file of its policies: the final one, or the latest."""
        for name in ("final", "latest"):
            place = self.folder / "checkpoints" / f"{name}.safetensors"
            if place.exists():
                return place
        raise FileError(f"{self.folder}: the run has no checkpoint yet", os.fspath(self.folder))

    def policy(self, state: str | None = None) -> Policy:
        """The policy of a state of the machine; without one, that for all states. A run of `method="reach-avoid"` has none of these."""
        if self.config.get("method") == "reach-avoid":
            raise WorldError(
                f"{self.folder}: the run has one policy for all sub-tasks, and none per state: play with run.act() or run.rollout(); "
                "the policy itself is formrl.ReachAvoidPolicy.shipped()"
            )
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

    def env(self, *, held_out: bool = False, render_mode: str | None = None) -> GridWorldEnv:
        """A Gymnasium environment of its task with the maps, observations and actions that its policies were trained with; held-out
        maps instead of training maps with `held_out`. `act` acts in it."""
        from .worlds import GridWorldEnv

        maps = 1000 if held_out else self._setting("layouts", int)
        view: Any = self._setting("view", str)
        actions: Any = self._setting("actions", str)
        starts: Any = self._setting("starts", str)
        env = GridWorldEnv(
            self.task,
            view=view,
            actions=actions,
            starts=starts,
            maps=maps or None,
            map_seed=self._setting("seed", int),
            held_out=held_out,
            render_mode=render_mode,
        )
        self._seat = _Seat(self.folder, env)
        return env

    def probabilities(self, observation: npt.NDArray[np.uint8] | None = None, *, env: GridWorldEnv | None = None) -> npt.NDArray[np.float64]:
        """The probabilities of the actions, for the arguments of `act`."""
        seat = self._seated(env)
        if observation is not None:
            shown = np.empty((1, *seat.env.worlds.shape), np.uint8)
            seat.env.worlds.observe(shown, np.empty((1, len(seat.env.signature)), np.bool_))
            if not np.array_equal(shown[0], observation):
                raise WorldError("this is not what the run's environment shows now: pass the environment that it is of (env=...)")
        return seat.probabilities()

    def act(self, observation: npt.NDArray[np.uint8] | None = None, *, env: GridWorldEnv | None = None, greedy: bool = False) -> int:
        """The action of the run's policies in its environment: the one that `env()` made last, unless another one of the run is given.

        The policies follow the machine through the episode, and remember what they have to: ask them after `reset` and after every
        `step`. `observation` is what the environment returned last; it may be left out. Actions are drawn with the environment's own
        random numbers (`env.reset(seed=...)`), or are the most probable ones if `greedy`. Before a machine is known that can accept, they
        are random."""
        probabilities = self.probabilities(observation, env=env)
        if greedy and probabilities.max() > probabilities.min():
            return int(np.argmax(probabilities))
        drawn = self._seated(env).env.np_random.random()
        return min(int(np.searchsorted(np.cumsum(probabilities), drawn, side="right")), len(probabilities) - 1)

    def _seated(self, env: Any) -> _Seat:
        env = None if env is None else env.unwrapped
        if env is not None and (self._seat is None or self._seat.env is not env):
            self._seat = _Seat(self.folder, env)
        if self._seat is None:
            raise WorldError("there is no environment to act in: make one with run.env()")
        return self._seat

    def rollout(self, *, map: int | None = None, held_out: bool = False, greedy: bool = False, seed: int = 0) -> Rollout:
        """An episode that its policies play: on the map of this number, or on a random one. It is the one that `draw` draws."""
        for name, number in (("map", map), ("seed", seed)):
            if number is not None and number < 0:
                raise WorldError(f"{name} is a whole number, 0 or more, not {number}")
        map, observations, actions, labels, states, outcome, shortest = play_episode(
            self.folder, map=map, held_out=held_out, greedy=greedy, seed=seed
        )
        few, exact = shortest if shortest is not None else (None, True)
        ending: Any = outcome
        return Rollout(map, held_out, observations, actions, labels, states, ending, few, exact)

    def draw(self, path: str | os.PathLike[str], *, map: int | None = None, held_out: bool = False, greedy: bool = False, seed: int = 0) -> Path:
        """Draws an episode that its policies play: `.gif` or `.svg` with every step, `.png` its end, `.txt` text."""
        command = ["draw", str(self.folder), "-o", os.fspath(path), "--seed", str(seed)]
        command += [] if map is None else ["--map", str(map)]
        command += (["--held-out"] if held_out else []) + (["--greedy"] if greedy else [])
        _answer(command)
        return Path(path)

    def _setting(self, name: str, kind: type[T]) -> T:
        """A value of its configuration."""
        value = self.config.get(name)
        if not isinstance(value, kind):
            raise damaged(self.folder / "config.toml", f"expected a {'text' if kind is str else 'number'} `{name}`, not {value!r}")
        return value

    def __repr__(self) -> str:
        result = self.result
        state = "not over" if result is None else str(result.get("ending", "over"))
        rows = self.metrics
        # The first row is the evaluation before the first iteration.
        iterations = int(rows[-1].get("iteration") or 0) if rows else 0
        return f"<Run {str(self.folder)!r}: {state}, {iterations} iterations, success {self.success}>"


def load_run(folder: str | os.PathLike[str]) -> Run:
    """A run that `formrl.train` or `form train` made."""
    return Run(folder)


def train(
    task: Task | str | os.PathLike[str],
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
    """Trains a task, a built-in one by its name, a `.toml` file or a `Task`, as `form train` does; the run.

    `out` is its folder, `runs/TASK-METHOD-SEED` unless given. A `Task` that is not built in is written to a file beside it, `OUT.toml`, and
    a `Machine` to `OUT.form`; a file there that holds something else is never replaced, but a `FileError`. `method`: `form`, `handcrafted`, `propositional`, `ppo`, `recurrent-ppo`,
    `single-policy` or `reach-avoid`. `settings` are those of `config.toml` by name (`{"ppo.gamma": 0.99}`). Ctrl-C stops it after the
    iteration that is under way, and raises `KeyboardInterrupt`: `formrl.resume` goes on.
    """
    called = task.name if isinstance(task, Task) else Path(task).stem
    folder = Path(out) if out is not None else Path("runs") / f"{called}-{method}-{seed}"
    if isinstance(task, Task):
        task = _file_of(task, folder)
    command = ["train", os.fspath(task), "--method", method, "--seed", str(seed), "--out", str(folder)]
    command += [] if preset is None else ["--preset", preset]
    for name, value in (("--iterations", iterations), ("--layouts", layouts)):
        command += [] if value is None else [name, str(value)]
    if isinstance(machine, Machine):
        machine = _file_of_machine(machine, folder)
    command += [] if machine is None else ["--machine", os.fspath(machine)]
    for name, given in (settings or {}).items():
        command += ["--set", f"{name}={given if isinstance(given, str) else json.dumps(given)}"]
    return _trained(command, folder, progress)


def resume(folder: str | os.PathLike[str], *, iterations: int | None = None, progress: Progress = True) -> Run:
    """Goes on with a run that was stopped; with `iterations`, up to that number of them."""
    command = ["train", "--resume", os.fspath(folder)]
    command += [] if iterations is None else ["--iterations", str(iterations)]
    return _trained(command, Path(folder), progress)


def _file_of(task: Task, folder: Path) -> str | Path:
    """What the trainer calls a task: its name if it is built in, else a file beside the run's folder."""
    if task.name in Task.builtin() and Task(task.name).to_toml() == task.to_toml():
        return task.name
    place, text = folder.parent / f"{folder.name}.toml", task.to_toml()
    if not _is_there(place, "task", lambda: Task(place).to_toml() == text):
        write_atomic(place, text.encode())
    return place


def _file_of_machine(machine: Machine, folder: Path) -> Path:
    """The machine in a file beside the run's folder."""
    place = folder.parent / f"{folder.name}.form"
    if not _is_there(place, "machine", lambda: Machine.read(place) == machine):
        machine.write(place)
    return place


def _is_there(place: Path, what: str, is_this_one: Callable[[], bool]) -> bool:
    """Whether the file is there already. One with something else may be the user's own, and is not replaced."""
    if not os.path.lexists(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        return False
    try:
        if is_this_one():
            return True
    except (FormError, OSError):
        pass
    raise FileError(
        f"{place}: the {what} would be written to this file, which holds something else: name another folder with `out`, or remove the file",
        os.fspath(place),
    )


def _trained(command: list[str], folder: Path, progress: Progress) -> Run:
    with tempfile.TemporaryDirectory() as temporary:
        return _trained_telling(command, folder, progress, Path(temporary) / "error.txt")


def _trained_telling(command: list[str], folder: Path, progress: Progress, refusal: Path) -> Run:
    """Trains; the trainer writes why it refuses to a file, since that is raised and need not be shown."""
    shown = progress is True
    # A terminal gets the trainer's own display. Where there is none, as in a notebook, lines are handed on to Python's streams.
    terminal = shown and all(_is_terminal(stream) for stream in (sys.stdout, sys.stderr))
    told = len(read_rows(folder / "metrics.csv"))
    child = subprocess.Popen(
        [sys.executable, "-m", "formrl", ERROR_FILE, str(refusal), *command],
        stdout=None if terminal else subprocess.PIPE,
        stderr=None if terminal else subprocess.PIPE,
        text=True,
        # A terminal's Ctrl-C would reach it as well as this process, and the second one means "at once".
        start_new_session=True,
    )
    output: list[str] = []
    errors: list[str] = []
    streams = ((child.stdout, sys.stdout, output), (child.stderr, sys.stderr, errors))
    readers = [
        Thread(target=_hand_on, args=(source, to if shown else None, kept), daemon=True) for source, to, kept in streams if source
    ]
    for reader in readers:
        reader.start()
    try:
        while True:
            try:
                child.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                told = _tell(folder, progress, told)
    except BaseException:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    finally:
        for reader in readers:
            reader.join()
    _tell(folder, progress, told)
    if child.returncode not in (0, 1) or not (folder / "config.toml").exists():
        said = refusal.read_text(encoding="utf-8", errors="replace") if refusal.exists() else ""
        raise TrainError(said or refusal_of(errors) or f"the trainer ended with exit code {child.returncode}: see above")
    return Run(folder)


def _is_terminal(stream: Any) -> bool:
    """Whether it is one to which another program can write."""
    try:
        return bool(stream.isatty()) and os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return False


def _hand_on(source: IO[str], to: Any, kept: list[str]) -> None:
    """Writes lines as they come, and keeps the last ones."""
    with source:
        for line in source:
            kept.append(line)
            del kept[:-100]
            if to is not None:
                to.write(line)
                to.flush()


def refusal_of(lines: list[str]) -> str:
    """What a command said last: from its error on, if there is one."""
    first = next((i for i, line in enumerate(lines) if line.startswith("error: ")), 0)
    said = "".join(lines[first:]).strip().removeprefix("error: ")
    return said.split("\n\nFor more information", 1)[0]


def _tell(folder: Path, progress: Progress, told: int) -> int:
    if not callable(progress):
        return told
    rows = read_rows(folder / "metrics.csv")
    for row in rows[told:]:
        progress(row)
    return max(told, len(rows))


def _answer(command: list[str]) -> str:
    ended = subprocess.run([sys.executable, "-m", "formrl", *command], capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise TrainError(refusal_of(ended.stderr.splitlines(keepends=True)) or f"exit code {ended.returncode}")
    return ended.stdout
