"""Machines that observe every step (`steps all`), through Gymnasium: the tasks that need it."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

from formrl import FormError, Learner, Machine, Recorder, Signature, Trace, read_traces, write_traces
from formrl.episode import nothing_known
from formrl.vector import MachineVectorWrapper
from formrl.wrappers import MachineWrapper


class Button(gymnasium.Env[Any, Any]):
    """What is observed is the action: nothing, `press`, `coin` or `goal`; at reset it is nothing."""

    signature = Signature(["press", "coin", "goal"])
    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Discrete(4)
    NAMES: tuple[list[str], ...] = ([], ["press"], ["coin"], ["goal"])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {"labels": []}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), 0.0, False, False, {"labels": self.NAMES[int(action)]}


NOTHING, PRESS, COIN, GOAL = range(4)


def played(machine: Machine, actions: list[int], **options: Any) -> tuple[list[str], list[float]]:
    env = MachineWrapper(Button(), machine, truth="machine", **options)
    env.reset()
    states, rewards = [], []
    for action in actions:
        _, reward, over, _, info = env.step(action)
        states.append(info["machine_state"])
        rewards.append(reward)
        if over:
            break
    return states, rewards


def machine(*edges: tuple[str, str, str] | tuple[str, str, str, float]) -> Machine:
    return Machine(initial="u0", accepting="done", edges=list(edges), steps="all")


TWICE = machine(("u0", "press", "u1"), ("u1", "press", "done"), ("u1", "not press", "u0"))


def test_press_twice() -> None:
    states, rewards = played(TWICE, [PRESS, NOTHING, PRESS, PRESS])
    assert states == ["u1", "u0", "u1", "done"]
    assert rewards == [0, 0, 0, 1]
    # Where only changes count, two presses in a row are one.
    assert played(TWICE, [PRESS, PRESS], compress=True)[0] == ["u1", "u1"]
    assert played(TWICE.with_steps("changes"), [PRESS, PRESS])[0] == ["u1", "u1"]
    assert played(TWICE.with_steps("changes"), [PRESS, PRESS], compress=False)[0] == ["u1", "done"]


def test_a_reward_per_coin_and_a_cost_per_step() -> None:
    coins = machine(("u0", "goal", "done"), ("u0", "coin", "u0", 1.0), ("u0", "true", "u0", -0.1))
    # The observation at reset costs, too: it is paid with the first step.
    assert played(coins, [COIN, COIN, NOTHING, PRESS, GOAL])[1] == pytest.approx([0.9, 1, -0.1, -0.1, 1])


def test_not_a_after_nothing() -> None:
    hold = Machine.parse("initial u0\naccept done\nsteps all\nu0 -> u1 : press\nu1 -> done : not press\n")
    assert hold.steps == "all" and hold == Machine.from_json(hold.to_json())
    assert played(hold, [PRESS, PRESS, NOTHING])[0] == ["u1", "u1", "done"]


def test_many_environments_at_once() -> None:
    envs = gymnasium.vector.SyncVectorEnv([Button, Button])
    env = MachineVectorWrapper(envs, TWICE, signature=Button.signature, truth="machine")
    env.reset()
    rewards = []
    for actions in ([PRESS, PRESS], [PRESS, NOTHING], [PRESS, PRESS], [PRESS, PRESS], [PRESS, PRESS]):
        _, earned, over, _, infos = env.step(np.array(actions))
        rewards.append(earned.tolist())
        if over[0] and infos["_trace"][0]:
            assert infos["trace"][0] == Trace("goal", [[], ["press"], ["press"]], Button.signature, compress=False)
    # An episode that is over begins anew in the next step, which is no step of the machine.
    assert rewards == [[0, 0], [1, 0], [0, 0], [0, 1], [1, 0]]


def test_learning_from_every_step() -> None:
    env = MachineWrapper(Button(), nothing_known(), compress=False, judge=lambda step: "incomplete")
    env.reset()
    for action in (PRESS, PRESS):
        env.step(action)
    pressed = env.trace("goal")
    assert pressed.steps == [[], ["press"], ["press"]] and not pressed.compress
    learner = Learner(Button.signature)
    learner.add(pressed)
    learner.add(Trace("incomplete", [["press"], ["coin"], ["goal"]], Button.signature, compress=False))
    learnt = learner.learn().require()
    assert learnt.steps == "all"
    assert pressed.agrees(learnt.bind(Button.signature))
    env.set_machine(learnt)


def test_the_two_kinds_never_mix(tmp_path: Any) -> None:
    every = Trace("goal", [["press"], ["press"]], Button.signature, compress=False)
    assert pickle.loads(pickle.dumps(every)) == every
    assert repr(every) == "Trace('goal', [['press'], ['press']], compress=False)"
    with pytest.raises(FormError, match="steps all"):
        every.agrees(TWICE.with_steps("changes").bind(Button.signature))
    learner = Learner(Button.signature)
    learner.add(every)
    learner.add(Trace("incomplete", [["coin"]], Button.signature))
    with pytest.raises(FormError, match="steps changes"):
        learner.learn()
    path = tmp_path / "traces.jsonl"
    assert write_traces(path, [every], Button.signature) == 1
    assert path.read_text().startswith('{"signature":["coin","goal","press"],"steps":"all"}\n')
    assert list(read_traces(path)) == [every]
    with pytest.raises(FormError, match="steps"):
        write_traces(path, [every, Trace("goal", [["press"]], Button.signature)], Button.signature)
    recorder = Recorder(Button.signature, compress=False)
    assert recorder.observe([]) and recorder.observe([])
    assert recorder.finish("incomplete").steps == [[], []]
