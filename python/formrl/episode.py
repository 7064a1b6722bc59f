"""The run of a machine in one episode: state, reward, shaping, trace, and counterexamples.

Every integration (Gymnasium, PettingZoo, RLlib) passes labels and outcomes to an `Episode`. The rules are those of the native
trainer: the labels at reset count, shaping is potential-based (Ng, Harada, Russell 1999) with γ Φ(u′) − Φ(u), and an episode in
which the machine disagrees with the environment ends there, with a counterexample to learn from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from formrl._native import BoundMachine, Machine, Trace

GOAL, DEAD_END, INCOMPLETE = "goal", "dead-end", "incomplete"


@dataclass(frozen=True)
class StepResult:
    """The effect of one step on the machine."""

    before: int
    """The number of the state before it."""
    state: int
    """The number of the state after it."""
    reward: float
    """The machine's reward, not shaped."""
    shaping: float
    """The shaping reward γ Φ(u′) − Φ(u); 0 without shaping."""
    counterexample: Trace | None
    """The trace so far, if the machine disagrees with the environment."""

    @property
    def changed(self) -> bool:
        """Whether the machine went to another state."""
        return self.state != self.before


class Episode:
    """The state of an episode.

    `gamma` is the discount of the shaping; without one, rewards are not shaped. With `trusted` the machine is never wrong: it is the
    task.

    >>> from formrl import Machine, Signature
    >>> machine = Machine.parse("initial u0\\naccept u2\\nu0 -> u1 : key\\nu1 -> u2 : goal")
    >>> episode = Episode(machine.bind(Signature(["key", "goal"])), gamma=1.0)
    >>> episode.begin([])
    >>> result = episode.advance(["key"], "incomplete")
    >>> episode.state, result.reward, round(result.shaping, 3)
    ('u1', 0.0, 0.333)
    >>> episode.advance(["goal"], "incomplete").counterexample
    Trace('incomplete', [['key'], ['goal']])
    """

    def __init__(self, machine: BoundMachine, gamma: float | None = None, trusted: bool = False) -> None:
        self.machine = machine
        self.gamma = gamma
        self.trusted = trusted
        self.compress = machine.machine.steps == "changes"
        self.states: list[str] = machine.machine.states
        self.potentials = potentials(machine.machine)
        self.monitor = machine.monitor()
        self.steps: list[list[str]] = []
        self.seen_before: npt.NDArray[np.bool_] = self.monitor.seen_row

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

    def begin(self, labels: Any) -> None:
        """Starts an episode whose first observation, that at reset, is this."""
        self.monitor.reset()
        self.steps = []
        self._observe(labels)
        self.seen_before = self.monitor.seen_row

    def _observe(self, labels: Any) -> float:
        observed = self.machine.signature.decode(labels)
        if not self.compress or observed and (not self.steps or observed != self.steps[-1]):
            self.steps.append(observed)
        return self.monitor.observe(labels).reward

    def advance(self, labels: Any, kind: str) -> StepResult:
        """Processes a step: its labels, and the environment's outcome, `goal`, `dead-end` or `incomplete`."""
        before, was_over = self.monitor.state_index, self.monitor.is_over
        # The buffer is cleared when the state changes, but the observation of the agent that leaves includes it.
        self.seen_before = self.monitor.seen_row | self.machine.signature.encode(labels)
        reward = self._observe(labels)
        state = self.monitor.state_index
        shaping = 0.0
        if self.gamma is not None:
            shaping = self.gamma * self.potentials[state] - self.potentials[before]
        # A machine that is terminal at reset is refuted by the next observation.
        too_early = was_over and len(self.steps) > 1
        wrong = not self.trusted and (too_early or self.monitor.verdict != kind)
        return StepResult(before, state, reward, float(shaping), self.trace(kind) if wrong else None)

    def trace(self, kind: str) -> Trace:
        """What was observed so far, as a trace that ended so."""
        return Trace(kind, self.steps, self.machine.signature, self.compress)


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


def potentials(machine: Machine) -> npt.NDArray[np.float64]:
    """Φ of every state: (N − d) / N, with d the number of edges on a shortest path to acceptance, and N the number of states; 0
    without a path.

    >>> from formrl import Machine
    >>> potentials(Machine.parse("initial a\\naccept c\\nreject d\\na -> b : key\\nb -> c : goal\\nb -> d : lava")).tolist()
    [0.5, 0.75, 1.0, 0.0]
    """
    states = machine.states
    distances, front = {machine.accepting: 0}, [machine.accepting]
    while front:
        target = front.pop(0)
        for edge in machine.edges:
            if edge.target == target and edge.source not in distances:
                distances[edge.source] = distances[target] + 1
                front.append(edge.source)
    near = [(len(states) - distances[state]) / len(states) if state in distances else 0.0 for state in states]
    return np.array(near)


def can_accept(machine: Machine) -> bool:
    """Whether the machine can accept at all. If not, all its rewards are 0."""
    return bool(potentials(machine)[machine.states.index(machine.initial)] > 0)


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
