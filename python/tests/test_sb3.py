"""Stable-Baselines3: counterfactual experience in its replay buffers, and the joint loop as a callback."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from key_and_door import KEYS_MACHINE, Errands
from stable_baselines3 import DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv

import formrl
from formrl import Shaping
from formrl.counterfactual import Counterfactuals
from formrl.sb3 import CounterfactualReplayBuffer, JointLoop, counterfactual
from formrl.wrappers import MachineWrapper

KEYS = formrl.Machine.parse(KEYS_MACHINE)


class Pushed(Errands):
    """The same with a continuous action."""

    def __init__(self) -> None:
        super().__init__(keys=True)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def step(self, action: Any) -> Any:
        return super().step(int(action[0] > 0))


@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("shaping", [None, Shaping(0.9, scale=2.0)])
def test_counterfactuals_are_what_would_have_happened(observation: Any, shaping: Any) -> None:
    """Of two episodes with the same actions from the same start, one with a key in its window: each step of the one without says
    what the step of the other is."""
    made: Any = {"observation": observation, "shaping": shaping, "truth": "machine"}
    env = MachineWrapper(Errands(cells=6, keys=True), KEYS, **made)
    counterfactuals = Counterfactuals.of(env)
    # u0 with no key, either or both; u1.
    assert counterfactuals.size == 5
    compared = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        before, _ = env.reset(seed=seed)
        for _ in range(40):
            state, window = env.episode.monitor.state_index, env.episode.monitor.seen_row
            after, reward, terminated, truncated, info = env.step(int(random.integers(2)))
            found = counterfactuals.expand(before, after, terminated, info)
            # All but the step itself, which in u1 may have a window that does not matter there.
            assert len(found) == (5 if state == 1 and window.any() else 4)
            for one in found:
                there, progress = env.encoder.read(one.before)
                # Another run of the machine that stands there, and is told the same.
                monitor = env.episode.machine.monitor()
                seen = np.zeros(3, np.bool_)
                seen[env.encoder.columns] = progress
                monitor.__setstate__((there, seen, env.signature.encode(info["newest"])))
                step = monitor.observe(info["labels"])
                is_over = step.over or (terminated and not env.episode.is_over)
                expected = step.reward
                if shaping is not None:
                    potentials = shaping.potentials(KEYS)
                    expected += 0.9 * (0.0 if is_over else potentials[step.state_index]) - potentials[there]
                assert one.reward == pytest.approx(expected) and one.terminated == is_over
                state_after, progress_after = env.encoder.read(one.after)
                assert state_after == step.state_index
                assert (progress_after == (monitor.seen_row[env.encoder.columns] & env.encoder.shown)).all()
                for key in ("observation",) if observation == "dict" else ():
                    assert one.before[key] is before[key] and one.after[key] is after[key]
                if observation == "flat":
                    assert (one.before[:6] == before[:6]).all() and (one.after[:6] == after[:6]).all()
                compared += 1
            before = after
            if terminated or truncated:
                break
    assert compared > 200


def test_many_windows_are_drawn() -> None:
    objects = [f"p(o{i})" for i in range(20)]
    machine = formrl.Machine.parse("initial u0\naccept u2\nu0 -> u1 : forall X. p(X)\nu1 -> u2 : goal")
    env = MachineWrapper(Errands(), machine, lambda _: ["p(o3)"], signature=[*objects, "goal"])
    before, _ = env.reset(seed=0)
    after, _, terminated, _, info = env.step(0)
    found = Counterfactuals.of(env, limit=10).expand(before, after, terminated, info)
    assert 1 < len(found) <= 10
    with pytest.raises(ValueError, match="observation"):
        Counterfactuals.of(MachineWrapper(Errands(keys=True), KEYS, observation="plain"))
    with pytest.raises(ValueError, match="MachineWrapper"):
        Counterfactuals.of(Errands())


@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("algorithm", [DQN, SAC, TD3, DDPG])
@pytest.mark.parametrize("envs", [1, 2])
def test_every_off_policy_algorithm_takes_them(algorithm: Any, observation: Any, envs: int) -> None:
    made = Errands if algorithm is DQN else Pushed
    arguments: Any = {"keys": True} if made is Errands else {}
    env: Any = DummyVecEnv([lambda: MachineWrapper(made(**arguments), KEYS, observation=observation, shaping=0.9)] * envs)
    policy = "MultiInputPolicy" if observation == "dict" else "MlpPolicy"
    model = algorithm(
        policy, env, buffer_size=2000, learning_starts=20, policy_kwargs={"net_arch": [8]}, seed=0, **counterfactual(env)
    )
    model.learn(60)
    buffer = model.replay_buffer
    assert isinstance(buffer, CounterfactualReplayBuffer)
    # Five of a step; in u1 with keys in its window, that step is a sixth.
    steps = 60 // envs
    assert 5 * steps <= buffer.pos <= 6 * steps
    sample = buffer.sample(64)
    states = sample.observations["machine"] if observation == "dict" else sample.observations[:, 5:9]
    assert states[:, :2].sum(0).min() > 5, "states that the policy was never in, too"
    assert pickle.loads(pickle.dumps(buffer)).pos == buffer.pos


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_the_buffer_keeps_what_each_environment_would_have_seen(observation: Any) -> None:
    """Also round its end, and where environments have different numbers of experiences."""

    def rows(observations: Any) -> Any:
        return np.concatenate([observations[key] for key in sorted(observations)], axis=-1) if isinstance(observations, dict) else observations

    env: Any = DummyVecEnv([lambda: MachineWrapper(Errands(keys=True), KEYS, observation=observation, reward=lambda a, b: a - b)] * 3)
    made = counterfactual(env)["replay_buffer_kwargs"]
    buffer = CounterfactualReplayBuffer(3 * 31, env.observation_space, env.action_space, "cpu", n_envs=3, **made)
    counterfactuals, random = made["counterfactuals"], np.random.default_rng(3)
    env.seed(5)
    before, at, numbers = env.reset(), 0, set()
    for _ in range(60):
        action = random.integers(2, size=3)
        begun, reward, done, infos = env.step(action)
        after = copy.deepcopy(begun)
        for ended_one in np.flatnonzero(done):
            last = infos[ended_one]["terminal_observation"]
            for part, row in [(after[k], last[k]) for k in last] if observation == "dict" else [(after, last)]:
                part[ended_one] = row
        buffer.add(before, after, action, reward, done, infos)
        lists = []
        for i, info in enumerate(infos):
            ended = bool(done[i]) and not info["TimeLimit.truncated"]
            here, there = ({k: v[i] for k, v in x.items()} if observation == "dict" else x[i] for x in (before, after))
            found = [(one.before, one.after, one.reward, one.terminated) for one in counterfactuals.expand(here, there, ended, info)]
            lists.append(([(here, there, float(reward[i]), ended)], found))
        numbers.add(tuple(len(found) for _, found in lists))
        for number in range(1 + max(len(found) for _, found in lists)):
            place = (at + number) % 31
            for i, (own, found) in enumerate(lists):
                expected = ([*own, *found, *(20 * own)])[number]
                kept = ({k: v[place, i] for k, v in x.items()} if observation == "dict" else x[place, i] for x in (buffer.observations, buffer.next_observations))
                for found_there, wanted in zip(kept, expected):
                    assert (rows(found_there) == rows(wanted)).all()
                assert buffer.rewards[place, i] == pytest.approx(expected[2]) and int(buffer.actions[place, i].item()) == action[i]
                assert bool(buffer.dones[place, i] * (1 - buffer.timeouts[place, i])) == expected[3]
        at = (at + 1 + max(len(found) for _, found in lists)) % 31
        assert buffer.pos == at
        before = begun
    assert buffer.full and any(len(set(some)) > 1 for some in numbers)


def test_counterfactual_experience_helps() -> None:
    """Of the same few steps, a learner with it knows the way, with a table of values over its buffer."""
    env = MachineWrapper(Errands(keys=True), KEYS, observation="flat")
    spaces = env.observation_space, env.action_space
    buffer = CounterfactualReplayBuffer(4000, *spaces, device="cpu", counterfactuals=Counterfactuals.of(env))
    random = np.random.default_rng(0)
    before, _ = env.reset(seed=0)
    for _ in range(300):
        action = int(random.integers(2))
        after, reward, terminated, truncated, info = env.step(action)
        info["TimeLimit.truncated"] = truncated and not terminated
        row = [np.array([x]) for x in (before, after, [action], reward, terminated or truncated)]
        buffer.add(row[0], row[1], row[2], row[3], row[4], [info])
        before = env.reset()[0] if terminated or truncated else after
    values: dict[Any, Any] = {}
    for _ in range(60):
        for i in range(buffer.pos):
            here, there = (tuple(rows[i, 0].tolist()) for rows in (buffer.observations, buffer.next_observations))
            ahead = 0.0 if buffer.dones[i, 0] * (1 - buffer.timeouts[i, 0]) else 0.9 * max(values.get(there, [0, 0]))
            values.setdefault(here, [0.0, 0.0])[int(buffer.actions[i, 0].item())] = float(buffer.rewards[i, 0]) + ahead
    for seed in range(20):
        seen, over = env.reset(seed=seed)[0], False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(int(np.argmax(values.get(tuple(seen.tolist()), [0, 0]))))
            over = terminated or truncated
        assert reward == 1


def test_memory_cannot_be_saved_at_the_expense_of_the_next_step() -> None:
    env = MachineWrapper(Errands(keys=True), KEYS, observation="flat")
    with pytest.raises(ValueError, match="optimize_memory_usage"):
        CounterfactualReplayBuffer(
            10,
            env.observation_space,
            env.action_space,
            optimize_memory_usage=True,
            handle_timeout_termination=False,
            counterfactuals=Counterfactuals.of(env),
        )


@pytest.mark.parametrize("algorithm", [PPO, DQN])
def test_the_joint_loop_learns_the_machine(algorithm: Any) -> None:
    def make() -> MachineWrapper:
        return MachineWrapper(Errands(keys=True), formrl.nothing_known(), room=6, observation="flat", truth="environment")

    env: Any = DummyVecEnv([make] * 2)
    settings: dict[str, Any] = {"n_steps": 256, "n_epochs": 1} if algorithm is PPO else {"learning_starts": 10**6, **counterfactual(env)}
    model = algorithm("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=0, **settings)
    loop = JointLoop(every=512)
    model.learn(4096, callback=loop)
    assert len(loop.machines) > 1 and loop.machine.diff(KEYS, make().signature, observations="single", rewards=False) is None
    assert {env.machine for env in env.envs} == {loop.machine}
