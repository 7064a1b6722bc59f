"""PettingZoo's own tests, and who is rewarded for what."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

pytest.importorskip("pettingzoo")

from key_and_door import KEYS_MACHINE, MACHINE, Errands
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

import formrl
import formrl.worlds
from formrl.pettingzoo import aec_env, parallel_env

ERRANDS, KEYS = formrl.Machine.parse(MACHINE), formrl.Machine.parse(KEYS_MACHINE)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"observation": "flat"},
    {"credit": "hand-over", "shaping": 0.9},
]


# Agents that see different things, in dictionaries, under the names of states, are worth a warning to PettingZoo.
@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_pettingzoos_own_tests(settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    def make(kind: Any) -> Any:
        return kind(Errands(keys=True), KEYS, **settings)

    api_test(make(aec_env), num_cycles=100)
    parallel_api_test(make(parallel_env), num_cycles=200)
    seed_test(lambda: make(aec_env), num_cycles=30)
    parallel_seed_test(lambda: make(parallel_env), num_cycles=30)


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")
def test_built_in_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    task = formrl.Task("all-yellow")
    env = gymnasium.make("formrl/all-yellow-v0", actions="moves", disable_env_checker=True)
    api_test(aec_env(env, task.machine), num_cycles=200)
    parallel_api_test(parallel_env(env, task.machine), num_cycles=200)


def test_the_agent_of_the_state_acts() -> None:
    env = aec_env(Errands(cells=3), ERRANDS)
    env.reset(seed=0)
    assert env.agents == ["u0", "u1"] and env.agent_selection == "u0"
    env.step(0)
    assert env.agent_selection == "u1" and env.infos["u1"]["acts"] and not env.infos["u0"]["acts"]
    env.step(1)
    env.step(1)
    assert all(env.terminations.values())
    # Both have contributed to it, and earn half of it each.
    earned = {}
    for agent in env.agent_iter():
        _, earned[agent], *_ = env.last()
        env.step(None)
    assert earned == {"u0": 0.5, "u1": 0.5}


def test_where_the_machine_is_wrong_the_episode_is_truncated() -> None:
    wrong = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u1 : key\nu1 -> u_acc : never")
    env = parallel_env(Errands(cells=3), wrong, signature=["key", "door", "never"], truth="environment")
    env.reset(seed=0)
    for action in (0, 1, 1):
        _, _, terminated, truncated, infos = env.step({"u0": action, "u1": action})
    assert not any(terminated.values()) and all(truncated.values())
    assert infos["u1"]["counterexample"] == formrl.Trace("goal", [["key"], ["door"]])


def test_hand_over_rewards_who_acts() -> None:
    env = parallel_env(Errands(cells=3), ERRANDS, credit="hand-over", shaping=1.0)
    env.reset(seed=0)
    rewards = [env.step({"u0": action, "u1": action})[1] for action in (0, 1, 1)]
    third = pytest.approx(1 / 3)
    assert rewards == [{"u0": third, "u1": 0}, {"u0": 0, "u1": 0}, {"u0": 0, "u1": third}]
    assert env.agents == []
    with pytest.raises(ValueError, match="shaping"):
        parallel_env(Errands(), ERRANDS, credit="hand-over")


def test_agents_see_their_own_progress() -> None:
    env = parallel_env(Errands(keys=True), KEYS, observation="dict")
    assert set(env.observation_space("u0").spaces) == {"observation", "progress"}
    assert env.observation_space("u1") == Errands(keys=True).observation_space
    seen, _ = env.reset(seed=0)
    while seen["u0"]["progress"].sum() < 1:
        seen, *_ = env.step({"u0": 0, "u1": 0})
    assert seen["u0"]["progress"].tolist() == [0, 1]
    seen, *_, infos = env.step({"u0": 0, "u1": 0})
    # It has just left, and sees what it has left with.
    assert infos["u1"]["acts"] and seen["u0"]["progress"].tolist() == [1, 1]


def test_an_episode_that_is_over_at_once_is_the_first_agents() -> None:
    """The agent that acted in the episode before has nothing to do with it."""
    first = iter([[], ["door"], ["door"]])
    machine = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u1 : key\nu0 -> u_acc : door\nu1 -> u_acc : door")
    env = aec_env(Errands(cells=3), machine, lambda t: next(first) if t.begun else ["key"])
    env.reset(seed=0)
    env.step(0)
    assert env.agent_selection == "u1"
    for _ in range(2):
        env.reset()
        assert env.infos["u0"]["machine_state"] == "u_acc" and env.agent_selection == "u0"


def test_another_machine_has_other_agents() -> None:
    env = aec_env(Errands(), ERRANDS)
    env.set_machine(formrl.Machine.parse("initial a\naccept b\na -> b : key"))
    env.reset(seed=0)
    assert env.possible_agents == ["a"]
