"""Many worlds as one Gymnasium vector environment: the same as single ones, and nothing is copied."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import formrl
import formrl.worlds
from formrl.worlds import GridWorldVectorEnv


@pytest.fixture
def short() -> formrl.Task:
    """Episodes that are soon over, in every way."""
    task = formrl.Task("green-but-one").to_toml()
    steps = next(line for line in task.splitlines() if line.startswith("steps"))
    return formrl.Task.from_toml(task.replace(steps, "steps = 9"))


def make(task: Any, n: int, **settings: Any) -> GridWorldVectorEnv:
    return GridWorldVectorEnv(task, n, **settings)


def actions(n: int, steps: int) -> Any:
    return np.random.default_rng(5).integers(0, 3, (steps, n))


def test_made_by_gymnasium() -> None:
    envs = gymnasium.make_vec("formrl/all-yellow-v0", num_envs=3)
    assert isinstance(envs.unwrapped, GridWorldVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    observations: Any
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space
    assert envs.action_space.sample().shape == (3,)
    assert infos["labels"].dtype == np.bool_ and infos["_labels"].all()


def test_worlds_do_not_depend_on_how_many_there_are(short: formrl.Task) -> None:
    few, many = make(short, 2), make(short, 600)
    chosen = actions(600, 40)
    assert (few.reset(seed=3)[0] == many.reset(seed=3)[0][:2]).all()
    for row in chosen:
        # Of anything: what the different arrays have in common, mypy does not say the same of every time.
        here: list[Any] = [*few.step(row[:2])[:4]]
        there: list[Any] = [*many.step(row)[:4]]
        for a, b in zip(here, there, strict=True):
            assert (a == b[:2]).all()


def test_the_first_world_is_the_single_environment(short: formrl.Task) -> None:
    envs, env = make(short, 3), formrl.make_task(short)
    observations, _ = envs.reset(seed=11)
    observation, _ = env.reset(seed=11)
    assert (observations[0] == observation).all()
    over = False
    for row in actions(3, 60):
        observations, rewards, terminated, truncated, infos = envs.step(row)
        if over:
            observation, info = env.reset()
            reward, ended, cut = 0.0, False, False
        else:
            observation, reward, ended, cut, info = env.step(row[0])
        assert (observations[0] == observation).all()
        assert (rewards[0], terminated[0], truncated[0]) == (reward, ended, cut)
        assert env.signature.decode(infos["labels"][0]) == info["labels"]
        over = ended or cut


def trajectory(envs: GridWorldVectorEnv, steps: int) -> list[Any]:
    """What happens, told without the steps in which worlds begin anew."""
    told = []
    envs.reset(seed=4)
    over = np.zeros(envs.num_envs, np.bool_)
    for row in actions(envs.num_envs, steps):
        begun, (_, rewards, terminated, truncated, _) = over, envs.step(row)
        over = terminated | truncated
        told.append((begun, rewards, terminated, truncated))
    return told


def test_next_step_begins_in_place_of_the_action(short: formrl.Task) -> None:
    told = trajectory(make(short, 50), 40)
    assert sum(begun.sum() for begun, *_ in told) > 50
    for begun, rewards, terminated, truncated in told:
        assert not (rewards[begun].any() or terminated[begun].any() or truncated[begun].any())
    assert any(terminated.any() for _, _, terminated, _ in told)
    assert any(truncated.any() for *_, truncated in told)


def test_same_step_begins_at_once(short: formrl.Task) -> None:
    envs = make(short, 50, autoreset_mode=AutoresetMode.SAME_STEP)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    twin = make(short, 50, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=4)
    twin.reset(seed=4)
    ends = 0
    for row in actions(50, 30):
        observations, rewards, terminated, truncated, infos = envs.step(row)
        alike = twin.step(row)
        assert (rewards == alike[1]).all() and (terminated == alike[2]).all()
        over = terminated | truncated
        ends += int(over.sum())
        if over.any():
            assert (infos["_final_obs"] == over).all()
            for world in np.flatnonzero(over):
                assert (infos["final_obs"][world] == alike[0][world]).all()
            last = infos["final_info"]["labels"][over]
            assert (last == alike[4]["labels"][over]).all()
            assert not infos["labels"][over].any()
            begun, _ = twin.reset(options={"reset_mask": over})
            assert (begun == observations).all()
        else:
            assert "final_obs" not in infos
    assert ends > 50


def test_worlds_that_are_over_earn_nothing_more() -> None:
    envs = make("all-yellow", 500, autoreset_mode=AutoresetMode.DISABLED, actions="moves")
    envs.reset(seed=4)
    over, earned = np.zeros(500, np.bool_), np.zeros(500)
    for row in actions(500, 900):
        _, rewards, terminated, _, _ = envs.step(row)
        assert not rewards[over].any()
        earned += rewards
        over |= terminated
    assert over.any() and (earned == over).all()


def test_seeds_reproduce_and_episodes_differ() -> None:
    envs = make("all-yellow", 4)
    first, _ = envs.reset(seed=1)
    second, _ = envs.reset()
    assert (first != second).any()
    assert (envs.reset(seed=1)[0] == first).all()
    assert (envs.reset()[0] == second).all()
    assert (envs.reset(seed=2)[0] != first).any()
    with pytest.raises(formrl.WorldError, match="one seed"):
        envs.reset(seed=[1, 2, 3, 4])


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_nothing_is_copied() -> None:
    """Rust writes into the very memory that the caller sees."""
    envs = make("all-yellow", 8, copy=False)
    observations, infos = envs.reset(seed=1)
    kept = [address(observations), address(infos["labels"])]
    before = observations.copy()
    for row in actions(8, 5):
        again, rewards, terminated, truncated, infos = envs.step(row)
        assert again is observations
        assert [address(again), address(infos["labels"])] == kept
    assert (observations != before).any(), "what was returned first shows the last step"
    # A buffer of the caller's own, and a window of a larger one.
    window = np.zeros((2, 8, 13, 13, 3), np.uint8)
    labels = np.zeros((8, len(envs.signature)), np.bool_)
    envs.worlds.observe(window[1], labels)
    assert (window[1] == observations).all() and not window[0].any()


def test_arrays_of_their_own_stay_as_they_were() -> None:
    envs = make("all-yellow", 8)
    observations, _ = envs.reset(seed=1)
    before = observations.copy()
    for row in actions(8, 5):
        again, *_ = envs.step(row)
        assert address(again) != address(observations)
    assert (observations == before).all()


def test_misuse_is_told() -> None:
    envs = make("all-yellow", 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(gymnasium.error.ResetNeeded, match="all worlds"):
        envs.reset(options={"reset_mask": np.ones(2, np.bool_)})
    envs.reset(seed=1)
    with pytest.raises(TypeError, match="integers"):
        envs.step(np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 actions"):
        envs.step(np.zeros(3, np.int64))
    with pytest.raises(formrl.WorldError, match="no action -1"):
        envs.step(np.array([0, -1]))
    with pytest.raises(ValueError, match="mask"):
        envs.reset(options={"reset_mask": np.ones(3, np.bool_)})
    assert envs.step(np.array([1, 2], np.uint8))[1].tolist() == [0, 0]
    read_only = np.zeros((2, 13, 13, 3), np.uint8)
    read_only.setflags(write=False)
    with pytest.raises((TypeError, ValueError)):
        envs.worlds.observe(read_only, np.zeros((2, 13), np.bool_))
    arrays = (np.zeros(2), np.zeros(2, np.bool_), np.zeros(2, np.bool_), np.zeros((2, 13), np.bool_))
    with pytest.raises(ValueError, match="entries of last"):
        envs.worlds.step(np.zeros(2, np.int64), np.zeros((2, 13, 13, 3), np.uint8), *arrays, autoreset="same")
    envs.close()
    for use in (envs.reset, lambda: envs.step(np.zeros(2, np.int64)), envs.render):
        with pytest.raises(formrl.WorldError, match="closed"):
            use()
    with pytest.raises(formrl.WorldError, match="worlds"):
        make("all-yellow", 0)
    with pytest.raises(ValueError, match="at most"):
        make("all-yellow", 1 << 40)


def test_pictures() -> None:
    envs = make("all-yellow", 2, render_mode="rgb_array", render_scale=4)
    envs.reset(seed=1)
    pictures = envs.render()
    assert pictures is not None and [p.shape for p in pictures] == [(52, 52, 3)] * 2
