"""Training in three lines, and what a run can be asked."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import formrl

SMALL: Any = {"settings": {"worlds": 8, "ppo.train_batch": 256, "ppo.minibatch": 64, "evaluation.episodes": 4}, "layouts": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[formrl.Run, list[dict[str, float | None]]]:
    told: list[dict[str, float | None]] = []
    out = tmp_path_factory.mktemp("runs") / "first"
    return formrl.train("all-yellow", method="handcrafted", out=out, iterations=2, progress=told.append, **SMALL), told


def test_a_run_in_three_lines(run: Any) -> None:
    made, told = run
    again = formrl.load_run(made.folder)
    assert again.machine.diff(formrl.Task("all-yellow").machine, formrl.Task("all-yellow").signature) is None
    assert again.machines[-1] == again.machine and again.task.name == "all-yellow"
    assert [row["iteration"] for row in again.metrics][-1] == 2 and len(told) == 3
    assert [row["steps"] for row in told] == [row["steps"] for row in again.metrics] and told[:2] == again.metrics[:2]
    assert again.config["method"] == "handcrafted" and again.result is not None
    assert again.success is not None and 0 <= again.success <= 1 and "3 iterations" in repr(again)
    assert again.policy("u0").actions == 3


def test_evaluations_are_those_of_the_command_line(run: Any, tmp_path: Path) -> None:
    made, _ = run
    rows = made.evaluate(8, held_out=True, greedy=False, seed=3)
    assert len(rows) == 1 and 0 <= rows[0]["success"] <= 1 and "random" in rows[0]
    assert made.draw(tmp_path / "end.txt", map=1, seed=2).read_text()


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(formrl.TrainError, match="no-such"):
        formrl.train("no-such", out=tmp_path / "run", progress=False)
    with pytest.raises(formrl.FileError, match="config.toml"):
        formrl.load_run(tmp_path)


def test_ctrl_c_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "run"

    def interrupt() -> None:
        while not (out / "metrics.csv").exists() or len((out / "metrics.csv").read_text().splitlines()) < 3:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    machine = formrl.Task("all-yellow").machine
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        formrl.train("all-yellow", method="handcrafted", machine=machine, out=out, iterations=100_000, progress=False, **SMALL)
    stopped = formrl.load_run(out)
    done = int(stopped.metrics[-1]["iteration"] or 0)
    assert 1 <= done < 100_000
    went_on = formrl.resume(out, iterations=done + 1, progress=False)
    assert went_on.metrics[-1]["iteration"] == done + 1
    json.dumps(went_on.result)
