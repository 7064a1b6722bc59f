"""Many worlds of a task as one Gymnasium vector environment, stepped in Rust on all cores."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode

from formrl._native import Worlds
from formrl.stepped import WorldsVectorEnv
from formrl.worlds.spaces import OfTask, TaskLike, action_space, expect_render_mode, observation_space, task_of


class GridWorldVectorEnv(OfTask, WorldsVectorEnv):
    """Many worlds, in each of which an agent plays a task. The arguments are those of `GridWorldEnv`, and those of `WorldsVectorEnv`:

    - `autoreset_mode`: when the next episode of a world begins, see Gymnasium.
    - `copy`: whether every step returns arrays of its own. Without, the same ones are written to again and again: faster, but what
      is to be kept must be copied.

    World `i` of a seed plays the same episodes for any number of worlds and threads. `infos["labels"]` is an array of booleans,
    with one row per world and one column per atom of the signature.
    """

    def __init__(
        self,
        task: TaskLike = "all-yellow",
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        view: Literal["symbols", "identities", "planes", "egocentric"] = "symbols",
        actions: Literal["all", "moves"] = "all",
        starts: Literal["anywhere", "of-the-map"] = "anywhere",
        maps: int | None = None,
        map_seed: int = 0,
        held_out: bool = False,
        render_mode: str | None = None,
        render_scale: int = 32,
    ) -> None:
        expect_render_mode(render_mode)
        self.task = task_of(task)
        self.render_mode = render_mode
        self._scale = render_scale
        worlds = Worlds(
            self.task,
            num_envs,
            view=view,
            actions=actions,
            starts=starts,
            maps=maps,
            map_seed=map_seed,
            held_out=held_out,
        )
        spaces = observation_space(worlds), action_space(worlds)
        WorldsVectorEnv.__init__(self, worlds, *spaces, len(self.signature), autoreset_mode=autoreset_mode, copy=copy)

    def render(self) -> tuple[Any, ...] | None:
        """Draw all worlds as the render mode says."""
        worlds = self.worlds
        if self.render_mode == "rgb_array":
            return tuple(worlds.to_rgb(world, self._scale) for world in range(self.num_envs))
        if self.render_mode == "ansi":
            return tuple(worlds.to_text(world) for world in range(self.num_envs))
        gymnasium.logger.warn("render() does nothing without a render_mode")
        return None
