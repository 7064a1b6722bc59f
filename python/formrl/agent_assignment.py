"""The assignment of agents to machine states, one agent per state (section 3.4 of the paper), and credit assignment.

In a state only its agent acts; it observes the environment and the progress of its own sub-task. The environments for PettingZoo
and RLlib build on this module. An agent has the name of its state, unless names are given: a policy whose sub-task occurs in a new
machine keeps its name, even if the state has another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from formrl._native import Machine, Signature

from .episode import machine_of, running_states, sub_task
from .observation_encoder import How, ObservationEncoder
from .shaping import Reward, Shaping
from .wrappers import Judge, Labels, MachineWrapper, Truth

Credit = Literal["shared", "hand-over"]
"""Which agents receive the reward of a step: equal shares for all agents that have acted in the episode, as in the paper; or the
whole reward for the agent that acts, whose trajectory ends where another agent takes over. The latter needs shaped rewards."""


class AgentAssignment:
    """An environment with a machine, with one agent per state."""

    def __init__(
        self,
        env: Any,
        machine: Machine | str | os.PathLike[str],
        labels: Labels | None = None,
        *,
        names: Mapping[str, str] | None = None,
        signature: Signature | Iterable[str] | None = None,
        reward: Reward = "machine",
        shaping: float | Shaping | None = None,
        credit: Credit = "shared",
        observation: How = "dict",
        truth: Truth | None = None,
        judge: Judge | None = None,
    ) -> None:
        if credit not in ("shared", "hand-over"):
            raise ValueError(f"credit is 'shared' or 'hand-over', not {credit!r}")
        if credit == "hand-over" and shaping is None:
            raise ValueError("credit='hand-over' needs shaping: else only the last agent would receive any reward")
        machine = machine_of(machine)
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
        """Plays with another machine, and so with other agents: an episode that is under way is over, and `reset` comes next. `names`
        are its agents', by state."""
        self.env.switch_machine(machine)
        states = running_states(machine)
        self.names = {state: (names or {}).get(state, state) for state in states}
        if len(set(self.names.values())) < len(states):
            raise ValueError("two states have an agent of the same name")
        bound, space = self.env.episode.machine, self.env.env.observation_space
        self.encoders = {
            name: ObservationEncoder.of_state(space, bound, state, self._how) for state, name in self.names.items()
        }
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
        # If the machine is terminal at reset, the initial state's agent acts, not the last one of the previous episode.
        self.actor = self.names[self.machine.initial]
        self._choose()
        return info

    def step(self, action: Any) -> tuple[dict[str, float], bool, bool, dict[str, Any]]:
        """Takes a step with the current agent's action: rewards by agent, whether the episode terminated or was truncated, info."""
        actor = self.actor
        if actor not in self.visited:
            self.visited.append(actor)
        self._observation, reward, terminated, truncated, info = self.env.step(action)
        rewarded = self.visited if self.credit == "shared" else [actor]
        self._choose()
        return {agent: reward / len(rewarded) for agent in rewarded}, terminated, truncated, info

    def _choose(self) -> None:
        # Terminal states have no agent: the last one stays selected, in case there is another step.
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
        """The current observation of an agent. If its state was just left, progress is that before leaving."""
        episode, state = self.env.episode, self._state_of[agent]
        if episode.state_index == state:
            seen = episode.seen
        elif self.env.last_step is not None and self.env.last_step.before == state:
            seen = episode.seen_before
        else:
            seen = episode.seen & False
        return self.encoders[agent].encode(self._observation, state, seen)


def survivors(old: Machine, names: Mapping[str, str], new: Machine, same: Callable[[str, str], bool]) -> dict[str, str]:
    """The agents of an old machine whose sub-task occurs in a new one, by state of the new machine.

    `same(old_state, new_state)` tells whether the observations of both states have the same meaning. Each agent is reused once; a
    state without edges has no sub-task.
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
