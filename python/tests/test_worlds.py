"""The built-in worlds as Gymnasium environments, one at a time."""

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import formrl
import formrl.worlds
from formrl import Task
from formrl.worlds import GridWorldEnv, environments


def test_every_built_in_task_is_registered() -> None:
    assert environments() == [f"formrl/{name}-v0" for name in Task.builtin()]
    assert set(environments()) <= set(gymnasium.registry)


@pytest.mark.parametrize("name", environments())
@pytest.mark.parametrize("settings", [{}, {"view": "planes", "actions": "moves", "maps": 3}])
def test_gymnasiums_own_checker_has_nothing_to_say(name: str, settings: dict[str, Any]) -> None:
    env = gymnasium.make(name, **settings).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


def episode(env: gymnasium.Env[Any, Any], seed: int, steps: int = 200) -> list[Any]:
    """Everything that is seen of some steps with actions that depend on the seed alone."""
    random = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [(observation.tobytes(), info)]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(random.integers(7))
        seen.append((observation.tobytes(), reward, terminated, truncated, info))
        if terminated or truncated:
            observation, info = env.reset()
            seen.append((observation.tobytes(), info))
    return seen


def test_seeds_reproduce() -> None:
    env = gymnasium.make("formrl/all-yellow-v0")
    first = episode(env, 7)
    assert episode(env, 8) != first
    assert episode(env, 7) == first
    assert episode(formrl.make_task("all-yellow"), 7) == first


def test_several_numbers_of_objects_are_refused_plainly(examples: Path) -> None:
    with pytest.raises(ValueError, match="all-yellow-mixed have different numbers of objects.*need one number of each colour"):
        formrl.make_task(str(examples / "all_yellow_mixed.toml"))


def test_a_mistyped_task_is_guessed() -> None:
    with pytest.raises(formrl.FormError, match="no task `all-yelow`: is `all-yellow` meant"):
        formrl.make_task("all-yelow")


def test_truncation_is_not_termination() -> None:
    env = formrl.make_task("green-but-one")
    outcomes = set()
    for seed in range(20):
        random = np.random.default_rng(seed)
        env.reset(seed=seed)
        for step in range(1, env.task.steps + 1):
            _, reward, terminated, truncated, info = env.step(random.integers(3))
            assert info["outcome"] == "running" or terminated or truncated
            if terminated or truncated:
                break
        assert terminated != truncated
        assert truncated == (info["outcome"] == "out-of-time") == (step == env.task.steps and not terminated)
        assert reward == (info["outcome"] == "goal")
        assert (info["outcome"] == "dead-end") <= (info["labels"] == ["lava"])
        outcomes.add(info["outcome"])
    assert {"dead-end"} <= outcomes


def test_labels_move_the_tasks_machine_to_its_end() -> None:
    """The labels tell the whole story: a monitor that follows them knows how the episode ends."""
    ended = set()
    for name in Task.builtin():
        env = formrl.make_task(name, actions="moves")
        monitor = env.task.machine.bind(env.signature).monitor()
        random = np.random.default_rng(3)
        for seed in range(5):
            _, info = env.reset(seed=seed)
            monitor.reset()
            monitor.observe(info["labels"])
            over = False
            while not over:
                _, _, terminated, truncated, info = env.step(random.choice(3, p=[0.2, 0.2, 0.6]))
                monitor.observe(info["labels"])
                over = terminated or truncated
                assert monitor.is_over == terminated
            expected = "incomplete" if truncated else info["outcome"]
            assert monitor.verdict == expected
            ended.add(expected)
    assert len(ended) >= 2


def test_observations_are_minigrids() -> None:
    env = formrl.make_task("all-yellow")
    observation, _ = env.reset(seed=1)
    assert observation.dtype == np.uint8 and observation.shape == (13, 13, 3)
    agents = np.argwhere(observation[..., 0] == 10)
    assert len(agents) == 1
    assert (observation[0, :, 0] == 2).all(), "a wall"
    before = observation.copy()
    after, *_ = env.step(0)
    assert (observation == before).all(), "an observation that was returned stays as it was"
    changed = np.argwhere((after != before).any(axis=2))
    assert changed.tolist() == agents.tolist(), "turning changes the agent's cell alone"


def test_pictures() -> None:
    env = formrl.make_task("all-yellow", render_mode="rgb_array", render_scale=8)
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray) and picture.shape == (104, 104, 3)
    text = formrl.make_task("all-yellow", render_mode="ansi")
    text.reset(seed=1)
    drawn = text.render()
    assert isinstance(drawn, str) and drawn.count("\n") == 13 and "###" in drawn
    with pytest.raises(formrl.WorldError, match="render_mode"):
        formrl.make_task("all-yellow", render_mode="human")


def test_misuse_is_told() -> None:
    env = GridWorldEnv("all-yellow")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(formrl.WorldError, match="no action 7"):
        env.step(7)
    env.close()
    env.close()
    for use in (env.reset, lambda: env.step(0), env.render):
        with pytest.raises(formrl.WorldError, match="closed"):
            use()
    with pytest.raises(formrl.WorldError, match="all-yellow-4"):
        formrl.make_task("no-such-task")
    for wrong in ({"maps": -1}, {"map_seed": -1}):
        with pytest.raises(ValueError, match="expected a whole number, 0 or more, not -1"):
            formrl.make_task("all-yellow", **wrong)
    with pytest.raises(ValueError, match="view"):
        formrl.make_task("all-yellow", view="x-ray")


def test_tasks_of_ones_own(root: Path, tmp_path: Path) -> None:
    env = formrl.make_task(root / "examples" / "two_rooms.toml")
    env.reset(seed=0)
    assert env.task.name in repr(env.task)
    again = Task.from_toml(env.task.to_toml())
    assert again.machine == env.task.machine and again.signature == env.signature
    broken = tmp_path / "broken.toml"
    broken.write_text(env.task.to_toml().replace("steps", "stepz"))
    with pytest.raises(formrl.WorldError) as caught:
        Task(broken)
    assert caught.value.file == str(broken) and caught.value.line is not None
    with pytest.raises(formrl.FileError):
        Task(tmp_path / "missing.toml")
