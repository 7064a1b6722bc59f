"""Water world with DQN and counterfactual experience (CRM), as Toro Icarte et al. (JAIR 2022) measure it.

    python water_world.py --seeds 1 2 3 4 5 --jobs 5 --out curves             # an hour or more for each seed
    python water_world.py --small                                             # half a minute: that it runs

The agent is a ball among twelve of six colours. Its task is to touch colours in an order, which a machine says; unless `--task` names
another one, it is the one that the paper learns alone: yellow, then cyan, then magenta, and nothing else.

The world shows positions and velocities, the wrapper adds the machine's state, and `formrl.sb3.counterfactual` gives the learner, of every
step, what it would have been in each of the machine's other states. The learner is double DQN, as in the paper. The paper makes an update
with 32 steps, in all states of the machine, after every step; here there are two with 128 after every eighth. Many seeds are
learnt faster by `python/benches/water_seeds.py`.

A curve is the reward per step of the last 100 episodes, relative to the best episode of all seeds: as the published ones are drawn.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from formrl import Shaping
from formrl.benchmarks import WaterEnv, tasks
from formrl.sb3 import counterfactual
from formrl.wrappers import MachineWrapper

WINDOW = 100
WORLDS = 8

SETTINGS: dict[str, Any] = {
    "buffer_size": 3_000_000,
    "batch_size": 384,
    "train_freq": 1,
    "gradient_steps": 2,
    "gamma": 0.95,
    "tau": 0.01,
    "target_update_interval": 1,
    "learning_starts": 4_000,
    "exploration_fraction": 0.07,
    "exploration_final_eps": 0.01,
}
LEARNING_RATE = 3e-4
LAYERS = [256, 256]
SHAPING = False


class DoubleDqn(DQN):  # type: ignore[misc]
    """DQN whose next action is chosen by the network and valued by its target (van Hasselt et al. 2016)."""

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Makes some updates."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size)
            with torch.no_grad():
                best = self.q_net(batch.next_observations).argmax(dim=1, keepdim=True)
                there = self.q_net_target(batch.next_observations).gather(1, best)
                target = batch.rewards + (1 - batch.dones) * self.gamma * there
            value = self.q_net(batch.observations).gather(1, batch.actions.long())
            loss = torch.nn.functional.smooth_l1_loss(value, target)
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps


class Episodes(BaseCallback):  # type: ignore[misc]
    """Steps so far, of all worlds together, length and reward of every episode."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.found: list[tuple[int, int, float]] = []
        self._lengths = [0] * WORLDS
        self._until = None if seconds is None else time.monotonic() + seconds

    def _on_step(self) -> bool:
        for i, (done, info) in enumerate(zip(self.locals["dones"], self.locals["infos"])):
            self._lengths[i] += 1
            if done:
                # The machine pays 1 for the task, and the learner may get more, by shaping.
                self.found.append((self.num_timesteps, self._lengths[i], float(info["is_success"])))
                self._lengths[i] = 0
        return self._until is None or time.monotonic() < self._until


def world(task: str, map_seed: int) -> MachineWrapper:
    """The world with its task."""
    shaping = Shaping(SETTINGS["gamma"]) if SHAPING else None
    return MachineWrapper(WaterEnv(map_seed=map_seed), tasks("water")[task], observation="flat", shaping=shaping)


def falling(remaining: float) -> float:
    """The learning rate, which falls to a tenth."""
    return LEARNING_RATE * (0.1 + 0.9 * remaining)


def trained(seed: int, task: str, map_seed: int, steps: int, crm: bool, seconds: float | None) -> list[tuple[int, int, float]]:
    """The episodes of a training run."""
    torch.set_num_threads(1)
    env = DummyVecEnv([partial(world, task, map_seed)] * WORLDS)
    more: dict[str, Any] = counterfactual(env, seed=seed) if crm else {}
    model = DoubleDqn(
        "MlpPolicy",
        env,
        learning_rate=falling,
        policy_kwargs={"net_arch": LAYERS, "optimizer_kwargs": {"fused": True}},
        seed=seed,
        **SETTINGS,
        **more,
    )
    callback = Episodes(seconds)
    model.learn(steps, callback)
    return callback.found


def curve(episodes: list[tuple[int, int, float]], best: float, tick: int, steps: int) -> list[float]:
    """The mean of the last episodes' reward per step, relative to the best, at every tick."""
    points, last, next_one = [], [0.0], 0
    for at in range(tick, steps + 1, tick):
        while next_one < len(episodes) and episodes[next_one][0] <= at:
            _, length, reward = episodes[next_one]
            last = [*last, reward / length][-WINDOW:]
            next_one += 1
        points.append(statistics.mean(last) / best)
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="def-strict", choices=list(tasks("water")))
    parser.add_argument("--map", type=int, default=0, help="the seed of the balls")
    parser.add_argument("--steps", type=int, default=860_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1, help="how many seeds are learnt at a time")
    parser.add_argument("--cross-product", action="store_true", help="without counterfactual experience")
    parser.add_argument("--seconds", type=float, help="stop a run after this time")
    parser.add_argument("--out", type=Path, help="the folder for the curves")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    if args.small:
        args.task, args.steps, args.seeds = "ab", 3_000, [1]
        SETTINGS.update(buffer_size=50_000, batch_size=128, learning_starts=1_000)
        LAYERS[:] = [64]
    start = time.monotonic()
    one = partial(trained, task=args.task, map_seed=args.map, steps=args.steps, crm=not args.cross_product, seconds=args.seconds)
    if args.jobs > 1:
        # A process that uses a GPU cannot be forked.
        with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
            runs = dict(zip(args.seeds, pool.map(one, args.seeds)))
    else:
        runs = {seed: one(seed) for seed in args.seeds}
    seconds = time.monotonic() - start
    best = max((reward / length for episodes in runs.values() for _, length, reward in episodes), default=0.0) or 1.0
    tick = max(1, args.steps // 200)
    done = min((episodes[-1][0] for episodes in runs.values() if episodes), default=0)
    curves = {seed: curve(episodes, best, tick, done) for seed, episodes in runs.items()}
    median = [statistics.median(points) for points in zip(*curves.values(), strict=True)]
    reached = next((tick * (i + 1) for i, value in enumerate(median) if value >= 0.95), None)
    for seed, episodes in runs.items():
        success = statistics.mean(reward > 0 for _, _, reward in episodes[-WINDOW:]) if episodes else 0.0
        print(f"seed {seed}: {len(episodes)} episodes, {success:.0%} of the last {WINDOW} succeed")
    at_the_end = f"{median[-1]:.2f}" if median else "no"
    print(f"{args.task}, {'cross product' if args.cross_product else 'CRM'}: {at_the_end} of the best episode ({1 / best:.0f} steps) after {done} steps")
    print(f"0.95 after {reached} steps; {seconds:.0f} s for {len(runs)} seeds, {args.jobs} at a time")
    if args.out:
        name = f"water-{args.task}-{'cross-product' if args.cross_product else 'crm'}.csv"
        with (args.out / name).open("w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["steps", "median", *(f"seed {seed}" for seed in curves)])
            for i, row in enumerate(zip(median, *curves.values(), strict=True)):
                writer.writerow([tick * (i + 1), *(f"{value:.4f}" for value in row)])


if __name__ == "__main__":
    main()
