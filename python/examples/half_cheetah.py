"""HalfCheetah with the two machines of Toro Icarte et al. (JAIR 2022): continuous control with counterfactual experience (CRM).

    python half_cheetah.py --steps 3000000 --out results/benchmarks    # four hours of one core for each task
    python half_cheetah.py --small                                      # half a minute: that it runs

Needs `pip install "gymnasium[mujoco]"`. What the cheetah can notice is how far it has come. Task 1 is to run forth and back between
two lines, again and again; task 2 is to pass five lines in order. A thousand is paid for coming back, or for the last line; every step
costs what MuJoCo's control does. The published curves are the reward per step of the last 100 episodes; after 3 million steps of DDPG
with CRM their medians over 20 seeds are at 8.3 and 2.1 (8.9 with options, HRM). Many seeds are learnt faster by
`python/benches/half_cheetah_seeds.py`.

Rewards are divided by 100 for the learner, which is Stable-Baselines3's SAC on four cheetahs at once. The curve is of the true ones.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from formrl import half_cheetah
from formrl.sb3 import counterfactual
from formrl.wrappers import MachineWrapper

SCALE = 100.0
CHEETAHS = 4
LAYERS = [256, 256]


def scaled(machine: float, environment: float) -> float:
    """What the learner gets: both rewards, made small."""
    return (machine + environment) / SCALE


def environment(task: str) -> MachineWrapper:
    """The cheetah, paid for its task and not for running."""
    return MachineWrapper(half_cheetah.env(), half_cheetah.tasks()[task], reward=scaled, observation="flat", truth="machine")


class Curve(BaseCallback):  # type: ignore[misc]
    """Steps so far, of all cheetahs together, and the true reward per step, of every episode."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.found: list[tuple[int, float]] = []
        self._rewards: list[list[float]] = [[] for _ in range(CHEETAHS)]
        self._until = None if seconds is None else time.monotonic() + seconds

    def _on_step(self) -> bool:
        for rewards, reward, done in zip(self._rewards, self.locals["rewards"], self.locals["dones"]):
            rewards.append(SCALE * float(reward))
            if done:
                self.found.append((self.num_timesteps, statistics.mean(rewards)))
                rewards.clear()
        return self._until is None or time.monotonic() < self._until


def trained(task: str, steps: int, seed: int, crm: bool, seconds: float | None) -> tuple[int, list[tuple[int, float]]]:
    """Steps made; steps so far and reward per step of every episode of a training run."""
    env = DummyVecEnv([partial(environment, task)] * CHEETAHS)
    more: dict[str, Any] = counterfactual(env, seed=seed) if crm else {}
    model = SAC(
        "MlpPolicy",
        env,
        policy_kwargs={"net_arch": LAYERS},
        buffer_size=2_000_000,
        batch_size=256 if crm else 64,
        train_freq=1,
        gradient_steps=2,
        gamma=0.99,
        learning_starts=min(10_000, steps // 2),
        seed=seed,
        **more,
    )
    curve = Curve(seconds)
    model.learn(steps, curve)
    return model.num_timesteps, curve.found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(half_cheetah.tasks()), choices=list(half_cheetah.tasks()))
    parser.add_argument("--steps", type=int, default=3_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cross-product", action="store_true", help="without counterfactual experience")
    parser.add_argument("--seconds", type=float, help="stop a run after this time")
    parser.add_argument("--out", type=Path, help="the folder for the curves")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.small:
        args.steps = 1_500
        LAYERS[:] = [64]
    for task in args.tasks:
        start = time.monotonic()
        done, found = trained(task, args.steps, args.seed, not args.cross_product, args.seconds)
        seconds = time.monotonic() - start
        last = [reward for _, reward in found[-100:]]
        end = f"{statistics.mean(last):.2f} per step in the last {len(last)} episodes" if last else "no episode"
        print(f"{task}, {'cross product' if args.cross_product else 'CRM'}, seed {args.seed}: {end}, {done} steps, {seconds:.0f} s")
        if args.out:
            name = f"half-cheetah-{task}-{'cross-product' if args.cross_product else 'crm'}-{args.seed}.csv"
            with (args.out / name).open("w", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerow(["steps", "reward per step"])
                writer.writerows([at, f"{reward:.3f}"] for at, reward in found)


if __name__ == "__main__":
    main()
