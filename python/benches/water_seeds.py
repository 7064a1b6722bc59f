"""Water world with double DQN and counterfactual experience (CRM), all seeds at once on one GPU.

    python water_seeds.py --choose --seconds 100 --out .                 # settings, on maps and seeds that are not reported
    python water_seeds.py --settings water-settings.json --out results/benchmarks

What `python/examples/water_world.py` does with Stable-Baselines3 for one seed is done here for all of them by one stack of networks, with
a head for every state of the machine: a step is learnt from in all states at once. What it would have been in them is what `bound.step` says.

The published runs (Toro Icarte et al., JAIR 2022, "water-single") are two seeds on each of ten maps. A curve is the reward per step of the last
100 training episodes, relative to the best episode of all runs on that map, every 10,000 steps; the median over the runs is first at 0.95
after 860,000 steps. The same is computed here.
"""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from stacked import (
    Adam,
    Log,
    Stack,
    Staged,
    Watch,
    best_settings,
    parser_of,
    prepared,
    quartiles,
    recorded,
    settings_of,
    waited,
    write_curves,
)

from formrl import BoundMachine
from formrl.benchmarks import BenchmarkVectorEnv, WaterEnv, tasks

TICK = 10_000
ACTIONS = 5


@dataclass
class Member:
    """One learner of the stack."""

    seed: int
    map: int
    learning_rate: float = 1e-4
    gamma: float = 0.95
    epsilon: float = 0.01
    """The probability of a random action, after it has fallen from 1."""
    log: Log = field(default_factory=Log, init=False)

    @property
    def name(self) -> str:
        """As the columns of tables are called."""
        return f"map {self.map} seed {self.seed}"


@dataclass
class Settings:
    """What all members share."""

    steps: int = 860_000
    worlds: int = 8
    layers: tuple[int, ...] = (512, 512, 512)
    normalised: bool = False
    """Whether layers are normalised."""
    batch: int = 256
    updates: int = 2
    """After a step in all worlds."""
    starts: int = 4_000
    explore: int = 60_000
    """Steps over which the probability of a random action falls from 1."""
    polyak: float = 0.005
    """How far the target network goes to the network in one update."""
    decay: float = 0.1
    """The share of the learning rate that is left at the end."""


class Transitions:
    """What every pair of observations, the newest before and the one of a step, does in every running state of a machine over plain atoms."""

    def __init__(self, machine: BoundMachine) -> None:
        lifted, atoms = machine.machine, len(machine.signature)
        states = [i for i, state in enumerate(lifted.states) if state not in (lifted.accepting, lifted.rejecting)]
        self.bits = 1 << np.arange(atoms)
        self.sets = 1 << atoms
        self.initial = states.index(machine.start()[0])
        sets = (np.arange(self.sets)[:, None] & self.bits) > 0
        labels = np.tile(np.repeat(sets, len(states), axis=0), (self.sets, 1))
        windows = np.zeros((len(labels), 2, atoms), np.bool_)
        windows[:, 1] = np.repeat(sets, self.sets * len(states), axis=0)
        steps = machine.step(np.tile(states, self.sets**2), windows, labels)
        heads = {state: head for head, state in enumerate(states)}
        shape = (self.sets**2, len(states))
        self.next = np.array([heads.get(state, 0) for state in steps.states.tolist()]).reshape(shape)
        self.rewards = steps.rewards.astype(np.float32).reshape(shape)
        self.over = steps.over.reshape(shape)

    def numbers(self, newest: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The rows of the tables."""
        return newest * self.sets + labels


class Learner:
    """The stack with its replay memory, which keeps all steps."""

    def __init__(self, members: list[Member], settings: Settings, transitions: Transitions, features: int, device: str) -> None:
        n, worlds, states = len(members), settings.worlds, transitions.next.shape[1]
        self.settings, self.states, self.device = settings, states, device
        sizes = [features, *settings.layers, states * ACTIONS]
        self.net = Stack(n, sizes, normalised=settings.normalised).to(device)
        self.target = Stack(n, sizes, normalised=settings.normalised).to(device)
        self.target.load_state_dict(self.net.state_dict())
        self.adam = Adam(self.net, [member.learning_rate for member in members], device)
        self.gamma = torch.tensor([member.gamma for member in members], device=device)[:, None, None]
        tables = transitions.next, transitions.rewards, transitions.over.astype(np.float32)
        self.tables = [torch.from_numpy(table).to(device) for table in tables]
        size = settings.steps + worlds
        self.memory = torch.zeros(n, size, 2 * features, device=device)
        self.taken = torch.zeros(n, size, 2, dtype=torch.int64, device=device)
        self.place = torch.arange(worlds, device=device)
        self.members = torch.arange(n, device=device)[:, None]
        # What goes to the device and comes back in every step.
        self.seen = Staged((n, worlds, 2 * features), torch.float32, device)
        """What was seen before the last step, and after it."""
        self.now = Staged((n, worlds, features), torch.float32, device)
        """What is seen now: in another episode, if one has ended."""
        self.done = Staged((n, worlds, 2), torch.int64, device)
        """The action of the last step and the number of its transition."""
        self.at = Staged((n, worlds), torch.int64, device)
        """Heads of the states now."""
        self.greedy = Staged((n, worlds), torch.int64, device)

    def values(self, net: Stack, rows: torch.Tensor) -> torch.Tensor:
        """(members, rows, states, actions)"""
        return net(rows).unflatten(2, (self.states, ACTIONS))

    def act(self) -> None:
        """Chooses greedy actions."""
        with torch.no_grad():
            heads = self.at.there[:, :, None, None].expand(-1, -1, 1, ACTIONS)
            self.greedy.there.copy_(self.values(self.net, self.now.there).gather(2, heads).argmax(dim=3).squeeze(2))

    def keep(self) -> None:
        """Remembers the last step of all worlds."""
        self.memory.index_copy_(1, self.place, self.seen.there)
        self.taken.index_copy_(1, self.place, self.done.there)
        self.place += self.settings.worlds

    def update(self) -> None:
        """One step of Adam on a batch of every member."""
        drawn = (torch.rand(len(self.members), self.settings.batch, device=self.device) * self.place[0]).long()
        seen, taken = self.memory[self.members, drawn], self.taken[self.members, drawn]
        before, after = seen.chunk(2, dim=2)
        goes, pays, ends = (table[taken[:, :, 1]] for table in self.tables)
        with torch.no_grad():
            # In every state: the value of what follows, in the state that the machine goes to.
            there = goes[..., None].expand(-1, -1, -1, ACTIONS)
            best = self.values(self.net, after).gather(2, there).argmax(dim=3, keepdim=True)
            value = self.values(self.target, after).gather(2, there).gather(3, best).squeeze(3)
            wanted = pays + (1 - ends) * self.gamma * value
        chosen = taken[:, :, :1, None].expand(-1, -1, self.states, 1)
        found = self.values(self.net, before).gather(3, chosen).squeeze(3)
        loss = torch.nn.functional.smooth_l1_loss(found, wanted, reduction="none").mean(dim=(1, 2)).sum()
        self.adam.step(loss)
        self.target.follow(self.net, self.settings.polyak)

    def updates(self) -> None:
        """The updates after a step."""
        for _ in range(self.settings.updates):
            self.update()


def trained(members: list[Member], task: str, settings: Settings, device: str, watch: Callable[[int], bool]) -> int:
    """Trains all members until they have made their steps or `watch` says no; how many steps each of them made."""
    torch.manual_seed(members[0].seed)
    n, worlds = len(members), settings.worlds
    single = [WaterEnv(map_seed=member.map) for member in members for _ in range(worlds)]
    env = BenchmarkVectorEnv(single, autoreset_mode=AutoresetMode.DISABLED)
    transitions = Transitions(tasks("water")[task].bind(env.signature))
    first, infos = env.reset(seed=members[0].seed)
    learner = Learner(members, settings, transitions, first.shape[1], device)
    random = np.random.default_rng([member.seed for member in members])
    features = learner.now.array.shape[2]
    assert not infos["labels"].any(), "no world starts with a touch"
    learner.now.array[:] = first.reshape(n, worlds, features)
    learner.at.array[:] = transitions.initial
    newest, lengths = (np.zeros((n, worlds), np.int64) for _ in range(2))
    act, keep, updates = recorded(learner.act, device), learner.keep, learner.updates
    least = np.array([[member.epsilon] for member in members])
    done, learns = 0, False
    while done < settings.steps and watch(done):
        for staged in (learner.now, learner.at):
            staged.send()
        act()
        learner.greedy.fetch()
        waited(device)
        if done >= settings.starts:
            if not learns:
                place = learner.place.clone()
                keep, updates, learns = recorded(keep, device), recorded(updates, device), True
                learner.place.copy_(place)
            learner.adam.scale.fill_(1 - (1 - settings.decay) * done / settings.steps)
            updates()  # The GPU works on them while the worlds are stepped.
        epsilon = np.maximum(least, 1 - done / settings.explore)
        explores, others = random.random((n, worlds)) < epsilon, random.integers(ACTIONS, size=(n, worlds))
        actions = np.where(explores, others, learner.greedy.array)
        after, _, _, truncated, infos = env.step(actions.reshape(-1))
        labels = (infos["labels"] @ transitions.bits).reshape(n, worlds)
        numbers = transitions.numbers(newest, labels)
        heads = learner.at.array
        reward, over = transitions.rewards[numbers, heads], transitions.over[numbers, heads]
        learner.seen.array[:, :, :features] = learner.now.array
        learner.seen.array[:, :, features:] = after.reshape(n, worlds, features)
        learner.done.array[:, :, 0], learner.done.array[:, :, 1] = actions, numbers
        done += worlds
        lengths += 1
        ended = over | truncated.reshape(n, worlds)
        learner.at.array[:] = np.where(ended, transitions.initial, transitions.next[numbers, heads])
        newest = np.where(ended, 0, labels)
        if ended.any():
            for i, j in np.argwhere(ended):
                members[i].log.episodes.append((done, int(lengths[i, j]), float(reward[i, j])))
            lengths[ended] = 0
            after, _ = env.reset(options={"reset_mask": ended.reshape(-1)})
        learner.now.array[:] = after.reshape(n, worlds, features)
        for staged in (learner.seen, learner.done):
            staged.send()
        keep()
    return done


def first_above(points: list[float], least: float = 0.95) -> int | None:
    """The steps at which a curve is there for the first time."""
    return next((TICK * (i + 1) for i, value in enumerate(points) if value >= least), None)


def curves_of(members: list[Member], done: int) -> dict[str, list[float]]:
    """One curve for each member, relative to the best episode of all on its map."""
    best: dict[int, float] = {}
    for member in members:
        found = max((reward / length for _, length, reward in member.log.episodes), default=0.0)
        best[member.map] = max(found, best.get(member.map, 0.0))
    return {member.name: member.log.curve(TICK, done, best[member.map] or 1.0) for member in members}


def report(members: list[Member], done: int, seconds: float, path: Path | None) -> None:
    """Prints where a run stands, and writes its curves."""
    curves = curves_of(members, done)
    medians = [median for _, median, _ in quartiles(list(curves.values()))]
    at_the_end = f"{medians[-1]:.3f}" if medians else "-"
    print(f"{done} steps, {seconds:.0f} s: median {at_the_end} of the best, 0.95 first after {first_above(medians)}", flush=True)
    if path:
        write_curves(path, TICK, curves)


def summary(members: list[Member], done: int) -> None:
    """Prints what became of every member, and of those on each map."""
    curves = curves_of(members, done)
    for member in members:
        points, episodes = curves[member.name], member.log.episodes
        success = statistics.mean([reward for _, _, reward in episodes[-100:]] or [0.0])
        shortest = min((length for _, length, reward in episodes if reward > 0), default=0)
        print(
            f"{member.name}, learning rate {member.learning_rate}, discount {member.gamma}, epsilon {member.epsilon}: 0.95 after {first_above(points)}, "
            f"{points[-1] if points else 0:.3f} at the end, at most {max(points, default=0):.3f}, area {statistics.mean(points or [0]):.3f}; "
            f"{success:.0%} of the last 100 of {len(episodes)} episodes succeed, the shortest has {shortest} steps"
        )
    for map_seed in dict.fromkeys(member.map for member in members):
        medians = [median for _, median, _ in quartiles([curves[member.name] for member in members if member.map == map_seed])]
        print(f"map {map_seed}: the median over its seeds is at 0.95 after {first_above(medians)}")


GRID = {"learning_rate": (1e-4, 3e-4, 1e-3), "gamma": (0.9, 0.95, 0.98), "epsilon": (0.002, 0.01)}


def candidates() -> list[Member]:
    """Learners to choose settings from: each on two maps that are not reported."""
    values = list(itertools.product(*GRID.values()))
    return [Member(101 + i, 100 + part, **dict(zip(GRID, chosen))) for part in range(2) for i, chosen in enumerate(values)]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--task", default="def-strict", choices=list(tasks("water")), help="unless given, the one that the paper learns alone")
    parser.add_argument("--maps", type=int, nargs="+", default=list(range(1, 11)), help="the seeds of the balls")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    args = parser.parse_args()
    settings, given = settings_of(args, Settings)
    device = prepared()
    members = candidates() if args.choose else [Member(seed, map_seed, **given) for map_seed in args.maps for seed in args.seeds]
    path = args.out and args.out / f"water-{args.task}-{'choice' if args.choose else 'crm'}.csv"
    watch = Watch(args, lambda done, seconds: report(members, done, seconds, path))
    done = trained(members, args.task, settings, device, watch)
    summary(members, done)
    report(members, done, watch.seconds, path)
    print(f"{args.task}: {done} steps of {len(members)} learners in {watch.seconds:.0f} s on {device}; {settings}")
    if args.choose:
        areas: dict[tuple[float, ...], list[float]] = {}
        for member, points in zip(members, curves_of(members, done).values()):
            areas.setdefault((member.learning_rate, member.gamma, member.epsilon), []).append(statistics.mean(points or [0.0]))
        chosen = best_settings(GRID, areas)
        if args.out:
            (args.out / "water-settings.json").write_text(json.dumps(chosen) + "\n")


if __name__ == "__main__":
    main()
