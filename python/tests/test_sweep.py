"""Sweeps on a real Ray cluster of two processors: ordinary run folders, and a killed worker that loses nothing but its trial's
last iteration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")

import formrl
from formrl.trials import Trial, TrialResult

SMALL = {"worlds": 16, "ppo.train_batch": 512, "ppo.epochs": 1, "learning.explore": 256}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def rows(folder: Path) -> list[str]:
    return (folder / "metrics.csv").read_text().splitlines()


def test_seeds_methods_and_tasks(cluster: None, tmp_path: Path) -> None:
    told: list[TrialResult] = []
    settings: dict[str, Any] = dict(iterations=2, settings=SMALL, out=tmp_path, on_result=told.append)
    results = formrl.sweep("all-yellow", ["handcrafted", "ppo", "nonsense"], [1, 2], **settings)
    names = [result.trial.folder.name for result in results]
    assert names == [f"all-yellow-{m}-{s}" for m in ("handcrafted", "ppo", "nonsense") for s in (1, 2)]
    assert {r.trial for r in told} == {r.trial for r in results}
    for result in results[:4]:
        assert result.attempts == 1 and not result.errors and result.result is not None
        folder = result.trial.folder
        assert result.result == json.loads((folder / "result.json").read_text())
        assert result.result["seed"] == result.trial.seed and result.result["iterations"] == 2
        assert len(rows(folder)) == 3 and (folder / "checkpoints" / "final.safetensors").exists()
    for result in results[4:]:
        # What the trainer refuses is not tried again, and loses nothing but itself.
        assert result.result is None and result.attempts == 1 and "nonsense" in result.errors[0]
    # The run is the one that the command line makes.
    wanted = ["train", "all-yellow", "--method", "ppo", "--seed", "2", "--iterations", "2", "--quiet"]
    given = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    out = tmp_path / "by-hand"
    subprocess.run([sys.executable, "-m", "formrl", *wanted, *given, "--out", str(out)], check=True)
    assert rows(out) == rows(tmp_path / "all-yellow-ppo-2")
    # Again: all of it is there, and nothing is trained.
    before = (tmp_path / "all-yellow-ppo-2" / "result.json").stat().st_mtime_ns
    again = formrl.sweep("all-yellow", ["handcrafted", "ppo"], 2, **settings)
    assert [r.result for r in again] == [r.result for r in results[:4]]
    assert (tmp_path / "all-yellow-ppo-2" / "result.json").stat().st_mtime_ns == before
    # With other settings it would be another run: the folder is not taken for it.
    (other,) = formrl.sweep("all-yellow", "ppo", [2], **(settings | {"iterations": 3}))
    assert other.result is None and "iterations = 2" in other.errors[0]


def worker_of(folder: Path) -> int:
    """The Ray worker whose child trains into a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder).encode() in words and b"train" in words:
            return parent
    raise ProcessLookupError(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_a_killed_worker_loses_only_its_trial(cluster: None, tmp_path: Path) -> None:
    victim, other = (tmp_path / f"all-yellow-handcrafted-{seed}" for seed in (1, 2))
    killed: list[int] = []

    def kill() -> None:
        # As soon as there are two iterations to go on from.
        while not over.is_set():
            if (victim / "metrics.csv").exists() and len(rows(victim)) > 2:
                killed.append(worker_of(victim))
                os.kill(killed[0], signal.SIGKILL)
                return
            over.wait(0.01)

    over = threading.Event()
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        results = formrl.sweep("all-yellow", "handcrafted", [1, 2], iterations=20, settings=SMALL, out=tmp_path)
    finally:
        over.set()
        killer.join()
    assert killed
    first, second = results
    assert first.attempts == 2 and "died" in first.errors[0] and first.result is not None
    assert second.attempts == 1 and not second.errors and second.result is not None
    # It went on from its checkpoint, to the run that it would have been.
    assert "resumed after iteration" in (victim / "run.log").read_text()
    straight = tmp_path / "straight"
    formrl.sweep("all-yellow", "handcrafted", [1], iterations=20, settings=SMALL, out=straight)
    assert rows(victim) == rows(straight / victim.name)
    assert len(rows(other)) == 21


def test_commands(tmp_path: Path) -> None:
    settings = (("ppo.gamma", 0.9), ("network.filters", [16, 32]), ("progress", "bits"))
    trial = Trial("all-yellow", "form", 3, tmp_path / "run", "paper", settings, 2)
    begin = trial.command(["form"])
    assert begin[:3] == ["form", "train", "all-yellow"]
    for words in (["--preset", "paper"], ["--set", "ppo.gamma=0.9"], ["--set", "network.filters=[16, 32]"]):
        assert any(begin[i : i + 2] == words for i in range(len(begin)))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").write_text("")
    assert trial.command(["form"])[:4] == ["form", "train", "--resume", str(tmp_path / "run")]


def test_two_trials_never_share_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same folder"):
        formrl.sweep("all-yellow", "form", [1, 1], out=tmp_path)
