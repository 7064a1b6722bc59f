"""Labels for MiniGrid and BabyAI environments: what happens to their objects.

```python
env = MachineWrapper(gymnasium.make("MiniGrid-DoorKey-5x5-v0"), machine, Events(), signature=["key(yellow)", "door(yellow)", "goal"])
```

An event is observed in the step in which it happens: `key(yellow)`, `ball(red)` or `box(blue)` when such an object is picked
up, `door(red)` when that door is opened, `goal` and `lava` when the agent steps onto one. Objects are named by their colours:
of two red doors, either is `door(red)`.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from .extras import require
from .wrappers import Transition

require("minigrid", "formrl.minigrid")

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
"""Those of MiniGrid."""

UNDERFOOT = ("goal", "lava")
"""What is observed by standing on it."""


class Events:
    """Labels of a MiniGrid environment, for `MachineWrapper`. One environment has one of its own: it remembers what was there.

    With `mission`, events of objects that the mission of a BabyAI environment names are also labelled `mission`: so one machine can
    say "what the mission asks for, then the goal", whatever the mission is.
    """

    @staticmethod
    def signature(env: Any, mission: bool = False) -> list[str]:
        """The labels that an environment can have: what is in its grid now, or after a reset of a copy of it with the seeds 0, 1, 2, …,
        until fifty resets in a row bring nothing new. Objects differ from episode to episode in many of BabyAI's environments."""
        env = copy.deepcopy(env.unwrapped)
        found: set[str] = set()
        if env.agent_pos is not None and tuple(env.agent_pos) != (-1, -1):
            found = _labels_in(env.grid)
        seed = quiet = 0
        while quiet < 50:
            env.reset(seed=seed)
            new = _labels_in(env.grid) - found
            found |= new
            seed, quiet = seed + 1, 0 if new else quiet + 1
        return sorted(found) + (["mission"] if mission else [])

    def __init__(self, mission: bool = False) -> None:
        self._mission = mission
        self._carried: Any = None
        self._doors: list[Any] = []
        self._open: list[bool] = []

    def __call__(self, transition: Transition) -> list[str]:
        """What happened in a step."""
        env = transition.env
        begins = transition.action is None
        labels = []
        if env.carrying is not None and env.carrying is not self._carried and not begins:
            labels.append(f"{env.carrying.type}({env.carrying.color})")
        self._carried = env.carrying
        if begins:
            # Doors never move: they are looked for once an episode.
            self._doors = [cell for cell in env.grid.grid if cell is not None and cell.type == "door"]
        now = [door.is_open for door in self._doors]
        if not begins:
            labels += [f"door({d.color})" for d, was, is_ in zip(self._doors, self._open, now) if is_ and not was]
        self._open = now
        underfoot = env.grid.get(*env.agent_pos)
        if underfoot is not None and underfoot.type in UNDERFOOT:
            labels.append(underfoot.type)
        if self._mission and any(self._asked_for(env, label) for label in labels):
            labels.append("mission")
        return sorted(set(labels))

    @staticmethod
    def _asked_for(env: Any, label: str) -> bool:
        """Whether the mission names the object of a label: its type, or any object, and, if it says one, its colour."""
        kind, _, colour = label.rstrip(")").partition("(")
        words = env.mission.replace(",", " ").split()
        return any(
            word in (kind, "object") and (i == 0 or words[i - 1] == colour or words[i - 1] not in COLOURS) for i, word in enumerate(words)
        )


class Visitor:
    """Simple scripted behaviour: goes to an object chosen at random, picks it up, opens it or steps onto it, and goes on to the next.

    Call it with an environment for the next action. Where nothing can be reached it acts at random; and it does so in every step with
    probability `noise`.
    """

    def __init__(self, rng: np.random.Generator, noise: float = 0.0) -> None:
        self._rng, self._noise = rng, noise
        self._target: tuple[int, int] | None = None

    def reset(self) -> None:
        """Forgets where it was going: a new episode begins."""
        self._target = None

    def __call__(self, env: Any) -> int:
        """The next action."""
        env = env.unwrapped
        if self._rng.random() < self._noise:
            return int(self._rng.integers(env.action_space.n))
        ways = _ways(env)
        if self._target is None or not (ways.keys() & set(_beside(self._target))):
            reachable = [place for place in _things(env) if ways.keys() & set(_beside(place))]
            if not reachable:
                return int(self._rng.integers(env.action_space.n))
            self._target = reachable[self._rng.integers(len(reachable))]
        if tuple(env.front_pos) == self._target:
            thing = env.grid.get(*self._target)
            self._target = None
            if thing is None or thing.type in UNDERFOOT:
                return int(env.actions.forward)
            return int(env.actions.toggle if thing.type == "door" else env.actions.pickup)
        # The cell beside the target that is nearest, then the first step of the way there, or a turn towards the target.
        beside = min(ways.keys() & set(_beside(self._target)), key=lambda place: (len(ways[place]), place))
        way = ways[beside]
        towards = way[0] if way else self._target
        x, y = towards[0] - env.agent_pos[0], towards[1] - env.agent_pos[1]
        wanted = ((1, 0), (0, 1), (-1, 0), (0, -1)).index((int(x), int(y)))
        if wanted == env.agent_dir:
            return int(env.actions.forward)
        return int(env.actions.right if (wanted - env.agent_dir) % 4 in (1, 2) else env.actions.left)


def _labels_in(grid: Any) -> set[str]:
    """What can happen to the things of a grid, those in boxes included."""
    found = set()
    for cell in grid.grid:
        inside = [cell, getattr(cell, "contains", None)]
        for thing in (thing for thing in inside if thing is not None):
            if thing.type in UNDERFOOT:
                found.add(thing.type)
            elif thing.type == "door" or thing.can_pickup():
                found.add(f"{thing.type}({thing.color})")
    return found


def _things(env: Any) -> list[tuple[int, int]]:
    """Where objects are that something can be done with; what is in hand leaves no hand for another."""
    things = []
    for i, cell in enumerate(env.grid.grid):
        if cell is None or cell.type in ("wall", "floor", "lava"):
            continue
        if cell.can_pickup() and env.carrying is not None:
            continue
        locked = cell.type == "door" and cell.is_locked
        has_key = env.carrying is not None and env.carrying.type == "key" and env.carrying.color == cell.color
        if not locked or has_key:
            things.append((i % env.grid.width, i // env.grid.width))
    return things


def _ways(env: Any) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The shortest way to every cell that can be walked to without stepping onto a goal or lava."""
    start = (int(env.agent_pos[0]), int(env.agent_pos[1]))
    ways: dict[tuple[int, int], list[tuple[int, int]]] = {start: []}
    front = deque([start])
    while front:
        place = front.popleft()
        for beside in _beside(place):
            cell = env.grid.get(*beside)
            free = cell is None or (cell.can_overlap() and cell.type not in UNDERFOOT)
            if free and beside not in ways:
                ways[beside] = [*ways[place], beside]
                front.append(beside)
    return ways


def _beside(place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    x, y = place
    yield from ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1))
