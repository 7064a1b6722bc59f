"""The examples run, in their small versions, as a reader would run them."""

from __future__ import annotations

import importlib.util
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
