"""The joint loop on a Ray cluster: act in all runners, gather counterexamples, learn the machine anew, broadcast it, go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from formrl._native import Learner, Machine, Trace

from ..agent_assignment import AgentAssignment, Credit, survivors
from ..episode import GOAL, can_accept, nothing_known, running_states, shortest
from ..extras import require
from .environment import Board, MachineMultiAgentEnv

require("ray.rllib", "formrl.rllib")

import ray  # noqa: E402
from ray.rllib.algorithms.ppo import PPO, PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig  # noqa: E402
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402

MakeEnv = Callable[[], Any]
"""Makes a Gymnasium environment that has labels in its `info` and says what can be observed (`signature`)."""


@dataclass
class Iteration:
    """What an iteration came to."""

    number: int
    machine: Machine
    """The machine that is known after it."""
    episodes: int
    """How many episodes ended in it."""
    ended_success: float | None
    """The share of those that reached the goal. Episodes that fail take longest, so too many of those that have ended succeed: no
    success rate of the policies, for which episodes have to be counted that were started, as RLlib's own evaluation does."""
    counterexamples: int
    kept: dict[str, str] | None
    """If the machine is new: the policies that stayed, by the states they act in now."""

    @property
    def relearnt(self) -> bool:
        """Whether the machine is new."""
        return self.kept is not None


class Training:
    """The joint loop, an iteration at a time. Its `algorithm` can be saved, evaluated and asked like any other of RLlib's.

    - `machine`: one to start from; without one nothing is known, and environments are explored at random, `explore` steps a
      runner and iteration, until there is.
    - `gamma`: the discount, of PPO and of the shaping; `credit`: see `formrl.agent_assignment.Credit`.
    - `keep`: how many counterexamples of an iteration are kept at most: of each kind (goal, dead-end, incomplete) the shortest, a
      third of `keep`, rounded up.
    - `max_states`, `time_limit`, `learner`: limits and options of `formrl.Learner`.
    - `hidden`: the layers of the policies; `configure` may change RLlib's configuration before it is built.
    """

    def __init__(
        self,
        make_env: MakeEnv,
        *,
        machine: Machine | None = None,
        env_runners: int = 2,
        envs_per_runner: int = 1,
        gamma: float = 0.98,
        credit: Credit = "hand-over",
        explore: int = 1024,
        keep: int = 60,
        max_states: int = 10,
        time_limit: float = 600.0,
        learner: Mapping[str, Any] | None = None,
        hidden: tuple[int, ...] = (64, 64),
        seed: int | None = None,
        configure: Callable[[PPOConfig], PPOConfig] | None = None,
    ) -> None:
        machine = machine or nothing_known()
        # Twice as many as a machine has states: the new policies of one never have the name of an old one's.
        self._reserve = [f"policy_{i}" for i in range(2 * max(max_states, len(machine.states)))]
        self.names: dict[str, str] = dict(zip(running_states(machine), self._reserve))
        """The agent, and so the module, of every state."""
        self._example = AgentAssignment(make_env(), machine, names=self.names, observation="flat")
        self.learner = Learner(self._example.env.signature, **(learner or {}))
        self._max_states, self._time_limit = max_states, time_limit
        self._explore, self._keep = explore, keep
        self._model = DefaultModelConfig(fcnet_hiddens=list(hidden))
        self.traces: list[Trace] = []
        """The counterexamples that were kept."""
        self.iterations: list[Iteration] = []
        self._board = ray.remote(num_cpus=0)(Board).remote(machine, self.names)
        settings = {
            "board": self._board,
            "make_env": make_env,
            "shaping": gamma,
            "credit": credit,
            "truth": "environment",
            "reserve": self._reserve,
        }
        config = (
            PPOConfig()
            .environment(MachineMultiAgentEnv, env_config=settings | {"machine": machine, "names": self.names})
            .env_runners(num_env_runners=env_runners, num_envs_per_env_runner=envs_per_runner)
            .training(gamma=gamma)
            .multi_agent(policies=set(self.names.values()), policy_mapping_fn=_module_of)
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=self._specs()))
            .debugging(seed=seed)
        )
        try:
            self.algorithm: PPO = (configure(config) if configure else config).build_algo()
        except BaseException:
            self._let_go()
            raise

    @property
    def machine(self) -> Machine:
        """The machine that is known."""
        return self._example.machine

    @property
    def ended_success(self) -> float | None:
        """The share of the episodes that ended in the last iteration which reached the goal, see `Iteration`."""
        return self.iterations[-1].ended_success if self.iterations else None

    def stop(self) -> None:
        """Lets the runners and learners go."""
        try:
            self.algorithm.stop()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        ray.kill(self._board)
        self._example.env.close()

    def iterate(self) -> Iteration:
        """Acts and learns; gathers the counterexamples, and learns another machine if there are any."""
        if can_accept(self.machine):
            self.algorithm.train()
        else:
            steps = self._explore
            _everywhere(self.algorithm, lambda runner: _explore(runner, steps))
        found, outcomes = _gather(self.algorithm)
        self.traces += [trace for trace in shortest(found, self._keep) if self.learner.add(trace) is not None]
        kept: dict[str, str] | None = None
        # A machine that accepts too early hides the goals that would correct it: then it is better to know nothing.
        goal_known = any(trace.kind == GOAL for trace in self.traces)
        if found and (goal_known or can_accept(self.machine)):
            result = self.learner.learn(max_states=self._max_states, time_limit=self._time_limit)
            kept = self.set_machine(result.require())
        goals = sum(kind == GOAL for kind, _ in outcomes)
        iteration = Iteration(
            number=len(self.iterations) + 1,
            machine=self.machine,
            episodes=len(outcomes),
            ended_success=goals / len(outcomes) if outcomes else None,
            counterexamples=len(found),
            kept=kept,
        )
        self.iterations.append(iteration)
        return iteration

    def set_machine(self, machine: Machine) -> dict[str, str]:
        """Puts another machine into all runners. Policies stay where their sub-task survives, and are new elsewhere.

        Returns those that stay, by the states they act in now.
        """
        before, old = self.names, self._example.env.episode.machine
        new = machine.bind(self._example.env.signature)

        def same(there: str, here: str) -> bool:
            return old.progress_atoms(there) == new.progress_atoms(here)

        kept = survivors(self.machine, before, machine, same)
        free = (name for name in self._reserve if name not in before.values())
        self.names = names = {state: kept.get(state) or next(free) for state in running_states(machine)}
        self._example.set_machine(machine, names)
        ray.get(self._board.write.remote(machine, names))
        for name, spec in self._specs().items():
            if name not in before.values():
                self.algorithm.add_module(name, spec)
        _everywhere(self.algorithm, lambda runner: _broadcast(runner, machine, names))
        for name in before.values():
            if name not in names.values():
                self.algorithm.remove_module(name)
        return kept

    def _specs(self) -> dict[str, RLModuleSpec]:
        module_class = PPOConfig().get_default_rl_module_spec().module_class
        return {
            agent: RLModuleSpec(
                module_class=module_class,
                observation_space=encoder.space,
                action_space=self._example.env.action_space,
                model_config=self._model,
            )
            for agent, encoder in self._example.encoders.items()
        }


def train(
    make_env: MakeEnv,
    iterations: int = 20,
    *,
    on_iteration: Callable[[Iteration], bool | None] | None = None,
    **settings: Any,
) -> Training:
    """Learns a machine and one policy per state of it, with RLlib's PPO.

    `settings` are those of `Training`. `on_iteration` is told of every iteration; if it returns true, the training is over.
    """
    training = Training(make_env, **settings)
    try:
        for _ in range(iterations):
            iteration = training.iterate()
            if on_iteration is not None and on_iteration(iteration):
                break
    except BaseException:
        training.stop()
        raise
    return training


def _module_of(agent: str, *_: Any, **__: Any) -> str:
    return agent


def _everywhere(algorithm: PPO, work: Callable[[Any], Any]) -> list[Any]:
    """Does something in every runner that has environments. Ray starts one that has died again, and it reads the board."""
    algorithm.restore_env_runners(algorithm.env_runner_group)
    answers = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: (runner.env is not None, runner.env and work(runner))
    )
    return [answer for has_environments, answer in answers if has_environments]


def _environments(runner: Any) -> list[MachineMultiAgentEnv]:
    return [env.unwrapped for env in runner.env.envs]


def _explore(runner: Any, steps: int) -> None:
    runner.sample(num_timesteps=steps, random_actions=True)


def _broadcast(runner: Any, machine: Machine, names: dict[str, str]) -> None:
    for env in _environments(runner):
        env.set_machine(machine, names)
    # What was begun with another machine does not go on.
    runner.sample(num_timesteps=0, random_actions=True, force_reset=True)


def _gather(algorithm: PPO) -> tuple[list[Trace], list[tuple[str, int]]]:
    """The counterexamples and outcomes that have come up in all runners since they were asked for last."""

    def hand_in(runner: Any) -> tuple[list[Trace], list[tuple[str, int]]]:
        traces: list[Trace] = []
        outcomes: list[tuple[str, int]] = []
        for env in _environments(runner):
            traces += env.counterexamples
            outcomes += env.outcomes
            env.counterexamples.clear()
            env.outcomes.clear()
        return traces, outcomes

    handed_in = _everywhere(algorithm, hand_in)
    return [t for traces, _ in handed_in for t in traces], [o for _, outcomes in handed_in for o in outcomes]
