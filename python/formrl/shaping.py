"""Rewards of environments with a machine: whose they are, and potential-based shaping (Ng, Harada, Russell 1999).

Shaping adds γ Φ(u′) − Φ(u) to the reward of a step from state u to u′, with Φ = 0 where the episode terminates. So the discounted
return of an episode that terminates differs by −Φ of its first state from the one without shaping, whatever the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl._native import Machine

Reward = Literal["machine", "environment", "sum"] | Callable[[Any, Any], Any]
"""The reward of a step: the machine's, the environment's, both added, or a function of the two, in this order. For many environments
at once the function gets arrays."""

Potential = Literal["distance", "value"] | Mapping[str, float] | Callable[[str], float]
"""Φ by state: see `Shaping`."""


@dataclass(frozen=True)
class Shaping:
    """Potential-based shaping with the discount `gamma` of the training. A plain number stands for `Shaping(number)`.

    `potential` is Φ:

    - `"distance"`: (N − d) / N, with d the number of edges to acceptance on a shortest path, and N the number of states;
    - `"value"`: −v*, with v* the optimal value of the machine taken for an MDP in which every edge can be chosen (Toro Icarte et al. 2022),
      discounted by `value_discount`;
    - your own: a mapping from the names of states to numbers (0 where there is none), or a function of the name.

    `scale` multiplies it.

    >>> machine = Machine.parse("initial a\\naccept c\\na -> b : key\\nb -> c : goal")
    >>> Shaping(0.99).potentials(machine).tolist()[:2]
    [0.3333333333333333, 0.6666666666666666]
    >>> Shaping(0.99, "value").potentials(machine).tolist()
    [-0.9, -1.0, 0.0]
    >>> Shaping(0.99, {"b": 1.0}, scale=10).potentials(machine).tolist()
    [0.0, 10.0, 0.0]
    """

    gamma: float
    potential: Potential = "distance"
    scale: float = 1.0
    value_discount: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"shaping is the discount, from 0 to 1, not {self.gamma}")
        if not 0 <= self.value_discount < 1:
            raise ValueError(f"value_discount is a discount, from 0 to 1, without 1, not {self.value_discount}")
        if isinstance(self.potential, str) and self.potential not in ("distance", "value"):
            raise ValueError(f"potential is 'distance', 'value', a mapping or a function of states, not {self.potential!r}")

    @classmethod
    def of(cls, shaping: float | Shaping | None) -> Shaping | None:
        """What an argument `shaping` says."""
        return shaping if shaping is None or isinstance(shaping, Shaping) else cls(float(shaping))

    def potentials(self, machine: Machine) -> npt.NDArray[np.float64]:
        """Φ of every state."""
        if self.potential == "distance":
            found = potentials(machine)
        elif self.potential == "value":
            found = 0.0 - values(machine, self.value_discount)
        elif isinstance(self.potential, Mapping):
            if unknown := sorted(self.potential.keys() - set(machine.states)):
                raise ValueError(f"potential: the machine has no state {unknown[0]!r}")
            own = self.potential
            found = np.array([float(own.get(state, 0.0)) for state in machine.states])
        elif callable(self.potential):
            found = np.array([float(self.potential(state)) for state in machine.states])
        return self.scale * found


def potentials(machine: Machine) -> npt.NDArray[np.float64]:
    """Φ of every state: (N − d) / N, with d the number of edges on a shortest path to acceptance, and N the number of states; 0
    without a path.

    >>> potentials(Machine.parse("initial a\\naccept c\\nreject d\\na -> b : key\\nb -> c : goal\\nb -> d : lava")).tolist()
    [0.5, 0.75, 1.0, 0.0]
    """
    states = machine.states
    distances, front = {machine.accepting: 0}, [machine.accepting]
    edges = machine.edges
    while front:
        target = front.pop(0)
        for edge in edges:
            if edge.target == target and edge.source not in distances:
                distances[edge.source] = distances[target] + 1
                front.append(edge.source)
    near = [(len(states) - distances[state]) / len(states) if state in distances else 0.0 for state in states]
    return np.array(near)


def values(machine: Machine, discount: float) -> npt.NDArray[np.float64]:
    """The optimal value of every state if edges could be chosen: value iteration over the machine. A state can also be stayed in.

    >>> values(Machine.parse("initial a\\naccept c\\na -> b : key => 0.5\\nb -> c : goal"), 0.5).tolist()
    [1.0, 1.0, 0.0]
    """
    states = machine.states
    number = {state: i for i, state in enumerate(states)}
    edges = []
    for edge in machine.edges:
        reward = edge.reward if edge.reward is not None else float(edge.target == machine.accepting)
        edges.append((number[edge.source], number[edge.target], reward))
    found = np.zeros(len(states))
    while True:
        better = discount * found
        for source, target, reward in edges:
            better[source] = max(better[source], reward + discount * found[target])
        if np.abs(better - found).max() < 1e-12:
            return better
        found = better


def can_accept(machine: Machine) -> bool:
    """Whether the machine can accept at all. If not, all its rewards are 0."""
    return bool(potentials(machine)[machine.states.index(machine.initial)] > 0)


def combined(reward: Reward, machine: Any, environment: Any) -> Any:
    """The reward of a step, not shaped, from the machine's and the environment's."""
    if reward == "machine":
        return machine
    if reward == "environment":
        return environment
    if reward == "sum":
        return machine + environment
    assert callable(reward)
    return reward(machine, environment)


def expect_reward(reward: Any) -> None:
    """Rejects what is no reward."""
    if not callable(reward) and reward not in ("machine", "environment", "sum"):
        raise ValueError(f"reward is 'machine', 'environment', 'sum' or a function of both rewards, not {reward!r}")
