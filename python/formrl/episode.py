"""The run of a machine in one episode: state, reward, shaping, trace, and counterexamples.

Every integration (Gymnasium, PettingZoo, RLlib) passes labels and outcomes to an `Episode`. The rules are those of the native
trainer: the labels at reset count, shaping is potential-based (Ng, Harada, Russell 1999) with γ Φ(u′) − Φ(u) and Φ = 0 where the
episode terminates, and an episode in which the machine disagrees with the environment ends there, with a counterexample to learn
from. The reward of an edge that is taken at reset is that of the first step, too: `reset` has no reward to return.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from formrl._native import BoundMachine, Machine, Trace

from .shaping import Shaping, can_accept, potentials

__all__ = [
    "DEAD_END",
    "GOAL",
    "INCOMPLETE",
    "Episode",
    "StepResult",
    "can_accept",
    "is_terminal",
    "machine_of",
    "nothing_known",
    "potentials",
    "running_states",
    "shortest",
    "sub_task",
]

GOAL, DEAD_END, INCOMPLETE = "goal", "dead-end", "incomplete"


@dataclass(slots=True)
class StepResult:
    """The effect of one step on the machine."""

    before: int
    """The number of the state before it."""
    state: int
    """The number of the state after it."""
    reward: float
    """The machine's reward, not shaped; at the first step with that of the observation at reset."""
    shaping: float
    """The shaping reward γ Φ(u′) − Φ(u); 0 without shaping."""
    counterexample: Trace | None
    """The trace so far, if the machine disagrees with the environment."""
    terminated: bool
    """Whether the episode is over, by the environment or by the machine if that decides: not where it is a counterexample."""

    @property
    def changed(self) -> bool:
        """Whether the machine went to another state."""
        return self.state != self.before


class Episode:
    """The state of an episode.

    `shaping` is a `Shaping` or its discount; without one, rewards are not shaped. With `trusted` the machine is never wrong: it is
    the task.

    >>> from formrl import Machine, Signature
    >>> machine = Machine.parse("initial u0\\naccept u2\\nu0 -> u1 : key\\nu1 -> u2 : goal")
    >>> episode = Episode(machine.bind(Signature(["key", "goal"])), 1.0)
    >>> episode.begin([])
    >>> result = episode.advance(["key"], "incomplete")
    >>> episode.state, result.reward, round(result.shaping, 3)
    ('u1', 0.0, 0.333)
    >>> episode.advance(["goal"], "incomplete").counterexample
    Trace('incomplete', [['key'], ['goal']])
    """

    def __init__(self, machine: BoundMachine, shaping: float | Shaping | None = None, trusted: bool = False) -> None:
        self.machine = machine
        self.shaping = Shaping.of(shaping)
        self.trusted = trusted
        self.compress = machine.machine.steps == "changes"
        self.states: list[str] = machine.machine.states
        self.potentials: list[float] = (self.shaping.potentials(machine.machine) if self.shaping else potentials(machine.machine)).tolist()
        self.monitor = machine.monitor()
        self.steps: list[list[str]] = []
        self.seen_before: npt.NDArray[np.bool_] = self.monitor.seen_row
        self._owed = 0.0

    @property
    def state(self) -> str:
        """The name of the machine's state."""
        return self.monitor.state

    @property
    def state_index(self) -> int:
        """Its number."""
        return self.monitor.state_index

    @property
    def is_over(self) -> bool:
        """Whether the machine is in a terminal state."""
        return self.monitor.is_over

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """What has been observed since the state was entered, one boolean per atom."""
        return self.monitor.seen_row

    @property
    def newest(self) -> list[str]:
        """The last observation that counted."""
        return self.steps[-1] if self.steps else []

    def begin(self, labels: Any) -> None:
        """Starts an episode whose first observation, that at reset, is this."""
        self.monitor.reset()
        self.steps = []
        self._owed = self._observe(self.machine.signature.decode(labels))
        self.seen_before = self.monitor.seen_row

    def _observe(self, observed: list[str]) -> float:
        if not self.compress or observed and (not self.steps or observed != self.steps[-1]):
            self.steps.append(observed)
        return self.monitor.observe(observed).reward

    def advance(self, labels: Any, kind: str, ended: bool = False) -> StepResult:
        """Processes a step: its labels, the environment's outcome, `goal`, `dead-end` or `incomplete`, and whether it terminated."""
        return self.advance_decoded(self.machine.signature.decode(labels), kind, ended)

    def advance_decoded(self, observed: list[str], kind: str, ended: bool) -> StepResult:
        """The same with labels that are atoms of the signature, in its order."""
        monitor = self.monitor
        before, was_over = monitor.state_index, monitor.is_over
        # The buffer is cleared when the state changes, but the observation of the agent that leaves includes it.
        self.seen_before = monitor.seen_row
        if observed:
            self.seen_before = self.seen_before | self.machine.signature.encode(observed)
        reward, self._owed = self._owed + self._observe(observed), 0.0
        state = monitor.state_index
        if self.trusted:
            wrong, terminated = False, ended or monitor.is_over
        else:
            # A machine that is terminal at reset is refuted by the next observation.
            wrong = monitor.verdict != kind or (was_over and len(self.steps) > 1)
            terminated = not wrong and (ended or kind != INCOMPLETE)
        shaping = 0.0
        if self.shaping is not None:
            there = 0.0 if terminated else self.potentials[state]
            shaping = self.shaping.gamma * there - self.potentials[before]
        return StepResult(before, state, reward, shaping, self.trace(kind) if wrong else None, terminated)

    def trace(self, kind: str) -> Trace:
        """What was observed so far, as a trace that ended so."""
        return Trace(kind, self.steps, self.machine.signature, self.compress)


def machine_of(machine: Machine | str | os.PathLike[str]) -> Machine:
    """A machine, the file of one, or its text: in one line, if parts are separated by `;`.

    >>> machine_of("initial u0\\naccept u1\\nu0 -> u1 : goal").states
    ['u0', 'u1']
    >>> machine_of("key; goal").states
    ['u0', 'u1', 'u_acc']
    """
    if isinstance(machine, Machine):
        return machine
    if isinstance(machine, str) and ";" in machine and "\n" not in machine:
        return Machine.from_line(machine)
    if isinstance(machine, str) and ("\n" in machine or "->" in machine):
        return Machine.parse(machine)
    if isinstance(machine, (str, os.PathLike)):
        return Machine.read(machine)
    if machine is None:
        raise TypeError("expected a machine, not None: if learning found none, `result.require()` says why")
    raise TypeError(f"expected a machine, a file or a text, not {type(machine).__name__}")


def nothing_known() -> Machine:
    """The machine that learning starts from: one state without edges.

    >>> nothing_known().states
    ['u0', 'u_acc']
    """
    return Machine(name="nothing_known", initial="u0", accepting="u_acc", edges=[])


def is_terminal(machine: Machine, state: str) -> bool:
    """Whether a state is accepting or rejecting."""
    return state in (machine.accepting, machine.rejecting)


def running_states(machine: Machine) -> list[str]:
    """The states that are not terminal: those with an agent."""
    return [state for state in machine.states if not is_terminal(machine, state)]


def sub_task(machine: Machine, state: str) -> tuple[str, ...]:
    """What a state's edges wait for, those to be avoided apart. Two states with the same sub-task can share a policy.

    >>> from formrl import Machine
    >>> machine = Machine.parse("initial a\\naccept b\\nreject c\\na -> c : lava\\na -> b : goal and not lava")
    >>> sub_task(machine, "a")
    ('goal and not lava', 'never lava')
    """
    edges = [edge for edge in machine.edges if edge.source == state]
    return tuple(sorted(f"never {e.formula}" if e.target == machine.rejecting else e.formula for e in edges))


def shortest(traces: Iterable[Trace], keep: int) -> list[Trace]:
    """The shortest different traces: of each of the three kinds a third of `keep` at most, rounded up, and one at least. So no kind
    crowds out another, and of one kind alone there are fewer than `keep`.

    >>> [len(trace) for trace in shortest([Trace("goal", n * [["a"], ["b"]]) for n in (3, 1, 2, 1)], keep=4)]
    [2, 4]
    """
    most = max(1, -(-keep // 3))
    kept: dict[Trace, None] = {}
    counts: dict[str, int] = {}
    for trace in sorted(traces, key=len):
        if trace not in kept and counts.get(trace.kind, 0) < most:
            kept[trace] = None
            counts[trace.kind] = counts.get(trace.kind, 0) + 1
    return list(kept)
