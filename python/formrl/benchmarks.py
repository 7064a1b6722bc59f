"""The benchmarks of the field as Gymnasium environments: Office, Craft, Water and Letter world. Importing this registers them.

>>> import gymnasium
>>> import formrl.benchmarks
>>> env = gymnasium.make("formrl/Office-v0")
>>> observation, info = env.reset(seed=0)
>>> observation, info["labels"]
(86, [])
>>> observation, reward, terminated, truncated, info = env.step(3)
>>> info["labels"]
['a']

They have labels and no task: an episode ends when its steps are used up. Tasks are machines, those of the papers in `tasks`, or
yours; `MachineWrapper` puts the two together, `formrl.tabular` learns them from tables.

>>> list(formrl.benchmarks.tasks("office"))
['coffee', 'mail', 'patrol', 'coffee-and-mail']

Many worlds at once are stepped in Rust, in one call:

>>> envs = gymnasium.make_vec("formrl/Water-v0", num_envs=8)
>>> observations, infos = envs.reset(seed=0)
>>> observations.shape, infos["labels"].shape
((8, 52), (8, 6))

With `letters=True`, atoms have the names of the published machine files of Toro Icarte et al. (`Machine.read("t1.txt")` reads
them), and `map` is the text of a published Craft map.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import numpy as np

from formrl._native import BenchmarkWorld, LabelledMdp, Machine, Signature, Worlds

from .errors import WorldError
from .extras import require

require("gymnasium", "formrl.benchmarks")

import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402
from gymnasium.utils import EzPickle  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

from .stepped import WorldsVectorEnv  # noqa: E402

__all__ = ["BenchmarkEnv", "BenchmarkVectorEnv", "CraftEnv", "LetterEnv", "OfficeEnv", "WaterEnv", "environments", "tasks"]


def tasks(benchmark: Literal["office", "craft", "water"]) -> dict[str, Machine]:
    """The tasks of the papers, as machines over the atoms of the world, in the order of the published ones."""
    return dict(BenchmarkWorld.tasks(benchmark))


class BenchmarkEnv(gymnasium.Env[Any, np.int64], EzPickle):
    """A world with labels and without a task. The reward is 0; `info["labels"]` is what the step made true."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}

    def __init__(self, world: BenchmarkWorld, observation_space: Any, render_mode: str | None) -> None:
        if render_mode not in (None, "ansi"):
            raise WorldError(f"render_mode is 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self._world = world
        self.observation_space = observation_space
        self.action_space = spaces.Discrete(len(world.actions))
        self.actions: list[str] = world.actions
        """The names of the actions."""
        self._seed: int | None = None
        self._episode = 0

    @property
    def signature(self) -> Signature:
        """What can be observed."""
        return self._world.signature

    def table(self) -> LabelledMdp:
        """The map of the episode as a table, for `formrl.tabular`."""
        return self._world.table()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode: the first one of the seed, or the next one without."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._episode = seed, 0
        elif self._seed is None:
            self._seed = int(self.np_random.integers(2**63))
        self._world.reset(self._seed, self._episode)
        self._episode += 1
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        if self._seed is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step")
        truncated = self._world.step(int(action))
        return self._observation(), 0.0, False, truncated, self._info()

    def render(self) -> Any:
        """The map as text. In Water world there is none."""
        if self.render_mode == "ansi":
            return self._world.map or ""
        gymnasium.logger.warn("render() does nothing without a render_mode")
        return None

    def _observation(self) -> Any:
        return self._world.vector()

    def _info(self) -> dict[str, Any]:
        return {"labels": self._world.labels}


class _GridEnv(BenchmarkEnv):
    """A grid whose observation is the number of the agent's cell, or its column and row."""

    def __init__(self, world: BenchmarkWorld, observation: str, render_mode: str | None) -> None:
        if observation not in ("cell", "position"):
            raise WorldError(f'observation is "cell" or "position", not {observation!r}')
        self._cell = observation == "cell"
        space: Any = spaces.Discrete(world.cells or 0)
        if not self._cell:
            low, high = (np.array(bound, np.float32) for bound in world.bounds)
            space = spaces.Box(low, high)
        super().__init__(world, space, render_mode)

    def _observation(self) -> Any:
        return self._world.cell if self._cell else self._world.vector()


class OfficeEnv(_GridEnv):
    """Office world (Toro Icarte et al., ICML 2018): twelve rooms with coffee, mail, an office, four places to patrol, and plants.

    - `observation`: the number of the `"cell"`, or its column and row (`"position"`).
    - `letters`: whether atoms are called as in the published machines.
    """

    def __init__(
        self,
        *,
        observation: Literal["cell", "position"] = "cell",
        letters: bool = False,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(self, observation=observation, letters=letters, render_mode=render_mode)
        super().__init__(BenchmarkWorld.office(letters=letters), observation, render_mode)


class CraftEnv(_GridEnv):
    """Craft world (Andreas et al., ICML 2017; Toro Icarte et al.): a field with raw materials and places to work them.

    - `map_seed`: the random map. The published maps are drawn in the same way.
    - `map`: the text of a map, in place of a random one: those of the published repository are read as they are.
    - `observation`, `letters`: as in Office world.
    """

    def __init__(
        self,
        *,
        map_seed: int = 0,
        map: str | None = None,
        observation: Literal["cell", "position"] = "cell",
        letters: bool = False,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, map_seed=map_seed, map=map, observation=observation, letters=letters, render_mode=render_mode
        )
        world = BenchmarkWorld.craft(seed=map_seed, map=map, letters=letters)
        super().__init__(world, observation, render_mode)


class WaterEnv(BenchmarkEnv):
    """Water world (Toro Icarte et al., ICML 2018): balls of six colours in a box; touching one makes its colour true.

    The observation is the agent's position and velocity, then those of every ball relative to the agent. All episodes start with the
    balls of `map_seed`.
    """

    def __init__(self, *, map_seed: int = 0, letters: bool = False, render_mode: str | None = None) -> None:
        EzPickle.__init__(self, map_seed=map_seed, letters=letters, render_mode=render_mode)
        world = BenchmarkWorld.water(seed=map_seed, letters=letters)
        low, high = (np.array(bound, np.float32) for bound in world.bounds)
        super().__init__(world, spaces.Box(low, high), render_mode)


class LetterEnv(BenchmarkEnv):
    """Letter world (Vaezipoor et al., ICML 2021): a torus with `letters` in random cells, a new map in every episode.

    The observation is an image with a channel for each letter, in their order, and one for the agent. Every letter can be reached
    without touching another one.
    """

    def __init__(
        self,
        *,
        size: int = 7,
        letters: str = "aabbccddeeffgghhiijjkkll",
        steps: int = 75,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(self, size=size, letters=letters, steps=steps, render_mode=render_mode)
        world = BenchmarkWorld.letter(size, letters, steps)
        shape: Any = world.shape
        super().__init__(world, spaces.Box(0, 1, shape, np.uint8), render_mode)

    def _observation(self) -> Any:
        return self._world.image()


class BenchmarkVectorEnv(WorldsVectorEnv):
    """Many worlds of one benchmark, whose maps may differ, stepped together in Rust: what `gymnasium.make_vec` makes.

    - `envs`: the single environments; they are copied, and stay as they are.
    - `autoreset_mode`: when the next episode of a world begins, see Gymnasium.
    - `copy`: whether every step returns arrays of its own. Without, the same ones are written to again and again.

    Rewards are 0, and episodes are truncated when their steps are used up: a machine says what is to be done. `infos["labels"]` is an
    array of booleans, with one row per world and one column per atom of the signature. World `i` of a seed plays the same episodes for
    any number of worlds, and the first one those of the single environment with that seed.
    """

    def __init__(
        self,
        envs: Iterable[BenchmarkEnv],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        single = list(envs)
        worlds = Worlds.of_benchmark([env._world for env in single])
        first = single[0]
        self.signature = first.signature
        """What can be observed."""
        super().__init__(
            worlds, first.observation_space, first.action_space, len(self.signature), autoreset_mode=autoreset_mode, copy=copy
        )


_ENTRIES = {"Office": OfficeEnv, "Craft": CraftEnv, "Water": WaterEnv, "Letter": LetterEnv}


def environments() -> list[str]:
    """The names under which the benchmarks are registered."""
    return [f"formrl/{name}-v0" for name in _ENTRIES]


def _many(
    entry: Any,
    num_envs: int = 1,
    *,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    **options: Any,
) -> Any:
    return BenchmarkVectorEnv([entry(**options)] * num_envs, autoreset_mode=autoreset_mode, copy=copy)


def _register() -> None:
    for name, entry in zip(environments(), _ENTRIES.values(), strict=True):
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name, entry_point=f"formrl.benchmarks:{entry.__name__}", vector_entry_point=partial(_many, entry)
            )


_register()
