"""Many environments with a machine do what single ones do, step for step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from key_and_door import KEYS_MACHINE, MACHINE, Errands
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import formrl
import formrl.worlds
from formrl.vector import MachineVectorWrapper
from formrl.wrappers import MachineWrapper, Transition

KEYS = formrl.Machine.parse(KEYS_MACHINE)
# Wrong about much: it accepts early, and knows of no dead end.
WRONG = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u1 : exists X. key(X)\nu1 -> u_acc : exists X. key(X)")


@pytest.mark.parametrize("machine", [KEYS, WRONG], ids=["right", "wrong"])
@pytest.mark.parametrize(
    "settings", [{}, {"truth": "machine"}, {"truth": "environment"}, {"truth": "environment", "reward": "sum"}], ids=str
)
def test_as_single_ones(machine: formrl.Machine, settings: dict[str, Any]) -> None:
    n = 4
    how: Any = {"shaping": 0.9, "observation": "flat", **settings}
    envs = SyncVectorEnv([lambda: Errands(keys=True, limit=15)] * n)
    many = MachineVectorWrapper(envs, machine, signature=Errands(keys=True).signature, **how)
    single = [MachineWrapper(Errands(keys=True, limit=15), machine, **how) for _ in range(n)]
    seen, infos = many.reset(seed=0)
    for i, env in enumerate(single):
        assert np.array_equal(env.reset(seed=i)[0], seen[i])
    rng = np.random.default_rng(0)
    over, counterexamples, ends = [False] * n, 0, 0
    for _ in range(500):
        actions = rng.integers(0, 2, n)
        seen, rewards, terminated, truncated, infos = many.step(actions)
        assert seen in many.observation_space
        for i, env in enumerate(single):
            if over[i]:
                observation, info = env.reset()
                expected: tuple[Any, ...] = (0.0, False, False)
            else:
                observation, *expected_list, info = env.step(int(actions[i]))
                expected = tuple(expected_list)
            over[i] = expected[1] or expected[2]
            assert np.array_equal(observation, seen[i])
            assert (rewards[i], terminated[i], truncated[i]) == (pytest.approx(expected[0]), *expected[1:])
            assert infos["machine_state"][i] == info["machine_state"]
            for key in ("counterexample", "trace"):
                assert (infos[key][i] if key in infos else None) == info.get(key)
            counterexamples += "counterexample" in info
            ends += over[i]
    assert ends > 50
    assert (counterexamples > 50) == (machine is WRONG and settings.get("truth") == "environment")


def corridors(limit: int, machine: str, **settings: Any) -> MachineVectorWrapper:
    """Two corridors of three cells, in the middle of which episodes start."""
    envs = SyncVectorEnv([lambda: Errands(cells=3, limit=limit)] * 2)
    many = MachineVectorWrapper(envs, formrl.Machine.parse(machine), signature=["key", "door"], **settings)
    many.reset(seed=0)
    return many


def test_the_machines_end_counts_when_time_is_up_as_well() -> None:
    many = corridors(1, "initial u0\naccept u_acc\nu0 -> u_acc : key", truth="machine")
    _, rewards, terminated, truncated, infos = many.step(np.array([0, 1]))
    assert rewards.tolist() == [1, 0] and truncated.tolist() == [True, True]
    assert terminated.tolist() == [True, False]
    assert [trace.kind for trace in infos["trace"]] == ["goal", "incomplete"]


def test_where_the_machine_is_wrong_an_episode_is_cut_off_not_lost() -> None:
    """A refuted machine's last state has no value that could be known: training goes on from there, as the native trainer does."""
    many = corridors(9, "initial u0\naccept u_acc\nu0 -> u1 : key\nu1 -> u1 : door")
    for action in (0, 1, 1):
        _, _, terminated, truncated, infos = many.step(np.array([action, 1 - action]))
    assert terminated.tolist() == [False, False] and truncated.tolist() == [True, False]
    assert infos["counterexample"][0].kind == "goal"


class Counted(Errands):
    """Knows how often it was reset."""

    resets = 0

    def reset(self, **how: Any) -> Any:
        self.resets += 1
        return super().reset(**how)


def test_an_end_that_the_environment_knows_of_is_no_other_reset() -> None:
    """Time is up just when the judge says that the task is done: the environment begins its next episode, once."""
    single = [Counted(cells=3, limit=2) for _ in range(2)]
    envs = SyncVectorEnv([lambda: single[0], lambda: single[1]])

    def judge(transition: Transition) -> Any:
        return np.where([env.at == 0 for env in single], "goal", "incomplete")

    machine = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : key")
    many = MachineVectorWrapper(envs, machine, signature=["key", "door"], judge=judge)
    many.reset(seed=0)
    many.step(np.array([1, 1]))
    for env in single:
        env.at = 1
    *_, terminated, truncated, _ = many.step(np.array([0, 1]))
    assert terminated.tolist() == [True, False] and truncated.tolist() == [True, True]
    before = [env.resets for env in single]
    many.step(np.array([0, 0]))
    assert [env.resets for env in single] == [count + 1 for count in before]


def test_functions_are_told_where_episodes_begin() -> None:
    """A change of cell is what happened in a step; in the first of an episode nothing happened yet."""
    told: list[Any] = []

    def labels(transition: Transition) -> Any:
        assert transition.env is envs and (transition.before is None) == (transition.action is None)
        told.append(transition.begun.tolist())
        changed = np.ones(2, np.bool_)
        if transition.before is not None:
            changed = (transition.before != transition.after).any(axis=1)
        return np.stack([changed & ~transition.begun, np.zeros(2, np.bool_)], axis=1)

    envs = SyncVectorEnv([lambda: Errands(limit=2), lambda: Errands(limit=3)])
    never = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : never")
    many = MachineVectorWrapper(
        gymnasium.wrappers.vector.RecordEpisodeStatistics(envs), never, labels, signature=["moved", "never"], truth="environment"
    )
    many.reset(seed=0)
    moved = [many.step(np.array([0, 0]))[-1]["labels"][:, 0].tolist() for _ in range(4)]
    assert told == [[True, True], [False, False], [False, False], [True, False], [False, True]]
    assert moved == [[True, True], [True, True], [False, False], [True, False]]
    # Where a machine was wrong, and where it is asked for, too.
    many.set_machine(formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : moved"))
    many.reset(seed=0)
    *_, infos = many.step(np.array([0, 0]))
    assert infos["_counterexample"].all()
    many.step(np.array([0, 0]))
    many.reset(options={"reset_mask": np.array([False, True])})
    assert told[5:] == [[True, True], [False, False], [True, True], [False, True]]


def test_functions_of_single_environments_are_told_as_well() -> None:
    told: list[Any] = []

    def labels(transition: Transition) -> list[str]:
        told.append(transition.begun)
        return []

    env = MachineWrapper(Errands(), formrl.Machine.parse(MACHINE), labels)
    env.reset(seed=0)
    env.step(0)
    assert told == [True, False]


def test_built_in_worlds() -> None:
    """Their labels are an array already, and their episodes are cut off where the machine is wrong."""
    task = formrl.Task("all-yellow")
    early = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : exists X. yellow(X)")
    worlds = gymnasium.make_vec("formrl/all-yellow-v0", num_envs=32, actions="moves")
    envs = MachineVectorWrapper(worlds, early, truth="environment")
    envs.reset(seed=1)
    envs.action_space.seed(1)
    found = set()
    for _ in range(400):
        *_, truncated, infos = envs.step(envs.action_space.sample())
        if "counterexample" in infos:
            assert (infos["_counterexample"] == truncated).all()
            found |= {trace for trace in infos["counterexample"] if trace is not None}
    bound = task.machine.bind(task.signature)
    assert len(found) >= 2 and all(trace.agrees(bound) and trace.kind == "incomplete" for trace in found)


def test_resetting_some_by_hand() -> None:
    envs = SyncVectorEnv([lambda: Errands(cells=3)] * 2, autoreset_mode=AutoresetMode.DISABLED)
    machine = formrl.Machine.parse(MACHINE)
    many = MachineVectorWrapper(envs, machine, signature=["key", "door"])
    many.reset(seed=0)
    many.step(np.array([0, 1]))
    *_, terminated, _, infos = many.step(np.array([1, 1]))
    assert infos["machine_state"].tolist() == ["u1", "u0"]
    *_, terminated, _, infos = many.step(np.array([1, 1]))
    assert terminated.tolist() == [True, False]
    with pytest.raises(gymnasium.error.ResetNeeded, match="environments 0"):
        many.step(np.array([1, 1]))
    _, infos = many.reset(options={"reset_mask": np.array([True, False])})
    assert infos["machine_state"].tolist() == ["u0", "u0"]
    *_, infos = many.step(np.array([1, 0]))
    *_, infos = many.step(np.array([1, 0]))
    assert infos["machine_state"].tolist() == ["u0", "u1"]


def test_worlds_that_are_over_need_a_reset_by_hand() -> None:
    """They would stand still and say so again and again; the machine would be blamed for it."""
    text = formrl.Task("green-but-one").to_toml()
    steps = next(line for line in text.splitlines() if line.startswith("steps"))
    task = formrl.Task.from_toml(text.replace(steps, "steps = 9"))
    envs = formrl.worlds.GridWorldVectorEnv(task, 64, autoreset_mode=AutoresetMode.DISABLED, actions="moves")
    many = MachineVectorWrapper(envs, task.machine)
    many.reset(seed=1)
    many.action_space.seed(1)
    over = np.zeros(64, np.bool_)
    ends: set[str] = set()
    for _ in range(60):
        if over.any():
            with pytest.raises(gymnasium.error.ResetNeeded):
                many.step(many.action_space.sample())
            many.reset(options={"reset_mask": over})
        *_, terminated, truncated, infos = many.step(many.action_space.sample())
        assert "counterexample" not in infos
        over = terminated | truncated
        ends |= {trace.kind for trace in infos["trace"][over]} if over.any() else set()
    assert ends == {"dead-end", "incomplete"}


def test_what_is_wrong_is_said() -> None:
    machine = formrl.Machine.parse(MACHINE)
    envs = SyncVectorEnv([Errands] * 2)
    with pytest.raises(formrl.WorldError, match="signature"):
        MachineVectorWrapper(gymnasium.make_vec("CartPole-v1", num_envs=2), machine)
    with pytest.raises(formrl.LabelError, match="shape"):
        labels = lambda _: np.zeros((2, 5), np.bool_)  # noqa: E731
        MachineVectorWrapper(envs, machine, labels, signature=["key", "door"]).reset()
    with pytest.raises(formrl.LabelError, match="door"):
        MachineVectorWrapper(envs, machine, signature=["key"]).reset()
    with pytest.raises(formrl.WorldError, match="hide"):
        same = SyncVectorEnv([Errands] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
        MachineVectorWrapper(same, machine, signature=["key", "door"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        MachineVectorWrapper(envs, machine, signature=["key", "door"]).step(np.array([0, 0]))
