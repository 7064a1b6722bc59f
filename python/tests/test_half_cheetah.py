"""HalfCheetah with its two machines."""

import numpy as np
import pytest

from formrl import MachineWrapper, half_cheetah

pytest.importorskip("gymnasium")


def test_a_thousand_for_coming_back() -> None:
    """As the published machines say: forth beyond the line at 2, back beyond the one at -2, again and again."""
    monitor = half_cheetah.tasks()["forth-and-back"].bind(list(half_cheetah.LINES)).monitor()
    places = [0.0, -3.0, 1.0, 2.5, 5.0, 1.0, -1.0, -2.5, -4.0, 2.5, -2.5]
    assert [monitor.observe(half_cheetah.labels_at(x)).reward for x in places] == [0, 0, 0, 0, 0, 0, 0, 1000, 0, 0, 1000]


def test_a_thousand_for_the_fifth_line() -> None:
    monitor = half_cheetah.tasks()["five-lines"].bind(list(half_cheetah.LINES)).monitor()
    places = [0.0, 3.0, 5.0, 3.0, 7.0, 9.0, 11.0]
    assert [monitor.observe(half_cheetah.labels_at(x)).reward for x in places] == [0, 0, 0, 0, 0, 0, 1000]
    assert monitor.verdict == "goal"


def test_the_cheetah_says_where_it_is_and_is_not_paid_for_running() -> None:
    pytest.importorskip("mujoco")
    env = half_cheetah.env()
    observation, info = env.reset(seed=0)
    assert info["labels"] == [] and abs(observation[0]) < 0.2
    env.unwrapped.data.qpos[0] = 4.5  # type: ignore[attr-defined]
    action = np.full(6, 0.5, np.float32)
    observation, reward, *_, info = env.step(action)
    assert info["labels"] == half_cheetah.labels_at(observation[0]) == ["ahead(2)", "ahead(4)"]
    assert reward == pytest.approx(-0.1 * 6 * 0.25)
    wrapped = MachineWrapper(half_cheetah.env(), half_cheetah.tasks()["five-lines"], reward="sum", observation="flat")
    assert wrapped.reset(seed=0)[0].shape == (18 + 6,)
