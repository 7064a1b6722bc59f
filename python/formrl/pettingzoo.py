"""PettingZoo: a task with one agent per machine state, in turns (AEC) or as a parallel environment.

```python
env = formrl.pettingzoo.aec_env(gymnasium.make("formrl/all-yellow-v0"), machine)
```

Agents have the names of the machine's states. In the AEC environment the agent whose state the machine is in acts; in the
parallel one all agents give an action, and only that agent's counts: `infos[agent]["acts"]` says whose it is. When the episode
is over, it is over for all. An agent that no longer acts still earns its share of rewards (`credit="shared"`).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from formrl._native import Machine

from .agent_assignment import AgentAssignment
from .extras import require

require("pettingzoo", "formrl.pettingzoo")

from pettingzoo import AECEnv, ParallelEnv  # noqa: E402


class _Machine:
    """What both kinds of environment have in common."""

    def __init__(self, env: Any, machine: Machine, labels: Any, settings: dict[str, Any]) -> None:
        self.assignment = AgentAssignment(env, machine, labels, **settings)
        self.metadata = {
            "name": "formrl_machine_v0",
            "render_modes": env.metadata.get("render_modes", []),
            "is_parallelizable": False,
        }
        self.render_mode = env.render_mode
        self._enter()

    def set_machine(self, machine: Machine) -> None:
        """Plays with another machine, and so with other agents: `reset` comes next, even if an episode is under way."""
        self.assignment.set_machine(machine)
        self._enter()

    def _enter(self) -> None:
        self.possible_agents: list[str] = self.assignment.agents
        self.agents: list[str] = []
        self.observation_spaces = {agent: encoder.space for agent, encoder in self.assignment.encoders.items()}
        # Copies: each agent's space has random numbers of its own.
        self.action_spaces = {agent: deepcopy(self.assignment.env.action_space) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """What an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """What an agent can do."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """The environment's own picture."""
        return self.assignment.env.render()

    def close(self) -> None:
        """Closes the environment."""
        self.assignment.env.close()

    def _infos(self, info: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {agent: info | {"acts": agent == self.assignment.actor} for agent in self.possible_agents}


class MachineAECEnv(_Machine, AECEnv):
    """The task played in turns: the agent whose state the machine is in acts."""

    def __init__(self, env: Any, machine: Machine, labels: Any = None, **settings: Any) -> None:
        """`settings` are those of `AgentAssignment`: `signature`, `reward`, `shaping`, `credit`, `observation`, `truth`, `judge`."""
        AECEnv.__init__(self)
        _Machine.__init__(self, env, machine, labels, settings)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts an episode."""
        info = self.assignment.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._infos(info)
        self._skip_agent_selection = None
        self.agent_selection = self.assignment.actor

    def observe(self, agent: str) -> Any:
        """What an agent sees now."""
        return self.assignment.observe(agent)

    def step(self, action: Any) -> None:
        """Takes a step with the current agent's action."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        rewards, terminated, truncated, info = self.assignment.step(action)
        self.rewards |= rewards
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated and not terminated)
        self.infos = self._infos(info)
        self.agent_selection = self.assignment.actor
        self._accumulate_rewards()
        if terminated or truncated:
            self._deads_step_first()


class MachineParallelEnv(_Machine, ParallelEnv):
    """The task as a parallel environment: all agents give an action, that of the one whose state the machine is in counts."""

    def __init__(self, env: Any, machine: Machine, labels: Any = None, **settings: Any) -> None:
        """`settings` are those of `AgentAssignment`: `signature`, `reward`, `shaping`, `credit`, `observation`, `truth`, `judge`."""
        _Machine.__init__(self, env, machine, labels, settings)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Starts an episode."""
        info = self.assignment.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return {agent: self.assignment.observe(agent) for agent in self.agents}, self._infos(info)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Takes the step of the agent whose turn it is."""
        actor = self.assignment.actor
        if actor not in actions:
            raise KeyError(f"it is the turn of agent {actor!r}, and there is no action of it")
        shares, terminated, truncated, info = self.assignment.step(actions[actor])
        agents = self.agents
        observations = {agent: self.assignment.observe(agent) for agent in agents}
        rewards = dict.fromkeys(agents, 0.0) | shares
        if terminated or truncated:
            self.agents = []
        ended = dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated and not terminated)
        return observations, rewards, *ended, self._infos(info)


def aec_env(env: Any, machine: Machine, labels: Any = None, **settings: Any) -> MachineAECEnv:
    """The task played in turns."""
    return MachineAECEnv(env, machine, labels, **settings)


def parallel_env(env: Any, machine: Machine, labels: Any = None, **settings: Any) -> MachineParallelEnv:
    """The task as a parallel environment."""
    return MachineParallelEnv(env, machine, labels, **settings)
