"""The code blocks of the guide to the ecosystem, one after the other, as a reader would type them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from test_documentation import blocks

for package in ("gymnasium", "minigrid", "pettingzoo", "ray", "torch"):
    pytest.importorskip(package)


@pytest.mark.filterwarnings("ignore")
def test_the_guide(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = root / "docs" / "python_rl.md"
    found = blocks(guide)
    assert len(found) >= 8
    monkeypatch.chdir(tmp_path)
    # As in a reader's own program, whose functions Ray sends to its workers by value.
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(found, 1):
        exec(compile(block, f"{guide.name}, block {number}", "exec"), names)
    assert "ray" in sys.modules
