"""Learning: from lists, iterators and files, with limits as values, progress, and Ctrl-C."""

import math
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import formrl
from formrl import Learner, Machine, Signature, Trace

TRACES = [
    ("goal", [["yellow(o0)"], ["yellow(o1)"], ["goal"]]),
    ("goal", [["yellow(o1)"], ["goal"], ["yellow(o0)"], ["goal"]]),
    ("incomplete", [["yellow(o1)"], ["goal"]]),
    ("incomplete", [["yellow(o0)"], ["goal"], ["yellow(o0)"], ["goal"]]),
    ("incomplete", [["goal"]]),
]


def hard_traces() -> list[tuple[str, list[list[str]]]]:
    """Traces that only a machine with many states tells apart: nobody waits for its proof."""
    rows = []
    for i in range(220):
        bits = [(i * 2654435761 >> k) & 7 for k in range(0, 26)]
        steps = [[f"p{bit}"] if k % 2 else [f"q{bit}"] for k, bit in enumerate(bits)]
        rows.append(("goal" if i % 3 else "incomplete", steps))
    return rows


def test_the_smallest_machine() -> None:
    result = formrl.learn(TRACES)
    assert (result.outcome, result.minimal, result.states) == ("minimal", True, 2)
    assert result.machine is not None
    assert [edge.formula for edge in result.machine.edges] == ["forall X. yellow(X)", "goal"]
    assert (result.at_least_states, result.at_least_cost) == (2, result.cost)
    assert [round.refuted for round in result.rounds] == [True, False]
    assert (result.traces, result.contradictions) == (5, [])
    bound = result.machine.bind(result.signature)
    assert all(Trace(*trace).agrees(bound) for trace in TRACES)


def test_traces_come_in_every_form(examples: Path) -> None:
    path = examples / "all_yellow.jsonl"
    expected = formrl.learn(path).machine
    assert expected is not None and len(expected.states) == 3
    reader = formrl.read_traces(path)
    signature = reader.signature
    traces = list(reader)
    for given in (str(path), traces, iter(traces), (trace for trace in traces)):
        assert formrl.learn(given).machine == expected
    pairs = [(trace.kind, trace.steps) for trace in traces]
    assert formrl.learn(pairs, signature).machine == expected
    assert formrl.learn([]).outcome == "minimal"


def test_options() -> None:
    propositional = formrl.learn(TRACES, propositional=True, max_disjuncts=2).machine
    assert propositional is not None
    assert all("forall" not in edge.formula for edge in propositional.edges)
    assert len(propositional.states) > 3
    with pytest.raises(ValueError, match="max_disjuncts"):
        formrl.learn(TRACES, max_disjuncts=0)
    with pytest.raises(ValueError, match="max_states"):
        formrl.learn(TRACES, max_states=0)
    wrong: dict[str, Any]
    for wrong in ({"time_limit": -1}, {"time_limit": math.nan}, {"max_states": -1}, {"max_disjuncts": -1}, {"memory_limit": -1}):
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))} is "):
            formrl.learn(TRACES, **wrong)
    huge = 10**400
    for name in ("max_states", "max_disjuncts", "counts", "memory_limit"):
        with pytest.raises(ValueError, match=f"^10+ is too large a number\n.*{name}"):
            formrl.learn(TRACES, **{name: huge})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^time_limit is "):
        formrl.learn(TRACES, time_limit=-huge)
    learner = formrl.Learner(["goal"])
    with pytest.raises(ValueError, match="too large"):
        learner.learn(max_states=huge)
    assert learner.learn(time_limit=huge).minimal
    # No limit at all, and one beyond all clocks.
    assert formrl.learn(TRACES, time_limit=math.inf).minimal
    assert formrl.learn(TRACES, time_limit=1e300).minimal


def walks(machine: Machine, atoms: list[str]) -> list[Trace]:
    """What walks over the atoms come to, one atom at a time, each until the task is done."""
    rng = random.Random(7)
    traces = []
    for _ in range(300):
        walk = Trace("incomplete", [[rng.choice(atoms)] for _ in range(rng.randint(2, 13))], atoms)
        run = machine.run(walk)
        taken = run.states.index("u_acc") if run.verdict == "goal" else len(walk)
        traces.append(Trace(run.verdict, walk.steps[:taken], atoms))
    return traces


COLOURS = ["yellow(a)", "yellow(b)", "yellow(c)", "yellow(d)", "blue(e)", "blue(f)", "goal"]
KEYS = ["key(red)", "key(blue)", "key(green)", "door(red)", "door(blue)", "door(green)", "goal"]


def test_windows() -> None:
    once = "exists X. once blue(X) and exists X. once yellow(X)"
    traces = walks(Machine.parse(f"initial u0\naccept u_acc\nu0 -> u1 : {once}\nu1 -> u_acc : goal"), COLOURS)
    learnt = formrl.learn(traces, COLOURS, once=True).machine
    assert learnt is not None and [edge.formula for edge in learnt.edges] == [once, "goal"]
    assert formrl.learn(traces, COLOURS, max_states=2).outcome == "state-limit"


def test_counts() -> None:
    two = "atleast 2 X. yellow(X)"
    traces = walks(Machine.parse(f"initial u0\naccept u_acc\nu0 -> u1 : {two}\nu1 -> u_acc : goal"), COLOURS)
    learnt = formrl.learn(traces, COLOURS, counts=2).machine
    assert learnt is not None and [edge.formula for edge in learnt.edges] == [two, "goal"]
    learner = Learner(COLOURS, counts=2)
    for trace in traces:
        learner.add(trace)
    assert learner.learn().machine == learnt
    with pytest.raises(ValueError, match="counts"):
        formrl.learn(traces, COLOURS, counts=0)


def test_joins() -> None:
    opened = "exists X. (once key(X) and door(X))"
    traces = walks(Machine.parse(f"initial u0\naccept u_acc\nu0 -> u1 : {opened}\nu1 -> u_acc : goal"), KEYS)
    learnt = formrl.learn(traces, KEYS, joins=True).machine
    assert learnt is not None and [edge.formula for edge in learnt.edges] == [opened, "goal"]


def test_limits_are_outcomes() -> None:
    result = formrl.learn(TRACES, max_states=1)
    assert (result.outcome, result.machine, result.at_least_states) == ("state-limit", None, 2)
    result = formrl.learn(hard_traces(), time_limit=0.0)
    assert result.outcome == "time-limit" and not result.minimal
    assert formrl.learn(hard_traces(), memory_limit=1).outcome == "memory-limit"


def test_contradictions_name_the_traces() -> None:
    result = formrl.learn([("goal", [["a"]]), ("incomplete", [["b"]]), ("dead-end", [["a"]])])
    assert (result.outcome, result.contradictions, result.machine) == (
        "contradictory",
        [(0, 2)],
        None,
    )


def test_a_learner_goes_on() -> None:
    learner = Learner(Signature(["yellow(o0)", "yellow(o1)", "goal"]))
    assert [learner.add(trace) for trace in TRACES[:3]] == [0, 1, 2]
    assert learner.add(Trace(*TRACES[0])) is None
    assert learner.learn().outcome == "minimal"
    for trace in TRACES[3:]:
        learner.add(trace)
    assert learner.traces == 5
    assert learner.learn().machine == formrl.learn(TRACES).machine
    with pytest.raises(formrl.LabelError):
        learner.add(("goal", [["lava"]]))
    with pytest.raises(TypeError):
        learner.add("goal")  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    tried: list[int] = []
    formrl.learn(hard_traces(), time_limit=0.5, progress=tried.append)
    assert tried and tried == sorted(set(tried))


def test_an_exception_of_progress_ends_the_search() -> None:
    def fail(states: int) -> None:
        raise RuntimeError(f"enough of {states}")

    with pytest.raises(RuntimeError, match="enough of"):
        formrl.learn(hard_traces(), progress=fail)


def test_other_threads_run_meanwhile() -> None:
    """Python's lock is not held: others learn while a long search is under way."""
    outcomes: list[str] = []
    begun = threading.Event()

    def search() -> None:
        begun.set()
        outcomes.append(formrl.learn(hard_traces(), time_limit=0.5).outcome)

    worker = threading.Thread(target=search)
    worker.start()
    begun.wait()
    learnt = 0
    while worker.is_alive():
        assert formrl.learn(TRACES).minimal
        learnt += 1
    assert outcomes == ["time-limit"] and learnt > 0


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_ctrl_c_ends_the_search() -> None:
    program = (
        "import signal, sys; sys.path.insert(0, sys.argv[1]); import formrl, test_learning\n"
        # What was started in the background by a shell, these tests perhaps, would ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n"
        "    formrl.learn(test_learning.hard_traces(), max_states=40, progress=lambda n: print(n, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit(), "it is at work"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("stopped\n")
        assert process.wait() == 0


def test_wrong_traces_are_tolerated_and_named() -> None:
    traces = [
        ("goal", [["a"], ["goal"]]),
        ("goal", [["b"], ["a"], ["goal"]]),
        ("goal", [["a"], ["b"], ["goal"]]),
        ("incomplete", [["goal"], ["b"]]),
        ("incomplete", [["b"], ["goal"]]),
        ("goal", [["goal"], ["b"]]),
    ]
    assert formrl.learn(traces).outcome == "contradictory"
    result = formrl.learn(traces, tolerate=1)
    assert result.minimal
    assert result.misjudged == 1
    assert [(s.trace, s.expected) for s in result.suspects] == [(5, "incomplete")]
    assert [(level.states, level.proven) for level in result.levels][-1] == (result.states, True)
    assert formrl.learn(traces[:-1]).suspects == []
    for wrong in (-1, "many", "100%", 1.5):
        with pytest.raises(ValueError, match="tolerate is a number of traces"):
            formrl.learn(traces, tolerate=wrong)  # type: ignore[arg-type]
    with pytest.raises(formrl.FormError, match="cannot tolerate 6"):
        formrl.learn(traces, tolerate=6)


def test_other_suspects_are_named() -> None:
    # One edge cannot say both: either of the first two traces may be wrong.
    traces = [("goal", [["a"]]), ("goal", [["b"]]), ("incomplete", [["c"], ["d"]])]
    result = formrl.learn(traces, tolerate=1)
    assert (result.states, result.misjudged) == (1, 1)
    assert result.other_suspects is not None
    both = [suspect.trace for suspect in result.suspects + result.other_suspects]
    assert sorted(both) == [0, 1]
    # Without a tolerance nothing is misjudged, and with a number that leaves no choice no other trace can be.
    assert formrl.learn(traces, max_disjuncts=2).other_suspects == []
    certain = [("goal", [["a"]])] * 5 + [("incomplete", [["a"]])]
    result = formrl.learn(certain, tolerate=1)
    assert [suspect.trace for suspect in result.suspects] == [5]
    assert result.other_suspects == []


GOOD = ("goal", [["a"], ["b"]])


def test_traces_are_named_by_their_index(tmp_path: Path) -> None:
    """Not by the number among different ones: that would blame innocent traces."""
    wrong = [("incomplete", [["q"]]), ("incomplete", [["a"], ["b"]])]
    result = formrl.learn([GOOD] * 3 + wrong)
    assert result.contradictions == [(0, 4)] and "trace 0 and trace 4 end" in result.explain()
    traces = [GOOD] * 5 + [("incomplete", [["b"]])] * 4 + [("incomplete", [["a"], ["b"]])] * 2 + [("incomplete", [["a"]])] + [GOOD]
    result = formrl.learn(traces, tolerate=2)
    assert (result.misjudged, [s.trace for s in result.suspects]) == (2, [9, 10])
    assert {(s.expected, s.file, s.line) for s in result.suspects} == {("goal", None, None)}
    # What is declared in a list has an index, too.
    result = formrl.learn([{"signature": ["a", "b"]}, *traces], tolerate=2)
    assert [s.trace for s in result.suspects] == [10, 11]
    # Files have lines, those that `form learn` names; of several, traces are counted through.
    path = tmp_path / "traces.jsonl"
    lines = ['{"signature":["a","b"]}', *(Trace(*trace).to_json() for trace in traces)]
    path.write_text("\n".join(lines))
    result = formrl.learn(path, tolerate=2)
    assert [s[-2:] for s in result.suspects] == [(str(path), 11), (str(path), 12)]
    again = list(formrl.read_traces(path))
    assert all(again[s.trace].kind == "incomplete" and len(again[s.trace]) == 2 for s in result.suspects)
    assert f"{path}:2 and {path}:11 end" in formrl.learn(path).explain()
    with path.open() as file:
        result = formrl.learn([GOOD, file, path], tolerate=4)
    assert [(s.trace, s.line) for s in result.suspects] == [(10, 11), (11, 12), (23, 11), (24, 12)]


def test_all_other_suspects_are_named() -> None:
    traces = [("goal", [["a"]])] * 2 + [("goal", [["b"]])] * 2 + [("incomplete", [["c"], ["d"]])]
    result = formrl.learn(traces, tolerate=2)
    assert result.other_suspects is not None
    named = [[s.trace for s in suspects] for suspects in (result.suspects, result.other_suspects)]
    assert sorted(named) == [[0, 1], [2, 3]] and result.misjudged == 2


def test_lifted_traces_are_named_by_their_index() -> None:
    traces = [("goal", [[f"p(o{i})"]]) for i in range(4)] + [("incomplete", [[f"q(o{i})"]]) for i in range(4)]
    wrong = [("incomplete", [["p(o1)"]]), ("incomplete", [["p(o7)"]])]
    result = formrl.learn(traces + wrong, lifted=True, tolerate=2)
    assert (result.misjudged, [s.trace for s in result.suspects]) == (2, [8, 9])
    assert formrl.learn(traces + wrong, lifted=True).contradictions == [(0, 8)]
    own = [Trace(kind, steps, own_signature=steps[0]) for kind, steps in traces + wrong]
    assert [s.trace for s in formrl.learn(own, tolerate=2).suspects] == [8, 9]


def test_a_learner_counts_what_is_added() -> None:
    learner = Learner(["a", "b", "q"])
    assert [learner.add(GOOD) for _ in range(3)] == [0, None, None]
    assert [learner.add(("incomplete", steps)) for steps in ([["q"]], [["a"], ["b"]])] == [3, 4]
    assert learner.learn().contradictions == [(0, 4)]
    for same in (learner.copy(), pickle.loads(pickle.dumps(learner))):
        assert [s.trace for s in same.learn(tolerate=1).suspects] == [4]
    learner.remove(("incomplete", [["q"]]))
    assert learner.learn().contradictions == [(0, 3)]
    with pytest.raises(formrl.TraceError, match="signatures of their own"):
        learner.add(Trace("goal", [["a"]], own_signature=["a"]))
    # What counts every step does not go with what counts changes, with a tolerance neither.
    mixed: list[Any] = [GOOD, Trace("goal", [["a"], ["b"]], compress=False)]
    with pytest.raises(formrl.FormError, match="steps"):
        formrl.learn(mixed, tolerate=1)


def test_auto_claims_what_it_proves() -> None:
    steps = [["a"], ["goal"]]
    traces = [("goal", steps)] * 40 + [("incomplete", [["goal"]])] * 40 + [("incomplete", steps)]
    result = formrl.learn(traces, tolerate="auto")
    assert result.outcome == "shortest-description" and not result.minimal
    assert result.at_least_states == 1
    assert (result.states, result.misjudged) == (2, 1)
    assert [level.shortest_proven for level in result.levels if level.bits is not None][:2] == [False, True]
    assert "no machine with 2 states has a shorter description (proven)" in result.explain()
    few = formrl.learn(traces[38:42], tolerate="auto")
    assert few.machine is not None and not few.machine.edges
    assert "too few traces for `auto`" in few.explain()


def test_traces_bring_signatures_of_their_own(tmp_path: Path) -> None:
    traces = [
        formrl.Trace("goal", [["p(b)"], ["p(a)"]], own_signature=["p(a)", "p(b)"]),
        formrl.Trace("goal", [["p(c)"]], own_signature=["p(c)"]),
        formrl.Trace("incomplete", [["p(e)"], ["p(d)"]], own_signature=["p(d)", "p(e)", "p(f)"]),
    ]
    line = {"signature": ["p(c)"], "kind": "goal", "steps": [["p(c)"]]}
    result = formrl.learn([traces[0], line, traces[2]])
    machine = result.require()
    assert [edge.formula for edge in machine.edges] == ["forall X. p(X)"]
    assert traces[1].own_signature == ["p(c)"]
    assert all(trace.agrees(machine) for trace in traces)
    formrl.write_traces(tmp_path / "own.jsonl", traces)
    again = list(formrl.read_traces(tmp_path / "own.jsonl"))
    assert again == traces
    assert pickle.loads(pickle.dumps(traces[0])) == traces[0]
    assert formrl.learn(tmp_path / "own.jsonl").require() == machine
    with pytest.raises(formrl.TraceError, match="signature of its trace"):
        formrl.Trace("goal", [["p(a)"]], own_signature=["p(b)"])


def test_names_of_objects_mean_nothing_in_lifted_traces() -> None:
    traces = [("goal", [[f"paid(o{i})"], [f"shipped(o{i})"]]) for i in range(5)]
    traces += [("incomplete", [[f"shipped(o{i})"], [f"paid(o{i})"]]) for i in range(5, 9)]
    machine = formrl.learn(traces, lifted=True).require()
    assert all("(o" not in edge.formula for edge in machine.edges)
    with pytest.raises(ValueError, match="^lifted does not go with propositional: its edges have quantified atoms$"):
        formrl.learn(traces, lifted=True, propositional=True)
