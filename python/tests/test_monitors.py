"""Monitors: one and many, fed with labels in every form that is accepted."""

import copy
import pickle
import threading

import numpy as np
import pytest

import formrl
from formrl import BoundMachine, Machine, Monitor, Signature


def test_the_rule_of_compressed_traces() -> None:
    twice = Machine.parse("initial u0\naccept u2\nu0 -> u1 : goal\nu1 -> u2 : goal")
    monitor = twice.bind(Signature(["goal", "red"])).monitor()
    steps = [monitor.observe(labels) for labels in (["goal"], [], ["goal"], ["red"], ["goal"])]
    assert [step.state for step in steps] == ["u1", "u1", "u1", "u1", "u2"]
    assert [step.reward for step in steps] == [0, 0, 0, 0, 1]
    assert [step.changed for step in steps] == [True, False, False, False, True]
    assert [step.edge for step in steps] == [0, None, None, None, 1]
    assert [step.over for step in steps] == [False, False, False, False, True]
    monitor.reset()
    assert (monitor.state, monitor.seen, monitor.newest) == ("u0", [], [])


def test_labels_in_every_form(bound: BoundMachine) -> None:
    row = np.zeros(4, np.bool_)
    row[bound.signature.index("yellow(o1)")] = True
    forms = [
        ["yellow(o1)"],
        ("yellow(o1)",),
        {"yellow(o1)"},
        frozenset(["yellow(o1)"]),
        iter(["yellow(o1)"]),
        {"yellow(o1)": 1}.keys(),
        np.array(["yellow(o1)"]),
        row,
        1 << bound.signature.index("yellow(o1)"),
        np.int64(2).item(),
    ]
    for form in forms:
        monitor = bound.monitor()
        monitor.observe(form)  # type: ignore[arg-type]
        assert monitor.seen == ["yellow(o1)"], form
    assert bound.progress_atoms("u0") == bound.progress_atoms(0) == ["yellow(o0)", "yellow(o1)"]
    with pytest.raises(ValueError, match="no state u7"):
        bound.progress_atoms("u7")


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ("goal", TypeError),
        (b"goal", TypeError),
        (3.5, TypeError),
        (None, TypeError),
        (True, TypeError),
        ([3], TypeError),
        (np.zeros(4), TypeError),
        (["blue(o0)"], formrl.LabelError),
        (["yellow(o0"], formrl.ParseError),
        (1 << 4, formrl.LabelError),
        (-1, formrl.LabelError),
        (1 << 200, formrl.LabelError),
        (np.zeros(3, np.bool_), formrl.LabelError),
    ],
)
def test_wrong_labels_change_nothing(bound: BoundMachine, labels: object, error: type) -> None:
    monitor = bound.monitor()
    monitor.observe(["yellow(o0)"])
    with pytest.raises(error):
        monitor.observe(labels)  # type: ignore[arg-type]
    assert monitor.seen == monitor.newest == ["yellow(o0)"]


def test_more_atoms_than_a_word() -> None:
    atoms = [f"p(o{i})" for i in range(300)]
    machine = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. p(X)")
    bound = machine.bind(Signature(atoms))
    monitor = bound.monitor()
    for i in range(299):
        assert not monitor.observe(1 << i).changed
    assert monitor.observe(np.arange(300) == 299).over
    monitors = bound.monitors(2)
    labels = np.ones((2, 300), np.bool_)
    labels[0, 7] = False
    assert monitors.observe(labels).over.tolist() == [False, True]


def test_copies_are_independent(bound: BoundMachine) -> None:
    monitor = bound.monitor()
    monitor.observe(["yellow(o0)"])
    for other in [copy.copy(monitor), copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))]:
        assert other.observe(["yellow(o1)"]).state == "u1"
        assert monitor.state == "u0"


def observed(bound: BoundMachine, labels: np.ndarray) -> list[tuple[int, float, bool, bool]]:
    """What single monitors make of it."""
    monitors: list[Monitor] = [bound.monitor() for _ in range(labels.shape[1])]
    found = []
    for rows in labels:
        for monitor, row in zip(monitors, rows, strict=True):
            step = monitor.observe(row)
            found.append((step.state_index, step.reward, step.over, step.changed))
    return found


def test_many_are_as_many_single_ones(bound: BoundMachine) -> None:
    random = np.random.default_rng(7)
    labels = random.random((30, 5000, 4)) < 0.15
    monitors = bound.monitors(5000)
    found = []
    out = monitors.observe(labels[0])
    found += list(zip(*(column.tolist() for column in out), strict=True))
    for rows in labels[1:]:
        again = monitors.observe(rows, out=out)
        assert again is out
        found += list(zip(*(column.tolist() for column in out), strict=True))
    assert found == observed(bound, labels)
    assert len({state for state, *_ in found}) == 4, "all states were reached"
    assert monitors.states.tolist() == out.states.tolist()
    assert monitors.over.tolist() == out.over.tolist()
    assert monitors.seen.shape == (5000, 4)


def test_many_are_reset_where_the_mask_says(bound: BoundMachine) -> None:
    monitors = bound.monitors(3)
    monitors.observe(np.array([[1, 1, 0, 0]] * 3, np.bool_))
    assert monitors.states.tolist() == [1, 1, 1]
    monitors.reset(np.array([True, False, True]))
    assert monitors.states.tolist() == [0, 1, 0]
    kept = pickle.loads(pickle.dumps(monitors))
    assert kept.states.tolist() == [0, 1, 0]
    assert kept.newest.tolist() == monitors.newest.tolist()
    monitors.reset()
    assert monitors.states.tolist() == [0, 0, 0] and kept.states.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="mask"):
        monitors.reset(np.ones(2, np.bool_))


def test_many_take_rows_in_any_memory_order(bound: BoundMachine) -> None:
    rows = np.asfortranarray(np.array([[1, 1, 0, 0], [0, 0, 0, 1]], np.bool_))
    assert bound.monitors(2).observe(rows).states.tolist() == [1, 3]


def test_wrong_arrays_are_told(bound: BoundMachine) -> None:
    monitors = bound.monitors(2)
    with pytest.raises(ValueError, match=r"\(2, 4\)"):
        monitors.observe(np.zeros((3, 4), np.bool_))
    with pytest.raises(TypeError, match="booleans"):
        monitors.observe(np.zeros((2, 4)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list"):
        monitors.observe([["goal"], []])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="out"):
        monitors.observe(np.zeros((2, 4), np.bool_), out=3)  # type: ignore[arg-type]
    with pytest.raises(MemoryError):
        bound.monitors(1 << 60)
    other = bound.monitors(3).observe(np.zeros((3, 4), np.bool_))
    with pytest.raises(ValueError, match="out"):
        monitors.observe(np.zeros((2, 4), np.bool_), out=other)


def test_other_threads_run_while_many_are_stepped(bound: BoundMachine) -> None:
    """Python's lock is not held: another thread gets on while one long call is under way."""
    labels = np.ones((2_000_000, 4), np.bool_)
    monitors = bound.monitors(len(labels))
    begun, done = threading.Event(), threading.Event()

    def step() -> None:
        begun.set()
        monitors.observe(labels)
        done.set()

    worker = threading.Thread(target=step)
    counted = 0
    worker.start()
    begun.wait()
    while not done.is_set():
        counted += 1
    worker.join()
    assert counted > 0


def test_arrays_that_are_copies_cannot_be_written_to() -> None:
    bound = formrl.Machine.parse("initial u0\naccept u1\nu0 -> u1 : goal").bind(["key", "goal"])
    monitor, monitors = bound.monitor(), bound.monitors(3)
    for array in (monitor.seen_row, monitors.states, monitors.seen, monitors.newest, monitors.over):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array
        copied = array.copy()
        copied[...] = array
    # What a call writes to has to be writeable, and says so.
    steps = monitors.observe(np.zeros((3, 2), np.bool_))
    steps.rewards.flags.writeable = False
    with pytest.raises((TypeError, ValueError), match="not writeable"):
        monitors.observe(np.zeros((3, 2), np.bool_), out=steps)
