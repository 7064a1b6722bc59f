"""Weights travel: policies of the native trainer say the same in PyTorch, and those of PyTorch the same in the native code."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import formrl
import formrl.torch
from formrl import DamagedFile
from formrl.bundle import Bundle

# Little work: threads would only wait for each other.
torch.set_num_threads(1)

SMALL = [
    "--iterations",
    "1",
    "--set",
    "worlds=16",
    "--set",
    "ppo.train_batch=512",
    "--set",
    "ppo.epochs=1",
    "--set",
    "least_samples=1",
    "--set",
    "evaluation.episodes=2",
    "--set",
    "evaluation.final_episodes=2",
]

# Planes; the paper's numbers with indicators and normalisation; an LSTM; a policy for all states.
RUNS = {
    "planes": ["--method", "handcrafted"],
    "paper": ["--method", "handcrafted", "--preset", "paper"],
    "memory": ["--method", "recurrent-ppo", "--set", "network.sequence=32"],
    "single": ["--method", "single-policy", "--progress", "bits"],
}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "formrl", *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A short run of every kind."""
    folder = tmp_path_factory.mktemp("runs")
    for name, options in RUNS.items():
        done = command("train", "all-yellow", *options, *SMALL, "--quiet", "--no-report", "--out", str(folder / name))
        assert done.returncode == 0, done.stderr
    return {name: folder / name for name in RUNS}


def checkpoint(run: Path) -> Path:
    return run / "checkpoints" / "final.safetensors"


def inputs(policy: Any, samples: int = 40) -> dict[str, Any]:
    """Something to look at."""
    rng = np.random.default_rng(5)
    shape = policy.config["image"]["shape"]
    seen: dict[str, Any] = {"images": rng.integers(0, 3, (samples, *shape), dtype=np.uint8)}
    if policy.vector_size:
        seen["vectors"] = rng.integers(0, 2, (samples, policy.vector_size)).astype(np.float32)
    if policy.memory:
        seen["state"] = rng.normal(size=(samples, 2 * policy.memory)).astype(np.float32)
    return seen


def tensors(seen: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in seen.items()}


@pytest.mark.parametrize("kind", RUNS)
def test_native_policies_say_the_same_in_pytorch(runs: dict[str, Path], kind: str) -> None:
    path = checkpoint(runs[kind])
    policies = formrl.torch.load(path)
    assert list(policies) == (["policy"] if kind in ("memory", "single") else ["u0", "u1"])
    for name, policy in policies.items():
        native, seen = formrl.Policy(path, name), inputs(policy)
        logits, values, *after = policy(**tensors(seen))
        expected_logits, expected_values, expected_after = native.evaluate(**seen)
        assert np.allclose(logits.detach(), expected_logits, rtol=1e-4, atol=1e-5)
        assert np.allclose(values.detach(), expected_values, rtol=1e-4, atol=1e-5)
        if policy.memory:
            assert np.allclose(after[0].detach(), expected_after, rtol=1e-4, atol=1e-5)
        ours, theirs = native.probabilities(**seen), policy.probabilities(**tensors(seen)).numpy()
        assert np.abs(ours - theirs).max() < 1e-6
        # What was seen matters: the comparison compares something.
        assert theirs.std(axis=0).max() > 1e-6


@pytest.mark.parametrize("kind", RUNS)
def test_policies_of_pytorch_say_the_same_natively(runs: dict[str, Path], kind: str, tmp_path: Path) -> None:
    policies = formrl.torch.load(checkpoint(runs[kind]))
    torch.manual_seed(1)
    for policy in policies.values():
        seen = tensors(inputs(policy))
        optimiser = torch.optim.Adam(policy.parameters(), lr=1e-2)
        for _ in range(3):
            optimiser.zero_grad()
            logits, values, *_ = policy(**seen)
            (values.square().mean() - logits.log_softmax(1)[:, 0].mean()).backward()
            optimiser.step()
    changed = formrl.torch.save_policies(checkpoint(runs[kind]), policies, tmp_path / "changed.safetensors")
    for name, policy in policies.items():
        seen = inputs(policy)
        theirs = policy.probabilities(**tensors(seen)).numpy()
        assert np.abs(formrl.Policy(changed, name).probabilities(**seen) - theirs).max() < 1e-6
        before = formrl.Policy(checkpoint(runs[kind]), name).probabilities(**seen)
        assert np.abs(before - theirs).max() > 1e-3
        # A network in a file of its own.
        formrl.torch.save(tmp_path / "alone.safetensors", policy)
        alone = formrl.Policy(tmp_path / "alone.safetensors")
        assert np.abs(alone.probabilities(**seen) - theirs).max() < 1e-6
        again = formrl.torch.load(tmp_path / "alone.safetensors")["policy"]
        assert np.abs(again.probabilities(**tensors(seen)).numpy() - theirs).max() < 1e-6


def test_the_native_tools_go_on_with_them(runs: dict[str, Path], tmp_path: Path) -> None:
    """A checkpoint with policies of PyTorch is evaluated and trained further like any other."""
    run = tmp_path / "run"
    shutil.copytree(runs["planes"], run)
    policies = formrl.torch.load(checkpoint(run))
    with torch.no_grad():
        for policy in policies.values():
            policy.actor.weight.zero_()
            # Forward, nearly always.
            policy.actor.bias.copy_(torch.tensor([0.0, 0.0, 5.0]))
    formrl.torch.save_policies(checkpoint(run), policies)
    done = command("eval", str(run), "--episodes", "4", "--sample", "--json")
    assert done.returncode == 0, done.stderr
    probabilities = formrl.Policy(checkpoint(run), "u0").probabilities(**inputs(policies["u0"]))
    assert (probabilities[:, 2] > 0.98).all()
    # What the optimiser remembered was of other weights.
    assert (Bundle.read(checkpoint(run)).arrays["u0/adam.means"] == 0).all()
    assert (Bundle.read(checkpoint(runs["planes"])).arrays["u0/adam.means"] != 0).any()
    wanted = [
        "--task",
        "all-yellow",
        "--retrain",
        "full",
        "--iterations",
        "1",
        "--quiet",
        "--out",
        str(tmp_path / "on"),
    ]
    done = command("transfer", str(run), *wanted)
    assert done.returncode == 0, done.stderr
    trained = formrl.Policy(checkpoint(tmp_path / "on"), "u0").probabilities(**inputs(policies["u0"]))
    assert not np.array_equal(trained, probabilities) and (trained[:, 2] > 0.9).all()


def test_what_is_not_changed_comes_out_as_it_went_in(runs: dict[str, Path], tmp_path: Path) -> None:
    path = checkpoint(runs["paper"])
    bundle = Bundle.read(path)
    bundle.write(tmp_path / "copy.safetensors")
    again = Bundle.read(tmp_path / "copy.safetensors")
    assert again.metadata == bundle.metadata and again.checksum() == bundle.checksum()
    assert all(np.array_equal(again.arrays[name], array) for name, array in bundle.arrays.items())
    assert formrl.Policy(tmp_path / "copy.safetensors", "u0").name == "u0"


def test_damaged_files_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    path, damaged = checkpoint(runs["planes"]), tmp_path / "damaged.safetensors"
    data = bytearray(path.read_bytes())
    data[-1000] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(DamagedFile, match="checksum"):
        formrl.torch.load(damaged)
    with pytest.raises(formrl.FileError, match="checksum"):
        formrl.Policy(damaged, "u0")
    damaged.write_bytes(data[:1000])
    with pytest.raises(DamagedFile, match="safetensors"):
        formrl.torch.load(damaged)
    with pytest.raises(formrl.FileError, match="nowhere") as missing:
        formrl.torch.load(tmp_path / "nowhere.safetensors")
    assert missing.value.errno == errno.ENOENT and missing.value.file == str(tmp_path / "nowhere.safetensors")
    with pytest.raises(formrl.FileError):
        formrl.Policy(tmp_path / "nowhere.safetensors", "u0")


# Of a checkpoint, and of a network in a file of its own.
DESCRIPTIONS = [
    "{",
    "[]",
    "{}",
    '{"agents": [{"name": "u0"}]}',
    '{"agents": [{"name": "u0", "network": {"actions": 3}}]}',
]
NETWORKS = [
    "{",
    "3",
    "{}",
    '{"trunk": [{"units": 2}], "actions": 3}',
    '{"trunk": [{"layer": "dense", "units": -2}], "actions": 3}',
]


@pytest.mark.parametrize(
    "metadata", [*({"form": text} for text in DESCRIPTIONS), *({"network": text} for text in NETWORKS), {}], ids=str
)
def test_descriptions_of_something_else_are_refused(metadata: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    Bundle({"x": np.zeros(2, np.float32)}, metadata).write(path)
    uses: list[Any] = [lambda: formrl.torch.load(path)]
    if "network" not in str(metadata):
        uses.append(lambda: formrl.torch.save_policies(path, {}))
    for use in uses:
        with pytest.raises(DamagedFile, match="odd.safetensors: ") as refused:
            use()
        assert isinstance(refused.value, formrl.FileError) and refused.value.file == str(path)
    with pytest.raises(formrl.FileError):
        Bundle().write(tmp_path / "nowhere" / "x.safetensors")


def test_policies_must_fit(runs: dict[str, Path], tmp_path: Path) -> None:
    planes, paper = (formrl.torch.load(checkpoint(runs[kind])) for kind in ("planes", "paper"))
    out = tmp_path / "out.safetensors"
    with pytest.raises(ValueError, match="another network"):
        formrl.torch.save_policies(checkpoint(runs["planes"]), {"u0": paper["u0"]}, out)
    with pytest.raises(KeyError, match="u7"):
        formrl.torch.save_policies(checkpoint(runs["planes"]), {"u7": planes["u0"]}, out)
    with pytest.raises(KeyError, match="u7"):
        formrl.Policy(checkpoint(runs["planes"]), "u7")
    with pytest.raises(KeyError, match="u0, u1"):
        formrl.Policy(checkpoint(runs["planes"]))
    with pytest.raises(ValueError, match="image"):
        planes["u0"]()
    with pytest.raises(ValueError, match="needed"):
        formrl.Policy(checkpoint(runs["planes"]), "u0").probabilities(np.zeros((2, 3), np.uint8))
    assert not out.exists()
