"""One world of a task as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import EzPickle

from formrl._native import Worlds
from formrl.worlds.spaces import OfTask, TaskLike, action_space, expect_render_mode, observation_space, task_of

Image = npt.NDArray[np.uint8]


class GridWorldEnv(OfTask, gymnasium.Env[Image, np.int64], EzPickle):
    """A world in which one agent plays a task.

    The reward is 1 when the task is done and 0 otherwise. An episode terminates when the task is done or has become impossible,
    and is truncated when the steps that the task allows are used up. `info["labels"]` is what the step made true,
    `info["outcome"]` one of `running`, `goal`, `dead-end` and `out-of-time`.

    - `view`: `symbols` is MiniGrid's fully observable image, `identities` also tells checkpoints apart, `planes` has a plane
      for each kind of thing, `egocentric` the same turned and shifted so that the agent is in the middle and looks up.
    - `actions`: `all` seven of MiniGrid, or just the three `moves`.
    - `starts`: `anywhere`, or always where the map says (`of-the-map`).
    - `maps`: the number of maps that episodes go through, drawn from `map_seed`; without it, every episode has a new map.
    - `held_out`: play on maps that no training run sees.
    """

    def __init__(
        self,
        task: TaskLike = "all-yellow",
        *,
        view: Literal["symbols", "identities", "planes", "egocentric"] = "symbols",
        actions: Literal["all", "moves"] = "all",
        starts: Literal["anywhere", "of-the-map"] = "anywhere",
        maps: int | None = None,
        map_seed: int = 0,
        held_out: bool = False,
        render_mode: str | None = None,
        render_scale: int = 32,
    ) -> None:
        choices: dict[str, Any] = {
            "view": view,
            "actions": actions,
            "starts": starts,
            "maps": maps,
            "map_seed": map_seed,
            "held_out": held_out,
        }
        EzPickle.__init__(
            self, task, **choices, render_mode=render_mode, render_scale=render_scale
        )
        expect_render_mode(render_mode)
        self.task = task_of(task)
        self.render_mode = render_mode
        self._scale = render_scale
        self._worlds = Worlds(self.task, 1, **choices)
        self.observation_space = observation_space(self._worlds)
        self.action_space = action_space(self._worlds)
        self.actions: list[str] = self._worlds.actions
        """The names of the actions."""
        self._reward = np.zeros(1)
        self._over = np.zeros((2, 1), np.bool_)
        self._labels = np.zeros((1, len(self.signature)), np.bool_)
        self._started = False
        self.episodes = 0
        """How many episodes were begun."""
        self.actions_taken: list[int] = []
        """The actions of the episode so far."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Image, dict[str, Any]]:
        """Start an episode: the first one of the seed, or the next one without."""
        worlds = self.worlds
        super().reset(seed=seed)
        if seed is not None:
            worlds.restart(seed)
        elif not self._started:
            worlds.restart(int(self.np_random.integers(2**63)))
        else:
            worlds.begin()
        self._started = True
        self.episodes += 1
        self.actions_taken = []
        image = self._image()
        worlds.observe(image, self._labels)
        return image[0], self._info()

    def step(
        self, action: np.int64 | int
    ) -> tuple[Image, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        worlds = self.worlds
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before the first step")
        image = self._image()
        worlds.step(
            np.array([action], np.int64),
            image,
            self._reward,
            self._over[0],
            self._over[1],
            self._labels,
            autoreset="off",
        )
        self.actions_taken.append(int(action))
        terminated, truncated = bool(self._over[0, 0]), bool(self._over[1, 0])
        return image[0], float(self._reward[0]), terminated, truncated, self._info()

    def render(self) -> Any:
        """Draw the world as the render mode says: an image or a text."""
        worlds = self.worlds
        if self.render_mode == "rgb_array":
            return worlds.to_rgb(0, self._scale)
        if self.render_mode == "ansi":
            return worlds.to_text(0)
        gymnasium.logger.warn("render() does nothing without a render_mode")
        return None

    def placed_atoms(self) -> tuple[npt.NDArray[np.bool_], dict[str, list[tuple[int, int]]]]:
        """The walls of the present map, by column and row, and for each atom the cells in which it is observed."""
        return self.worlds.placed_atoms(0)

    def pose(self) -> tuple[tuple[int, int], int]:
        """The agent's cell and direction; directions are MiniGrid's numbers."""
        return self.worlds.pose(0)

    def close(self) -> None:
        """Let go of the world. The environment cannot be used any more."""
        self._worlds = None

    def _image(self) -> Image:
        # Every observation is an array of its own, into which the world writes: callers may keep it.
        return np.empty((1, *self.worlds.shape), np.uint8)

    def _info(self) -> dict[str, Any]:
        worlds = self.worlds
        return {"labels": worlds.labels(0), "outcome": worlds.outcome(0)}
