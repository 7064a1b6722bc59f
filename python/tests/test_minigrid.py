"""MiniGrid's own environments with labels from their objects, and the example that trains on them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("minigrid")

import formrl
from formrl.episode import nothing_known
from formrl.minigrid import Events, Visitor
from formrl.wrappers import MachineWrapper, Transition

DOOR_KEY = ["key(yellow)", "door(yellow)", "goal"]


def play(env: Any, seed: int, noise: float = 0.0) -> Any:
    """An episode from object to object; its last info."""
    visitor = Visitor(np.random.default_rng(seed), noise)
    env.reset(seed=seed)
    while True:
        *_, terminated, truncated, info = env.step(visitor(env))
        if terminated or truncated:
            return info


def test_door_key() -> None:
    env = MachineWrapper(gymnasium.make("MiniGrid-DoorKey-6x6-v0"), nothing_known(), Events(), signature=DOOR_KEY)
    traces = [play(env, seed)["trace"] for seed in range(20)]
    assert all(trace.kind == "goal" for trace in traces)
    assert formrl.Trace("goal", [[label] for label in DOOR_KEY]) in traces
    # Nobody is at the goal who has not been through the door: a smallest machine need not mention it.
    (edge,) = learnt(traces).edges
    assert edge.formula == "goal"
    without = [
        formrl.Trace("incomplete", steps)
        for steps in ([["goal"]], [[DOOR_KEY[0]], ["goal"]], [[DOOR_KEY[1]], ["goal"]])
    ]
    plan = learnt([*traces, *without])
    assert [edge.formula for edge in plan.edges] == ["exists X. key(X)", "exists X. door(X)", "goal"]


def learnt(traces: list[formrl.Trace]) -> formrl.Machine:
    result = formrl.learn(traces)
    assert result.minimal and result.machine is not None
    return result.machine


def test_the_order_of_doors_is_learnt_from_traces_alone() -> None:
    labels = ["door(red)", "door(blue)"]
    env = MachineWrapper(gymnasium.make("BabyAI-OpenRedBlueDoors-v0"), nothing_known(), Events(), signature=labels)
    traces = [play(env, seed)["trace"] for seed in range(12)]
    machine = formrl.learn(traces, env.signature, propositional=True).machine
    assert machine is not None and [edge.formula for edge in machine.edges] == labels


def test_lava_is_a_dead_end() -> None:
    env = MachineWrapper(gymnasium.make("MiniGrid-LavaGapS5-v0"), nothing_known(), Events(), signature=["goal", "lava"])
    env.action_space.seed(1)
    traces = []
    for seed in range(60):
        env.reset(seed=seed)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(env.action_space.sample())
            over = terminated or truncated
        traces.append(info["trace"])
    machine = formrl.learn(traces, env.signature).machine
    expected = formrl.Machine.parse("initial u0\naccept u_acc\nreject u_rej\nu0 -> u_acc : goal\nu0 -> u_rej : lava")
    assert machine is not None and machine.diff(expected, env.signature, observations="single") is None


def test_events_happen_once() -> None:
    """The key is observed when it is picked up, not while it is carried; the door when it opens, not while it stands open."""
    env, events = gymnasium.make("MiniGrid-DoorKey-5x5-v0").unwrapped, Events()
    visitor = Visitor(np.random.default_rng(0))
    observation, info = env.reset(seed=3)
    assert events(Transition(env, None, None, observation, info)) == []
    counts: dict[str, int] = {}
    terminated = False
    while not terminated:
        action = visitor(env)
        observation, _, terminated, _, info = env.step(action)
        for label in events(Transition(env, observation, action, observation, info)):
            counts[label] = counts.get(label, 0) + 1
    assert counts["goal"] == 1 and counts["key(yellow)"] <= 2 and counts["door(yellow)"] <= 3


def test_the_example(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stable_baselines3")
    path = root / "python" / "examples" / "minigrid_doors.py"
    spec = importlib.util.spec_from_file_location("minigrid_doors", path)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    results = example.main(small=True)
    told = capsys.readouterr().out
    assert set(results) == {example.DOOR_KEY, example.TWO_DOORS}
    assert "exists X. key(X)" in told and "door(blue)" in told


def test_the_labels_of_an_environment() -> None:
    env = gymnasium.make("MiniGrid-DoorKey-5x5-v0")
    assert Events.signature(env) == ["door(yellow)", "goal", "key(yellow)"]
    env.reset(seed=3)
    before = str(env.unwrapped)
    assert Events.signature(env) == ["door(yellow)", "goal", "key(yellow)"] and str(env.unwrapped) == before
    assert Events.signature(env, mission=True)[-1] == "mission"


def test_what_the_mission_asks_for() -> None:
    """In BabyAI, a machine can follow whatever the mission is: `mission` is observed where its object is."""
    env = gymnasium.make("BabyAI-PickupDist-v0")
    signature = Events.signature(env, mission=True)
    assert len(signature) == 19, "three kinds of objects of six colours, of which every episode has some, and the mission"
    pick = formrl.Machine.parse("initial u0\naccept done\nu0 -> done : mission")
    wrapped = MachineWrapper(env, pick, Events(mission=True), signature=signature, observation="plain", truth="machine")
    done = set()
    for seed in range(6):
        wrapped.reset(seed=seed)
        visitor = Visitor(np.random.default_rng(seed))
        for _ in range(200):
            *_, terminated, truncated, info = wrapped.step(visitor(wrapped))
            if info["labels"]:
                # The environment's own reward says whether it was the one.
                assert ("mission" in info["labels"]) == (info["env_reward"] > 0)
                done.add("mission" in info["labels"])
            if terminated or truncated:
                break
    assert True in done


def test_observations_with_a_text_are_told_of() -> None:
    env = gymnasium.make("MiniGrid-DoorKey-5x5-v0")
    with pytest.warns(UserWarning, match="ImgObsWrapper"):
        MachineWrapper(env, "initial u0\naccept u1\nu0 -> u1 : goal", Events(), signature=Events.signature(env))
    with pytest.raises(ValueError, match="FlatObsWrapper"):
        MachineWrapper(env, "initial u0\naccept u1\nu0 -> u1 : goal", Events(), signature=["goal"], observation="flat")
