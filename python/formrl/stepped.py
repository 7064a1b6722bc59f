"""Many worlds stepped together in Rust as a Gymnasium vector environment: what those of a task and those of a benchmark have in common."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl._native import Worlds

from .errors import WorldError
from .extras import require

require("gymnasium", "formrl.stepped")

import gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

Observations = npt.NDArray[Any]
Actions = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

MODES: dict[AutoresetMode, Literal["next", "same", "off"]] = {
    AutoresetMode.NEXT_STEP: "next",
    AutoresetMode.SAME_STEP: "same",
    AutoresetMode.DISABLED: "off",
}


class OfWorlds:
    """Worlds, until the environment is closed."""

    _worlds: Worlds | None

    @property
    def worlds(self) -> Worlds:
        """The worlds themselves; not there any more once the environment is closed."""
        if self._worlds is None:
            raise WorldError("the environment is closed")
        return self._worlds


class WorldsVectorEnv(OfWorlds, VectorEnv[Observations, Actions, npt.NDArray[Any]]):
    """Worlds that are stepped together.

    - `autoreset_mode`: when the next episode of a world begins, see Gymnasium.
    - `copy`: whether every step returns arrays of its own. Without, the same ones are written to again and again: faster, but what
      is to be kept must be copied.

    World `i` of a seed plays the same episodes for any number of worlds and threads, and the first one those of the single environment.
    `infos["labels"]` is an array of booleans, with one row per world and one column per atom of the signature.
    """

    def __init__(
        self,
        worlds: Worlds,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        atoms: int,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs = len(worlds)
        self.copy = copy
        self._worlds = worlds
        self.single_observation_space, self.single_action_space = observation_space, action_space
        self.observation_space = batch_space(observation_space, self.num_envs)
        self.action_space = batch_space(action_space, self.num_envs)
        self._atoms = atoms
        self._mode = MODES[self.autoreset_mode]
        self._buffers = self._new_buffers()
        self._started = False

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start episodes: the first ones of the seed, or the next ones without; with `options["reset_mask"]` in some worlds only."""
        worlds = self.worlds
        if isinstance(seed, list | tuple | np.ndarray):
            raise WorldError("one seed is for all worlds: each has a stream of its own")
        mask = None if options is None else options.get("reset_mask")
        if seed is not None and mask is not None:
            raise WorldError("a seed is for all worlds: leave it or the reset_mask out")
        if mask is not None and not self._started:
            raise gymnasium.error.ResetNeeded("reset() all worlds before some of them")
        if seed is not None or not self._started:
            super().reset(seed=seed)
            worlds.restart(int(self.np_random.integers(2**63)) if seed is None else seed)
        else:
            worlds.begin(None if mask is None else np.asarray(mask, np.bool_))
        self._started = True
        observations, _, _, _, labels = self._next_buffers()
        worlds.observe(observations, labels)
        return observations, self._infos(labels)

    def step(self, actions: Actions) -> tuple[Observations, npt.NDArray[np.float64], Booleans, Booleans, dict[str, Any]]:
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

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the worlds. The environment cannot be used any more."""
        self._worlds = None

    def _new_buffers(self) -> tuple[Observations, npt.NDArray[np.float64], Booleans, Booleans, Booleans]:
        n, single = self.num_envs, self.single_observation_space
        return (
            np.empty((n, *(single.shape or ())), single.dtype),
            np.empty(n),
            np.empty(n, np.bool_),
            np.empty(n, np.bool_),
            np.empty((n, self._atoms), np.bool_),
        )

    def _next_buffers(self) -> Any:
        """Where the worlds write: nothing is copied, in new arrays or in those of the last step."""
        if self.copy:
            self._buffers = self._new_buffers()
        return self._buffers

    def _infos(self, labels: Booleans) -> dict[str, Any]:
        # What says that there are labels belongs to the caller, as they do.
        return {"labels": labels, "_labels": np.ones(self.num_envs, np.bool_)}
