"""What environments of one world and of many have in common: their task, its worlds, and what these show and let one do."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium import spaces

from formrl._native import Signature, Task, Worlds
from formrl.errors import WorldError
from formrl.stepped import OfWorlds

TaskLike = Task | str | os.PathLike[str]
"""A task, the name of a built-in one, or a `.toml` file."""


class OfTask(OfWorlds):
    """Worlds of a task, until they are closed."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}
    judges = True
    """They say when the task is done: a machine may be wrong about it."""
    task: Task

    @property
    def signature(self) -> Signature:
        """What can be observed."""
        return self.task.signature


def expect_render_mode(mode: str | None) -> None:
    """Refuses ways to draw that there are not."""
    if mode is not None and mode not in OfTask.metadata["render_modes"]:
        raise WorldError(f"render_mode is 'rgb_array' or 'ansi', not {mode!r}")


def task_of(task: TaskLike) -> Task:
    """The task that is meant."""
    return task if isinstance(task, Task) else Task(task)


def observation_space(worlds: Worlds) -> Any:
    """Bytes for every cell: column, row, channel, as MiniGrid has them."""
    most = np.array([most for _, most in worlds.channels], np.uint8)
    high: Any = np.broadcast_to(most, worlds.shape).copy()
    return spaces.Box(low=np.zeros_like(high), high=high, dtype=np.uint8)


def action_space(worlds: Worlds) -> Any:
    """The actions by number."""
    return spaces.Discrete(len(worlds.actions))
