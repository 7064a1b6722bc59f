"""What is right without being asked for: the order of atoms, dictionaries of labels, who decides, shaping, rewards at reset."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("gymnasium")

from key_and_door import KEYS_MACHINE, MACHINE, Errands

import formrl
from formrl import Shaping
from formrl.vector import MachineVectorWrapper
from formrl.wrappers import LabelWrapper, MachineWrapper, Transition

ERRANDS = formrl.Machine.parse(MACHINE)
KEYS = formrl.Machine.parse(KEYS_MACHINE)
LEFT, RIGHT = 0, 1


def test_a_signature_keeps_the_order_it_is_given_in() -> None:
    signature = formrl.Signature(["up", "down"])
    assert signature.atoms == ["up", "down"] and signature.index("down") == 1 and signature[0] == "up"
    assert signature.decode(np.array([True, False])) == ["up"] == signature.decode(0b01)
    up = formrl.Machine.parse("initial u0\naccept u1\nu0 -> u1 : up").bind(signature)
    assert not up.monitor().observe(np.array([False, True])).over
    assert up.monitor().observe(np.array([True, False])).over
    assert up.monitors(2).observe(np.array([[False, True], [True, False]])).over.tolist() == [False, True]
    assert pickle.loads(pickle.dumps(up)) == up and pickle.loads(pickle.dumps(signature)).atoms == ["up", "down"]
    # Arrays of the one are not arrays of the other.
    assert signature != formrl.Signature(["down", "up"])
    # A set has no order of its own.
    assert formrl.Signature({"up", "down"}).atoms == ["down", "up"]
    assert formrl.Signature(["b", "a"]).union(["c", "a"]).atoms == ["b", "a", "c"]


def test_dictionaries_of_labels_say_what_is_there() -> None:
    signature = formrl.Signature(["aboard", "home"])
    assert signature.decode({"aboard": False, "home": True}) == ["home"]
    assert signature.decode({"aboard": np.bool_(True), "home": 0}) == ["aboard"]
    assert formrl.Trace("goal", [{"aboard": False, "home": True}]).steps == [["home"]]
    with pytest.raises(TypeError, match="True or False"):
        signature.decode({"aboard": "yes"})
    with pytest.raises(TypeError, match="not bool; a row of booleans.* numpy"):
        signature.decode([True, False])  # type: ignore[list-item]
    with pytest.raises(formrl.LabelError, match="abroad"):
        signature.decode({"abroad": False})
    env = MachineWrapper(Errands(), ERRANDS, lambda t: {"key": False, "door": t.env.at == 4})
    env.reset(seed=0)
    assert env.step(LEFT)[-1]["labels"] == []
    labelled = LabelWrapper(Errands(), lambda _: {"key": False, "door": True}, ["key", "door"])
    assert labelled.reset(seed=0)[1]["labels"] == ["door"]


def play(env: Any, actions: list[int], seed: int = 1) -> list[tuple[Any, ...]]:
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


class Corridor(gymnasium.Env[Any, Any]):
    """Nine cells, which end an episode only at the right end, with a reward or without."""

    def __init__(self, reward: float = 0.0) -> None:
        self.observation_space = gymnasium.spaces.Discrete(9)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.reward = reward

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 4
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at += 1 if action == RIGHT else -1
        over = self.at == 8
        return self.at, self.reward * over, over, self.at == 0, {}


def cell(transition: Transition) -> list[str]:
    return {2: ["a"], 6: ["b"], 8: ["end"]}.get(transition.after, [])


VISIT = formrl.Machine.parse("machine visit\ninitial u0\naccept done\nu0 -> u1 : b\nu1 -> done : a")
ATOMS = ["a", "b", "end"]


def test_a_machine_that_is_written_decides() -> None:
    """Acceptance is a termination, not a truncation, although the environment knows nothing of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = MachineWrapper(Corridor(), VISIT, cell, signature=ATOMS)
        *_, (_, reward, terminated, truncated, info) = play(env, 2 * [RIGHT] + 4 * [LEFT])
        assert (reward, terminated, truncated, info["is_success"]) == (1.0, True, False, True)
        # A dead end of the environment, of which the machine knows nothing, is one.
        *_, (_, reward, terminated, truncated, info) = play(env, 4 * [RIGHT])
        assert (reward, terminated, truncated, info["is_success"]) == (0.0, True, False, False)
    vector = MachineVectorWrapper(
        gymnasium.vector.SyncVectorEnv([lambda: LabelWrapper(Corridor(), cell, ATOMS)]), VISIT
    )
    vector.reset(seed=1)
    for action in 2 * [RIGHT] + 4 * [LEFT]:
        _, rewards, ended, cut, infos = vector.step(np.array([action]))
    assert (rewards[0], ended[0], cut[0], infos["is_success"][0]) == (1.0, True, False, True)


def test_an_environment_that_judges_decides() -> None:
    given = MachineWrapper(Corridor(), VISIT, cell, signature=ATOMS, judge=lambda _: "incomplete")
    with pytest.warns(UserWarning, match="truth='machine'"):
        *_, (*_, terminated, truncated, info) = play(given, 2 * [RIGHT] + 4 * [LEFT])
    assert truncated and not terminated and "counterexample" in info
    world = MachineWrapper(formrl.make_task("all-yellow"), formrl.Task("all-yellow").machine)
    world.reset(seed=0)
    assert not world.truth.by_machine
    # What is to be learnt cannot decide.
    assert not MachineWrapper(Corridor(), formrl.nothing_known(), cell, signature=ATOMS).truth.by_machine


def test_where_both_speak_there_is_one_warning() -> None:
    env = MachineWrapper(Corridor(reward=1.0), VISIT, cell, signature=ATOMS)
    with pytest.warns(UserWarning, match="'goal' where the machine 'visit' says 'incomplete': the machine decides"):
        play(env, 4 * [RIGHT])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(env, 4 * [RIGHT])
        play(MachineWrapper(Corridor(reward=1.0), VISIT, cell, signature=ATOMS, truth="machine"), 4 * [RIGHT])


SHAPINGS = [
    Shaping(0.9),
    Shaping(0.9, "value"),
    Shaping(0.9, {"u0": 2.0, "u1": -1.0}, scale=3.0),
    Shaping(0.9, lambda state: len(state)),
]


@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("machine", [KEYS, formrl.Machine.parse("initial u0\naccept u2\nu0 -> u1 : key(o0) => 0.3\nu1 -> u2 : key(o1)")])
def test_shaping_adds_a_constant_to_the_return_of_every_policy(shaping: Shaping, machine: formrl.Machine) -> None:
    """Ng, Harada, Russell 1999: whatever is done in an episode that terminates, also where the machine is in no terminal state."""
    random, terminal = np.random.default_rng(0), set()
    potentials = dict(zip(machine.states, shaping.potentials(machine)))
    vector = MachineVectorWrapper(
        gymnasium.vector.SyncVectorEnv([lambda: Errands(keys=True)]), machine, shaping=shaping, truth="machine"
    )
    for seed in range(40):
        bias = random.random()
        actions = [int(random.random() < bias) for _ in range(40)]
        plain = MachineWrapper(Errands(keys=True), machine, truth="machine")
        shaped = MachineWrapper(Errands(keys=True), machine, truth="machine", shaping=shaping)
        (_, info), (_, _), (_, _) = plain.reset(seed=seed), shaped.reset(seed=seed), vector.reset(seed=seed)
        difference = other = 0.0
        for time, action in enumerate(actions):
            _, with_it, terminated, truncated, after = shaped.step(action)
            _, without, *_ = plain.step(action)
            _, together, *_ = vector.step(np.array([action]))
            difference += 0.9**time * (with_it - without)
            other += 0.9**time * (together[0] - without)
            if terminated or truncated:
                break
        expected = -potentials[info["machine_state"]]
        if not terminated:
            expected += 0.9 ** (time + 1) * potentials[after["machine_state"]]
        assert difference == pytest.approx(expected) == pytest.approx(other)
        terminal.add((after["machine_state"], terminated))
    assert len(terminal) > 1


def test_dying_where_much_was_achieved_is_not_rewarded() -> None:
    env = MachineWrapper(Corridor(), VISIT, cell, signature=ATOMS, shaping=1.0)
    rewards = [reward for _, reward, *_ in play(env, 4 * [RIGHT])]
    assert rewards == pytest.approx([0, 1 / 3, 0, -2 / 3])


def test_rewards_are_the_machines_the_environments_both_or_a_function_of_them() -> None:
    machine = formrl.Machine.parse("initial u0\naccept done\nu0 -> u1 : b => 0.25\nu1 -> done : a")
    for reward, expected in (
        ("machine", [0, 0.25, 0, 0]),
        ("environment", [0, 0, 0, 2]),
        ("sum", [0, 0.25, 0, 2]),
        (lambda mine, its: 10 * mine - its, [0, 2.5, 0, -2]),
    ):
        settings: Any = {"reward": reward, "truth": "machine"}
        env = MachineWrapper(Corridor(2.0), machine, cell, signature=ATOMS, **settings)
        assert [reward for _, reward, *_ in play(env, 4 * [RIGHT])] == expected
        vector = MachineVectorWrapper(
            gymnasium.vector.SyncVectorEnv([lambda: LabelWrapper(Corridor(2.0), cell, ATOMS)]), machine, **settings
        )
        vector.reset(seed=1)
        assert [vector.step(np.array([RIGHT]))[1][0] for _ in range(4)] == expected
    for wrong in ({"potential": "height"}, {"gamma": 2.0}, {"value_discount": 1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong)).replace("gamma", "discount")):
            Shaping(**({"gamma": 0.9} | wrong))
    with pytest.raises(ValueError, match="u9"):
        MachineWrapper(Corridor(), machine, cell, signature=ATOMS, shaping=Shaping(0.9, {"u9": 1.0}))


def test_the_reward_of_an_edge_at_reset_is_that_of_the_first_step() -> None:
    machine = formrl.Machine.parse("initial u0\naccept done\nu0 -> u1 : start => 0.5\nu1 -> done : a")
    atoms = ["start", *ATOMS]

    def labels(transition: Transition) -> list[str]:
        return ["start"] if np.all(transition.begun) else cell(transition)

    env = MachineWrapper(Corridor(), machine, labels, signature=atoms)
    for _ in range(2):
        assert [reward for _, reward, *_ in play(env, 2 * [LEFT])] == [0.5, 1.0]
    vector = MachineVectorWrapper(
        gymnasium.vector.SyncVectorEnv([lambda: LabelWrapper(Corridor(), labels, atoms)]), machine, truth="machine"
    )
    vector.reset(seed=1)
    # The third step begins an episode.
    assert [vector.step(np.array([LEFT]))[1][0] for _ in range(5)] == [0.5, 1.0, 0.0, 0.5, 1.0]


def test_a_new_machine_waits_for_the_next_episode() -> None:
    env = MachineWrapper(Corridor(), VISIT, cell, signature=ATOMS, room=5)
    env.reset(seed=1)
    env.step(RIGHT)
    other = formrl.Machine.parse("machine other\ninitial v0\naccept done\nv0 -> v1 : a\nv1 -> v2 : b\nv2 -> done : a")
    env.set_machine(other)
    *_, info = env.step(RIGHT)
    assert info["machine_state"] == "u1" and env.machine == VISIT
    assert env.reset(seed=1)[1]["machine_state"] == "v0" and env.machine == other
    with pytest.raises(formrl.LabelError, match="lava"):
        env.set_machine("initial u0\naccept u1\nu0 -> u1 : lava")
    with pytest.raises(TypeError, match="require"):
        env.set_machine(None)  # type: ignore[arg-type]
    vector = MachineVectorWrapper(
        gymnasium.vector.SyncVectorEnv(2 * [lambda: LabelWrapper(Corridor(), cell, ATOMS)]), VISIT, room=5
    )
    vector.reset(seed=1)
    vector.set_machine(other)
    *_, infos = vector.step(np.array([RIGHT, RIGHT]))
    assert list(infos["machine_state"]) == ["u0", "u0"]
    assert list(vector.reset(seed=1)[1]["machine_state"]) == ["v0", "v0"]


def test_why_there_is_no_machine_is_said() -> None:
    learner = formrl.Learner(["a", "b"])
    for trace in (("goal", [["a"]]), ("incomplete", [["a"]])):
        learner.add(trace)
    result = learner.learn()
    with pytest.raises(formrl.LearnError, match="no machine is consistent with the traces: 1 pair .*trace 0 and trace 1"):
        result.require()
    # Two of three, in any order, needs more than one state.
    few = formrl.learn([("goal", [["a"], ["b"]]), ("incomplete", [["b"], ["a"]])], max_states=1)
    assert few.machine is None and few.outcome == "state-limit"
    assert few.explain().startswith("stopped at max_states=1: no consistent machine found; proven: at least 2 states")
    learner.remove(("incomplete", [["a"]]))
    found = learner.learn()
    assert found.require() == found.machine and "proven minimal" in found.explain()
    assert repr(found).startswith("<LearnResult minimal: 1 state") and len(repr(found)) < 120
    assert (found._repr_svg_() or "").startswith("<svg")


def test_learners_forget_are_copied_and_pickled() -> None:
    learner = formrl.Learner(["a", "b"], max_disjuncts=2, cyclic=True)
    assert repr(learner) == "<Learner of 0 traces over 2 atoms>"
    assert learner.add(("goal", [["a"], ["b"]])) == 0 and learner.add(("goal", [["a"], ["b"]])) is None
    assert learner.add({"kind": "incomplete", "steps": [["b"], ["a"]]}) == 2
    for twin in (learner.copy(), copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert twin.traces == 2 and twin.signature == learner.signature
        assert twin.learn().machine == learner.learn().machine
        assert twin.remove(["goal", [["a"], ["b"]]]) and not twin.remove(("goal", [["a"], ["b"]]))
        assert (twin.traces, learner.traces) == (1, 2)


def test_traces_are_taken_as_they_are_at_hand(tmp_path: Path, examples: Path) -> None:
    file = examples / "all_yellow.jsonl"
    wanted = formrl.learn(file).machine
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert formrl.learn(lines).machine == wanted
    assert formrl.learn(iter(lines)).machine == wanted
    assert formrl.learn([file, str(file)]).machine == wanted
    with open(file) as text, open(file, "rb") as binary:
        assert formrl.learn(text).machine == wanted and formrl.learn([binary]).machine == wanted
    pairs = [[trace.kind, trace.steps] for trace in formrl.read_traces(file)]
    assert formrl.learn(pairs, formrl.read_traces(file).signature.atoms).machine == wanted
    assert formrl.write_traces(tmp_path / "again.jsonl", [file, *lines]) == 2 * len(pairs)
    with pytest.raises(TypeError, match=r"\[trace\]"):
        formrl.learn({"kind": "goal", "steps": []})
    with pytest.raises(TypeError, match="kind"):
        formrl.learn([{"steps": []}])


def test_machines_run_traces_and_files_are_machines(tmp_path: Path) -> None:
    assert ERRANDS.run(("goal", [["key"], ["door"]])) == (["u0", "u1", "u_acc"], [0.0, 1.0], "goal")
    assert ERRANDS.run([["door"], ["key"]], ["key", "door"]).verdict == "incomplete"
    trace = formrl.Trace("goal", [["key"], ["door"]])
    assert trace.agrees(ERRANDS) and trace.agrees(ERRANDS.bind(["door", "key"]))
    with pytest.raises(TypeError, match="Machine"):
        trace.agrees("errands")  # type: ignore[arg-type]
    ERRANDS.write(tmp_path / "errands.form")
    for given in (tmp_path / "errands.form", str(tmp_path / "errands.form"), MACHINE, ERRANDS):
        assert formrl.MachineWrapper(Errands(), given).machine == ERRANDS
    assert formrl.MachineWrapper(Errands(), "key; door").machine.edges == formrl.Machine.from_line("key; door").edges
    with pytest.raises(formrl.ParseError, match="keys? or"):
        formrl.MachineWrapper(Errands(), "key or; door")
    with pytest.raises(AttributeError, match="Wrapper"):
        formrl.Wrapper
