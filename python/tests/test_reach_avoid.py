"""The policy for sub-tasks: native, and the same as a PyTorch module."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import formrl


def planes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A room of 9 × 7 cells, one of them to be reached, three to be avoided."""
    walls = np.zeros((9, 7), bool)
    walls[[0, -1], :] = walls[:, [0, -1]] = True
    walls[4, 1:4] = True
    reach, avoid = np.zeros_like(walls), np.zeros_like(walls)
    reach[6, 2] = True
    avoid[[4, 5, 2], [5, 2, 3]] = True
    return walls, reach, avoid


def test_the_shipped_policy_walks_to_the_cell() -> None:
    walls, reach, avoid = planes()
    policy = formrl.ReachAvoidPolicy.shipped()
    assert policy.command == f"form pretrain --seed {policy.seed}"
    x, y, direction = 1, 1, 0
    for _ in range(40):
        action = int(np.argmax(policy(walls, reach, avoid, (x, y), direction)))
        if action < 2:
            direction = (direction + (3, 1)[action]) % 4
            continue
        dx, dy = [(1, 0), (0, 1), (-1, 0), (0, -1)][direction]
        x, y = x + dx, y + dy
        assert not walls[x, y] and not avoid[x, y]
        if reach[x, y]:
            return
    raise AssertionError("not reached")


def test_a_shield_forbids_what_is_ahead() -> None:
    walls, reach, avoid = planes()
    policy = formrl.ReachAvoidPolicy.shipped(shield=True)
    assert policy(walls, reach, avoid, (1, 3), 0)[2] == 0.0


def test_mistakes_are_named(tmp_path: Path) -> None:
    walls, reach, avoid = planes()
    policy = formrl.ReachAvoidPolicy.shipped()
    with pytest.raises(ValueError, match="different shapes"):
        policy(walls, reach[1:], avoid, (1, 1), 0)
    with pytest.raises(ValueError, match="directions"):
        policy(walls, reach, avoid, (1, 1), 4)
    with pytest.raises(IndexError, match="no free cell"):
        policy(walls, reach, avoid, (0, 1), 0)
    with pytest.raises(ValueError, match="gap"):
        policy(~walls, reach, avoid, (1, 1), 0)
    with pytest.raises(formrl.FileError):
        formrl.ReachAvoidPolicy.open(tmp_path / "none")


def test_the_pytorch_module_says_the_same() -> None:
    torch = pytest.importorskip("torch")
    import formrl.torch

    policy = formrl.ReachAvoidPolicy.shipped()
    walls, reach, avoid = planes()
    numbers = torch.tensor(np.stack([walls, reach, avoid])[None], dtype=torch.float32)
    logits, values = formrl.torch.ReachAvoidNetwork(policy)(numbers, 40)
    probabilities = torch.softmax(logits, 2)
    assert values.shape == (1, 4, 9, 7)
    for x, y in zip(*np.nonzero(~walls), strict=True):
        for direction in range(4):
            native = policy(walls, reach, avoid, (int(x), int(y)), direction)
            found = probabilities[0, direction, :, x, y].detach().numpy()
            np.testing.assert_allclose(found, native, atol=2e-3)
