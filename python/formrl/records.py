"""What questions to machines and learners are answered with: plain records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import LearnError

if TYPE_CHECKING:
    from formrl._native import Machine, Signature

Outcome = Literal[
    "minimal", "shortest-description", "time-limit", "state-limit", "memory-limit", "interrupted", "contradictory"
]
"""What came of learning."""


class Edge(NamedTuple):
    """An edge of a machine."""

    source: str
    formula: str
    target: str
    reward: float | None = None
    """Its own reward; without one it is 1 into the accepting state and 0 elsewhere."""


class Steps(NamedTuple):
    """What an observation did to each of many monitors."""

    states: npt.NDArray[np.int32]
    """The number of the state after it."""
    rewards: npt.NDArray[np.float64]
    over: npt.NDArray[np.bool_]
    """Whether that state is terminal."""
    changed: npt.NDArray[np.bool_]
    """Whether it is another one than before."""


class PureStep(NamedTuple):
    """What an observation does in a state with a window, as ``BoundMachine.step`` says."""

    state: int
    """The number of the state after it."""
    window: npt.NDArray[np.bool_]
    """Two rows: what has been seen since that state was entered, and the newest observation."""
    reward: float
    over: bool
    """Whether the state is terminal."""


class PureSteps(NamedTuple):
    """The same for many, one row each."""

    states: npt.NDArray[np.int32]
    windows: npt.NDArray[np.bool_]
    rewards: npt.NDArray[np.float64]
    over: npt.NDArray[np.bool_]


class MachineRun(NamedTuple):
    """A trace as a machine sees it."""

    states: list[str]
    """The state at the start and after every observation."""
    rewards: list[float]
    """The reward of every observation."""
    verdict: Literal["goal", "dead-end", "incomplete"]
    """How the machine stands after the last one."""


class Reaction(NamedTuple):
    """How a machine reacted to an observation."""

    state: str
    progress: Literal["running", "accepted", "rejected"]
    reward: float


class Difference(NamedTuple):
    """A shortest trace on which two machines differ, at its last observation."""

    trace: list[list[str]]
    first: Reaction
    second: Reaction


class Overlap(NamedTuple):
    """Two edges of one state with different targets that can hold together."""

    state: str
    first: int
    """The number of the earlier edge, which wins."""
    second: int
    witness: str
    """Observations after which both hold."""
    in_a_run: bool | None
    """Whether a run can come there; `None` if that is not known."""


@dataclass(frozen=True)
class Report:
    """The problems of a machine, independent of traces."""

    deterministic: bool
    """Whether no two edges with different targets can hold together, proven for every pair."""
    overlaps: list[Overlap]
    never_fire: list[tuple[int, Literal["contradiction", "shadowed", "left-before"]]]
    """Edges, by number, that no run takes, and why."""
    unreachable: list[str]
    """States that no run reaches."""
    cannot_accept: list[str]
    """States from which no run accepts."""
    without_positive_atom: list[int]
    """Edges, by number, that hold when nothing in particular is observed."""
    undecided: list[list[int]] = field(default_factory=list)
    """Questions about an edge or a pair of them that were too large to decide."""

    @property
    def problems(self) -> list[str]:
        """All of it in words; empty if there is nothing to complain about."""
        found = [
            f"in {o.state}, edges {o.first} and {o.second} can hold together: {o.witness}"
            for o in self.overlaps
        ]
        found += [f"edge {edge} never fires: {why}" for edge, why in self.never_fire]
        found += [f"state {state} cannot be reached" for state in self.unreachable]
        found += [f"from state {state} no run accepts" for state in self.cannot_accept]
        found += [f"edge {edge} has no positive atom" for edge in self.without_positive_atom]
        found += [f"too large to decide: edges {edges}" for edges in self.undecided]
        return found

    def __bool__(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.problems


class Round(NamedTuple):
    """What one number of states took."""

    states: int
    counterexamples: int
    steps: int
    solver_calls: int
    clauses: int
    seconds: float
    refuted: bool
    """Whether it was proven that this number of states does not suffice."""


class Suspect(NamedTuple):
    """A trace that the learnt machine misjudges. Of traces that were given several times, each is one."""

    trace: int
    """Its index in what was given, from 0, duplicates counted: in the list, among the traces of a file (of several files together), or
    among the calls of ``Learner.add``."""
    expected: str
    """The kind that the machine expects: ``goal``, ``dead-end`` or ``incomplete``."""
    after: int
    """The number of observations after which machine and trace disagree."""
    file: str | None = None
    """The name of its file, if it is from one."""
    line: int | None = None
    """Its line there, from 1."""


class Level(NamedTuple):
    """How many traces machines with at most one number of states misjudge."""

    states: int
    fewest_misjudged: int
    """The fewest of a machine that was found, duplicates counted."""
    at_least: int
    """No machine misjudges fewer. With ``tolerate="auto"`` that is not asked: 0."""
    bits: float | None = None
    """With ``tolerate="auto"``: the length of the shortest description that was found, if one was."""
    shortest_proven: bool = False
    """Whether no machine with that number of states has a shorter description."""

    @property
    def proven(self) -> bool:
        """Whether no machine misjudges fewer than the one that was found."""
        return self.fewest_misjudged == self.at_least


@dataclass(frozen=True, repr=False)
class LearnResult:
    """What came of learning. A limit that was reached is an outcome like others."""

    machine: Machine | None
    """The smallest machine; after a limit the best one so far, if one was found."""
    outcome: Outcome
    states: int | None
    """The states of the machine, the accepting and the rejecting one not counted."""
    cost: int | None
    """Its edges and literals together."""
    at_least_states: int
    """No machine with fewer states is consistent with the traces."""
    at_least_cost: int
    """With just that many states, no machine has fewer edges and literals."""
    contradictions: list[tuple[int, int]]
    """Pairs of traces that contradict each other, as indices in what was given (see ``Suspect.trace``): of duplicates the first ones.
    A trace that is over before its first observation is paired with itself."""
    rounds: list[Round]
    signature: Signature
    traces: int
    """How many different traces there were."""
    seconds: float
    tolerance: tuple[int, list[Suspect], list[Level], list[Suspect] | None] = field(
        default=(0, [], [], []), repr=False
    )
    """``misjudged``, ``suspects``, ``levels`` and ``other_suspects``."""
    sentence: str = field(default="", repr=False)
    """What was found and proven, as ``form learn`` says it: see ``explain``."""

    def require(self) -> Machine:
        """The machine; a ``LearnError`` that says why, if there is none."""
        if self.machine is None:
            raise LearnError(self.explain())
        return self.machine

    def explain(self) -> str:
        """What was found and proven, or why there is no machine, and what to do then."""
        if self.machine is not None or self.outcome == "interrupted":
            return self.sentence
        advice = {
            "contradictory": "the labels do not tell these episodes apart: observe more, or allow traces to be wrong (tolerate=1)",
            "state-limit": "allow more (max_states, max_disjuncts=2, cyclic=True, tolerate=1), or observe more: labels that "
            "do not tell episodes apart need machines without end",
            "time-limit": "allow more time (time_limit), or fewer traces",
            "memory-limit": "allow more memory (memory_limit), or fewer traces",
        }
        return f"{self.sentence}. What to do: {advice[self.outcome]}"

    def __repr__(self) -> str:
        """A line, not the machine: that is ``print(result.machine)``."""
        return f"<LearnResult {self.outcome}: {self.sentence}; {self.traces} traces, {self.seconds:.2f} s>"

    def _repr_svg_(self) -> str | None:
        """The machine as notebooks draw it."""
        return None if self.machine is None else self.machine.to_svg()

    @property
    def misjudged(self) -> int:
        """How many traces the machine misjudges, duplicates counted: none without ``tolerate``."""
        return self.tolerance[0]

    @property
    def suspects(self) -> list[Suspect]:
        """The traces that the machine misjudges, duplicates listed: ``misjudged`` of them."""
        return self.tolerance[1]

    @property
    def other_suspects(self) -> list[Suspect] | None:
        """What another machine of the same size misjudges, no more but other traces: any of these may be wrong as well.

        Empty if it is proven that there is no such machine, ``None`` if that is not known.
        """
        return self.tolerance[3]

    @property
    def levels(self) -> list[Level]:
        """For each number of states, the fewest misjudged traces: empty without ``tolerate``."""
        return self.tolerance[2]

    @property
    def minimal(self) -> bool:
        """Whether the machine is proven to be the smallest: with ``tolerate="auto"`` that is not claimed."""
        return self.outcome == "minimal"
