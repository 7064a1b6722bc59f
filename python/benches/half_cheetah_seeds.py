"""HalfCheetah's two machines with SAC and counterfactual experience (CRM), all seeds of both at once.

    python half_cheetah_seeds.py --choose --seconds 100 --out .          # settings, on seeds that are not reported
    python half_cheetah_seeds.py --settings half-cheetah-settings.json --seconds 480 --out results/benchmarks

What `python/examples/half_cheetah.py` does with Stable-Baselines3 for one seed is done here for all of them by one stack of networks. The
cheetahs are Gymnasium's `HalfCheetah-v5`, stepped together by MuJoCo's threads. A step is learnt from in all states of the machine;
what it would have been in them is what `bound.step` says.

The learner is SAC (Haarnoja et al. 2018); the published runs (Toro Icarte et al., JAIR 2022) have DDPG. Few steps pass a line, and the machine pays for
no others: an eighth of every batch is drawn from them. A curve is the reward per step of the last 100 training episodes: a thousand for
each way forth and back, or for the fifth line, less the cost of control. Rewards are divided by 100 for the learner.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import numpy.typing as npt
import torch
from stacked import Adam, Log, Stack, Staged, Watch, best_settings, parser_of, prepared, recorded, settings_of, waited, write_curves

from formrl import half_cheetah

EDGES = np.array(sorted(half_cheetah.LINES.values()))
ZONES = [*(EDGES - 0.5), EDGES[-1] + 0.5]
"""A place between each two lines."""
TICK = 15_000
LIMIT = 1000
SCALE = 100.0
STATES = 5
"""The running states of the larger machine: the smaller one's other heads are not learnt."""


@dataclass
class Member:
    """One learner of the stack."""

    task: str
    seed: int
    learning_rate: float = 3e-4
    entropy: float = -6.0
    """What the actor's temperature is adapted to."""
    log: Log = field(default_factory=Log, init=False)


@dataclass
class Settings:
    """What all members share."""

    steps: int = 3_000_000
    worlds: int = 8
    layers: tuple[int, ...] = (256, 256)
    batch: int = 128
    """Steps, each of them in all states. An eighth of them pass a line."""
    updates: int = 4
    """After a step in all worlds."""
    starts: int = 10_000
    gamma: float = 0.99
    polyak: float = 0.005


class Cheetahs:
    """Gymnasium's HalfCheetah-v5, stepped together."""

    def __init__(self, count: int, seed: int, threads: int) -> None:
        env: Any = half_cheetah.env().unwrapped
        self.count, self.model, self.skip = count, env.model, env.frame_skip
        self.noise, self.cost = env._reset_noise_scale, env._ctrl_cost_weight
        self.first = np.concatenate([env.init_qpos, env.init_qvel])
        self.positions = len(env.init_qpos)
        self.random = np.random.default_rng(seed)
        self.pool = mujoco.rollout.Rollout(nthread=threads)
        self.data = [mujoco.MjData(self.model) for _ in range(max(1, threads))]
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        # Time comes first, then positions and velocities; there is nothing else in this model.
        assert size == 1 + len(self.first)
        self.state = np.zeros((count, size))
        self.path = np.zeros((count, self.skip, size))
        self.begin(np.ones(count, np.bool_))

    def begin(self, which: npt.NDArray[np.bool_]) -> None:
        """Starts episodes."""
        n = int(which.sum())
        positions = self.random.uniform(-self.noise, self.noise, (n, self.positions))
        velocities = self.noise * self.random.standard_normal((n, len(self.first) - self.positions))
        self.state[which, 0] = 0
        self.state[which, 1:] = self.first + np.concatenate([positions, velocities], axis=1)

    def step(self, actions: npt.NDArray[np.float64]) -> None:
        """Takes a step in all of them."""
        control = np.ascontiguousarray(np.repeat(actions[:, None], self.skip, axis=1), np.float64)
        self.pool.rollout(self.model, self.data, self.state, control, state=self.path)
        self.state[:] = self.path[:, -1]

    @property
    def observations(self) -> npt.NDArray[np.float64]:
        """Positions and velocities."""
        return self.state[:, 1:]

    @property
    def zones(self) -> npt.NDArray[np.int64]:
        """Between which lines they are: what there is to label."""
        return np.searchsorted(EDGES, self.state[:, 1], side="left")


class Transitions:
    """What every pair of zones, before and after a step, does in every running state of a machine."""

    def __init__(self, task: str) -> None:
        machine = half_cheetah.tasks()[task].bind(list(half_cheetah.LINES))
        lifted, zones = machine.machine, len(ZONES)
        running = [i for i, state in enumerate(lifted.states) if state not in (lifted.accepting, lifted.rejecting)]
        heads = {state: head for head, state in enumerate(running)}
        self.running = len(running)
        self.initial = heads[machine.start()[0]]
        self.next = np.zeros((zones * zones, STATES), np.int64)
        self.rewards = np.zeros((zones * zones, STATES), np.float32)
        self.over = np.zeros((zones * zones, STATES), np.float32)
        labels = [machine.signature.encode(half_cheetah.labels_at(x)) for x in ZONES]
        for before in range(zones):
            for after in range(zones):
                windows = np.zeros((len(running), 2, len(EDGES)), np.bool_)
                windows[:, 1] = labels[before]
                steps = machine.step(np.array(running), windows, np.tile(labels[after], (len(running), 1)))
                row = before * zones + after
                self.next[row, : len(running)] = [heads.get(state, 0) for state in steps.states.tolist()]
                self.rewards[row, : len(running)], self.over[row, : len(running)] = steps.rewards, steps.over


class Learner:
    """Actors and twin critics with their replay memory, which keeps all steps.

    An actor has a head for every state of the machine; a critic is told the state.
    """

    def __init__(self, members: list[Member], settings: Settings, tables: list[Transitions], device: str) -> None:
        n, worlds = len(members), settings.worlds
        self.n, self.settings, self.device = n, settings, device
        self.features, self.actions = 17 + 1, 6
        actor = [self.features, *settings.layers, STATES * 2 * self.actions]
        critic = [self.features + self.actions + STATES, *settings.layers, 1]
        self.actor = Stack(n, actor).to(device)
        self.critics, self.critics_target = (Stack(2 * n, critic).to(device) for _ in range(2))
        self.critics_target.load_state_dict(self.critics.state_dict())
        rates = [member.learning_rate for member in members]
        self.actor_adam, self.critics_adam = Adam(self.actor, rates, device), Adam(self.critics, 2 * rates, device)
        self.temperature = torch.full((n, 1, 1), 0.1, device=device)
        self.entropy = torch.tensor([member.entropy for member in members], device=device)[:, None, None]
        stack = [np.stack([getattr(table, name) for table in tables]) for name in ("next", "rewards", "over")]
        self.next, self.rewards, self.over = (torch.from_numpy(table).to(device) for table in stack)
        running = torch.tensor([table.running for table in tables], device=device)
        self.mask = (torch.arange(STATES, device=device) < running[:, None]).float()[:, None]
        self.mask = self.mask / self.mask.mean(dim=2, keepdim=True)
        self.eye = torch.eye(STATES, device=device)
        size = settings.steps + worlds
        self.memory = torch.zeros(n, size, 2 * self.features + self.actions, device=device)
        self.numbers = torch.zeros(n, size, dtype=torch.int64, device=device)
        self.place = torch.arange(worlds, device=device)
        # Where steps are that pass a line; the last place is for those that do not.
        self.crossed = torch.zeros(n, size + 1, dtype=torch.int64, device=device)
        self.crossings = torch.zeros(n, 1, dtype=torch.int64, device=device)
        self.members = torch.arange(n, device=device)[:, None]
        # What goes to the device and comes back in every step.
        self.seen = Staged((n, worlds, 2 * self.features + self.actions), torch.float32, device)
        self.now = Staged((n, worlds, self.features), torch.float32, device)
        self.number = Staged((n, worlds), torch.int64, device)
        self.at = Staged((n, worlds), torch.int64, device)
        self.chosen = Staged((n, worlds, self.actions), torch.float32, device)

    def scaled(self, seen: torch.Tensor) -> torch.Tensor:
        """Observations as the networks get them."""
        return torch.cat([seen[..., :1] / 4, seen[..., 1:9], seen[..., 9:] / 5], dim=-1)

    def policy(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions in all states, drawn, (members, rows, states, actions), and the logarithms of their densities."""
        mean, spread = self.actor(self.scaled(seen)).unflatten(2, (STATES, 2 * self.actions)).chunk(2, dim=3)
        spread = spread.clamp(-5, 2)
        noise = torch.randn_like(mean)
        raw = mean + spread.exp() * noise
        # The density of the normal distribution, then that of its hyperbolic tangent.
        density = -0.5 * noise.square() - spread - 0.5 * math.log(2 * math.pi)
        density = density - 2 * (math.log(2) - raw - torch.nn.functional.softplus(-2 * raw))
        return torch.tanh(raw), density.sum(dim=3)

    def act(self) -> None:
        """Draws actions."""
        with torch.no_grad():
            heads = self.at.there[:, :, None, None].expand(-1, -1, 1, self.actions)
            self.chosen.there.copy_(self.policy(self.now.there)[0].gather(2, heads).squeeze(2))

    def keep(self) -> None:
        """Remembers the last step of all worlds."""
        self.memory.index_copy_(1, self.place, self.seen.there)
        self.numbers.index_copy_(1, self.place, self.number.there)
        zones = len(ZONES)
        passes = (self.number.there // zones != self.number.there % zones).long()
        slots = torch.where(passes > 0, self.crossings + passes.cumsum(dim=1) - 1, self.crossed.shape[1] - 1)
        self.crossed.scatter_(1, slots, self.place.expand(self.n, -1))
        self.crossings += passes.sum(dim=1, keepdim=True)
        self.place += self.settings.worlds

    def judge(self, critics: Stack, seen: torch.Tensor, actions: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """The values of rows in states, by both critics: (2, members, rows, states)"""
        n, batch = seen.shape[:2]
        rows = torch.cat([self.scaled(seen)[:, :, None].expand(-1, -1, STATES, -1), actions, states], dim=3)
        found = critics(rows.reshape(n, batch * STATES, -1).repeat(2, 1, 1))
        return found.reshape(2, n, batch, STATES)

    def update(self, with_actor: bool) -> None:
        """One step of Adam on a batch of every member."""
        s = self.settings
        drawn = (torch.rand(self.n, s.batch, device=self.device) * self.place[0]).long()
        # A learner that has passed no line yet has no such steps.
        few = s.batch // 8
        some = (torch.rand(self.n, few, device=self.device) * self.crossings).long()
        drawn[:, :few] = torch.where(self.crossings > 0, self.crossed.gather(1, some), drawn[:, :few])
        before, after, taken = self.memory[self.members, drawn].split([self.features, self.features, self.actions], dim=2)
        number = self.numbers[self.members, drawn]
        goes, pays, ends = (table[self.members, number] for table in (self.next, self.rewards, self.over))
        pays = pays - 0.1 * taken.square().sum(dim=2, keepdim=True)
        with torch.no_grad():
            follows, density = self.policy(after)
            follows = follows.gather(2, goes[..., None].expand(-1, -1, -1, self.actions))
            value = self.judge(self.critics_target, after, follows, self.eye[goes]).amin(dim=0)
            value = value - self.temperature * density.gather(2, goes)
            wanted = pays / SCALE + (1 - ends) * s.gamma * value
        here = self.eye.expand(self.n, s.batch, -1, -1)
        found = self.judge(self.critics, before, taken[:, :, None].expand(-1, -1, STATES, -1), here)
        self.critics_adam.step(((found - wanted).square() * self.mask).mean(dim=(2, 3)).sum())
        self.critics_target.follow(self.critics, s.polyak)
        if with_actor:
            actions, density = self.policy(before)
            value = self.judge(self.critics, before, actions, here).amin(dim=0)
            self.actor_adam.step(((self.temperature * density - value) * self.mask).mean(dim=(1, 2)).sum())
            # The temperature rises where the policy is less random than it is meant to be.
            short = ((density.detach() + self.entropy) * self.mask).mean(dim=(1, 2), keepdim=True)
            self.temperature.mul_((self.actor_adam.rates * short.clamp(-3, 3)).exp())

    def updates(self) -> None:
        """The updates after a step: the actor's are half as many."""
        for i in range(self.settings.updates):
            self.update(i % 2 == 1)


def trained(members: list[Member], settings: Settings, device: str, threads: int, watch: Callable[[int], bool]) -> int:
    """Trains all members until they have made their steps or `watch` says no; how many steps each of them made."""
    torch.manual_seed(members[0].seed)
    n, worlds = len(members), settings.worlds
    tables = [Transitions(member.task) for member in members]
    learner = Learner(members, settings, tables, device)
    cheetahs = Cheetahs(n * worlds, members[0].seed, threads)
    random = np.random.default_rng([member.seed for member in members])
    zones_known = len(ZONES)
    initial = np.array([[table.initial] * worlds for table in tables])
    rows, features = np.arange(n)[:, None], learner.features
    nexts, pays, ends = (np.stack([getattr(table, name) for table in tables]) for name in ("next", "rewards", "over"))
    learner.now.array[:] = cheetahs.observations.reshape(n, worlds, -1)
    learner.at.array[:] = initial
    zones, returns = cheetahs.zones.reshape(n, worlds), np.zeros((n, worlds))
    lengths = np.zeros((n, worlds), np.int64)
    act, keep, updates = recorded(learner.act, device), learner.keep, learner.updates
    done, learns = 0, False
    while done < settings.steps and watch(done):
        for staged in (learner.now, learner.at):
            staged.send()
        act()
        learner.chosen.fetch()
        waited(device)
        if done >= settings.starts:
            if not learns:
                place, crossings = learner.place.clone(), learner.crossings.clone()
                keep, updates, learns = recorded(keep, device), recorded(updates, device), True
                learner.place.copy_(place)
                learner.crossings.copy_(crossings)
            updates()  # The GPU works on them while the cheetahs run.
            actions = learner.chosen.array.astype(np.float64)
        else:
            actions = random.uniform(-1, 1, (n, worlds, learner.actions))
        cheetahs.step(actions.reshape(n * worlds, -1))
        now = cheetahs.zones.reshape(n, worlds)
        numbers, heads = zones * zones_known + now, learner.at.array
        returns += pays[rows, numbers, heads] - 0.1 * np.square(actions).sum(axis=2)
        over = ends[rows, numbers, heads] > 0
        learner.seen.array[:, :, :features] = learner.now.array
        learner.seen.array[:, :, features : 2 * features] = cheetahs.observations.reshape(n, worlds, -1)
        learner.seen.array[:, :, 2 * features :] = actions
        learner.number.array[:] = numbers
        done += worlds
        lengths += 1
        ended = over | (lengths >= LIMIT)
        learner.at.array[:] = np.where(ended, initial, nexts[rows, numbers, heads])
        if ended.any():
            for i, j in np.argwhere(ended):
                members[i].log.episodes.append((done, int(lengths[i, j]), float(returns[i, j])))
            lengths[ended], returns[ended] = 0, 0
            cheetahs.begin(ended.reshape(-1))
        zones = cheetahs.zones.reshape(n, worlds)
        learner.now.array[:] = cheetahs.observations.reshape(n, worlds, -1)
        for staged in (learner.seen, learner.number):
            staged.send()
        keep()
    return done


def curves_of(members: list[Member], task: str, done: int) -> dict[str, list[float]]:
    """One curve for each member with this task."""
    return {f"seed {member.seed}": member.log.curve(TICK, done) for member in members if member.task == task}


def report(members: list[Member], done: int, seconds: float, folder: Path | None, name: str) -> None:
    """Prints where a run stands, and writes its curves."""
    for task in dict.fromkeys(member.task for member in members):
        curves = curves_of(members, task, done)
        ends = ", ".join(f"{points[-1]:.2f}" for points in curves.values() if points)
        print(f"{task}: {done} steps, {seconds:.0f} s: reward per step {ends}", flush=True)
        if folder:
            write_curves(folder / f"half-cheetah-{task}-{name}.csv", TICK, curves)


def summary(members: list[Member]) -> None:
    """Prints what became of every member."""
    for member in members:
        last = [reward / length for _, length, reward in member.log.episodes[-100:]]
        print(
            f"{member.task} seed {member.seed}, learning rate {member.learning_rate}, entropy {member.entropy}: "
            f"{statistics.mean(last or [0.0]):.2f} per step in the last {len(last)} of {len(member.log.episodes)} episodes, "
            f"at best {max((reward / length for _, length, reward in member.log.episodes), default=0):.2f}"
        )


GRID = {"learning_rate": (3e-4, 1e-3), "entropy": (-6.0, -3.0)}


def candidates(tasks: list[str]) -> list[Member]:
    """Learners to choose settings from, of seeds that are not reported."""
    values = list(itertools.product(*GRID.values()))
    return [Member(task, 101 + 2 * i + part, **dict(zip(GRID, chosen))) for task in tasks for i, chosen in enumerate(values) for part in range(2)]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(half_cheetah.tasks()), choices=list(half_cheetah.tasks()))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--threads", type=int, default=6, help="of MuJoCo")
    args = parser.parse_args()
    settings, given = settings_of(args, Settings)
    device = prepared()
    members = candidates(args.tasks) if args.choose else [Member(task, seed, **given) for task in args.tasks for seed in args.seeds]
    name = "choice" if args.choose else "crm"
    watch = Watch(args, lambda done, seconds: report(members, done, seconds, args.out, name))
    done = trained(members, settings, device, args.threads, watch)
    summary(members)
    report(members, done, watch.seconds, args.out, name)
    print(f"{done} steps of {len(members)} learners in {watch.seconds:.0f} s on {device}; {settings}")
    if args.choose:
        areas: dict[tuple[float, ...], list[float]] = {}
        for member in members:
            points = member.log.curve(TICK, done)
            areas.setdefault((member.learning_rate, member.entropy), []).append(statistics.mean(points or [0.0]))
        chosen = best_settings(GRID, areas)
        if args.out:
            (args.out / "half-cheetah-settings.json").write_text(json.dumps(chosen) + "\n")


if __name__ == "__main__":
    main()
