"""Many worlds of a task as one Gymnasium vector environment, stepped in Rust on all cores."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from formrl._native import Worlds
from formrl.errors import WorldError
from formrl.worlds.spaces import OfTask, TaskLike, action_space, expect_render_mode, observation_space, task_of

Images = npt.NDArray[np.uint8]
Actions = npt.NDArray[np.int64]

MODES: dict[AutoresetMode, Literal["next", "same", "off"]] = {
    AutoresetMode.NEXT_STEP: "next",
    AutoresetMode.SAME_STEP: "same",
    AutoresetMode.DISABLED: "off",
}


class GridWorldVectorEnv(OfTask, VectorEnv[Images, Actions, npt.NDArray[Any]]):
    """Many worlds, in each of which an agent plays a task. The arguments are those of `GridWorldEnv`, and:

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
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.task = task_of(task)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.copy = copy
        self._scale = render_scale
        self._worlds = Worlds(
            self.task,
            num_envs,
            view=view,
            actions=actions,
            starts=starts,
            maps=maps,
            map_seed=map_seed,
            held_out=held_out,
        )
        self.single_observation_space = observation_space(self._worlds)
        self.single_action_space = action_space(self._worlds)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mode = MODES[self.autoreset_mode]
        self._everywhere = np.ones(num_envs, np.bool_)
        self._buffers = self._new_buffers()
        self._started = False

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Images, dict[str, Any]]:
        """Start episodes: the first ones of the seed, or the next ones without; with `options["reset_mask"]` in some worlds only."""
        worlds = self.worlds
        if isinstance(seed, list | tuple | np.ndarray):
            raise WorldError("one seed is for all worlds: each has a stream of its own")
        mask = None if options is None else options.get("reset_mask")
        if seed is not None and mask is not None:
            raise WorldError("a seed is for all worlds: leave it or the reset_mask out")
        if seed is not None or not self._started:
            super().reset(seed=seed)
            worlds.restart(int(self.np_random.integers(2**63)) if seed is None else seed)
        if mask is not None:
            worlds.begin(np.asarray(mask, np.bool_))
        elif seed is None and self._started:
            worlds.begin()
        self._started = True
        observations, _, _, _, labels = self._next_buffers()
        worlds.observe(observations, labels)
        return observations, self._infos(labels)

    def step(
        self, actions: Actions
    ) -> tuple[
        Images,
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Take one action in every world."""
        worlds = self.worlds
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before the first step")
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise TypeError(f"actions are integers, not {chosen.dtype}")
        chosen = np.ascontiguousarray(chosen, np.int64)
        buffers = self._next_buffers()
        observations, rewards, terminated, truncated, labels = buffers
        if self._mode != "same":
            worlds.step(chosen, *buffers, autoreset=self._mode)
            return observations, rewards, terminated, truncated, self._infos(labels)
        last, last_labels = np.empty_like(observations), np.zeros_like(labels)
        worlds.step(chosen, *buffers, autoreset="same", last=last, last_labels=last_labels)
        infos = self._infos(labels)
        over = terminated | truncated
        if over.any():
            final = np.full(self.num_envs, None, dtype=object)
            for world in np.flatnonzero(over):
                final[world] = last[world]
            infos["final_obs"], infos["_final_obs"] = final, over
            infos["final_info"] = {"labels": last_labels, "_labels": over}
            infos["_final_info"] = over
        return observations, rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Draw all worlds as the render mode says."""
        worlds = self.worlds
        if self.render_mode == "rgb_array":
            return tuple(worlds.to_rgb(world, self._scale) for world in range(self.num_envs))
        if self.render_mode == "ansi":
            return tuple(worlds.to_text(world) for world in range(self.num_envs))
        gymnasium.logger.warn("render() does nothing without a render_mode")
        return None

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the worlds. The environment cannot be used any more."""
        self._worlds = None

    def _new_buffers(
        self,
    ) -> tuple[
        Images,
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
    ]:
        n = self.num_envs
        return (
            np.empty((n, *self.worlds.shape), np.uint8),
            np.empty(n),
            np.empty(n, np.bool_),
            np.empty(n, np.bool_),
            np.empty((n, len(self.signature)), np.bool_),
        )

    def _next_buffers(self) -> Any:
        """Where the worlds write: nothing is copied, in new arrays or in those of the last step."""
        if self.copy:
            self._buffers = self._new_buffers()
        return self._buffers

    def _infos(self, labels: npt.NDArray[np.bool_]) -> dict[str, Any]:
        return {"labels": labels, "_labels": self._everywhere}
