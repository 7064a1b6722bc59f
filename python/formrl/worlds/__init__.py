"""The built-in worlds as Gymnasium environments. Importing this registers them: `formrl/all-yellow-v0` and so on.

>>> import gymnasium
>>> import formrl.worlds
>>> env = gymnasium.make("formrl/all-yellow-v0")
>>> observation, info = env.reset(seed=7)
>>> observation.shape, info["labels"]
((13, 13, 3), [])
>>> envs = gymnasium.make_vec("formrl/all-yellow-v0", num_envs=4)
>>> observations, infos = envs.reset(seed=7)
>>> observations.shape, infos["labels"].shape
((4, 13, 13, 3), (4, 13))
"""

from __future__ import annotations

import gymnasium

from formrl._native import Task
from formrl.worlds.many import GridWorldVectorEnv
from formrl.worlds.single import GridWorldEnv

__all__ = ["GridWorldEnv", "GridWorldVectorEnv", "environments"]


def environments() -> list[str]:
    """The names under which the built-in tasks are registered."""
    return [f"formrl/{task}-v0" for task in Task.builtin()]


def _register() -> None:
    for task, name in zip(Task.builtin(), environments(), strict=True):
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="formrl.worlds.single:GridWorldEnv",
                vector_entry_point="formrl.worlds.many:GridWorldVectorEnv",
                kwargs={"task": task},
            )


_register()
