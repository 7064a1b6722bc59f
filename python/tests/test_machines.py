"""Machines: read, written, built, checked, drawn, ground and compared."""

import os
from pathlib import Path

import pytest

import formrl
from formrl import Edge, Machine, Signature
from formrl.atomic_files import write_atomic


def test_parts(machine: Machine) -> None:
    assert (machine.name, machine.initial) == ("all_yellow", "u0")
    assert (machine.accepting, machine.rejecting) == ("done", "lost")
    assert machine.states == ["u0", "u1", "done", "lost"]
    assert machine.edges[0] == Edge("u0", "forall X. yellow(X)", "u1", None)
    assert machine.edges[2].formula == "goal and not lava"


def test_built_is_the_same_as_read(machine: Machine) -> None:
    built = Machine(
        name="all_yellow",
        initial="u0",
        accepting="done",
        rejecting="lost",
        edges=[
            ("u0", "∀X. yellow(X)", "u1"),
            Edge("u0", "lava", "lost"),
            ("u1", "goal & !lava", "done", None),
            ("u1", "lava", "lost"),
        ],
    )
    assert built == machine
    assert hash(built) == hash(machine)
    assert Machine(initial="a", accepting="b", edges=[("a", "p", "b", 0.5)]).edges[0].reward == 0.5


def test_files_say_the_same(machine: Machine, tmp_path: Path) -> None:
    for name in ["machine.form", "machine.json"]:
        machine.write(tmp_path / name)
        assert Machine.read(tmp_path / name) == machine
        assert Machine.read(str(tmp_path / name)) == machine
    assert (tmp_path / "machine.json").read_text().startswith("{")
    assert Machine.from_json(machine.to_json()) == machine
    assert Machine.parse(str(machine)) == machine
    # As for the command line: a name without an extension is one of a .form file, others are refused.
    machine.write(tmp_path / "machine")
    assert Machine.read(tmp_path / "machine") == machine
    with pytest.raises(formrl.FileError, match=r"m\.xyz: machines are written as \.form or \.json"):
        machine.write(tmp_path / "m.xyz")
    assert not (tmp_path / "m.xyz").exists()


def test_examples_can_be_read(examples: Path) -> None:
    read = [Machine.read(path) for path in sorted(examples.glob("*.form"))]
    assert "all_yellow" in [machine.name for machine in read]


def test_drawings(machine: Machine) -> None:
    assert machine._repr_svg_() == machine.to_svg()
    assert machine.to_svg().startswith("<svg")
    assert "digraph" in machine.to_dot()
    assert "stateDiagram" in machine.to_mermaid()
    assert "u0" in machine.to_text()


def test_findings(machine: Machine, signature: Signature) -> None:
    report = machine.check(signature)
    assert not report.deterministic
    (overlap,) = report.overlaps
    assert (overlap.state, overlap.first, overlap.second) == ("u0", 0, 1)
    assert overlap.in_a_run
    assert "edges 0 and 1 can hold together" in report.problems[0]
    assert not report
    clean = Machine.parse("initial u0\naccept u1\nu0 -> u1 : goal")
    assert clean.check() and clean.check().deterministic


def test_grounding_and_difference(machine: Machine, signature: Signature) -> None:
    ground = machine.ground(signature)
    assert all("forall" not in edge.formula for edge in ground.edges)
    assert machine.diff(ground, signature) is None
    other = Machine.parse(str(machine).replace("forall", "exists"))
    difference = machine.diff(other, signature)
    assert difference is not None
    assert len(difference.trace) == 1
    assert difference.first.progress != difference.second.progress
    with pytest.raises(ValueError, match="observations"):
        machine.diff(other, signature, observations="many")  # type: ignore[arg-type]


def test_errors_name_their_place(machine: Machine, signature: Signature, tmp_path: Path) -> None:
    path = tmp_path / "broken.form"
    path.write_text("initial u0\naccept u1\nu0 -> u1 : exists X. yellow(Y)\n")
    with pytest.raises(formrl.ParseError) as caught:
        Machine.read(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 3, 19)
    assert isinstance(error, formrl.FormError) and isinstance(error, ValueError)
    assert "broken.form:3:19" in str(error)

    with pytest.raises(formrl.ParseError, match=r"edge 1 \(a -> b\)") as caught:
        Machine(initial="a", accepting="b", edges=[("a", "forall X.", "b")])
    assert (caught.value.file, caught.value.line) == (None, 1)
    with pytest.raises(formrl.MachineError, match="accepting state"):
        Machine(initial="a", accepting="b", edges=[("b", "goal", "a")])
    with pytest.raises(formrl.LabelError, match="lava"):
        machine.bind(Signature(["yellow(o0)", "goal"]))
    with pytest.raises(formrl.FileError) as missing:
        Machine.read(tmp_path / "missing.form")
    assert missing.value.errno == 2 and isinstance(missing.value, OSError)


def test_wrong_types_are_told() -> None:
    with pytest.raises(TypeError, match="edge 1"):
        Machine(initial="a", accepting="b", edges=[("a", "b")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="one text"):
        Signature("goal")
    with pytest.raises(TypeError, match="int"):
        Signature([1])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        Machine.parse(3)  # type: ignore[arg-type]
    assert Machine.parse("initial a\naccept b\na -> b : p") != "a text"


def test_signatures() -> None:
    signature = Signature(["on(a, b)", "goal", "yellow(o2)", "yellow(o10)"])
    assert list(signature) == ["on(a, b)", "goal", "yellow(o2)", "yellow(o10)"]
    assert signature[-1] == "yellow(o10)" and signature.index("on(a,b)") == 0
    assert "yellow( o2 )" in signature and "lava" not in signature and 3 not in signature
    assert signature == Signature(signature.atoms) != Signature(reversed(signature.atoms))
    assert signature.union(Signature(["lava"])).atoms.count("lava") == 1
    with pytest.raises(IndexError):
        signature[4]
    with pytest.raises(formrl.LabelError):
        signature.index("lava")


def test_pipes_are_not_replaced_by_files(machine: Machine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(formrl.FormError, match="a pipe or a device"):
        machine.write(pipe)
    with pytest.raises(OSError, match="a pipe or a device"):
        write_atomic(pipe, b"1")
    assert pipe.is_fifo()
