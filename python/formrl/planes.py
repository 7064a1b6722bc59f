"""What a machine asks for, as planes: an observation for policies of any library.

A machine that is carried out on a map asks for one sub-task after the other: reach one of these cells, step on none of those. A policy that
sees only this, and where it stands, is trained once for all machines. `SubTaskPlanes` shows it:

>>> from formrl.planes import SubTaskPlanes
>>> from formrl.worlds import GridWorldEnv
>>> world = GridWorldEnv("all-yellow", actions="moves")
>>> env = SubTaskPlanes(world, world.task.machine)
>>> observation, info = env.reset(seed=7)
>>> observation.shape, info["machine_state"], info["observations_left"]
((7, 13, 13), 'u0', 3)

An environment of your own needs to say where its atoms are. It has two methods, or these are passed as `place` and `pose`:

- `placed_atoms()`: the walls as an array of booleans, by column and row, and a dictionary from each atom to the cells in which it is
  observed. Walls go all around; sides are 4 to 255 cells long, walls included. It is called once when the environment is wrapped, for the size of the room, and at every reset.
- `pose()`: the agent's cell and direction, `((x, y), direction)`, with MiniGrid's numbers: 0 is right, 1 down, 2 left, 3 up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from formrl._native import BoundMachine, Machine, SubTasks
from formrl.errors import WorldError

__all__ = ["SubTaskPlanes"]

Cell = tuple[int, int]
Placed = tuple[npt.NDArray[np.bool_], Mapping[str, Sequence[Cell]]]
Planes = npt.NDArray[np.uint8]

CHANNELS = ("walls", "reach", "avoid", "right", "down", "left", "up")


class SubTaskPlanes(gymnasium.Wrapper[Planes, Any, Any, Any]):
    """Shows the present sub-task of a machine instead of the world's own observation.

    The observation has seven planes of 0 and 1, by column and row: walls, cells to reach, cells to avoid, and the agent's cell in the
    plane of its direction (`channels` names them). The environment's `info["labels"]` drive the machine. `info["machine_state"]` is its state, and
    `info["observations_left"]` the least number of observations until it accepts, `None` if it cannot any more. Rewards are the environment's.
    """

    channels = CHANNELS
    """The names of the planes."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        machine: Machine | BoundMachine,
        *,
        place: Callable[[], Placed] | None = None,
        pose: Callable[[], tuple[Cell, int]] | None = None,
    ) -> None:
        super().__init__(env)
        inner: Any = env.unwrapped
        self._place = place or getattr(inner, "placed_atoms", None)
        self._pose = pose or getattr(inner, "pose", None)
        if self._place is None or self._pose is None:
            raise WorldError(
                "the environment cannot say where its atoms are: it needs the methods placed_atoms() and pose(), or pass place= and pose="
            )
        self._machine = machine
        self._tasks: SubTasks | None = None
        width, height = self._size()
        self.observation_space = spaces.Box(0, 1, (len(CHANNELS), width, height), np.uint8)

    def _size(self) -> tuple[int, int]:
        assert self._place is not None
        walls, _ = self._place()
        width, height = np.asarray(walls).shape
        return width, height

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Starts an episode: the atoms are placed anew."""
        _, info = self.env.reset(seed=seed, options=options)
        assert self._place is not None
        walls, cells = self._place()
        machine = self._machine
        if isinstance(machine, Machine):
            machine = machine.bind(list(cells))
        self._tasks = SubTasks(
            machine,
            np.ascontiguousarray(walls, np.bool_),
            {atom: [(int(x), int(y)) for x, y in places] for atom, places in cells.items()},
        )
        return self._observed(self._tasks, info)

    def step(self, action: Any) -> tuple[Planes, Any, bool, bool, dict[str, Any]]:
        """Takes an action."""
        if self._tasks is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step")
        _, reward, terminated, truncated, info = self.env.step(action)
        planes, info = self._observed(self._tasks, info)
        return planes, reward, terminated, truncated, info

    def _observed(self, tasks: SubTasks, info: dict[str, Any]) -> tuple[Planes, dict[str, Any]]:
        labels = info.get("labels")
        if labels is None:
            raise WorldError("the environment has no labels: info['labels'] is missing")
        tasks.observe([str(label) for label in labels])
        assert self._pose is not None
        (x, y), direction = self._pose()
        planes = np.zeros(self.observation_space.shape or (), np.uint8)
        planes[:3] = tasks.planes((int(x), int(y)))
        planes[3 + int(direction), int(x), int(y)] = 1
        left = tasks.observations_left((int(x), int(y)))
        return planes, {**info, "machine_state": tasks.state, "observations_left": left}
