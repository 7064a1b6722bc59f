"""`formrl.run`: a machine or a task carried out at once, with the policy of the package and no training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from formrl._native import Machine, Task
from formrl.errors import WorldError
from formrl.saved_run import refusal_of

__all__ = ["ZeroShotResult", "run"]


@dataclass(frozen=True)
class ZeroShotResult:
    """What came of the episodes, all of which count."""

    success: float
    """The share of episodes that were completed."""
    dead_ends: int
    """How many ended in a dead end."""
    steps: float
    """The mean number of steps."""
    shortest: float | None
    """The mean steps of shortest solutions of the same episodes."""
    ratio: float | None
    """The steps of successful episodes ÷ those of shortest solutions."""
    random: float | None
    """The success of random play."""
    episodes: int
    """How many episodes were played."""
    details: dict[str, Any]
    """All that `form run --json` prints."""


def run(
    machine: str | os.PathLike[str] | Machine | Task,
    *,
    world: str | os.PathLike[str] | None = None,
    episodes: int = 200,
    seed: int = 0,
    shield: bool = False,
    greedy: bool = False,
    maps: Literal["held-out", "training"] | None = None,
    policy: str | os.PathLike[str] | None = None,
) -> ZeroShotResult:
    """Carry out a machine at once, on maps that no policy has seen, as `form run` does.

    - `machine`: a machine, a task, their files, the name of a built-in task, or a machine in one line:
      formulae separated by `;`, each the next step on the way to acceptance.
    - `world`: a task whose rooms are used; without, those of the task, or the paper's room with two checkpoints of each colour.
    - `maps`: `"held-out"` or `"training"`; without, held-out maps if the world has enough different ones, else training maps.
    - `policy`: a policy that `form pretrain` made, instead of the package's own.

    >>> import formrl
    >>> result = formrl.run("exists X. blue(X); forall X. yellow(X); goal", episodes=20)
    >>> result.success, result.dead_ends
    (1.0, 0)
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(machine, Task | Machine):
            is_task = isinstance(machine, Task)
            path = Path(folder, "task.toml" if is_task else "machine.form")
            path.write_text(machine.to_toml() if isinstance(machine, Task) else str(machine), "utf-8")
            machine = path
        options = {"world": world, "maps": maps, "policy": policy, "episodes": episodes, "seed": seed}
        command = ["run", os.fspath(machine), "--json"]
        command += [f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}" for name, value in options.items() if value is not None]
        command += ["--shield"] * shield + ["--greedy"] * greedy
        ended = subprocess.run([sys.executable, "-m", "formrl", *command], capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise WorldError(refusal_of(ended.stderr.splitlines(keepends=True)) or f"exit code {ended.returncode}")
    found: dict[str, Any] = json.loads(ended.stdout)
    if "impossible" in found:
        raise WorldError(f"the machine cannot be completed: {found['impossible']}")
    names = ("success", "dead_ends", "steps", "shortest", "ratio", "random", "episodes")
    return ZeroShotResult(**{name: found[name] for name in names}, details=found)
