"""Tabular Q-learning with counterfactual experience (CRM) for discrete environments, in Rust.

The table ranges over the states of the environment and the *situations* of the machines: their states, with what matters of
the window of a `forall`. Every step updates all situations of all tasks.

>>> import formrl
>>> from formrl import tabular
>>> world = tabular.BenchmarkWorld.office()
>>> table = world.table()
>>> coffee = dict(tabular.BenchmarkWorld.tasks("office"))["coffee"]
>>> result = tabular.q_learning(table, coffee, steps=30_000, seed=1)
>>> result.success(last=100) > 0.8
True
>>> round(tabular.optimum(table, coffee).rewards_per_step[0], 2)
0.05
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl import _native
from formrl._native import BenchmarkWorld, BoundMachine, LabelledMdp, Machine, QLearner, Signature

from .episode import machine_of
from .errors import WorldError

__all__ = [
    "BenchmarkWorld",
    "LabelledMdp",
    "Optimum",
    "QLearner",
    "QResult",
    "optimum",
    "q_learning",
    "table_of",
]

OneMachine = Machine | BoundMachine | str | os.PathLike[str]
Machines = OneMachine | Sequence[OneMachine]
"""The machine of a task, or one machine per task; a machine can be given as its text or its file."""


@dataclass(frozen=True)
class QResult:
    """What tabular Q-learning did and learnt. The arrays have an entry per episode."""

    learner: QLearner
    """The table of values."""
    tasks: npt.NDArray[np.uint32]
    """Which task was played."""
    steps: npt.NDArray[np.uint32]
    """The number of steps."""
    rewards: npt.NDArray[np.float64]
    """The sum of rewards, without shaping."""
    accepted: npt.NDArray[np.bool_]
    """Whether the machine accepted."""

    def __repr__(self) -> str:
        return f"<QResult of {len(self.tasks)} episodes, {int(self.steps.sum())} steps, {self.success():.0%} success>"

    def success(self, last: int = 100) -> float:
        """The share of the last episodes in which the machine accepted."""
        return float(self.accepted[-last:].mean()) if len(self.accepted) else 0.0

    def curve(self, optimum: Optimum, *, window: int | None = None, tick: int = 1000) -> npt.NDArray[np.float64]:
        """The reward per step, relative to that of the optimum, after every `tick` steps: the mean over the last `window` episodes
        (100 per task unless given), as Toro Icarte et al. draw it.
        """
        best = optimum.rewards_per_step
        return _native.learning_curve(
            self.tasks, self.steps, self.rewards, best, window or 100 * len(best), tick
        )

    def policy(self, situation: int) -> npt.NDArray[np.int64]:
        """The best action in every state, in a situation: see `learner.situations`."""
        values = [self.learner.values(state, situation) for state in range(self.learner.states)]
        return np.array([np.argmax(row) for row in values], np.int64)


@dataclass(frozen=True)
class Optimum:
    """What can be reached: the result of value iteration on the cross product. One entry per task."""

    values: list[float]
    """The discounted value from the start of episodes."""
    rewards_per_step: list[float]
    """The reward per step of the optimal policy when it explores as the learner does, averaged over episodes."""


def q_learning(
    world: LabelledMdp | Any,
    machines: Machines,
    labels: Callable[[Any], Iterable[str]] | None = None,
    *,
    steps: int,
    crm: bool = True,
    shaping: Literal["value"] | None = None,
    reward: Literal["machine", "sum"] = "machine",
    learning_rate: float = 0.5,
    epsilon: float = 0.1,
    discount: float = 0.9,
    initial: float = 2.0,
    episode_steps: int = 1000,
    signature: Signature | Iterable[str] | None = None,
    seed: int = 0,
) -> QResult:
    """Tabular Q-learning for a number of steps.

    - `world`: a table (`LabelledMdp`), which is the fast way, or a Gymnasium environment with discrete observations and actions.
    - `machines`: one machine, or one per task; tasks take turns, one episode each.
    - `labels`, `signature`: for environments, as `MachineWrapper` has them: a function of the `Transition` (without one,
      `info["labels"]`), and the atoms that can be observed.
    - `crm`: whether a step updates the situations of all tasks, or only the one that the agent is in (the cross-product baseline).
    - `shaping`: `"value"` adds γ Φ(u′) − Φ(u), where Φ is the value of the machine by itself (value iteration over its situations).
    - `reward`: the machine's, or the `"sum"` of it and the environment's.
    - `initial`: the first value of all actions. The default of Toro Icarte et al., 2, is more than any policy can get: the learner
      explores. 1 is enough for machines that pay 1 once.
    """
    settings: dict[str, Any] = {
        "learning_rate": learning_rate,
        "epsilon": epsilon,
        "discount": discount,
        "initial": initial,
        "crm": crm,
        "shaping": _shaped(shaping),
        "environment_reward": _summed(reward),
        "episode_steps": episode_steps,
        "seed": seed,
    }
    if isinstance(world, LabelledMdp):
        if labels is not None or signature is not None:
            raise WorldError("a table has labels and a signature of its own")
        learner = QLearner(_bound(machines, world.signature), world, **settings)
        return QResult(learner, *learner.run(world, steps))
    return _in_environment(world, machines, labels, steps, signature, settings)


def optimum(
    table: LabelledMdp,
    machines: Machines,
    *,
    epsilon: float = 0.1,
    discount: float = 0.9,
    reward: Literal["machine", "sum"] = "machine",
    episode_steps: int = 1000,
    episodes: int = 1000,
    seed: int = 0,
) -> Optimum:
    """Value iteration on the cross product of a table and machines; the reward per step is averaged over `episodes` per task."""
    bound = _bound(machines, table.signature)
    values, per_step = _native.optimum(
        table,
        bound,
        epsilon=epsilon,
        discount=discount,
        environment_reward=_summed(reward),
        episode_steps=episode_steps,
        episodes=episodes,
        seed=seed,
    )
    return Optimum(values, per_step)


def table_of(env: Any, labels: Callable[[int], Iterable[str]], signature: Signature | Iterable[str]) -> LabelledMdp:
    """The table of an environment that publishes its transitions, as Gymnasium's toy text environments do (`env.unwrapped.P`).
    `labels` says what entering a state makes true.

    >>> import gymnasium
    >>> from formrl import tabular
    >>> lake = gymnasium.make("FrozenLake-v1", map_name="4x4")
    >>> tabular.table_of(lake, lambda state: {15: ["goal"]}.get(state, []), ["goal"])
    <LabelledMdp of 16 states and 4 actions>
    """
    plain = env.unwrapped
    transitions = getattr(plain, "P", None)
    if transitions is None:
        raise WorldError(f"{type(plain).__name__} has no table of transitions (`P`)")
    states = range(len(transitions))
    outcomes = [
        [
            [(float(p), int(after), float(pay), bool(over)) for p, after, pay, over in transitions[state][action]]
            for action in range(len(transitions[state]))
        ]
        for state in states
    ]
    starts = getattr(plain, "initial_state_distrib", None)
    starts = [1.0] + [0.0] * (len(states) - 1) if starts is None else starts
    known = signature if isinstance(signature, Signature) else Signature(signature)
    rows = np.array([known.encode(list(labels(state))) for state in states])
    return LabelledMdp(known, rows, outcomes, [(float(p), state) for state, p in enumerate(starts) if p > 0])


def _in_environment(
    env: Any,
    machines: Machines,
    labels: Callable[[Any], Iterable[str]] | None,
    steps: int,
    signature: Signature | Iterable[str] | None,
    settings: dict[str, Any],
) -> QResult:
    from gymnasium.spaces import Discrete

    from .wrappers import MachineWrapper, Transition, signature_of

    spaces = {"observation": env.observation_space, "action": env.action_space}
    for name, space in spaces.items():
        if not isinstance(space, Discrete) or space.start != 0:
            advice = ': pass observation="plain" to MachineWrapper' if isinstance(env, MachineWrapper) else ""
            raise WorldError(f"a table needs a discrete {name} space that starts at 0, not {space}{advice}")
    known = signature_of(env, signature)
    learner = QLearner(
        _bound(machines, known),
        states=int(spaces["observation"].n),
        actions=int(spaces["action"].n),
        **settings,
    )
    plain = env.unwrapped

    def labelled(transition: Transition) -> Iterable[str]:
        if labels is not None:
            return labels(transition)
        if "labels" not in transition.info:
            raise WorldError('the environment gives no info["labels"]: pass a function `labels` of the transition')
        found: Iterable[str] = transition.info["labels"]
        return found

    episodes: list[tuple[int, int, float, bool]] = []
    seed: int | None = settings["seed"]
    state, running = 0, False
    for _ in range(steps):
        if not running:
            state, info = env.reset(seed=seed)
            seed, running = None, True
            learner.begin(int(state), labelled(Transition(plain, None, None, state, info, begun=True)))
        action = learner.act()
        after, reward, terminated, truncated, info = env.step(action)
        transition = Transition(plain, state, action, after, info, reward, terminated, truncated)
        episode = learner.learn(
            action, int(after), labelled(transition), reward=float(reward), terminated=bool(terminated)
        )
        state = after
        if episode is None and truncated:
            episode = learner.cut_off()
        if episode is not None:
            episodes.append(episode)
            running = False
    columns: Any = list(zip(*episodes, strict=True)) or [(), (), (), ()]
    return QResult(
        learner,
        np.array(columns[0], np.uint32),
        np.array(columns[1], np.uint32),
        np.array(columns[2], np.float64),
        np.array(columns[3], np.bool_),
    )


def _bound(machines: Machines, signature: Signature) -> list[BoundMachine]:
    one = machines is None or isinstance(machines, (Machine, BoundMachine, str, os.PathLike))
    several: list[Any] = [machines] if one else list(machines)  # type: ignore[arg-type]
    return [machine if isinstance(machine, BoundMachine) else machine_of(machine).bind(signature) for machine in several]


def _shaped(shaping: str | None) -> bool:
    if shaping not in (None, "value"):
        raise WorldError(f'shaping is "value" or None, not {shaping!r}')
    return shaping is not None


def _summed(reward: str) -> bool:
    if reward not in ("machine", "sum"):
        raise WorldError(f'reward is "machine" or "sum", not {reward!r}')
    return reward == "sum"
