"""The types of the native half of the package, with what its classes and functions do."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import IO, Any, Literal, Self, final, overload

import numpy as np
import numpy.typing as npt

from formrl.records import (
    Difference,
    Edge,
    LearnResult,
    MachineRun,
    PureStep,
    PureSteps,
    Report,
    Steps,
)

__all__ = [
    "__version__",
    "BenchmarkWorld",
    "BenchmarkWorlds",
    "BoundMachine",
    "LabelledMdp",
    "Learner",
    "Machine",
    "Monitor",
    "Monitors",
    "Player",
    "Policy",
    "QLearner",
    "ReachAvoidPolicy",
    "SubTasks",
    "Recorder",
    "Signature",
    "Step",
    "Task",
    "Trace",
    "TraceReader",
    "Worlds",
    "learn",
    "learning_curve",
    "optimum",
    "play_episode",
    "read_signature",
    "read_traces",
    "run_command",
    "write_traces",
]

__version__: str

_Kind = Literal["goal", "dead-end", "incomplete"]
_Labels = Iterable[str] | Mapping[str, bool] | int | npt.NDArray[np.bool_]
_Path = str | PathLike[str]
_Atoms = Signature | Iterable[str]
_TraceLike = Trace | tuple[str, Iterable[Iterable[str]]] | list[Any] | dict[str, Any]
_Traces = Iterable[_TraceLike | _Path | IO[str] | IO[bytes]] | _Path | IO[str] | IO[bytes]
_Booleans = npt.NDArray[np.bool_]
_Observations = npt.NDArray[np.uint8] | npt.NDArray[np.float32] | npt.NDArray[np.int64]

@final
class Signature:
    """The ground atoms that can be observed, in the order in which they are given: that of the columns of arrays and of the bits of integers. A set, which has no order, is taken in natural order. Signatures are equal if their columns are."""
    def __new__(cls, atoms: Iterable[str]) -> Self: ...
    @property
    def atoms(self) -> list[str]:
        """The atoms in order."""
    def index(self, atom: str) -> int:
        """The position of an atom; a `LabelError` if it cannot be observed."""
    def encode(self, labels: _Labels) -> _Booleans:
        """An observation as a row of booleans, one per atom."""
    def decode(self, labels: _Labels) -> list[str]:
        """The atoms of an observation, in order."""
    def union(self, other: _Atoms) -> Signature:
        """The atoms of both: first its own, then those that only the other one has."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> str: ...
    def __contains__(self, atom: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Machine:
    """A first-order reward machine."""
    def __new__(
        cls,
        *,
        initial: str,
        edges: Iterable[
            Edge | tuple[str, str, str] | tuple[str, str, str, float | None]
        ],
        accepting: str,
        rejecting: str | None = None,
        name: str = "machine",
        states: list[str] | None = None,
        steps: Literal["changes", "all"] = "changes",
    ) -> Self: ...
    @property
    def steps(self) -> Literal["changes", "all"]:
        """Which environment steps it observes: `"changes"` or `"all"`."""
    def with_steps(self, steps: Literal["changes", "all"]) -> Machine:
        """The same machine, observing every change (`"changes"`) or every step (`"all"`)."""
    @staticmethod
    def parse(text: str) -> Machine:
        """Reads the `.form` text of a machine."""
    @staticmethod
    def from_line(text: str) -> Machine:
        """Reads a machine that is written in one line: formulae separated by `;`, the next step of a chain each, which ends in acceptance;
        `never FORMULA` rejects from every state, `u1 -> u0 : FORMULA` is a further edge."""
    @staticmethod
    def from_json(text: str) -> Machine:
        """Reads the JSON form of a machine."""
    @staticmethod
    def read(path: _Path) -> Machine:
        """Reads a machine file: `.form`, JSON, the paper's reference code or Toro Icarte's format."""
    def write(self, path: _Path) -> None:
        """Writes a machine file: JSON if its name ends in `.json`, and `.form` if it ends in that or has no extension."""
    def to_json(self) -> str:
        """The JSON form, on one line."""
    def to_svg(self) -> str:
        """A drawing as SVG."""
    def to_dot(self) -> str:
        """A drawing for Graphviz."""
    def to_mermaid(self) -> str:
        """A drawing for Mermaid."""
    def to_text(self) -> str:
        """A drawing in text."""
    def to_asp(self, signature: _Atoms | None = None) -> str:
        """The paper's answer set program for it."""
    def _repr_svg_(self) -> str:
        """What notebooks show: the machine as a drawing."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def states(self) -> list[str]:
        """The names of its states, the terminal ones last unless it was written otherwise."""
    @property
    def initial(self) -> str:
        """The state in which runs start."""
    @property
    def accepting(self) -> str:
        """The state that means the task is done."""
    @property
    def rejecting(self) -> str | None:
        """The state that means the task has become impossible, if there is one."""
    @property
    def edges(self) -> list[Edge]:
        """The edges in the order in which they are tried, as `Edge(source, formula, target, reward)`."""
    def renamed(self, name: str) -> Machine:
        """The same machine under another name."""
    def bind(self, signature: _Atoms) -> BoundMachine:
        """The machine, compiled for a signature or a collection of atoms."""
    def run(
        self, trace: _TraceLike | Iterable[Any], signature: _Atoms | None = None
    ) -> MachineRun:
        """What the machine makes of a trace, or of observations in order, as a `MachineRun`. Without a signature, over that of the trace."""
    def check(self, signature: _Atoms | None = None) -> Report:
        """What is wrong with the machine, as a `Report`; without a signature, over any objects."""
    def ground(
        self, signature: _Atoms, *, observations: Literal["all", "single"] = "all"
    ) -> Machine:
        """The equivalent machine without quantifiers, for observations of `"all"` sets of atoms or of a `"single"` atom at a time."""
    def diff(
        self,
        other: Machine,
        signature: _Atoms | None = None,
        *,
        observations: Literal["all", "single"] = "all",
        rewards: bool = True,
    ) -> Difference | None:
        """A shortest trace on which two machines differ, as a `Difference`, or `None` if they are equivalent."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class BoundMachine:
    """A machine compiled for a signature: what monitors run."""
    def __new__(cls, machine: Machine, signature: _Atoms) -> Self: ...
    @property
    def machine(self) -> Machine:
        """The machine."""
    @property
    def signature(self) -> Signature:
        """What can be observed."""
    def progress_atoms(self, state: str | int) -> list[str]:
        """The atoms that the `forall`s on the edges out of a state wait for: with "seen since the state was entered" of these, the state's sub-task is Markovian."""
    def monitor(self) -> Monitor:
        """A monitor in the initial state."""
    def monitors(self, n: int) -> Monitors:
        """`n` monitors that are stepped together."""
    def start(self) -> tuple[int, _Booleans]:
        """The state in which runs start, by number, and an empty window: two rows of booleans, what has been seen since the state was entered, and the newest observation."""
    @overload
    def step(self, state: str | int, window: _Booleans, labels: _Labels) -> PureStep: ...
    @overload
    def step(self, state: npt.NDArray[Any], window: _Booleans, labels: _Booleans) -> PureSteps: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Monitor:
    """A run of a machine that is fed what an environment observes, one observation per step."""
    def __new__(cls, machine: BoundMachine) -> Self: ...
    def observe(self, labels: _Labels) -> Step:
        """Takes what was observed in one step: a collection of labels, a dictionary from labels to truth values, a row of booleans, or an integer of bits."""
    @property
    def machine(self) -> BoundMachine:
        """The machine it runs."""
    @property
    def state(self) -> str:
        """The name of the present state."""
    @property
    def state_index(self) -> int:
        """The number of the present state among the machine's states."""
    @property
    def seen(self) -> list[str]:
        """What has been observed since the state was entered."""
    @property
    def newest(self) -> list[str]:
        """The last observation that counted."""
    @property
    def seen_row(self) -> _Booleans:
        """`seen` as a row of booleans, one per atom of the signature: a copy, which cannot be written to."""
    @property
    def is_over(self) -> bool:
        """Whether the state is terminal."""
    @property
    def verdict(self) -> _Kind:
        """How the run stands: `"goal"`, `"dead-end"` or `"incomplete"`, the kinds of traces."""
    def reset(self) -> None:
        """Starts a new episode."""
    def __copy__(self) -> Monitor: ...
    def __deepcopy__(self, memo: Any, /) -> Monitor: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, _Booleans, _Booleans], /) -> None: ...

@final
class Step:
    """What an observation did."""
    @property
    def state(self) -> str:
        """The name of the state after it."""
    @property
    def state_index(self) -> int:
        """The number of the state after it."""
    @property
    def reward(self) -> float:
        """The reward of the edge that was taken, 0 if none was."""
    @property
    def changed(self) -> bool:
        """Whether the state is another one than before."""
    @property
    def edge(self) -> int | None:
        """The number of the edge that was taken, if one was."""
    @property
    def over(self) -> bool:
        """Whether the state is terminal."""

@final
class Monitors:
    """Many runs of one machine, stepped together."""
    def __new__(cls, machine: BoundMachine, n: int) -> Self: ...
    def observe(
        self,
        labels: _Booleans,
        out: Steps | None = None,
        mask: _Booleans | None = None,
    ) -> Steps:
        """Takes one observation for every monitor, a row of booleans each; `out`, what an earlier call returned, is written to and returned."""
    def reset(self, mask: _Booleans | None = None) -> None:
        """Starts a new episode in all monitors, or in those that `mask` marks."""
    @property
    def machine(self) -> BoundMachine:
        """The machine they run."""
    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The number of the state of each, among the machine's states. This and the next three are copies, which cannot be written to."""
    @property
    def seen(self) -> _Booleans:
        """Whether each has seen each atom since it entered its state."""
    @property
    def newest(self) -> _Booleans:
        """The last observation of each that counted."""
    @property
    def over(self) -> _Booleans:
        """Whether the state of each is terminal."""
    def __len__(self) -> int: ...
    def __copy__(self) -> Monitors: ...
    def __deepcopy__(self, memo: Any, /) -> Monitors: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(
        self, state: tuple[npt.NDArray[np.int32], _Booleans, _Booleans], /
    ) -> None: ...

@final
class Trace:
    """The observations of an episode and how it ended: `"goal"`, `"dead-end"` or `"incomplete"`."""
    def __new__(
        cls,
        kind: str,
        steps: Iterable[_Labels],
        signature: _Atoms | None = None,
        compress: bool = True,
        own_signature: Iterable[str] | None = None,
    ) -> Self: ...
    @property
    def own_signature(self) -> list[str] | None:
        """The atoms that can be observed in this trace, if it says so: `forall` then ranges over its own objects."""
    @property
    def kind(self) -> _Kind:
        """How it ended: `"goal"`, `"dead-end"` or `"incomplete"`."""
    @property
    def steps(self) -> list[list[str]]:
        """The observations."""
    @property
    def signature(self) -> Signature:
        """What could be observed."""
    @property
    def compress(self) -> bool:
        """Whether only changes count; if not, every step does."""
    def to_json(self) -> str:
        """The line of a trace file."""
    def agrees(self, machine: BoundMachine | Machine) -> bool:
        """Whether a machine ends as the trace does, and not before. One that is not bound is bound to the trace's signature."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Recorder:
    """Collects the observations of an episode, the one at reset included."""
    def __new__(cls, signature: _Atoms, compress: bool = True) -> Self: ...
    def observe(self, labels: _Labels) -> bool:
        """Takes what was observed in one step; whether it became a step of the trace."""
    @property
    def steps(self) -> list[list[str]]:
        """The steps so far."""
    def finish(self, kind: str) -> Trace:
        """The trace of the episode, which ended so; the recorder is ready for the next one."""

@final
class TraceReader:
    """The traces of a file, one after the other; `signature` is what can be observed. The file is read as the traces are asked for."""
    @property
    def signature(self) -> Signature:
        """What can be observed: what the file declares, else what occurs in it."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Trace: ...

def read_traces(path: _Path, signature: _Atoms | None = None) -> TraceReader:
    """The traces of a file of JSON Lines, gzipped or not, as an iterator."""
def read_signature(path: _Path) -> Signature:
    """The signature that a file declares: a trace file, or a list of atoms, one per line."""
def write_traces(
    path: _Path, traces: _Traces, signature: _Atoms | None = None
) -> int:
    """Writes traces as JSON Lines, gzipped if the name ends in `.gz`; the first line declares the signature, if one is given. Traces are what `learn` takes. Returns how many there were."""
@final
class Learner:
    """Learns the smallest machine from traces that keep coming."""
    def __new__(
        cls,
        signature: _Atoms,
        *,
        max_disjuncts: int = 1,
        propositional: bool = False,
        cyclic: bool = False,
        forall_alone: bool = True,
        once: bool = False,
        counts: int = 1,
        joins: bool = False,
    ) -> Self: ...
    def add(self, trace: _TraceLike) -> int | None:
        """Adds a trace; its number, or `None` if it was there already. Traces are numbered as they are added, from 0, duplicates counted."""
    def remove(self, trace: _TraceLike) -> bool:
        """Takes a trace back, as often as it was added; whether it was there. Traces that were added after it have other numbers then."""
    def copy(self) -> Learner:
        """A learner with the same options and traces, which goes its own way."""
    @staticmethod
    def _made(signature: Signature, options: dict[str, Any], traces: Iterable[Trace]) -> Learner: ...
    def __copy__(self) -> Learner: ...
    def __deepcopy__(self, memo: Any, /) -> Learner: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def learn(
        self,
        *,
        max_states: int = 10,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        progress: Callable[[int], object] | None = None,
        tolerate: int | str | None = None,
    ) -> LearnResult:
        """The smallest machine that is consistent with all traces added so far, as a `LearnResult`."""
    @property
    def traces(self) -> int:
        """How many different traces there are."""
    @property
    def signature(self) -> Signature:
        """What can be observed."""

def learn(
    traces: _Traces,
    signature: _Atoms | None = None,
    *,
    max_disjuncts: int = 1,
    propositional: bool = False,
    cyclic: bool = False,
    forall_alone: bool = True,
    once: bool = False,
    counts: int = 1,
    joins: bool = False,
    max_states: int = 10,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[int], object] | None = None,
    tolerate: int | str | None = None,
    lifted: bool = False,
) -> LearnResult:
    """The smallest machine that is consistent with traces: a file's name, an open file, or any collection of files, `Trace`s, pairs of kind and steps, and dictionaries as `json.loads` reads them from the lines of a trace file. Traces that the result names have their index in the collection as number, and their file and line where they are from one."""
@final
class Task:
    """A task: a room, what lies in it, and the machine that says when it is done."""
    def __new__(cls, name: _Path) -> Self: ...
    @staticmethod
    def builtin() -> list[str]:
        """The names of the built-in tasks."""
    @staticmethod
    def from_toml(text: str) -> Task:
        """Reads the text of a task file whose machine stands in it."""
    def to_toml(self) -> str:
        """The text of a task file, its machine in it."""
    @property
    def name(self) -> str:
        """What it is called."""
    @property
    def about(self) -> str:
        """What is to be done, in one sentence."""
    @property
    def signature(self) -> Signature:
        """What can be observed."""
    @property
    def machine(self) -> Machine:
        """The ground truth."""
    @property
    def steps(self) -> int:
        """After how many steps an episode is cut off."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Worlds:
    """Many worlds of one task, or of one benchmark. Arrays that are passed in are written to in place; Python's lock is not held meanwhile."""
    def __new__(
        cls,
        task: Task,
        n: int,
        *,
        seed: int = 0,
        view: Literal["symbols", "identities", "planes", "egocentric"] = "symbols",
        actions: Literal["all", "moves"] = "all",
        starts: Literal["anywhere", "of-the-map"] = "anywhere",
        maps: int | None = None,
        map_seed: int = 0,
        held_out: bool = False,
    ) -> Self: ...
    @staticmethod
    def of_benchmark(worlds: list[BenchmarkWorld]) -> Worlds:
        """Copies of worlds of a benchmark with the same atoms and the same kind of observation; their maps may differ."""
    def restart(self, seed: int) -> None:
        """Starts over with another seed: the first episode in every world."""
    def begin(self, mask: _Booleans | None = None) -> None:
        """Starts the next episode in all worlds, or in those that are marked."""
    def step(
        self,
        actions: npt.NDArray[np.int64],
        observations: _Observations,
        rewards: npt.NDArray[np.float64],
        terminated: _Booleans,
        truncated: _Booleans,
        labels: _Booleans,
        *,
        autoreset: Literal["next", "same", "off"] = "next",
        last: _Observations | None = None,
        last_labels: _Booleans | None = None,
    ) -> None:
        """Takes one action in every world and writes what came of it."""
    def observe(self, observations: _Observations, labels: _Booleans) -> None:
        """Writes what is to be seen and the labels, as they are now."""
    def outcome(self, world: int) -> str:
        """Where the episode of a world stands: `"running"`, `"goal"`, `"dead-end"` or `"out-of-time"`."""
    def labels(self, world: int) -> list[str]:
        """What the last step of a world made true."""
    def placed_atoms(
        self, world: int
    ) -> tuple[_Booleans, dict[str, list[tuple[int, int]]]]:
        """The walls of a world, by column and row, and for each atom the cells in which it is observed."""
    def pose(self, world: int) -> tuple[tuple[int, int], int]:
        """The agent's cell and direction in a world; directions are MiniGrid's numbers."""
    def to_text(self, world: int, colours: bool = False) -> str:
        """A world as text, with colours for terminals if they are wanted."""
    def to_rgb(self, world: int, scale: int = 32) -> npt.NDArray[np.uint8]:
        """A world as pixels, `scale` per cell."""
    @property
    def shape(self) -> tuple[int, int, int]:
        """Columns, rows and channels of an observation."""
    @property
    def channels(self) -> list[tuple[str, int]]:
        """The channels of an observation: their names and the largest value of each."""
    @property
    def actions(self) -> list[str]:
        """The names of the actions."""
    def __len__(self) -> int: ...

@final
class Player:
    """The policies of a run, asked step by step in the first of some worlds: `begin` after a reset, `observe` after a step."""
    def __new__(cls, folder: _Path, worlds: Worlds) -> Self: ...
    @property
    def state(self) -> str:
        """The name of the machine's state."""
    def begin(self, worlds: Worlds) -> None:
        """An episode has begun."""
    def observe(self, worlds: Worlds, action: int) -> bool:
        """The world has taken this action; whether the machine agrees with it so far."""
    def probabilities(self, worlds: Worlds) -> npt.NDArray[np.float64]:
        """The probabilities of the actions now; those of all are the same where the run has no policy for the situation."""

def play_episode(
    folder: _Path, *, map: int | None = None, held_out: bool = False, greedy: bool = False, seed: int = 0
) -> tuple[int, npt.NDArray[np.uint8], list[int], list[list[str]], list[str], str, tuple[int, bool] | None]:
    """An episode that the policies of a run play: the one that `form draw` draws for the same map and seed."""

@final
class Policy:
    """A policy that was trained natively, as the native code runs it."""
    def __new__(cls, path: str | PathLike[str], state: str | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """The state that it acts in; `policy` where there is one for all."""
    @property
    def indicators(self) -> list[str]:
        """The ground atoms of its indicators, in order."""
    @property
    def actions(self) -> int:
        """The number of actions."""
    def evaluate(
        self,
        images: npt.NDArray[np.uint8] | None = None,
        vectors: npt.NDArray[np.float32] | None = None,
        state: npt.NDArray[np.float32] | None = None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Logits, values and, with memory, the states after them. Images are bytes and vectors numbers, one row per sample; without a `state`, nothing is remembered."""
    def probabilities(
        self,
        images: npt.NDArray[np.uint8] | None = None,
        vectors: npt.NDArray[np.float32] | None = None,
        state: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float32]:
        """The probabilities of the actions, one row per sample, for the arguments of `evaluate`."""

@final
class ReachAvoidPolicy:
    """The policy that carries out the sub-tasks of all machines. Called with planes and a pose, it returns the probabilities of the actions `left`, `right` and `forward`."""
    @staticmethod
    def shipped(*, shield: bool = False) -> ReachAvoidPolicy:
        """The policy that comes with the package. With a `shield` it never goes forward onto a cell to avoid."""
    @staticmethod
    def open(path: str | PathLike[str], *, shield: bool = False) -> ReachAvoidPolicy:
        """Reads a policy that `form pretrain` made."""
    @property
    def command(self) -> str:
        """The command that made the policy."""
    @property
    def seed(self) -> int:
        """The seed of its training."""
    @property
    def weights(self) -> list[float]:
        """The weights, in the order of the file's tensors."""
    def __call__(
        self,
        walls: npt.NDArray[np.bool_],
        reach: npt.NDArray[np.bool_],
        avoid: npt.NDArray[np.bool_],
        cell: tuple[int, int],
        direction: int,
    ) -> list[float]: ...

@final
class SubTasks:
    """The sub-tasks of a machine on one map: the cells to reach and to avoid, as the machine goes on."""
    def __new__(
        cls,
        machine: BoundMachine,
        walls: npt.NDArray[np.bool_],
        cells: Mapping[str, Sequence[tuple[int, int]]],
    ) -> Self: ...
    def reset(self) -> None:
        """Starts a new episode on the same map."""
    def observe(self, labels: Sequence[str]) -> None:
        """Takes what a step has made true."""
    @property
    def state(self) -> str:
        """The state of the machine."""
    def observations_left(self, cell: tuple[int, int]) -> int | None:
        """The least number of observations with which the machine accepts, for an agent in this cell; `None` if it cannot any more."""
    def planes(self, cell: tuple[int, int]) -> npt.NDArray[np.bool_]:
        """Walls, cells to reach and cells to avoid, as three planes by column and row, for an agent in this cell."""

@final
class BenchmarkWorld:
    """A world of a benchmark: an environment with labels and without a task."""
    @staticmethod
    def office(*, letters: bool = False) -> BenchmarkWorld:
        """Office world. With `letters`, atoms are those of the published machines."""
    @staticmethod
    def craft(
        *, seed: int = 0, map: str | None = None, letters: bool = False
    ) -> BenchmarkWorld:
        """Craft world: the random map of a seed, or the text of a map."""
    @staticmethod
    def water(*, seed: int = 0, letters: bool = False) -> BenchmarkWorld:
        """Water world with the balls of a seed."""
    @staticmethod
    def letter(size: int, letters: str, steps: int) -> BenchmarkWorld:
        """Letter world: letters in random cells of a torus."""
    @staticmethod
    def tasks(benchmark: str) -> list[tuple[str, Machine]]:
        """The tasks of a benchmark (`office`, `craft` or `water`), in the order of the published ones."""
    @property
    def signature(self) -> Signature:
        """What can be observed."""
    @property
    def actions(self) -> list[str]:
        """The names of the actions."""
    @property
    def shape(self) -> tuple[int, int, int] | None:
        """Columns, rows and channels of an image; `None` where observations are rows of numbers."""
    @property
    def bounds(self) -> tuple[list[float], list[float]]:
        """The smallest and the largest value of each number of an observation."""
    @property
    def map(self) -> str | None:
        """The map of the episode as text; `None` in Water world."""
    @property
    def cells(self) -> int | None:
        """The number of free cells; `None` in Water world."""
    @property
    def cell(self) -> int | None:
        """The number of the cell that the agent is in; `None` in Water world."""
    def table(self) -> LabelledMdp:
        """The map of the episode as a table, for tabular methods."""
    def reset(self, seed: int, episode: int) -> None:
        """Starts the episode of this number."""
    def step(self, action: int) -> bool:
        """Takes an action; whether the limit of steps is reached."""
    @property
    def labels(self) -> list[str]:
        """What the last step, or the reset, made true."""
    def vector(self) -> npt.NDArray[np.float32]:
        """The observation as a row of numbers."""
    def image(self) -> npt.NDArray[np.uint8]:
        """The observation as an image."""

@final
class LabelledMdp:
    """A finite MDP whose states are labelled, as a table."""
    def __new__(
        cls,
        signature: _Atoms,
        labels: _Booleans,
        outcomes: Sequence[Sequence[Sequence[tuple[float, int, float, bool]]]],
        starts: Sequence[tuple[float, int]],
    ) -> Self: ...
    @property
    def signature(self) -> Signature:
        """What can be observed."""
    @property
    def states(self) -> int:
        """The number of states."""
    @property
    def actions(self) -> int:
        """The number of actions."""
    def labels(self, state: int) -> list[str]:
        """What entering a state makes true."""
    def outcomes(self, state: int, action: int) -> list[tuple[float, int, float, bool]]:
        """The states that an action can lead to, with their probabilities."""

@final
class QLearner:
    """Tabular Q-learning over states and situations: machine states, with what matters of their windows."""
    def __new__(
        cls,
        machines: Sequence[BoundMachine],
        table: LabelledMdp | None = None,
        *,
        states: int = 0,
        actions: int = 0,
        learning_rate: float = 0.5,
        epsilon: float = 0.1,
        discount: float = 0.9,
        initial: float = 2.0,
        crm: bool = True,
        shaping: bool = False,
        environment_reward: bool = False,
        episode_steps: int = 1000,
        seed: int = 0,
    ) -> Self: ...
    def run(
        self, table: LabelledMdp, steps: int
    ) -> tuple[
        npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], _Booleans
    ]:
        """Plays and learns in a table for a number of steps: task, number of steps, reward and acceptance of every episode. Python's lock is not held meanwhile."""
    def begin(self, state: int, labels: _Labels) -> None:
        """Starts an episode of the next task in a state with these labels."""
    def act(self) -> int:
        """An action: random with probability epsilon, else the best one."""
    def learn(
        self,
        action: int,
        state: int,
        labels: _Labels,
        *,
        reward: float = 0.0,
        terminated: bool = False,
    ) -> tuple[int, int, float, bool] | None:
        """Learns from a step to a state with these labels. Returns task, number of steps, reward and acceptance of the episode once it is over."""
    def cut_off(self) -> tuple[int, int, float, bool] | None:
        """Ends the episode where it is, without an end of its task: task, number of steps, reward and acceptance. `None` if none is played."""
    @property
    def states(self) -> int:
        """The number of states of the environment."""
    @property
    def machines(self) -> list[BoundMachine]:
        """The machines, one per task."""
    @property
    def situations(self) -> list[tuple[int, str, list[str]]]:
        """Task, machine state and atoms seen in the window, of every situation."""
    @property
    def situation(self) -> int | None:
        """The number of the situation of the episode that is being played, if one is."""
    def values(self, state: int, situation: int) -> npt.NDArray[np.float64]:
        """The values of all actions in a state and a situation."""

def optimum(
    table: LabelledMdp,
    machines: Sequence[BoundMachine],
    *,
    epsilon: float = 0.1,
    discount: float = 0.9,
    environment_reward: bool = False,
    episode_steps: int = 1000,
    episodes: int = 1000,
    seed: int = 0,
) -> tuple[list[float], list[float]]:
    """Value iteration on the cross product: per task, the discounted value from the start, and the reward per step of the optimal policy with random actions of probability epsilon, averaged over episodes."""
def learning_curve(
    tasks: npt.NDArray[np.uint32],
    steps: npt.NDArray[np.uint32],
    rewards: npt.NDArray[np.float64],
    optimum: Sequence[float],
    window: int,
    tick: int,
) -> npt.NDArray[np.float64]:
    """The mean of reward per step over the last `window` episodes, relative to the optimum of their task, after every `tick` steps."""
def run_command(args: list[str], errors: _Path | None = None) -> int:
    """Runs a command of the binary `form` and returns its exit code; `args` begins with the name of the program. It may be called once in a process. An error is printed, or written to the file `errors` instead if it can be."""
