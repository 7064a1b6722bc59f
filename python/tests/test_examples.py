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


def ran(root: Path, folder: Path, program: str, *options: str) -> str:
    command = [sys.executable, str(root / "python/benches" / program), *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


FEW = ["layers=[8]", "batch=8", "starts=100"]


def test_all_seeds_of_water_world_at_once(root: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    few = ["--task", "ab", "--set", "steps=10000", "worlds=40", "updates=1", *FEW]
    ran(root, tmp_path, "water_seeds.py", "--choose", "--out", ".", *few)
    assert json.loads((tmp_path / "water-settings.json").read_text())["gamma"] in (0.9, 0.95, 0.98)
    out = ran(root, tmp_path, "water_seeds.py", "--settings", "water-settings.json", "--maps", "1", "2", "--seeds", "1", "--out", ".", *few)
    assert "10000 steps of 2 learners" in out
    head, row = (tmp_path / "water-ab-crm.csv").read_text().splitlines()
    assert head == "steps,quarter,median,three quarters,map 1 seed 1,map 2 seed 1"
    assert row.startswith("10000,")


def test_all_seeds_of_half_cheetah_at_once(root: Path, tmp_path: Path) -> None:
    for package in ("torch", "mujoco"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    few = ["--threads", "1", "--set", "steps=15000", "worlds=1000", "updates=2", *FEW]
    out = ran(root, tmp_path, "half_cheetah_seeds.py", "--seeds", "1", "--out", ".", *few)
    assert "15000 steps of 2 learners" in out
    for task in ("forth-and-back", "five-lines"):
        assert (tmp_path / f"half-cheetah-{task}-crm.csv").read_text().startswith("steps,quarter,median,three quarters,seed 1\n15000,")
