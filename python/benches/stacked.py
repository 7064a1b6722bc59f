"""Learners of the same shape in one stack: a batched matrix product serves all of them, and a CUDA graph launches an update at once.

One small learner leaves a GPU idle, since launching its kernels takes longer than they do, and processes take turns on a GPU. The
benchmarks of deep learning train all their seeds in one stack. Nothing goes from one member of a stack to another.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

T = TypeVar("T")
Episode = tuple[int, int, float]
"""Steps of the learner so far, length, reward."""


class Stack(torch.nn.Module):  # type: ignore[misc]
    """Networks with layers of these sizes: from (members, rows, inputs) to (members, rows, outputs)."""

    def __init__(self, members: int, sizes: Sequence[int], *, normalised: bool = False) -> None:
        super().__init__()
        made = [torch.empty(members, a, b).uniform_(-(a**-0.5), a**-0.5) for a, b in zip(sizes, sizes[1:])]
        self.weights = torch.nn.ParameterList(made)
        self.biases = torch.nn.ParameterList([torch.zeros(members, 1, size) for size in sizes[1:]])
        self.normalised = normalised

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            rows = torch.baddbmm(bias, rows, weight)
            if i < last:
                if self.normalised:
                    rows = torch.nn.functional.layer_norm(rows, rows.shape[-1:])
                rows = torch.relu(rows)
        return rows

    def follow(self, other: Stack, share: float) -> None:
        """Goes this share of the way to the other (Polyak averaging)."""
        with torch.no_grad():
            for mine, its in zip(self.parameters(), other.parameters()):
                mine.lerp_(its, share)


class Adam:
    """Adam (Kingma and Ba 2015) with a learning rate for each member, after clipping the gradient of each by its norm."""

    def __init__(self, net: Stack, rates: Sequence[float], device: str, *, clip: float = 10.0) -> None:
        self.parameters = list(net.parameters())
        self.rates = torch.tensor(rates, device=device)[:, None, None]
        self.scale = torch.ones((), device=device)
        """What all rates are multiplied with."""
        self.clip = clip
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters]
        self.updates = torch.zeros((), device=device)

    def step(self, loss: torch.Tensor) -> None:
        """Makes one step against the gradient of a sum of the members' losses."""
        gradients = torch.autograd.grad(loss, self.parameters)
        self.updates += 1
        with torch.no_grad():
            first, second = 1 - 0.9**self.updates, 1 - 0.999**self.updates
            norms = torch.stack([gradient.square().sum(dim=(1, 2)) for gradient in gradients]).sum(dim=0).sqrt()
            shrink = (self.clip / (norms + 1e-6)).clamp(max=1.0)[:, None, None]
            rates = self.rates * self.scale / first
            for parameter, raw, (mean, square) in zip(self.parameters, gradients, self.moments):
                gradient = raw * shrink
                mean.lerp_(gradient, 0.1)
                square.lerp_(gradient * gradient, 0.001)
                parameter -= rates * mean / ((square / second).sqrt() + 1e-8)


def recorded(function: Callable[[], None], device: str) -> Callable[[], None]:
    """The same as a CUDA graph, where there is a GPU. It is called three times before it is recorded."""
    if device != "cuda":
        return function
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(other)
    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    replay: Callable[[], None] = graph.replay
    return replay


def waited(device: str) -> None:
    """Waits until the device has done what it was told to."""
    if device == "cuda":
        torch.cuda.current_stream().synchronize()


class Staged:
    """An array of the host and its copy on the device."""

    def __init__(self, shape: Sequence[int], dtype: torch.dtype, device: str) -> None:
        self.host = torch.zeros(*shape, dtype=dtype, pin_memory=device == "cuda")
        self.array = self.host.numpy()
        self.there = torch.zeros(*shape, dtype=dtype, device=device)

    def send(self) -> None:
        """To the device, without waiting for it."""
        self.there.copy_(self.host, non_blocking=True)

    def fetch(self) -> None:
        """From the device, without waiting for it."""
        self.host.copy_(self.there, non_blocking=True)


@dataclass
class Log:
    """The episodes of one learner, whose worlds are stepped at once."""

    episodes: list[Episode] = field(default_factory=list)

    def curve(self, tick: int, steps: int, best: float = 1.0) -> list[float]:
        """At every tick, the mean reward per step of the last 100 episodes relative to the best: as the published curves are drawn."""
        points: list[float] = []
        last: deque[float] = deque(maxlen=100)
        next_one = 0
        for at in range(tick, steps + 1, tick):
            while next_one < len(self.episodes) and self.episodes[next_one][0] <= at:
                _, length, reward = self.episodes[next_one]
                last.append(reward / length)
                next_one += 1
            points.append(statistics.mean(last) / best if last else 0.0)
        return points


def quartiles(curves: Sequence[Sequence[float]]) -> list[tuple[float, float, float]]:
    """The quartiles over the curves, at every point."""
    return [tuple(np.percentile(points, (25, 50, 75)).tolist()) for points in zip(*curves, strict=True)]


def write_curves(path: Path, tick: int, curves: Mapping[str, Sequence[float]]) -> None:
    """A table with the quartiles and all curves."""
    rows = quartiles(list(curves.values()))
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["steps", "quarter", "median", "three quarters", *curves])
        for i, row in enumerate(zip(*curves.values(), strict=True)):
            writer.writerow([tick * (i + 1), *(f"{value:.4f}" for value in (*rows[i], *row))])


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """The options that all programs have."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="compare settings on what is not reported, and write the best")
    parser.add_argument("--settings", type=Path, help="what --choose wrote")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="other settings of a learner or of all")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two reports")
    parser.add_argument("--out", type=Path, help="the folder for curves and settings")
    return parser


def settings_of(args: argparse.Namespace, shared: type[T]) -> tuple[T, dict[str, Any]]:
    """The settings that all learners share, and those of each."""
    given: dict[str, Any] = json.loads(args.settings.read_text()) if args.settings else {}
    given |= dict((name, json.loads(value)) for name, value in (text.split("=", 1) for text in args.set))
    names = {one.name for one in fields(shared)}  # type: ignore[arg-type]
    return shared(**{name: given.pop(name) for name in list(given) if name in names}), given


class Watch:
    """Reports every now and then, and says when time is up."""

    def __init__(self, args: argparse.Namespace, report: Callable[[int, float], None]) -> None:
        self.start = self.said = time.monotonic()
        self.args, self.report = args, report

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.start

    def __call__(self, done: int) -> bool:
        """Whether to go on after these steps."""
        if time.monotonic() - self.said >= self.args.every:
            self.said = time.monotonic()
            self.report(done, self.seconds)
        return self.seconds < float(self.args.seconds)


def best_settings(grid: Mapping[str, object], areas: Mapping[tuple[float, ...], Sequence[float]]) -> dict[str, float]:
    """Those whose curves have the largest areas under them, on average."""
    ranked = sorted(areas, key=lambda chosen: -statistics.mean(areas[chosen]))
    for chosen in ranked:
        print(dict(zip(grid, chosen)), [round(area, 3) for area in areas[chosen]])
    return dict(zip(grid, ranked[0]))


def prepared() -> str:
    """The device, with PyTorch set up for it."""
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    return "cuda" if torch.cuda.is_available() else "cpu"
