"""Water world with DQN and counterfactual experience (CRM), as Toro Icarte et al. (JAIR 2022) measure it.

    python water_world.py --steps 860000 --seeds 1 2 3 4 5 --out results/benchmarks    # hours of one core
    python water_world.py --small                                                       # half a minute: that it runs

The agent is a ball among twelve of six colours. Its task is to touch colours in an order, which a machine says; unless `--task` names
another one, it is the one that the paper learns alone: red, green, blue and, beside it, yellow, cyan, magenta, and nothing else.

The world shows positions and velocities, the wrapper adds the machine's state, and `formrl.sb3.counterfactual` gives DQN, of every
step, what it would have been in each of the machine's other states. The network is smaller than the paper's (three layers of 1,024
units, a batch of 32 for every state of the machine, one update per step), so that it learns on a processor.

A curve is the reward per step of the last 100 episodes, relative to the best episode of all seeds: as the published ones are drawn.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback

from formrl.benchmarks import WaterEnv, tasks
from formrl.sb3 import counterfactual
from formrl.wrappers import MachineWrapper

WINDOW = 100


class Episodes(BaseCallback):  # type: ignore[misc]
    """Steps so far, length and reward of every episode."""

    def __init__(self, budget: float | None) -> None:
        super().__init__()
        self.found: list[tuple[int, int, float]] = []
        self._length, self._reward = 0, 0.0
        self._budget = budget

    def _on_step(self) -> bool:
        self._length += 1
        self._reward += float(self.locals["rewards"][0])
        if self.locals["dones"][0]:
            self.found.append((self.num_timesteps, self._length, self._reward))
            self._length, self._reward = 0, 0.0
        return self._budget is None or time.process_time() < self._budget


def trained(task: str, seed: int, steps: int, crm: bool, budget: float | None) -> list[tuple[int, int, float]]:
    """The episodes of a training run."""
    env = MachineWrapper(WaterEnv(), tasks("water")[task], observation="flat")
    more: dict[str, Any] = counterfactual(env, seed=seed) if crm else {}
    model = DQN(
        "MlpPolicy",
        env,
        policy_kwargs={"net_arch": [128, 128]},
        learning_rate=5e-4,
        buffer_size=500_000,
        batch_size=128,
        train_freq=4,
        gamma=0.9,
        target_update_interval=500,
        learning_starts=1_000,
        exploration_fraction=0.1,
        exploration_final_eps=0.01,
        seed=seed,
        **more,
    )
    callback = Episodes(None if budget is None else time.process_time() + budget)
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
    parser.add_argument("--task", default="abc-def-strict", choices=list(tasks("water")))
    parser.add_argument("--steps", type=int, default=860_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--cross-product", action="store_true", help="without counterfactual experience")
    parser.add_argument("--cpu-seconds", type=float, help="stop a run after this time of one core")
    parser.add_argument("--out", type=Path, help="the folder for the curves")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    if args.small:
        args.task, args.steps, args.seeds = "ab", 3_000, [1]
    torch.set_num_threads(1)
    start = time.process_time()
    runs = {seed: trained(args.task, seed, args.steps, not args.cross_product, args.cpu_seconds) for seed in args.seeds}
    seconds = (time.process_time() - start) / len(runs)
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
    print(f"0.95 after {reached} steps; {seconds:.0f} s of one core per seed")
    if args.out:
        name = f"water-{args.task}-{'cross-product' if args.cross_product else 'crm'}.csv"
        with (args.out / name).open("w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["steps", "median", *(f"seed {seed}" for seed in curves)])
            for i, row in enumerate(zip(median, *curves.values(), strict=True)):
                writer.writerow([tick * (i + 1), *(f"{value:.4f}" for value in row)])


if __name__ == "__main__":
    main()
