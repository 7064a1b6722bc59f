"""Traces: made, recorded, written and read."""

import gzip
import os
from pathlib import Path

import pytest

import formrl
from formrl import BoundMachine, Recorder, Signature, Trace


def test_traces_are_compressed() -> None:
    trace = Trace("goal", [[], ["b", "a"], {"a", "b"}, [], ["goal"]])
    assert trace.steps == [["a", "b"], ["goal"]]
    assert (trace.kind, len(trace)) == ("goal", 2)
    assert trace.signature.atoms == ["a", "b", "goal"]
    assert trace == Trace("goal", [["a", "b"], ["goal"]], Signature(["a", "b", "c", "goal"]))
    assert hash(trace) == hash(Trace("goal", [["b", "a"], ["goal"]]))
    assert trace != Trace("incomplete", trace.steps)


def test_a_recorder_makes_what_was_observed(signature: Signature) -> None:
    recorder = Recorder(signature)
    observed = [recorder.observe(labels) for labels in (["lava"], 0, {"lava"}, ["goal"])]
    assert observed == [True, False, False, True]
    assert recorder.steps == [["lava"], ["goal"]]
    assert recorder.finish("dead-end") == Trace("dead-end", [["lava"], ["goal"]])
    assert recorder.finish("incomplete") == Trace("incomplete", [])


def test_signatures_keep_their_order(tmp_path: Path) -> None:
    signature = Signature(["goal", "b", "a"])
    recorder = Recorder(signature)
    recorder.observe(["a", "b"])
    traces = [Trace("goal", [0b110, 0b001], signature), recorder.finish("incomplete")]
    path = tmp_path / "traces.jsonl"
    formrl.write_traces(path, traces, signature)
    reader = formrl.read_traces(path, signature)
    assert [trace.signature for trace in traces] == [signature] * 2
    assert reader.signature == signature
    assert [trace.signature for trace in reader] == [signature] * 2


def test_agreement(bound: BoundMachine) -> None:
    assert Trace("goal", [["yellow(o0)"], ["yellow(o1)"], ["goal"]]).agrees(bound)
    assert not Trace("goal", [["yellow(o0)"], ["goal"]]).agrees(bound)
    assert Trace("dead-end", [["lava"]]).agrees(bound)
    with pytest.raises(formrl.LabelError, match="blue"):
        Trace("goal", [["blue(o0)"]]).agrees(bound)


@pytest.mark.parametrize("name", ["traces.jsonl", "traces.jsonl.gz"])
def test_files(name: str, tmp_path: Path, signature: Signature) -> None:
    traces = [Trace("goal", [["yellow(o0)"], ["goal"]]), Trace("incomplete", [])]
    path = tmp_path / name
    assert formrl.write_traces(path, iter(traces), signature) == 2
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    reader = formrl.read_traces(path)
    assert reader.signature == Signature(set(signature)) == formrl.read_signature(path)
    assert list(reader) == traces
    assert list(reader) == []


def test_files_without_a_signature(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    formrl.write_traces(path, [("goal", [["a"], ["b"]])])
    assert path.read_text() == '{"kind":"goal","steps":[["a"],["b"]]}\n'
    assert formrl.read_traces(str(path)).signature.atoms == ["a", "b"]


def test_errors_name_their_place(tmp_path: Path, signature: Signature) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"kind":"goal","steps":[["goal"]]}\n{"kind":"won","steps":[]}\n')
    with pytest.raises(formrl.TraceError) as caught:
        list(formrl.read_traces(path, signature))
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    assert caught.value.column is not None
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"kind":"goal","steps":[["goal"]]}\n' * 100)[:40])
    with pytest.raises(formrl.FormError):
        list(formrl.read_traces(cut))
    with pytest.raises(formrl.TraceError, match="won"):
        Trace("won", [])
    with pytest.raises(formrl.LabelError, match="blue"):
        Trace("goal", [["blue"]], signature)
    with pytest.raises(formrl.LabelError, match="blue"):
        formrl.write_traces(tmp_path / "t.jsonl", [Trace("goal", [["blue"]])], signature)
    assert not list(tmp_path.glob("t.jsonl*")), "nothing half-written is left behind"
    with pytest.raises(TypeError, match="Trace"):
        formrl.write_traces(tmp_path / "t.jsonl", [3])  # type: ignore[list-item]
    with pytest.raises(formrl.FileError, match="goal"):
        formrl.write_traces(tmp_path / "t.jsonl", ["goal"])
    with pytest.raises(formrl.FileError):
        formrl.write_traces(tmp_path / "no" / "folder.jsonl", [])


def test_large_files_are_read_as_they_are_asked_for(tmp_path: Path, signature: Signature) -> None:
    """Traces come before the whole file has been read: what is wrong with its end is told at its end."""
    path = tmp_path / "large.jsonl"
    line = Trace("goal", [["yellow(o0)"], ["goal"]] * 50).to_json() + "\n"
    # More than is read at a time, which depends on the cores.
    count = 4 * (os.cpu_count() or 1) * (1 << 18) // len(line) + 100
    path.write_text(line * count + "broken\n")
    reader = formrl.read_traces(path, signature)
    read = 0
    with pytest.raises(formrl.TraceError) as caught:
        for trace in reader:
            assert len(trace) == 100
            read += 1
    assert 0 < read <= count
    assert caught.value.line == count + 1
    assert list(reader) == [], "after an error there is nothing more"
