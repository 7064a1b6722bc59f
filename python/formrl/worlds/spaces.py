"""What the worlds of a task show and let one do, as Gymnasium's spaces."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium import spaces

from formrl._native import Task, Worlds

TaskLike = Task | str | os.PathLike[str]
"""A task, the name of a built-in one, or a `.toml` file."""


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
