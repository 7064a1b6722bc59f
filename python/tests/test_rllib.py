"""The joint loop on a real Ray cluster of two processors, with RLlib as it is installed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("torch")

from key_and_door import KEYS_MACHINE, MACHINE, Errands

import formrl
from formrl.agent_assignment import survivors
from formrl.rllib import Iteration, MachineMultiAgentEnv, Training, train

ERRANDS, KEYS = formrl.Machine.parse(MACHINE), formrl.Machine.parse(KEYS_MACHINE)
# The same sub-tasks in the wrong order.
SWAPPED = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u1 : door\nu1 -> u_acc : key")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    # Workers find the environment of the tests where the tests do.
    path = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=path)
    yield
    ray.shutdown()


def configure(config: Any) -> Any:
    return config.training(train_batch_size_per_learner=1000, minibatch_size=128, num_epochs=4, lr=3e-3)


class Mortal(Errands):
    """Its process dies in the first step after this file is written, once."""

    def __init__(self, order: Path) -> None:
        super().__init__()
        self.order = order

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        try:
            self.order.unlink()
        except FileNotFoundError:
            return super().step(action)
        os._exit(1)


@pytest.mark.filterwarnings("ignore")
def test_the_machine_is_learnt_and_broadcast_and_policies_exploit_it(cluster: None, tmp_path: Path) -> None:
    order = tmp_path / "die"

    def look(iteration: Iteration) -> bool:
        if iteration.number == 1:
            # One of the runners does not live to see the end of the next iteration.
            order.write_text("")
        done = iteration.ended_success is not None and iteration.ended_success > 0.95 and iteration.counterexamples == 0
        return iteration.number > 2 and done

    settings: dict[str, Any] = {"env_runners": 2, "envs_per_runner": 4, "explore": 400, "seed": 1}
    training = train(lambda: Mortal(order), 40, on_iteration=look, configure=configure, **settings)
    assert not order.exists()
    try:
        assert training.machine.diff(ERRANDS, training.learner.signature, rewards=False) is None
        first, last = training.iterations[0], training.iterations[-1]
        assert first.relearnt and first.counterexamples > 0
        assert last.ended_success is not None and last.ended_success > 0.95 and last.counterexamples == 0
        assert {trace.kind for trace in training.traces} >= {"goal"}

        # All runners play with the machine, the one that was started again, too, and have its modules and no others.
        def ask(runner: Any) -> Any:
            machines = None if runner.env is None else [env.unwrapped.assignment.machine for env in runner.env.envs]
            return machines, sorted(runner.module.keys())

        seen = training.algorithm.env_runner_group.foreach_env_runner(ask)
        assert [machines for machines, _ in seen if machines] == [[training.machine] * 4] * 2
        assert all(modules == sorted(training.names.values()) for _, modules in seen)
    finally:
        training.stop()


@pytest.mark.filterwarnings("ignore")
def test_policies_whose_sub_task_survives_keep_their_weights(cluster: None) -> None:
    training = Training(Errands, machine=SWAPPED, env_runners=0, seed=2, configure=configure)
    try:
        before = training.algorithm.learner_group.get_weights()
        assert training.names == {"u0": "policy_0", "u1": "policy_1"}
        # Two sub-tasks are the same, in another order; a third is new.
        longer = "initial u0\naccept u_acc\nu0 -> u1 : key\nu1 -> u2 : door\nu2 -> u_acc : key and not door"
        kept = training.set_machine(formrl.Machine.parse(longer))
        assert kept == {"u0": "policy_1", "u1": "policy_0"}
        assert training.names == {"u0": "policy_1", "u1": "policy_0", "u2": "policy_2"}
        after = training.algorithm.learner_group.get_weights()
        runner = training.algorithm.env_runner_group.local_env_runner.module
        assert set(after) == set(runner.keys()) == {"policy_0", "policy_1", "policy_2"}
        for name in before:
            assert all(np.array_equal(before[name][part], after[name][part]) for part in before[name])
        training.set_machine(ERRANDS)
        assert set(training.algorithm.learner_group.get_weights()) == {"policy_0", "policy_1"}
        # And it can still be trained.
        assert training.iterate().episodes > 0
    finally:
        training.stop()


class Closing(Errands):
    """Tells whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.mark.filterwarnings("ignore")
def test_what_fails_to_begin_leaves_nothing_behind(cluster: None) -> None:
    boards: list[Any] = []
    made: list[Closing] = []

    def make() -> Closing:
        made.append(Closing())
        return made[-1]

    def fail(config: Any) -> Any:
        boards.append(config.env_config["board"])
        assert ray.get(boards[0].read.remote())[0] == ERRANDS
        raise RuntimeError("no such configuration")

    with pytest.raises(RuntimeError, match="no such"):
        Training(make, machine=ERRANDS, env_runners=0, configure=fail)
    assert made[0].closed
    # A killed actor may answer for a moment.
    with pytest.raises(ray.exceptions.RayActorError):
        for _ in range(300):
            ray.get(boards[0].read.remote())
            time.sleep(0.1)


@pytest.mark.filterwarnings("ignore")
def test_what_is_stopped_is_closed(cluster: None) -> None:
    training = Training(Closing, machine=ERRANDS, env_runners=0, configure=configure)
    example: Any = training._example.env.unwrapped
    assert not example.closed
    training.stop()
    assert example.closed


def test_the_environment_forgets_what_nobody_asks_for() -> None:
    early = formrl.Machine.parse("initial u0\naccept u_acc\nu0 -> u_acc : door")
    env = MachineMultiAgentEnv({"make_env": lambda: Errands(cells=3), "machine": early, "truth": "environment"})
    for _ in range(10_050):
        env.reset()
        env.step({"u0": 1})
    assert len(env.outcomes) == len(env.counterexamples) == 10_000


def test_survivors() -> None:
    names = {"u0": "a", "u1": "b"}
    assert survivors(SWAPPED, names, ERRANDS, lambda *_: True) == {"u0": "b", "u1": "a"}
    assert survivors(SWAPPED, names, ERRANDS, lambda *_: False) == {}
    assert survivors(ERRANDS, names, KEYS, lambda *_: True) == {"u1": "b"}


@pytest.mark.parametrize("credit", ["shared", "hand-over"])
def test_the_environment_tells_who_acts(credit: str) -> None:
    config = {"make_env": lambda: Errands(cells=3), "machine": ERRANDS, "shaping": 1.0, "credit": credit}
    env = MachineMultiAgentEnv(config)
    seen, _ = env.reset(seed=0)
    assert list(seen) == ["u0"] and seen["u0"] in env.observation_spaces["u0"]
    seen, rewards, terminated, truncated, _ = env.step({"u0": 0})
    assert list(seen) == ["u1"] and rewards == {"u0": pytest.approx(1 / 3)} and not terminated["__all__"]
    seen, rewards, terminated, truncated, _ = env.step({"u1": 1})
    assert ("u0" in terminated) == (credit == "hand-over")
    seen, rewards, terminated, truncated, infos = env.step({"u1": 1})
    assert terminated["__all__"] and not truncated["__all__"]
    share = pytest.approx(1 / 6 if credit == "shared" else 1 / 3)
    assert rewards == ({"u0": share, "u1": share} if credit == "shared" else {"u1": share})
    assert list(env.outcomes) == [("goal", 3)] and not env.counterexamples


def test_the_environment_keeps_counterexamples() -> None:
    config = {"make_env": lambda: Errands(cells=3), "machine": SWAPPED, "shaping": 0.9, "truth": "environment"}
    env = MachineMultiAgentEnv(config)
    env.reset(seed=0)
    env.step({"u0": 1})
    env.step({"u1": 0})
    env.step({"u1": 0})
    assert list(env.counterexamples) == [formrl.Trace("incomplete", [["door"], ["key"]])]
    assert env.outcomes[0][0] == "incomplete"
