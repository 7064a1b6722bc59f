"""HalfCheetah with the two machines of Toro Icarte et al. (JAIR 2022), through Gymnasium and MuJoCo: continuous control.

```python
env = MachineWrapper(half_cheetah.env(), half_cheetah.tasks()["forth-and-back"], reward="sum")
```

What can be observed is which lines on its way the cheetah is beyond. Task 1 is to run forth and back between two lines, again and again;
task 2 is to pass five lines in order. A thousand is paid for coming back, or for the last line; the environment's own reward is what
control costs, and no longer how far the cheetah comes.
"""

from __future__ import annotations

from typing import Any

from formrl._native import Machine, Signature

from .extras import require

require("gymnasium", "formrl.half_cheetah")

import gymnasium  # noqa: E402

__all__ = ["LINES", "HalfCheetahLines", "env", "labels_at", "tasks"]

LINES = {"behind(2)": -2.0, "ahead(2)": 2.0, "ahead(4)": 4.0, "ahead(6)": 6.0, "ahead(8)": 8.0, "ahead(10)": 10.0}
"""The lines and where they are: negative ones are passed backwards."""

_MACHINES = {
    "forth-and-back": """
        machine forth_and_back
        initial u0
        accept  never
        u0 -> u1 : ahead(2)
        u1 -> u0 : behind(2) => 1000
    """,
    "five-lines": """
        machine five_lines
        initial u0
        accept  done
        u0 -> u1   : ahead(2)
        u1 -> u2   : ahead(4)
        u2 -> u3   : ahead(6)
        u3 -> u4   : ahead(8)
        u4 -> done : ahead(10) => 1000
    """,
}


def tasks() -> dict[str, Machine]:
    """The two tasks, as machines over the lines.

    >>> list(tasks())
    ['forth-and-back', 'five-lines']
    """
    return {name: Machine.parse(text) for name, text in _MACHINES.items()}


def labels_at(x: float) -> list[str]:
    """The lines that a cheetah there is beyond.

    >>> labels_at(-3.0), labels_at(0.0), labels_at(5.0)
    (['behind(2)'], [], ['ahead(2)', 'ahead(4)'])
    """
    return [name for name, line in LINES.items() if (x < line if line < 0 else x > line)]


class HalfCheetahLines(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A HalfCheetah that sees its position and says which lines it is beyond: `info["labels"]`."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.signature = Signature(list(LINES))
        """What can be observed."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "labels": labels_at(float(info["x_position"]))}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "labels": labels_at(float(info["x_position"]))}


def env(**options: Any) -> HalfCheetahLines:
    """The cheetah, which is paid nothing for running. The options are those of `gymnasium.make("HalfCheetah-v5")`."""
    require("mujoco", "HalfCheetah")
    options = {"forward_reward_weight": 0.0, "exclude_current_positions_from_observation": False} | options
    return HalfCheetahLines(gymnasium.make("HalfCheetah-v5", **options))
