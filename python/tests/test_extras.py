"""A missing package is an error that says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARTS = {
    "formrl.wrappers": ("gymnasium", "gymnasium"),
    "formrl.vector": ("gymnasium", "gymnasium"),
    "formrl.pettingzoo": ("pettingzoo", "pettingzoo"),
    "formrl.minigrid": ("minigrid", "minigrid"),
    "formrl.rllib": ("ray", "rllib"),
    "formrl.torch": ("torch", "torch"),
}

CHECK = """
import importlib, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import formrl
{action}
"""


def run(package: str, action: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHECK.format(package=package, action=action)], capture_output=True, text=True
    )
    assert done.returncode == 1, "it should not work"
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("module", PARTS)
def test_the_extra_is_named(module: str) -> None:
    package, extra = PARTS[module]
    if package != "gymnasium":
        pytest.importorskip("gymnasium")
    message = run(package, f"importlib.import_module({module!r})")
    assert message.startswith("ImportError: ")
    assert f'needs the package {package!r}: pip install "formrl[{extra}]"' in message


def test_sweeps_need_ray() -> None:
    assert 'pip install "formrl[ray]"' in run("ray", "formrl.sweep('all-yellow')")
