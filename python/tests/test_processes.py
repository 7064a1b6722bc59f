"""Objects that travel to other processes and come back as they were."""

import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import formrl
from formrl import BoundMachine, Machine, Signature, Trace


def answer(things: tuple[Any, ...]) -> tuple[Any, ...]:
    """Uses what came, in a process that was started from nothing."""
    machine, signature, bound, monitor, monitors, trace = things
    assert machine.bind(signature) == bound
    step = monitor.observe(["yellow(o1)"])
    steps = monitors.observe(np.array([[0, 1, 0, 0]] * 3, np.bool_))
    return (step.state, steps.states.tolist(), trace.agrees(bound), *things)


def fail(text: str) -> None:
    Machine.parse(text)


def test_spawned_processes(machine: Machine, signature: Signature, bound: BoundMachine) -> None:
    monitor = bound.monitor()
    monitor.observe(["yellow(o0)"])
    monitors = bound.monitors(3)
    monitors.observe(np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]], np.bool_))
    trace = Trace("dead-end", [["lava"]], signature)
    things = (machine, signature, bound, monitor, monitors, trace)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        state, states, agrees, *back = pool.apply(answer, (things,))
        assert (state, states, agrees) == ("u1", [1, 0, 3], True)
        assert tuple(back[:3]) == things[:3] and back[5] == trace
        assert back[5].signature == signature
        assert monitor.state == "u0", "what stayed here is as it was"
        with pytest.raises(formrl.ParseError) as caught:
            pool.apply(fail, ("initial u0\naccept u1\nu0 => u1",))
    assert (caught.value.line, caught.value.column) == (3, 1)


def test_pickles_of_tasks_and_environments() -> None:
    task = pickle.loads(pickle.dumps(formrl.Task("green-but-one")))
    assert task.machine == formrl.Task("green-but-one").machine
    env = formrl.make_task("all-yellow", view="planes", maps=2)
    again = pickle.loads(pickle.dumps(env))
    assert (env.reset(seed=5)[0] == again.reset(seed=5)[0]).all()
    assert again.observation_space == env.observation_space


def test_pickles_of_results() -> None:
    result = formrl.learn([("goal", [["a"], ["b"]]), ("incomplete", [["b"]])])
    assert pickle.loads(pickle.dumps(result)) == result
