"""Sub-tasks as planes, and machines carried out at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import formrl
from formrl.planes import SubTaskPlanes
from formrl.worlds import GridWorldEnv

MACHINE = "initial u0\naccept done\nreject dead\nu0 -> u1 : key\nu0 -> dead : lava\nu1 -> done : door"
CELLS = {"key": [(1, 1)], "lava": [(2, 2)], "door": [(5, 1), (5, 3)]}


def walls() -> np.ndarray:
    room = np.zeros((7, 5), bool)
    room[[0, -1], :] = room[:, [0, -1]] = True
    return room


def sub_tasks(**changes: Any) -> formrl.SubTasks:
    bound = formrl.Machine.parse(MACHINE).bind(["door", "key", "lava"])
    return formrl.SubTasks(bound, walls(), {**CELLS, **changes})


def cells(plane: np.ndarray) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for x, y in np.argwhere(plane)}


def test_planes_follow_the_machine() -> None:
    tasks = sub_tasks()
    shown = tasks.planes((3, 1))
    assert shown.shape == (3, 7, 5) and (shown[0] == walls()).all()
    assert (cells(shown[1]), cells(shown[2])) == ({(1, 1)}, {(2, 2)})
    assert (tasks.state, tasks.observations_left((3, 1))) == ("u0", 2)
    tasks.observe(["key"])
    shown = tasks.planes((1, 1))
    assert (cells(shown[1]), cells(shown[2])) == ({(5, 1), (5, 3)}, set())
    assert (tasks.state, tasks.observations_left((1, 1))) == ("u1", 1)
    tasks.reset()
    tasks.observe(["lava"])
    assert (tasks.state, tasks.observations_left((2, 2))) == ("dead", None)


def test_mistakes_are_named() -> None:
    bound = formrl.Machine.parse(MACHINE).bind(["door", "key", "lava"])
    with pytest.raises(ValueError, match="where lava is"):
        formrl.SubTasks(bound, walls(), {"key": [], "door": []})
    with pytest.raises(ValueError, match="has amber"):
        sub_tasks(gold=[], amber=[], silver=[])
    with pytest.raises(IndexError, match="7 × 5"):
        sub_tasks(key=[(7, 0)])
    with pytest.raises(formrl.WorldError, match="gap"):
        formrl.SubTasks(bound, np.zeros((7, 5), bool), CELLS)
    with pytest.raises(IndexError, match="no free cell"):
        sub_tasks().planes((0, 0))
    with pytest.raises(formrl.LabelError):
        sub_tasks().observe(["gold"])
    with pytest.raises(formrl.WorldError, match="placed_atoms"):
        SubTaskPlanes(gymnasium.make("CartPole-v1"), formrl.Machine.parse(MACHINE))


def test_the_wrapper_is_an_environment() -> None:
    world = GridWorldEnv("green-but-one", actions="moves")
    check_env(SubTaskPlanes(world, world.task.machine), skip_render_check=True)


def test_the_shipped_policy_completes_a_task_from_planes_alone() -> None:
    world = GridWorldEnv("blue-all-yellow-7", actions="moves", held_out=True)
    env = SubTaskPlanes(world, world.task.machine)
    policy = formrl.ReachAvoidPolicy.shipped()
    random = np.random.default_rng(1)
    assert env.channels[:3] == ("walls", "reach", "avoid")
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        left = info["observations_left"]
        over = False
        while not over:
            direction, x, y = (int(found[0]) for found in np.nonzero(observation[3:]))
            walls, reach, avoid = observation[:3].astype(bool)
            chances = np.asarray(policy(walls, reach, avoid, (x, y), direction), dtype=np.float64)
            action = random.choice(3, p=chances / chances.sum())
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            assert env.observation_space.contains(observation)
        assert info["outcome"] == "goal" and info["observations_left"] == 0 < left


class Corridor(gymnasium.Env[np.ndarray, int]):
    """Three cells in a row; a step to the right is action 0."""

    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
    action_space: gymnasium.spaces.Space[Any] = gymnasium.spaces.Discrete(1)

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        self.x = 1
        return np.zeros(1, np.float32), {"labels": []}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.x += 1
        return np.zeros(1, np.float32), 0.0, self.x == 3, False, {"labels": ["end"] if self.x == 3 else []}


def test_an_environment_of_ones_own_is_placed_by_functions() -> None:
    room = np.ones((5, 4), bool)
    room[1:4, 1] = False
    corridor = Corridor()
    corridor.x = 1
    machine = formrl.Machine.parse("initial u0\naccept done\nu0 -> done : end")
    env = SubTaskPlanes(
        corridor,
        machine,
        place=lambda: (room, {"end": [(3, 1)]}),
        pose=lambda: ((corridor.x, 1), 0),
    )
    observation, info = env.reset()
    assert cells(observation[1]) == {(3, 1)} and info["machine_state"] == "u0"
    env.step(0)
    observation, _, terminated, _, info = env.step(0)
    assert terminated and info["machine_state"] == "done" and not observation[1].any()


def test_a_machine_is_carried_out_at_once(tmp_path: Path) -> None:
    found = formrl.run("exists X. blue(X); goal", episodes=20, seed=3)
    assert found.success == 1.0 and found.dead_ends == 0 and found.episodes == 20
    assert found.shortest is not None and found.steps >= found.shortest
    assert found.random is not None and found.random < 1.0
    task = formrl.Task("all-yellow")
    again = formrl.run(task, episodes=5)
    named = formrl.run("all-yellow", episodes=5)
    assert (again.success, again.steps, again.dead_ends) == (named.success, named.steps, named.dead_ends)
    assert formrl.run(task.machine, world="all-yellow", episodes=5).success == again.success
    with pytest.raises(formrl.WorldError, match="green\\(o99\\)"):
        formrl.run("green(o99)", episodes=1)
    with pytest.raises(formrl.WorldError):
        formrl.run(tmp_path / "none.form", episodes=1)
