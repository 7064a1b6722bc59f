"""The commands of `form`, from the package."""

import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import test_learning

SCRIPT = Path(sysconfig.get_path("scripts")) / "formrl"


def run(*args: object, program: tuple[str, ...] = (sys.executable, "-m", "formrl")) -> tuple[int, str, str]:
    command = [*program, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_both_ways_of_calling(examples: Path) -> None:
    code, out, _ = run("learn", examples / "all_yellow.jsonl")
    assert code == 0 and "forall X. yellow(X)" in out
    if shutil.which(str(SCRIPT)):
        again = run("learn", examples / "all_yellow.jsonl", program=(str(SCRIPT),))
        assert again[0] == 0 and again[1].splitlines()[0] == out.splitlines()[0]
    else:
        pytest.fail("the package brings no command `formrl`")


def test_help_and_version() -> None:
    code, out, _ = run("--help")
    assert code == 0 and "pretrain" in out and "python -m formrl" in out
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("form ")


def test_exit_codes(examples: Path) -> None:
    assert run("no-such-command")[0] == 2
    code, _, err = run("check", "no-such-file.form")
    assert code == 2 and "no-such-file.form" in err
    one, other = examples / "all_yellow.form", examples / "green_but_one.form"
    code, out, _ = run("diff", one, other, "--signature", examples / "green_but_one.jsonl")
    assert code == 1 and out


def test_errors_are_shown_unless_somebody_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from formrl.saved_run import ERROR_FILE

    monkeypatch.setenv("FORMRL_ERRORS", str(tmp_path / "left-over.txt"))
    code, _, shown = run("train", "no-such")
    assert code == 2 and shown.startswith("error: no task `no-such`") and not list(tmp_path.iterdir())
    place = tmp_path / "error.txt"
    assert run(ERROR_FILE, place, "train", "no-such") == (2, "", "")
    assert f"error: {place.read_text()}\n" == shown
    assert run(ERROR_FILE, tmp_path / "no-such-folder" / "error.txt", "train", "no-such") == (2, "", shown)


def test_commands_that_need_the_binary() -> None:
    from formrl.__main__ import BINARY_ONLY

    for name in BINARY_ONLY:
        code, out, err = run(name, "--help")
        assert (code, out) == (2, "") and f"`{name}` is not in the Python package" in err and "form-cli" in err


def test_ctrl_c_stops_a_command(tmp_path: Path) -> None:
    import formrl

    path = tmp_path / "hard.jsonl"
    formrl.write_traces(path, test_learning.hard_traces())
    command = [sys.executable, "-m", "formrl", "learn", str(path), "--max-states", "30"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # A word of its own progress: it is at work and listens.
        assert process.stderr is not None and process.stdout is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        assert process.wait() == 1
    assert "stopped by an interrupt" in out
