"""The benchmarks of the field as Gymnasium environments."""

import pickle
import warnings
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import formrl.benchmarks
from formrl import Machine, Signature, WorldError
from formrl.benchmarks import BenchmarkEnv, CraftEnv, LetterEnv, OfficeEnv, WaterEnv, environments, tasks


@pytest.mark.parametrize("name", environments())
def test_gymnasiums_own_checker_has_nothing_to_say(name: str) -> None:
    env = gymnasium.make(name).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("benchmark", ["office", "craft", "water"])
def test_tasks_fit_their_world(benchmark: Literal["office", "craft", "water"]) -> None:
    env: BenchmarkEnv = {"office": OfficeEnv, "craft": CraftEnv, "water": WaterEnv}[benchmark]()
    for machine in tasks(benchmark).values():
        machine.bind(env.signature)


def seen(env: BenchmarkEnv, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    found = [(np.asarray(observation).tobytes(), info["labels"])]
    for _ in range(150):
        observation, reward, terminated, truncated, info = env.step(int(random.integers(4)))
        assert reward == 0.0 and not terminated
        found.append((np.asarray(observation).tobytes(), info["labels"]))
        if truncated:
            env.reset()
    return found


@pytest.mark.parametrize("env", [OfficeEnv(), CraftEnv(map_seed=3), WaterEnv(map_seed=3), LetterEnv(size=5, letters="aabbcc")])
def test_seeds_and_copies_reproduce(env: BenchmarkEnv) -> None:
    first = seen(env, 5)
    assert seen(env, 5) == first
    assert seen(pickle.loads(pickle.dumps(env)), 5) == first


def test_the_way_to_the_coffee() -> None:
    """Up around the plant, through the door, and down to the office."""
    env = OfficeEnv()
    machine = tasks("office")["coffee"]
    monitor = machine.bind(env.signature).monitor()
    env.reset(seed=0)
    up, right, down, left = range(4)
    way = [left, up, up, left, up, up, right, up, right, up, right, down, right, down, down]
    met = []
    for action in way:
        info = env.step(action)[4]
        met += info["labels"]
        monitor.observe(info["labels"])
    assert met == ["a", "coffee", "office"]
    assert monitor.verdict == "goal"


def test_published_files_are_read_as_they_are(tmp_path: Path) -> None:
    published = "0 # initial state\n[2] # terminal state\n(0,0,'!a',ConstantRewardFunction(0))\n(0,1,'a',ConstantRewardFunction(0))\n"
    published += "(1,1,'!b',ConstantRewardFunction(0))\n(1,2,'b',ConstantRewardFunction(1))\n"
    (tmp_path / "t1.txt").write_text(published)
    machine = Machine.read(tmp_path / "t1.txt")
    env = CraftEnv(map="XXXXX\nXa  X\nX A X\nX  bX\nXXXXX", letters=True)
    monitor = machine.bind(env.signature).monitor()
    env.reset(seed=0)
    for action in [0, 3, 1, 1, 2, 2]:
        step = monitor.observe(env.step(action)[4]["labels"])
    assert step.reward == 1.0
    with pytest.raises(WorldError, match="line 2, column 1"):
        CraftEnv(map="A\n?")


def test_observations_of_letter_world() -> None:
    env = LetterEnv(size=5, letters="aabbcc", steps=10)
    image, _ = env.reset(seed=1)
    assert image.shape == (5, 5, 4)
    assert image.sum(axis=(0, 1)).tolist() == [2, 2, 2, 1]
    for step in range(10):
        image, _, _, truncated, info = env.step(step % 4)
        place = tuple(np.argwhere(image[..., 3])[0])
        here = [letter for letter, there in zip("abc", image[place][:3], strict=True) if there]
        assert info["labels"] == here
        assert truncated == (step == 9)


def test_mistakes_are_named() -> None:
    with pytest.raises(WorldError, match="cell"):
        OfficeEnv(observation="pixels")  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="do not fit"):
        LetterEnv(size=2, letters="abcd")
    with pytest.raises(gymnasium.error.ResetNeeded):
        OfficeEnv().step(0)
    with pytest.raises(ValueError, match="continuous"):
        WaterEnv().table()
    assert isinstance(formrl.benchmarks.OfficeEnv(letters=True).signature, Signature)
