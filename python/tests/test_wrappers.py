"""Gymnasium environments with a machine: rewards, observations, counterexamples, and what cannot be done with them."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("gymnasium")

from key_and_door import KEYS_MACHINE, MACHINE, Errands
from gymnasium.utils.env_checker import check_env

import formrl
import formrl.worlds
from formrl.episode import nothing_known
from formrl.wrappers import LabelWrapper, MachineWrapper, Transition

ERRANDS = formrl.Machine.parse(MACHINE)
KEYS = formrl.Machine.parse(KEYS_MACHINE)
LEFT, RIGHT = 0, 1


def walk(env: Any, actions: list[int]) -> list[tuple[Any, ...]]:
    return [env.step(action) for action in actions]


def at(env: Errands, cell: int) -> Errands:
    """Episodes that start in this cell."""
    env.reset(seed=0)
    env.np_random = type("", (), {"integers": staticmethod(lambda *_: cell)})()
    return env


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize("observation", ["dict", "flat", "plain"])
def test_gymnasiums_own_check(observation: Any) -> None:
    check_env(MachineWrapper(Errands(), ERRANDS, observation=observation, shaping=0.9), skip_render_check=True)
    # One that is registered is also made again, wrapper and all, from its specification.
    task = formrl.Task("all-yellow")
    env = MachineWrapper(gymnasium.make("formrl/all-yellow-v0"), task.machine, observation=observation, room=6)
    check_env(env, skip_render_check=True)
    assert env.spec is not None
    again = env.spec.make()
    assert isinstance(again, MachineWrapper) and again.machine == task.machine
    assert again.observation_space == env.observation_space


def test_the_machine_rewards() -> None:
    env = MachineWrapper(at(Errands(), 1), ERRANDS)
    _, info = env.reset()
    assert info["machine_state"] == "u0" and info["labels"] == []
    steps = walk(env, [LEFT, RIGHT, RIGHT, RIGHT, RIGHT])
    assert [reward for _, reward, *_ in steps] == [0, 0, 0, 0, 1]
    assert [info["machine_state"] for *_, info in steps] == ["u1", "u1", "u1", "u1", "u_acc"]
    *_, terminated, truncated, info = steps[-1]
    assert terminated and not truncated
    assert info["trace"] == formrl.Trace("goal", [["key"], ["door"]]) and "counterexample" not in info


def test_the_environment_rewards_if_it_should() -> None:
    rewarding = formrl.Machine.parse(MACHINE.replace(": key", ": key => 0.25"))
    machines, environments = (MachineWrapper(at(Errands(), 1), rewarding, reward=r) for r in ("machine", "environment"))
    for env, expected in ((machines, [0.25, 0, 0, 0, 1]), (environments, [0, 0, 0, 0, 1])):
        env.reset()
        assert [reward for _, reward, *_ in walk(env, [LEFT] + 4 * [RIGHT])] == expected


def test_shaping_adds_up_to_the_difference_of_potentials() -> None:
    """Undiscounted, shaping adds Φ at the end, which is 0 if the episode terminates, minus Φ at the start to a return, whatever the way."""
    env = MachineWrapper(Errands(), ERRANDS, shaping=1.0)
    env.action_space.seed(3)
    ends = set()
    for seed in range(30):
        env.reset(seed=seed)
        start, total, over = env.episode.potentials[env.episode.state_index], 0.0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            total, over = total + reward, terminated or truncated
        end = 0.0 if terminated else env.episode.potentials[env.episode.state_index]
        assert total == pytest.approx(end - start + terminated)
        ends.add(env.machine_state)
    assert ends == {"u0", "u1", "u_acc"}


def test_observations_show_state_and_progress() -> None:
    env = MachineWrapper(at(Errands(keys=True), 2), KEYS)
    seen, _ = env.reset()
    assert seen["machine"].tolist() == [1, 0, 0, 0] and seen["progress"].tolist() == [0, 0]
    (one, *_), (both, *_) = walk(env, [LEFT, LEFT])
    assert one["progress"].tolist() == [0, 1] and one["machine"].tolist() == [1, 0, 0, 0]
    # In another state nothing is waited for, and nothing of it was seen.
    assert both["machine"].tolist() == [0, 1, 0, 0] and both["progress"].tolist() == [0, 0]
    assert both in env.observation_space
    flat = MachineWrapper(at(Errands(keys=True), 2), KEYS, observation="flat")
    assert flat.reset()[0].tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]


def test_where_the_machine_is_wrong_the_episode_ends_with_a_counterexample() -> None:
    early = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : door")
    env = MachineWrapper(at(Errands(), 3), early, truth="environment")
    env.reset()
    *_, terminated, truncated, info = env.step(RIGHT)
    assert truncated and not terminated
    assert info["counterexample"] == formrl.Trace("incomplete", [["door"]])
    # A goal that it does not know of.
    env = MachineWrapper(at(Errands(), 1), nothing_known())
    env.reset()
    *_, terminated, truncated, info = walk(env, [LEFT] + 4 * [RIGHT])[-1]
    assert truncated and not terminated and info["counterexample"].kind == "goal" == info["outcome"]
    # A dead end taken for something else.
    env = MachineWrapper(at(Errands(keys=True), 3), nothing_known())
    env.reset()
    *_, terminated, truncated, info = env.step(RIGHT)
    assert truncated and not terminated and info["counterexample"] == formrl.Trace("dead-end", [["door"]])


def test_a_machine_that_is_the_task_is_never_wrong() -> None:
    tour = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u1 : door\nu1 -> u_acc : key")
    env = MachineWrapper(at(Errands(limit=100), 3), tour, truth="machine")
    env.reset()
    steps = walk(env, [RIGHT] + 4 * [LEFT])
    _, reward, terminated, _, info = steps[-1]
    assert terminated and reward == 1 and info["outcome"] == "goal" and "counterexample" not in info


def test_counterexamples_lead_to_the_machine() -> None:
    """The joint loop by hand: act at random, learn from what the machine is wrong about, go on with the next one."""
    env = MachineWrapper(Errands(keys=True), nothing_known(), room=6)
    space = env.observation_space
    learner = formrl.Learner(env.signature)
    env.action_space.seed(1)
    found = 0
    for episode in range(400):
        env.reset(seed=episode)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(env.action_space.sample())
            over = terminated or truncated
        if "counterexample" in info and learner.add(info["counterexample"]) is not None:
            machine = learner.learn().machine
            assert machine is not None
            env.set_machine(machine)
            found = episode
            with pytest.raises(gymnasium.error.ResetNeeded):
                env.step(LEFT)
    assert env.observation_space == space
    assert env.machine.diff(KEYS, env.signature, observations="single", rewards=False) is None
    assert found < 300


def test_labels_may_come_from_a_function_of_the_transition() -> None:
    def labels(transition: Transition) -> list[str]:
        if transition.action is None:
            assert transition.before is None
            return []
        assert transition.before.sum() == transition.after.sum() == 1
        return ["door"] if transition.env.at == 4 else []

    env = MachineWrapper(Errands(), ERRANDS, labels)
    env.reset(seed=0)
    assert walk(env, 4 * [LEFT])[-1][-1]["labels"] == []
    again = MachineWrapper(LabelWrapper(Errands(), labels, ["door", "key"]), ERRANDS)
    again.reset(seed=0)
    assert walk(again, 4 * [RIGHT])[-1][-1]["labels"] == ["door"]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(formrl.LabelError, match="window"):
        env = MachineWrapper(Errands(), ERRANDS, lambda _: ["window"])
        env.reset()
    with pytest.raises(formrl.LabelError, match="key"):
        MachineWrapper(Errands(), ERRANDS, signature=["door"])
    with pytest.raises(formrl.WorldError, match="labels"):
        MachineWrapper(gymnasium.make("CartPole-v1"), ERRANDS, signature=["key", "door"]).reset()
    with pytest.raises(formrl.WorldError, match="signature"):
        MachineWrapper(gymnasium.make("CartPole-v1"), ERRANDS)
    with pytest.raises(ValueError, match="states"):
        MachineWrapper(Errands(), ERRANDS, room=2)
    for wrong in ({"reward": "both"}, {"observation": "tall"}, {"truth": "nobody"}, {"shaping": 2.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MachineWrapper(Errands(), ERRANDS, **wrong)


def test_a_closed_environment_says_so() -> None:
    env = MachineWrapper(Errands(), ERRANDS)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(LEFT)
    env.reset()
    env.close()
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.step(LEFT)
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.reset()


def test_pickles_go_on_where_they_were() -> None:
    env = MachineWrapper(Errands(keys=True), KEYS, shaping=0.9)
    env.reset(seed=1)
    env.step(LEFT)
    copy = pickle.loads(pickle.dumps(env))
    for action in (LEFT, LEFT, RIGHT, RIGHT):
        here, there = env.step(action), copy.step(action)
        assert all(np.array_equal(here[0][part], there[0][part]) for part in here[0])
        assert here[1:] == there[1:]


def play(env: MachineWrapper) -> tuple[str, formrl.Trace]:
    env.step(LEFT)
    return env.machine_state, env.trace()


def test_pickles_cross_processes() -> None:
    env = MachineWrapper(at(Errands(), 1), ERRANDS)
    env = MachineWrapper(Errands(cells=3), ERRANDS)
    env.reset(seed=1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        state, trace = pool.apply(play, (env,))
    assert (state, trace) == ("u1", formrl.Trace("incomplete", [["key"]]))
