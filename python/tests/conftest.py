"""What several tests start from: the machine and the labels of the paper's first task, and where its files are."""

from pathlib import Path

import pytest

from formrl import BoundMachine, Machine, Signature

ALL_YELLOW = """
machine all_yellow
initial u0
accept  done
reject  lost
u0 -> u1   : forall X. yellow(X)
u0 -> lost : lava
u1 -> done : goal and not lava
u1 -> lost : lava
"""


@pytest.fixture
def machine() -> Machine:
    return Machine.parse(ALL_YELLOW)


@pytest.fixture
def signature() -> Signature:
    return Signature(["yellow(o0)", "yellow(o1)", "goal", "lava"])


@pytest.fixture
def bound(machine: Machine, signature: Signature) -> BoundMachine:
    return machine.bind(signature)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="session")
def examples(root: Path) -> Path:
    """The folder with example machines and traces."""
    return root / "examples"
