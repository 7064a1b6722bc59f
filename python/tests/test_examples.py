"""The examples, and a benchmark that learns, run in their small versions, as a reader would run them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# What each needs besides Stable-Baselines3.
NEEDS = {"minigrid_doors": "minigrid", "water_world": "gymnasium", "half_cheetah": "mujoco"}


def test_all_examples_are_known() -> None:
    assert [example.stem for example in EXAMPLES] == sorted(NEEDS)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_small_version_of(example: Path, tmp_path: Path) -> None:
    for package in ("stable_baselines3", NEEDS[example.stem]):
        # Importing some of them takes seconds: only whether they are there.
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    ended = subprocess.run([sys.executable, example, "--small"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_all_seeds_of_water_world_at_once(root: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    few = ["steps=400", "layers=[8]", "batch=8", "updates=1", "starts=100", "buffer=200"]
    for more in (["--choose", "--out", "settings.json"], ["--settings", "settings.json", "--seeds", "1", "2", "--out", "."]):
        command = [sys.executable, str(root / "python/benches/water_seeds.py"), "--task", "ab", "--set", *few, *more]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
    assert "400 steps of 2 learners" in ended.stdout
    assert json.loads((tmp_path / "settings.json").read_text())["gamma"] in (0.9, 0.95, 0.98)
    assert (tmp_path / "water-ab-crm.csv").read_text().startswith("steps,median,seed 1,seed 2")
