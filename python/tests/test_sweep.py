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
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")

import formrl
from formrl import Trial, TrialFailed, TrialResult

SMALL = {
    "worlds": 16,
    "ppo.train_batch": 512,
    "ppo.epochs": 1,
    "learning.explore": 256,
    "evaluation.episodes": 2,
    "evaluation.final_episodes": 2,
}


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
        assert result.success == result.result["evaluation"]["success"] == result.result["success"]
        assert len(rows(folder)) == 4 and (folder / "checkpoints" / "final.safetensors").exists()
    for result in results[4:]:
        # What the trainer refuses is not tried again, and loses nothing but itself.
        assert result.result is None and result.attempts == 1 and "nonsense" in result.errors[0]
    # The run is the one that the command line makes.
    wanted = ["train", "all-yellow", "--method", "ppo", "--seed", "2", "--iterations", "2", "--quiet", "--no-report"]
    given = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    out = tmp_path / "by-hand"
    subprocess.run([sys.executable, "-m", "formrl", *wanted, *given, "--out", str(out)], check=True)
    assert rows(out) == rows(tmp_path / "all-yellow-ppo-2")
    # Again: all of it is there, and nothing is trained.
    before = (tmp_path / "all-yellow-ppo-2" / "result.json").stat().st_mtime_ns
    again = formrl.sweep("all-yellow", ["handcrafted", "ppo"], 2, **settings)
    assert [r.result for r in again] == [r.result for r in results[:4]]
    assert (tmp_path / "all-yellow-ppo-2" / "result.json").stat().st_mtime_ns == before
    # With other settings, more or fewer, it would be another run: the folder is not taken for it.
    for iterations in (3, None):
        (other,) = formrl.sweep("all-yellow", "ppo", [2], **(settings | {"iterations": iterations}))
        assert other.result is None and other.attempts == 1 and "iterations = 2" in other.errors[0]


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
            if (victim / "metrics.csv").exists() and len(rows(victim)) > 3:
                killed.append(worker_of(victim))
                os.kill(killed[0], signal.SIGKILL)
                return
            over.wait(0.01)

    over = threading.Event()
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        # One of the settings as text, another as a list: what was begun with them goes on with them.
        given = SMALL | {"ppo.gamma": "0.97", "network.filters": [8, 8]}
        results = formrl.sweep("all-yellow", "handcrafted", [1, 2], iterations=20, settings=given, out=tmp_path)
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
    formrl.sweep("all-yellow", "handcrafted", [1], iterations=20, settings=given, out=straight)
    assert rows(victim) == rows(straight / victim.name)
    assert len(rows(other)) == 22


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


@pytest.fixture
def begun(tmp_path: Path) -> Trial:
    """A trial whose trainer got as far as its configuration."""
    place, settings = tmp_path / "tasks" / "mine.toml", (("iterations", 1), ("ppo.gamma", "0.99"))
    place.parent.mkdir()
    place.write_text(formrl.Task("all-yellow").to_toml())
    trial = Trial(str(place), "form", 1, tmp_path / "mine-form-1", "paper", settings)
    trial.claim_folder()
    (trial.folder / "config.toml").write_text("")
    return trial


def test_a_folder_stays_that_of_its_trial(begun: Trial, tmp_path: Path) -> None:
    again = tmp_path / "copy" / "mine.toml"
    again.parent.mkdir()
    again.write_text(Path(begun.task).read_text() + "\n# The same task, with a remark.\n")
    numbers = (("ppo.gamma", 0.99), ("iterations", 1))
    for same in (begun, replace(begun, threads=2), replace(begun, task=str(again)), replace(begun, settings=numbers)):
        same.claim_folder()
    others: dict[str, dict[str, Any]] = {
        "method = form, not ppo": {"method": "ppo"},
        "seed = 1, not 2": {"seed": 2},
        "preset = paper, not None": {"preset": None},
        "iterations = 1, not its default": {"settings": begun.settings[1:]},
        "ppo.gamma = 0.99, not 0.9:": {"settings": (begun.settings[0], ("ppo.gamma", 0.9))},
        "worlds = its default, not 16": {"settings": (*begun.settings, ("worlds", 16))},
        "another task": {"task": "green-but-one"},
    }
    for message, change in others.items():
        with pytest.raises(TrialFailed, match=message):
            replace(begun, **change).claim_folder()


def test_a_task_file_that_was_changed_is_another_task(begun: Trial) -> None:
    place = Path(begun.task)
    place.write_text(place.read_text().replace("steps = ", "steps = 1"))
    with pytest.raises(TrialFailed, match="before its file was changed"):
        begun.claim_folder()


def test_runs_of_no_sweep_are_not_taken_over(begun: Trial) -> None:
    (begun.folder / "trial.json").write_text("{")
    with pytest.raises(formrl.FormError, match="damaged"):
        begun.claim_folder()
    (begun.folder / "trial.json").write_text("[]")
    with pytest.raises(TrialFailed, match="another version"):
        begun.claim_folder()
    (begun.folder / "trial.json").unlink()
    with pytest.raises(TrialFailed, match="no sweep"):
        begun.claim_folder()
    # Where nothing was begun, there is nothing to take.
    (begun.folder / "config.toml").unlink()
    begun.claim_folder()
    replace(begun, seed=2).claim_folder()


def test_a_damaged_result_is_named(begun: Trial, cluster: None) -> None:
    place = begun.folder / "result.json"
    place.write_text('{"ending": "conv')
    with pytest.raises(formrl.DamagedFile, match="result.json:1:12: Unterminated string") as found:
        begun.result()
    assert found.value.file == str(place)
    settings = {"iterations": 1, "ppo.gamma": "0.99"}
    [failed] = formrl.sweep(begun.task, seeds=[1], preset="paper", settings=settings, out=begun.folder.parent)
    assert failed.attempts == 1 and failed.errors == [str(found.value)]


def test_two_trials_never_share_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same folder"):
        formrl.sweep("all-yellow", "form", [1, 1], out=tmp_path)
