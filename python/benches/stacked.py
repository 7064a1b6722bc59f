"""Learners of the same shape in one stack: a batched matrix product serves all of them, and a CUDA graph launches an update at once.

One small learner leaves a GPU idle, since launching its kernels takes longer than they do, and processes take turns on a GPU. The
benchmarks of deep learning train all their seeds in one stack. Nothing goes from one member of a stack to another.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

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

    def follow(self, other: Stack, share: torch.Tensor | float) -> None:
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
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


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

    episodes: list[Episode]

    def curve(self, tick: int, steps: int, window: int = 100, best: float = 1.0) -> list[float]:
        """At every tick, the mean reward per step of the last episodes relative to the best: as the published curves are drawn."""
        points: list[float] = []
        last: list[float] = []
        next_one = 0
        for at in range(tick, steps + 1, tick):
            while next_one < len(self.episodes) and self.episodes[next_one][0] <= at:
                _, length, reward = self.episodes[next_one]
                last = [*last, reward / length][-window:]
                next_one += 1
            points.append(statistics.mean(last) / best if last else 0.0)
        return points


def best_of(logs: Iterable[Log]) -> float:
    """The reward per step of the best episode."""
    return max((reward / length for log in logs for _, length, reward in log.episodes), default=0.0) or 1.0


def quartiles(curves: Sequence[Sequence[float]]) -> list[tuple[float, float, float]]:
    """The quartiles over the curves, at every point."""
    return [tuple(np.percentile(points, (25, 50, 75)).tolist()) for points in zip(*curves, strict=True)]  # type: ignore[misc]
