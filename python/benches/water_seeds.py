"""Water world with double DQN and counterfactual experience (CRM), all seeds at once on one GPU.

    python water_seeds.py --choose --seconds 120 --out settings.json               # settings, on seeds and a map that are not reported
    python water_seeds.py --settings settings.json --seeds 1 2 3 4 5 --out results/benchmarks

What `python/examples/water_world.py` does with Stable-Baselines3, for one seed, is done here for all of them by one stack of networks, with
a head for every state of the machine. A batch of steps, with what each would have been in every state of the machine, is one
update, as in the paper (Toro Icarte et al., JAIR 2022). What it would have been is what `bound.step` says.

A curve is the reward per step of the last 100 training episodes relative to the best episode of all seeds, as the published ones are drawn.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from formrl import BoundMachine
from formrl.benchmarks import WaterEnv, tasks
from formrl.wrappers import MachineWrapper

WINDOW = 100
Episode = tuple[int, int, float]
"""Steps so far, length, reward."""


@dataclass
class Member:
    """One learner of the stack."""

    seed: int
    learning_rate: float = 1e-4
    gamma: float = 0.97
    episodes: list[Episode] = field(default_factory=list)


class Stack(torch.nn.Module):  # type: ignore[misc]
    """Networks of the same shape: from (members, rows, features) to (members, rows, states, actions)."""

    def __init__(self, members: int, features: int, layers: list[int], states: int, actions: int) -> None:
        super().__init__()
        sizes = [features, *layers, states * actions]
        self.states, self.actions = states, actions
        made = [torch.empty(members, a, b).uniform_(-(a**-0.5), a**-0.5) for a, b in zip(sizes, sizes[1:])]
        self.weights = torch.nn.ParameterList(made)
        self.biases = torch.nn.ParameterList([torch.zeros(members, 1, size) for size in sizes[1:]])

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            rows = torch.baddbmm(bias, rows, weight)
            rows = rows if i == last else torch.relu(rows)
        return rows.unflatten(2, (self.states, self.actions))


class Transitions:
    """What every observation does in every state of the machine, by the newest one before it and its labels: from `bound.step`."""

    def __init__(self, machine: BoundMachine, running: list[int]) -> None:
        self.machine, self.running = machine, running
        self.numbers: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        atoms = len(machine.signature)
        most = (atoms + 1) * 64
        self.next = np.zeros((most, len(running)), np.int64)
        self.rewards = np.zeros((most, len(running)), np.float32)
        self.over = np.zeros((most, len(running)), np.bool_)

    def number(self, newest: list[str], labels: list[str]) -> int:
        """The row of the tables."""
        key = tuple(newest), tuple(labels)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.numbers)
            if found == len(self.next):
                self.next, self.rewards, self.over = (np.concatenate([table, np.zeros_like(table)]) for table in (self.next, self.rewards, self.over))
            encode, n = self.machine.signature.encode, len(self.running)
            windows = np.zeros((n, 2, len(self.machine.signature)), np.bool_)
            windows[:, 1] = encode(newest)
            steps = self.machine.step(np.array(self.running), windows, np.tile(encode(labels), (n, 1)))
            heads = {state: head for head, state in enumerate(self.running)}
            self.next[found] = [heads.get(state, 0) for state in steps.states.tolist()]
            self.rewards[found], self.over[found] = steps.rewards, steps.over
        return found


class Learner:
    """The stack with its memory, and one update of all members."""

    def __init__(self, members: list[Member], settings: dict[str, Any], states: int, actions: int, features: int, device: str) -> None:
        n, self.size, self.batch = len(members), int(settings["buffer"]), int(settings["batch"])
        self.device, self.count = device, torch.zeros((), dtype=torch.int64, device=device)
        self.net = Stack(n, features, settings["layers"], states, actions).to(device)
        self.target = Stack(n, features, settings["layers"], states, actions).to(device)
        self.target.load_state_dict(self.net.state_dict())
        self.before = torch.zeros(n, self.size, features, device=device)
        self.after = torch.zeros(n, self.size, features, device=device)
        self.taken = torch.zeros(n, self.size, 2, dtype=torch.int64, device=device)
        self.gamma = torch.tensor([member.gamma for member in members], device=device)[:, None, None]
        self.rate = torch.tensor([member.learning_rate for member in members], device=device)[:, None, None]
        self.fall = torch.ones((), device=device)
        self.parameters = list(self.net.parameters())
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters]
        self.updates = torch.zeros((), device=device)
        self.rows = torch.arange(n, device=device)[:, None]
        self.at, self.graph = 0, bool(settings["graph"])
        self.tables: list[torch.Tensor] = []

    def show(self, transitions: Transitions) -> None:
        """Takes the tables over; in the same place if they are there already."""
        given = [torch.from_numpy(table) for table in (transitions.next, transitions.rewards, transitions.over.astype(np.float32))]
        if not self.tables:
            self.tables = [table.to(self.device) for table in given]
        for table, new in zip(self.tables, given):
            table.copy_(new)

    def keep(self, before: torch.Tensor, after: torch.Tensor, taken: torch.Tensor) -> None:
        """Remembers steps: arrays (members, worlds, …)."""
        worlds = before.shape[1]
        place = (self.at + torch.arange(worlds)) % self.size
        place = place.to(self.device)
        self.before[:, place], self.after[:, place], self.taken[:, place] = before, after, taken
        self.at += worlds
        self.count.fill_(min(self.at, self.size))

    def update(self) -> None:
        """One step of Adam on a batch of every member."""
        n = len(self.rows)
        drawn = (torch.rand(n, self.batch, device=self.device) * self.count).long()
        before, after, taken = self.before[self.rows, drawn], self.after[self.rows, drawn], self.taken[self.rows, drawn]
        goes, pays, ends = (table[taken[:, :, 1]] for table in self.tables)
        with torch.no_grad():
            # In every state: the value of what follows, in the state that the machine goes to.
            there = goes[..., None].expand(-1, -1, -1, self.net.actions)
            best = self.net(after).gather(2, there).argmax(dim=3, keepdim=True)
            value = self.target(after).gather(2, there).gather(3, best).squeeze(3)
            wanted = pays + (1 - ends) * self.gamma * value
        chosen = taken[:, :, :1, None].expand(-1, -1, self.net.states, 1)
        found = self.net(before).gather(3, chosen).squeeze(3)
        loss = torch.nn.functional.smooth_l1_loss(found, wanted, reduction="none").mean(dim=(1, 2)).sum()
        gradients = torch.autograd.grad(loss, self.parameters)
        self.updates += 1
        with torch.no_grad():
            first, second = 1 - 0.9**self.updates, 1 - 0.999**self.updates
            for parameter, gradient, (mean, square) in zip(self.parameters, gradients, self.moments):
                mean.lerp_(gradient, 0.1)
                square.lerp_(gradient * gradient, 0.001)
                parameter -= self.fall * self.rate * (mean / first) / ((square / second).sqrt() + 1e-8)

    def recorded(self) -> Any:
        """The update as something to call: a CUDA graph where there is a GPU."""
        if self.device != "cuda" or not self.graph:
            return self.update
        other = torch.cuda.Stream()
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            for _ in range(3):
                self.update()
        torch.cuda.current_stream().wait_stream(other)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.update()
        return graph.replay


def trained(members: list[Member], task: str, map_seed: int, settings: dict[str, Any], seconds: float, device: str) -> int:
    """Trains all members, for some time at most; how many steps each of them made. Their episodes are then known."""
    torch.manual_seed(members[0].seed)
    worlds, steps = int(settings["worlds"]), int(settings["steps"])
    made = [[MachineWrapper(WaterEnv(map_seed=map_seed), tasks("water")[task], observation="plain") for _ in range(worlds)] for _ in members]
    machine = made[0][0].episode.machine
    lifted = machine.machine
    running = [i for i, state in enumerate(lifted.states) if state not in (lifted.accepting, lifted.rejecting)]
    heads = {state: head for head, state in enumerate(running)}
    transitions = Transitions(machine, running)
    space: Any = made[0][0].observation_space
    features = space.shape[0]
    learner = Learner(members, settings, len(running), 5, features, device)
    random = [np.random.default_rng(member.seed) for member in members]
    before = np.zeros((len(members), worlds, features), np.float32)
    after, taken = before.copy(), np.zeros((len(members), worlds, 2), np.int64)
    states, lengths = (np.zeros((len(members), worlds), np.int64) for _ in range(2))
    for i, envs in enumerate(made):
        for j, env in enumerate(envs):
            before[i, j] = env.reset(seed=1000 * members[i].seed + j)[0]
            states[i, j] = heads[env.episode.state_index]
    known, update, done = -1, None, 0
    until = time.monotonic() + seconds
    while done < steps and time.monotonic() < until:
        epsilon = max(settings["epsilon"], 1 - done / (settings["explore"] * steps))
        rows = torch.tensor(before, device=device)  # a copy: `before` changes below
        with torch.no_grad():
            at = torch.from_numpy(states).to(device)[:, :, None, None].expand(-1, -1, 1, 5)
            greedy = learner.net(rows).gather(2, at).argmax(dim=3).squeeze(2).cpu().numpy()
        done += worlds
        for i, envs in enumerate(made):
            explores = random[i].random(worlds) < epsilon
            others = random[i].integers(5, size=worlds)
            for j, env in enumerate(envs):
                action = int(others[j]) if explores[j] else int(greedy[i, j])
                seen, _, terminated, truncated, info = env.step(action)
                after[i, j] = seen
                taken[i, j] = action, transitions.number(info["newest"], info["labels"])
                lengths[i, j] += 1
                if terminated or truncated:
                    members[i].episodes.append((done, int(lengths[i, j]), float(info["is_success"])))
                    lengths[i, j] = 0
                    seen, _ = env.reset()
                before[i, j] = seen
                states[i, j] = heads[env.episode.state_index]
        if len(transitions.numbers) != known:
            known = len(transitions.numbers)
            learner.show(transitions)
        learner.keep(rows, torch.from_numpy(after).to(device), torch.from_numpy(taken).to(device))
        if done >= settings["starts"]:
            update = update or learner.recorded()
            learner.fall.fill_(1 - 0.9 * done / steps)
            for _ in range(int(settings["updates"])):
                update()
        if done % int(settings["target"]) < worlds:
            with torch.no_grad():
                for mine, its in zip(learner.target.parameters(), learner.net.parameters()):
                    mine.copy_(its)
    return done


def curve(episodes: list[Episode], best: float, tick: int, steps: int) -> list[float]:
    """The mean of the last episodes' reward per step, relative to the best, at every tick."""
    points, last, next_one = [], [0.0], 0
    for at in range(tick, steps + 1, tick):
        while next_one < len(episodes) and episodes[next_one][0] <= at:
            _, length, reward = episodes[next_one]
            last = [*last, reward / length][-WINDOW:]
            next_one += 1
        points.append(statistics.mean(last) / best)
    return points


def best_of(members: list[Member]) -> float:
    """The reward per step of the best episode."""
    return max((reward / length for member in members for _, length, reward in member.episodes), default=0.0) or 1.0


SETTINGS: dict[str, Any] = {
    "steps": 860_000,
    "worlds": 8,
    "layers": [512, 512, 512],
    "batch": 256,
    "buffer": 100_000,
    "updates": 4,
    "starts": 2_000,
    "target": 800,
    "explore": 0.1,
    "epsilon": 0.01,
    "graph": True,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="abc-def-strict", choices=list(tasks("water")))
    parser.add_argument("--map", type=int, default=0, help="the seed of the balls")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--choose", action="store_true", help="compare learning rates and discounts on another map, and write the best")
    parser.add_argument("--settings", type=Path, help="what --choose wrote")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    settings = SETTINGS | dict((name, json.loads(value)) for name, value in (text.split("=") for text in args.set))
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    start = time.monotonic()
    if args.choose:
        pairs = [(rate, gamma) for rate in (1e-4, 3e-4, 1e-3) for gamma in (0.9, 0.95, 0.98)]
        members = [Member(101 + i, *pair) for i, pair in enumerate(pairs)]
        done = trained(members, args.task, 100, settings, args.seconds, device)
    else:
        rate, gamma = (json.loads(args.settings.read_text())[name] for name in ("learning_rate", "gamma")) if args.settings else (3e-4, 0.95)
        members = [Member(seed, rate, gamma) for seed in args.seeds]
        done = trained(members, args.task, args.map, settings, args.seconds, device)
    seconds, best, tick = time.monotonic() - start, best_of(members), 10_000
    curves = [curve(member.episodes, best, tick, done) for member in members]
    for member, points in zip(members, curves):
        success = statistics.mean([reward for _, _, reward in member.episodes[-WINDOW:]] or [0.0])
        reached = next((tick * (i + 1) for i, value in enumerate(points) if value >= 0.95), None)
        print(
            f"seed {member.seed}, learning rate {member.learning_rate}, discount {member.gamma}: {success:.0%} of the last {WINDOW} of "
            f"{len(member.episodes)} episodes succeed, {points[-1] if points else 0:.3f} of the best, 0.95 after {reached}"
        )
    print(f"{args.task}: {done} steps of {len(members)} learners in {seconds:.0f} s on {device}; the best episode has {1 / best:.0f} steps")
    if args.choose:
        areas = [sum(points) for points in curves]
        chosen = members[areas.index(max(areas))]
        print(f"chosen: {chosen.learning_rate}, {chosen.gamma}")
        if args.out:
            args.out.write_text(json.dumps({"learning_rate": chosen.learning_rate, "gamma": chosen.gamma}) + "\n")
        return
    median = [statistics.median(points) for points in zip(*curves, strict=True)]
    reached = next((tick * (i + 1) for i, value in enumerate(median) if value >= 0.95), None)
    print(f"median: 0.95 after {reached} steps, {median[-1] if median else 0:.3f} at the end")
    if args.out:
        with (args.out / f"water-{args.task}-crm.csv").open("w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["steps", "median", *(f"seed {member.seed}" for member in members)])
            for i, row in enumerate(zip(median, *curves, strict=True)):
                writer.writerow([tick * (i + 1), *(f"{value:.4f}" for value in row)])


if __name__ == "__main__":
    main()
