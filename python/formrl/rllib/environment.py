"""A task as RLlib's `MultiAgentEnv`: one agent per machine state, of which only the one that acts next has an observation."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from formrl._native import Machine, Trace

from ..agent_assignment import AgentAssignment
from ..extras import require

require("ray.rllib", "formrl.rllib")

import ray  # noqa: E402
from ray.rllib.env.multi_agent_env import MultiAgentEnv  # noqa: E402

REMEMBERED = 10_000
"""How many counterexamples and outcomes of episodes an environment remembers."""


class Board:
    """The machine that is played with at present and the names of its agents, for all of a cluster to read: an actor of Ray's.

    A runner that died is started by Ray as it was in the beginning; from here its environments know what has become of the machine.
    """

    def __init__(self, machine: Machine, names: dict[str, str]) -> None:
        self._written = machine, names

    def write(self, machine: Machine, names: dict[str, str]) -> None:
        """Replaces what is written."""
        self._written = machine, names

    def read(self) -> tuple[Machine, dict[str, str]]:
        """What is written."""
        return self._written


class MachineMultiAgentEnv(MultiAgentEnv):
    """A task played by one agent per machine state.

    Its configuration has `make_env` and `machine`, and may have `names` (agents by state), `reserve` (names of agents that other
    machines may have), `board` (where the present machine is written, see `Board`) and the arguments of `AgentAssignment`: `shaping`, `credit`,
    `observation`, `truth`, `judge`, `labels`, `signature`. Only the agent that acts next has an observation. `counterexamples` and
    `outcomes` (how episodes ended, and after how many steps) are kept until they are cleared, the last 10,000 of each.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        settings = dict(config)
        make_env, machine = settings.pop("make_env"), settings.pop("machine")
        if (board := settings.pop("board", None)) is not None:
            machine, settings["names"] = ray.get(board.read.remote())
        settings.setdefault("observation", "flat")
        self._reserve: list[str] = settings.pop("reserve", [])
        self.assignment = AgentAssignment(make_env(), machine, **settings)
        self.counterexamples: deque[Trace] = deque(maxlen=REMEMBERED)
        self.outcomes: deque[tuple[str, int]] = deque(maxlen=REMEMBERED)
        self._steps = 0
        self._left: str | None = None
        self._enter()

    def set_machine(self, machine: Machine, names: Mapping[str, str] | None = None) -> None:
        """Plays with another machine, and so with other agents: `reset` comes next, even if an episode is under way."""
        self.assignment.set_machine(machine, names)
        self._enter()

    def _enter(self) -> None:
        space = self.assignment.env.env.observation_space
        spaces = {agent: encoder.space for agent, encoder in self.assignment.encoders.items()}
        self.possible_agents = self._reserve or self.assignment.agents
        self.agents = self.assignment.agents
        self.observation_spaces = {agent: spaces.get(agent, space) for agent in self.possible_agents}
        self.action_spaces = dict.fromkeys(self.possible_agents, self.assignment.env.action_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode."""
        info = self.assignment.reset(seed=seed, options=options)
        self._steps, self._left = 0, None
        self.agents = self.assignment.agents
        actor = self.assignment.actor
        return {actor: self.assignment.observe(actor)}, {actor: info}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Takes a step with the current agent's action."""
        actor = self.assignment.actor
        rewards, terminated, truncated, info = self.assignment.step(action_dict[actor])
        self._steps += 1
        terminations = {"__all__": terminated}
        truncations = {"__all__": truncated and not terminated}
        seen = {self.assignment.actor: self.assignment.observe(self.assignment.actor)}
        left, self._left = self._left, None
        if left is not None:
            terminations[left] = True
        if terminated or truncated:
            if "counterexample" in info:
                self.counterexamples.append(info["counterexample"])
            self.outcomes.append((info["outcome"], self._steps))
            seen |= {agent: self.assignment.observe(agent) for agent in [*rewards, *([left] if left else [])]}
        elif self.assignment.actor != actor and self.assignment.credit == "hand-over" and not self.assignment.may_return(actor):
            # The agent's sub-task is complete, for every outcome of the episode. RLlib is told one step later: an episode all of whose
            # agents so far are done is over for it, and it has yet to meet the next one.
            self._left = actor
        return seen, rewards, terminations, truncations, {agent: info for agent in seen}

    def close(self) -> None:
        """Closes the environment."""
        self.assignment.env.close()
