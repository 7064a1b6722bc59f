"""A small environment whose task needs memory: fetch the key at one end of a corridor, then open the door at the
other."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import formrl

MACHINE = """
machine errands
initial u0
accept  u_acc
u0 -> u1    : key
u1 -> u_acc : door
"""

# With two keys, all of which are needed, and a pit at the door for those who come too early.
KEYS_MACHINE = """
machine all_keys
initial u0
accept  u_acc
reject  u_rej
u0 -> u1    : forall X. key(X) and not door
u0 -> u_rej : door
u1 -> u_acc : door
"""


class Errands(gymnasium.Env):  # type: ignore[type-arg]
    """Cells in a row; the key lies in the first, the door is behind the last, and episodes start in between.

    With `keys`, there are two keys, in the first and the second cell, and coming to the door without both is a dead end.
    """

    def __init__(self, cells: int = 5, limit: int = 40, keys: bool = False) -> None:
        self.cells, self.limit, self.keys = cells, limit, keys
        self.observation_space = spaces.Box(0.0, 1.0, (cells,), np.float32)
        self.action_space = spaces.Discrete(2)
        atoms = ["key(o0)", "key(o1)", "door"] if keys else ["key", "door"]
        self.signature = formrl.Signature(atoms)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(1, self.cells - 1))
        self.time, self.has = 0, set[str]()
        return self._see(), {"labels": self._labels()}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = min(max(self.at + (1 if action == 1 else -1), 0), self.cells - 1)
        self.time += 1
        labels = self._labels()
        terminated = reward = False
        if "door" in labels:
            reward = len(self.has) == (2 if self.keys else 1)
            terminated = reward or self.keys
        return self._see(), float(reward), terminated, self.time >= self.limit, {"labels": labels}

    def _see(self) -> Any:
        return np.eye(self.cells, dtype=np.float32)[self.at]

    def _labels(self) -> list[str]:
        if self.at == self.cells - 1:
            return ["door"]
        found = []
        if self.keys and self.at < 2:
            found = [f"key(o{self.at})"]
        elif not self.keys and self.at == 0:
            found = ["key"]
        self.has |= set(found)
        return found
