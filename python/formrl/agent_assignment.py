"""Who acts when: one agent a machine state (section 3.4 of the paper), and who is rewarded for what.

In a state only its agent acts, and sees the environment with the progress of its own sub-task. PettingZoo's and RLlib's
environments are made of this. An agent is called after its state, unless names are given: a policy whose sub-task survives a
new machine keeps its name even if its state has another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from formrl._native import Machine, Signature

from .episode import running_states, sub_task
from .observation_encoder import How, ObservationEncoder
from .wrappers import Judge, MachineWrapper, Transition, judge

Credit = Literal["shared", "hand-over"]
"""Who is rewarded for a step: equal shares for all agents whose states were visited in the episode, as in the paper; or all of it
for the agent that acts, whose trajectory ends where another takes over. The latter needs shaped rewards."""


class AgentAssignment:
    """An environment with a machine, played by one agent a state."""

    def __init__(
        self,
        env: Any,
        machine: Machine,
        labels: Callable[[Transition], Iterable[str]] | None = None,
        *,
        names: Mapping[str, str] | None = None,
        signature: Signature | Iterable[str] | None = None,
        reward: Literal["machine", "environment"] = "machine",
        shaping: float | None = None,
        credit: Credit = "shared",
        observation: How = "dict",
        truth: Literal["environment", "machine"] = "environment",
        judge: Judge = judge,
    ) -> None:
        if credit not in ("shared", "hand-over"):
            raise ValueError(f"credit is 'shared' or 'hand-over', not {credit!r}")
        if credit == "hand-over" and shaping is None:
            raise ValueError("credit='hand-over' needs shaping: else only the last agent would earn any reward")
        self.env = MachineWrapper(
            env,
            machine,
            labels,
            signature=signature,
            reward=reward,
            shaping=shaping,
            observation="plain",
            truth=truth,
            judge=judge,
        )
        self.credit, self._how = credit, observation
        self.set_machine(machine, names)

    def set_machine(self, machine: Machine, names: Mapping[str, str] | None = None) -> None:
        """Plays with another machine from the next reset on. `names` are its agents', by state."""
        self.env.set_machine(machine)
        states = running_states(machine)
        self.names = {state: (names or {}).get(state, state) for state in states}
        if len(set(self.names.values())) < len(states):
            raise ValueError("two states have an agent of the same name")
        bound, space = self.env.episode.machine, self.env.env.observation_space
        self.encoders = {name: ObservationEncoder.of_state(space, bound, state, self._how) for state, name in self.names.items()}
        self._state_of = {name: machine.states.index(state) for state, name in self.names.items()}
        self.visited: list[str] = []
        self.actor = self.names[machine.initial]
        self._observation: Any = None

    @property
    def machine(self) -> Machine:
        """The machine that is followed."""
        return self.env.machine

    @property
    def agents(self) -> list[str]:
        """All agents, in the order of their states."""
        return list(self.encoders)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Starts an episode; its info."""
        self._observation, info = self.env.reset(seed=seed, options=options)
        self.visited = []
        # Should the machine be at its end already: whoever acted in the last episode has nothing to do with it.
        self.actor = self.names[self.machine.initial]
        self._choose()
        return info

    def step(self, action: Any) -> tuple[dict[str, float], bool, bool, dict[str, Any]]:
        """Has the agent whose turn it is act: rewards by agent, whether the episode terminated or was truncated, and its info."""
        actor = self.actor
        if actor not in self.visited:
            self.visited.append(actor)
        self._observation, reward, terminated, truncated, info = self.env.step(action)
        rewarded = self.visited if self.credit == "shared" else [actor]
        self._choose()
        return {agent: reward / len(rewarded) for agent in rewarded}, terminated, truncated, info

    def _choose(self) -> None:
        # Where the machine is at its end nobody acts; the one who brought it there is asked, should there be another step.
        self.actor = self.names.get(self.env.machine_state, self.actor)

    def may_return(self, agent: str) -> bool:
        """Whether the machine can come back to the state of an agent that has left it."""
        edges = self.machine.edges
        reached: set[str] = set()
        front = [self.env.machine_state]
        while front:
            state = front.pop()
            new = {edge.target for edge in edges if edge.source == state} - reached
            reached |= new
            front += new
        return any(self.names.get(state) == agent for state in reached)

    def observe(self, agent: str) -> Any:
        """What an agent sees now. One whose state was just left still sees what was observed there."""
        episode, state = self.env.episode, self._state_of[agent]
        if episode.state_index == state:
            seen = episode.seen
        elif self.env.last_step is not None and self.env.last_step.before == state:
            seen = episode.seen_before
        else:
            seen = episode.seen & False
        return self.encoders[agent].encode(self._observation, state, seen)


def survivors(old: Machine, names: Mapping[str, str], new: Machine, same: Callable[[str, str], bool]) -> dict[str, str]:
    """The agents of an old machine whose sub-task survives in a new one, by the state of the new one that they act in.

    `same(old_state, new_state)` says whether both would see the same. Each agent survives once; a state without a way out has no
    sub-task.
    """
    free = dict(names)
    found = {}
    for state in running_states(new):
        wanted = sub_task(new, state)
        for candidate in list(free):
            if wanted and sub_task(old, candidate) == wanted and same(candidate, state):
                found[state] = free.pop(candidate)
                break
    return found
