"""The benchmarks of the field as Gymnasium environments."""

import pickle
import warnings
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import formrl.benchmarks
import formrl.worlds
from formrl import Machine, Signature, WorldError
from formrl._native import BenchmarkWorld
from formrl.benchmarks import BenchmarkEnv, BenchmarkVectorEnv, CraftEnv, LetterEnv, OfficeEnv, WaterEnv, environments, tasks
from formrl.vector import MachineVectorWrapper
from formrl.wrappers import MachineWrapper


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


MANY = [
    ("formrl/Office-v0", OfficeEnv, {}),
    ("formrl/Office-v0", OfficeEnv, {"observation": "position"}),
    ("formrl/Craft-v0", CraftEnv, {"map_seed": 3}),
    ("formrl/Water-v0", WaterEnv, {"map_seed": 3}),
    ("formrl/Letter-v0", LetterEnv, {"size": 5, "letters": "aabbcc", "steps": 7}),
]


@pytest.mark.parametrize(("name", "single", "options"), MANY)
def test_many_worlds_are_as_many_single_ones(name: str, single: Any, options: dict[str, Any]) -> None:
    many: Any = gymnasium.make_vec(name, num_envs=3, **options)
    assert isinstance(many.unwrapped, BenchmarkVectorEnv)
    # In Letter world every world has maps of its own; the first one's are those of the single environment.
    ones = [single(**options) for _ in range(1 if single is LetterEnv else 3)]
    observations, infos = many.reset(seed=10)
    for i, env in enumerate(ones):
        observation, info = env.reset(seed=10)
        assert np.array_equal(observations[i], observation)
        assert many.unwrapped.signature.decode(infos["labels"][i]) == info["labels"]
    assert many.observation_space.contains(observations)
    random = np.random.default_rng(0)
    over = np.zeros(3, np.bool_)
    for _ in range(40):
        actions = random.integers(4, size=3)
        observations, rewards, terminated, truncated, infos = many.step(actions)
        assert not rewards.any() and not terminated.any()
        for i, env in enumerate(ones):
            # Where an episode has ended, the next one begins in place of the action.
            observation, *_, ended, info = (*env.reset()[:1], False, env._info()) if over[i] else env.step(int(actions[i]))
            assert np.array_equal(observations[i], observation)
            assert many.unwrapped.signature.decode(infos["labels"][i]) == info["labels"]
            assert truncated[i] == ended
        over = truncated
    assert (np.array([env._episode for env in ones]) > 1).all() == (single is LetterEnv)


def test_worlds_do_not_depend_on_how_many_there_are() -> None:
    few, many = (gymnasium.make_vec("formrl/Letter-v0", num_envs=n, steps=3) for n in (2, 5))
    first, _ = few.reset(seed=3)
    assert np.array_equal(first, many.reset(seed=3)[0][:2]) and not np.array_equal(first[0], first[1])
    for _ in range(5):
        assert np.array_equal(few.step(np.array([0, 1]))[0], many.step(np.arange(5) % 4)[0][:2])


def test_worlds_can_begin_anew_at_once_and_reuse_their_arrays() -> None:
    same: Any = gymnasium.make_vec("formrl/Office-v0", num_envs=2, autoreset_mode=AutoresetMode.SAME_STEP)
    first, _ = same.reset(seed=0)
    for _ in range(999):
        *_, truncated, infos = same.step(np.array([0, 3]))
        assert not truncated.any() and "final_obs" not in infos
    observations, _, _, truncated, infos = same.step(np.array([0, 3]))
    assert truncated.all() and np.array_equal(observations, first)
    assert infos["final_obs"][0] != first[0] and infos["final_info"]["labels"].shape == (2, len(same.unwrapped.signature))
    kept: Any = gymnasium.make_vec("formrl/Water-v0", num_envs=2, copy=False)
    observations, infos = kept.reset(seed=0)
    assert kept.step(np.zeros(2, np.int64))[0] is observations


def test_infos_belong_to_the_caller() -> None:
    """Writing to them does not change what the environment says later."""
    for name in ("formrl/Water-v0", "formrl/all-yellow-v0"):
        for copy in (True, False):
            many: Any = gymnasium.make_vec(name, num_envs=2, copy=copy)
            _, infos = many.reset(seed=0)
            infos["_labels"][:] = False
            infos = many.step(np.zeros(2, np.int64))[-1]
            assert infos["_labels"].all()
            infos["_labels"][:] = False
            assert many.reset()[1]["_labels"].all()


def test_worlds_with_maps_of_their_own_begin_anew_where_they_are_told() -> None:
    maps = [1, 2, 2]
    many = BenchmarkVectorEnv([WaterEnv(map_seed=seed) for seed in maps], autoreset_mode=AutoresetMode.DISABLED)
    first, _ = many.reset(seed=0)
    assert np.array_equal(first[1], first[2]) and not np.array_equal(first[0], first[1])
    later = many.step(np.array([0, 1, 2]))[0]
    again, _ = many.reset(options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(again[0], later[0]) and np.array_equal(again[1], first[1]) and np.array_equal(again[2], later[2])
    for _ in range(599):
        truncated = many.step(np.full(3, 4))[3]
    assert truncated.tolist() == [True, False, True]


def test_mistakes_with_many_worlds_are_named() -> None:
    many = BenchmarkVectorEnv([WaterEnv()] * 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        many.step(np.zeros(2, np.int64))
    with pytest.raises(gymnasium.error.ResetNeeded):
        many.reset(options={"reset_mask": np.array([True, False])})
    many.reset(seed=0)
    with pytest.raises(WorldError, match="no action 5: there are 5"):
        many.step(np.array([0, 5]))
    with pytest.raises(ValueError, match="expected 2 actions, one per world, got 3"):
        many.step(np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="integers"):
        many.step(np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="seed"):
        many.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="not seen as images"):
        many.worlds.observe(np.zeros((2, 1, 1, 1), np.uint8), np.zeros((2, 6), np.bool_))
    for use in (lambda: many.worlds.placed_atoms(0), lambda: many.worlds.pose(0), lambda: many.worlds.to_text(0)):
        with pytest.raises(ValueError, match="not of a benchmark"):
            use()
    many.close()
    with pytest.raises(WorldError, match="closed"):
        many.reset(seed=0)
    with pytest.raises(ValueError, match="must be a world"):
        BenchmarkVectorEnv([])
    with pytest.raises(ValueError, match="same atoms"):
        BenchmarkVectorEnv([WaterEnv(), OfficeEnv()])


def test_many_worlds_with_a_machine() -> None:
    """What `MachineVectorWrapper` makes of them is what `MachineWrapper` makes of each."""
    task = tasks("water")["def-strict"]
    many = MachineVectorWrapper(gymnasium.make_vec("formrl/Water-v0", num_envs=2, map_seed=5), task, observation="plain")
    one = MachineWrapper(WaterEnv(map_seed=5), task, observation="plain")
    many.reset(seed=0)
    one.reset(seed=0)
    random = np.random.default_rng(1)
    ended = 0
    while ended < 3:
        action = int(random.integers(5))
        observation, reward, terminated, truncated, _ = one.step(action)
        observations, rewards, all_terminated, all_truncated, _ = many.step(np.full(2, action))
        assert np.array_equal(observations[0], observation) and np.array_equal(observations[1], observation)
        assert (rewards == reward).all() and (all_terminated == terminated).all() and (all_truncated == truncated).all()
        if terminated or truncated:
            ended += 1
            one.reset()
            many.step(np.zeros(2, np.int64))


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


def test_numbers_that_are_too_large_are_refused_in_words() -> None:
    world = BenchmarkWorld.office()
    for numbers in ((10**30, 0), (0, 10**30)):
        with pytest.raises(ValueError, match="^10+ is too large a number"):
            world.reset(*numbers)
