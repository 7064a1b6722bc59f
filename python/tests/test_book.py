"""The Python code on the pages of the book, and on the READMEs: the blocks of a page one after the other, as a reader types them.

A page that needs other packages is skipped where one of them is not installed; `.ci/ecosystem` has all of them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# What parts of this package stand on.
PARTS = {
    "formrl.worlds": ["gymnasium"],
    "formrl.benchmarks": ["gymnasium"],
    "formrl.wrappers": ["gymnasium"],
    "formrl.vector": ["gymnasium"],
    "formrl.pettingzoo": ["gymnasium", "pettingzoo"],
    "formrl.minigrid": ["minigrid"],
    "formrl.rllib": ["ray", "gymnasium"],
    "formrl.torch": ["torch"],
}
OTHERS = ["gymnasium", "minigrid", "pettingzoo", "ray", "torch", "stable_baselines3"]


def blocks(text: str) -> list[tuple[int, str]]:
    """The Python blocks of a page, with the line that each begins on."""
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def needs(text: str) -> list[str]:
    """The packages that the blocks of a page import, besides this one and numpy."""
    found = set()
    for _, block in blocks(text):
        for node in ast.walk(ast.parse(block)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("formrl.sweep", "formrl.make_task"):
                found.add("ray" if node.attr == "sweep" else "gymnasium")
            for name in names:
                found.update(PARTS.get(name, []))
                if name.split(".")[0] in OTHERS:
                    found.add(name.split(".")[0])
    return sorted(found)


def pages() -> list[Path]:
    every = [*sorted((ROOT / "book" / "src").rglob("*.md")), ROOT / "README.md", ROOT / "python" / "README.md"]
    return [page for page in every if "```python" in page.read_text()]


def test_the_pages_are_found() -> None:
    names = [page.relative_to(ROOT).as_posix() for page in pages()]
    assert "book/src/python.md" in names and "book/src/python_rl.md" in names
    for page in pages():
        text = page.read_text()
        assert text.count("```python") == len(blocks(text)), f"{page}: a block that no test finds"
    assert needs("```python\nimport formrl\nformrl.sweep\nfrom formrl import torch\n```\n") == ["ray", "torch"]
    assert needs((ROOT / "book/src/python_rl.md").read_text()) == [
        "gymnasium",
        "minigrid",
        "pettingzoo",
        "ray",
        "stable_baselines3",
        "torch",
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", pages(), ids=[page.stem for page in pages()])
def test_the_blocks_of(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text()
    for package in needs(text):
        pytest.importorskip(package)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    # As in a reader's own program, whose functions Ray sends to its workers by value.
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        for line, block in blocks(text):
            exec(compile("\n" * (line - 1) + block, str(page.relative_to(ROOT)), "exec"), names)
    finally:
        # The next page begins without this one's cluster.
        if "ray" in sys.modules:
            sys.modules["ray"].shutdown()


def test_the_blocks_are_typed(tmp_path: Path) -> None:
    """As strict as an editor can be with programs that annotate nothing: names may be used again, functions are not annotated."""
    pytest.importorskip("mypy")
    for page in pages():
        lines = [""] * (page.read_text().count("\n") + 1)
        for line, block in blocks(page.read_text()):
            lines[line - 1 : line - 1 + block.count("\n")] = block.splitlines()
        (tmp_path / f"{page.stem}_page.py").write_text("\n".join(lines) + "\n")
    annotated = ["untyped-defs", "incomplete-defs", "untyped-calls", "any-generics"]
    settings = ["--config-file", str(ROOT / "python" / "pyproject.toml"), "--check-untyped-defs", "--allow-redefinition"]
    command = [sys.executable, "-m", "mypy", *settings, *(f"--allow-{what}" for what in annotated), "--cache-dir", "cache", "."]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_script_for_elections_reads_their_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executions as the page describes them, invented: messages and other events, with a result, without one, and without messages."""
    executions = {
        "run1": ("result = SUCCESS", [(2, 0, 2, "LOOKING"), (0, 2, 2, "FOLLOWING")]),
        "run2": ("time = 7\nresult = FAILURE\nsteps = 3", [(1, 0, 1, "LEADING")]),
        "run3": ("time = 9", [(1, 0, 1, "LOOKING")]),
        "run4": ("result = SUCCESS", []),
    }
    for name, (statistics, messages) in executions.items():
        folder = tmp_path / "pctcp-d2-nocrash" / name
        folder.mkdir(parents=True)
        (folder / "statistics").write_text(statistics + "\n")
        lines = ["NodeCrashEvent{id=1, nodeId=2}"]
        for number, (sender, to, leader, state) in enumerate(messages, 2):
            vote = f"from={sender}, to={to}, leader={leader}, state={state}"
            lines.append(f"MessageEvent{{id={number}, predecessors=[1, 2], {vote}, zxid=0, electionEpoch=1, peerEpoch=0}}")
        (folder / "execution").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    [(_, block)] = blocks((ROOT / "book/src/guides/real_traces.md").read_text())
    exec(compile(block, "real_traces.md", "exec"), {})
    assert (tmp_path / "elections.csv").read_text().splitlines() == [
        "case,activity,from,to,leader,outcome",
        "run1,looking,n2,n0,n2,SUCCESS",
        "run1,following,n0,n2,n2,SUCCESS",
        "run1,end,,,,SUCCESS",
        "run2,leading,n1,n0,n1,FAILURE",
        "run2,end,,,,FAILURE",
        "run4,end,,,,SUCCESS",
    ]
