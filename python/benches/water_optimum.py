"""The shortest episodes of a strict task of Water world, by breadth-first search: what curves of `water_seeds.py` can at best be relative to.

    python water_optimum.py --maps 1 2 3

Nothing in the world is random: after as many steps the balls are where they are, and the agent's velocity has seven values along an axis.
All that the agent can have become after a number of steps, its place, its velocity and the colours touched, fits into memory.
Balls are read from an observation, with single precision; every way that is found is then played in the world itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from formrl.benchmarks import WaterEnv, tasks

SIDE, RADIUS, SPEED, TOP, STEP = 400.0, 15.0, 30.0, 90.0, 0.1
PUSHES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0], [0, 0]]) * SPEED
COLOURS = ["red", "green", "blue", "yellow", "cyan", "magenta"]
"""In the order of the observation."""
Floats = npt.NDArray[np.float64]


def advanced(place: Floats, velocity: Floats) -> tuple[Floats, Floats]:
    """After one step, turned back by the walls."""
    place = place + STEP * velocity
    inside = place.clip(RADIUS, SIDE - RADIUS)
    return inside, np.where(place != inside, -velocity, velocity)


def touching(place: Floats, balls: Floats) -> npt.NDArray[np.bool_]:
    """Which balls an agent there touches: (places, balls)."""
    return np.stack([np.hypot(place[:, 0] - x, place[:, 1] - y) <= 2 * RADIUS for x, y in balls], axis=1)


def shortest(map_seed: int, colours: list[str], limit: int = 600) -> list[int] | None:
    """Actions that touch these colours one after the other and no other one, as few as there can be."""
    env = WaterEnv(map_seed=map_seed)
    seen = env.reset(seed=0)[0].astype(np.float64)
    rest = seen[4:].reshape(-1, 4)
    balls, moves = seen[:2] * SIDE + rest[:, :2] * SIDE, rest[:, 2:] * (SPEED + TOP)
    # The colour of each ball, as the number of the step of the task that wants it; -1 if none does.
    names = [colour for colour in COLOURS for _ in range(2)]
    wanted = np.array([colours.index(name) if name in colours else -1 for name in names])
    place, velocity, touched = seen[None, :2] * SIDE, np.zeros((1, 2)), np.zeros(1, np.int64)
    history: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
    for _ in range(limit):
        near = touching(place, balls)
        balls, moves = advanced(balls, moves)
        parents = np.repeat(np.arange(len(place)), len(PUSHES))
        actions = np.tile(np.arange(len(PUSHES)), len(place))
        now, speed = advanced(place[parents], (velocity[parents] + PUSHES[actions]).clip(-TOP, TOP))
        new = touching(now, balls) & ~near[parents]
        right = new & (wanted == touched[parents][:, None])
        ends = new.any(axis=1) & ~(right.any(axis=1) & (new == right).all(axis=1))
        after = touched[parents] + right.any(axis=1)
        key = np.round(np.concatenate([now * 1e3, speed, after[:, None]], axis=1)).astype(np.int64)
        packed = ((key[:, 0] * 500_000 + key[:, 1]) * 256 + key[:, 2] + 128) * 256 + key[:, 3] + 128
        packed = np.where(ends, -1, packed * 8 + key[:, 4])
        _, kept = np.unique(packed, return_index=True)
        kept = kept[~ends[kept]]
        history.append((parents[kept], actions[kept]))
        place, velocity, touched = now[kept], speed[kept], after[kept]
        if (touched == len(colours)).any():
            found, at = [], int(np.argmax(touched == len(colours)))
            for parent, action in reversed(history):
                found.append(int(action[at]))
                at = int(parent[at])
            return found[::-1]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="def-strict", choices=["abc-strict", "def-strict"])
    parser.add_argument("--maps", type=int, nargs="+", default=list(range(1, 11)))
    args = parser.parse_args()
    colours = {"abc-strict": ["red", "green", "blue"], "def-strict": ["yellow", "cyan", "magenta"]}[args.task]
    for map_seed in args.maps:
        way = shortest(map_seed, colours)
        env = WaterEnv(map_seed=map_seed)
        monitor = tasks("water")[args.task].bind(env.signature).monitor()
        env.reset(seed=0)
        for action in way or []:
            monitor.observe(env.step(action)[4]["labels"])
        print(f"map {map_seed}: {len(way or [])} steps, played: {monitor.verdict}", flush=True)


if __name__ == "__main__":
    main()
