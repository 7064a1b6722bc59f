"""How fast the package is, beside MiniGrid and the native figures: prints one table.

    python python/benches/speed.py [--repeats 5] [--seconds 1] [--only wrapper ...] [--form target/release/form]

Needs the package as `pip install ./python` builds it and Gymnasium; MiniGrid and the binary `form` for what stands beside. Every part is
measured in a process of its own, and the turns are repeated, so that what else the machine does hits all alike. Values are medians,
with the lowest and the highest. The wrapper is measured in processor time, all else in elapsed time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

WORLDS = 4096
MONITORS = 16384


def rate(work: Callable[[], int], seconds: float) -> float:
    """How much of it is done in a second."""
    work()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        done += work()
    return done / (time.perf_counter() - start)


def machine(seconds: float) -> dict[str, float]:
    """The machine of the paper's Figure 6, 14 atoms, one label a step."""
    import timeit

    import numpy as np

    import formrl

    bound = formrl.Task("blue-all-yellow-7").machine.bind(
        formrl.Task("blue-all-yellow-7").signature.union(formrl.Signature(["lava"]))
    )
    atoms = bound.signature.atoms
    random = np.random.default_rng(0)
    tables = [np.eye(len(atoms), dtype=bool)[random.integers(0, len(atoms), MONITORS)] for _ in range(8)]
    monitors = bound.monitors(MONITORS)
    steps = monitors.observe(tables[0])

    def batched() -> int:
        for table in tables:
            monitors.observe(table, out=steps)
            monitors.reset(steps.over)
        return len(tables) * MONITORS

    found = {"machine, many": rate(batched, seconds)}
    monitor, label = bound.monitor(), [next(atom for atom in atoms if atom.startswith("yellow"))]
    row, bits = bound.signature.encode(label), 1 << bound.signature.index(label[0])

    def empty(labels: object) -> None:
        pass

    def nanoseconds(call: Callable[[Any], object], given: object) -> float:
        number = 100_000
        timer = timeit.Timer("call(given)", globals={"call": call, "given": given})
        return min(timer.repeat(9, number)) / number * 1e9

    found["empty call"] = nanoseconds(empty, label)
    found["machine, one, a label"] = nanoseconds(monitor.observe, label)
    found["machine, one, bits"] = nanoseconds(monitor.observe, bits)
    found["machine, one, a row"] = nanoseconds(monitor.observe, row)
    return found


def stepped(envs: Any, n: int, actions: int, seconds: float) -> float:
    """Steps a second of a vector environment with random actions."""
    import numpy as np

    chosen = np.random.default_rng(0).integers(0, actions, (16, n))
    envs.reset(seed=0)

    def work() -> int:
        for row in chosen:
            envs.step(row)
        return len(chosen) * n

    return rate(work, seconds)


def worlds(seconds: float) -> dict[str, float]:
    """The paper's room through Gymnasium, full view, labels, the task's machine underneath."""
    import gymnasium
    import numpy as np

    import formrl.worlds

    found = {}
    for copy, name in ((False, "worlds, the same arrays"), (True, "worlds, new arrays")):
        envs = gymnasium.make_vec("formrl/all-yellow-v0", num_envs=WORLDS, copy=copy, maps=10)
        found[name] = stepped(envs, WORLDS, 7, seconds)
    env = gymnasium.make("formrl/all-yellow-v0", maps=10)
    actions = np.random.default_rng(0).integers(0, 7, 1000).tolist()
    env.reset(seed=0)

    def one() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(actions)

    found["one world"] = rate(one, seconds)
    return found


def wrapper(seconds: float) -> dict[str, float]:
    """A step of `MachineWrapper` above that of the environment, which does next to nothing: a label every fourth step."""
    import gymnasium
    import numpy as np

    import formrl
    from formrl.wrappers import MachineWrapper

    class Bare(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (8,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)
        signature = formrl.Signature(["yellow(o0)", "yellow(o1)", "yellow(o2)", "goal"])

        def __init__(self) -> None:
            self.observation, self.time = np.zeros(8, np.float32), 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
            return self.observation, {"labels": []}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.time += 1
            labels = [] if self.time % 4 else ["yellow(o0)"] if self.time % 8 else ["yellow(o1)"]
            return self.observation, 0.0, False, False, {"labels": labels}

    machine = formrl.Machine.parse("initial u0\naccept u2\nu0 -> u1 : forall X. yellow(X)\nu1 -> u2 : goal")

    def nanoseconds(env: Any) -> float:
        """Of processor time: what else the computer does is not counted."""
        env.reset(seed=0)
        number, best, end = 5_000, float("inf"), time.perf_counter() + 3 * seconds
        while time.perf_counter() < end:
            start = time.process_time()
            for _ in range(number):
                env.step(0)
            best = min(best, (time.process_time() - start) / number * 1e9)
        return best

    bare = nanoseconds(Bare())
    found = {}
    for observation in ("plain", "dict", "flat"):
        env = MachineWrapper(Bare(), machine, observation=observation, shaping=0.99)
        found[f"wrapper, one, {observation}, above the environment"] = nanoseconds(env) - bare
    return found


def minigrid(seconds: float) -> dict[str, float]:
    """MiniGrid's own empty room, 16 x 16, full view, through Gymnasium."""
    import gymnasium
    import minigrid  # noqa: F401
    from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper

    wrappers = [FullyObsWrapper, ImgObsWrapper]
    envs = gymnasium.make_vec(
        "MiniGrid-Empty-16x16-v0", num_envs=16, vectorization_mode="sync", wrappers=wrappers
    )
    return {"MiniGrid, vector": stepped(envs, 16, 7, seconds)}


def native(seconds: float) -> dict[str, float]:
    """What `form bench` says: the package is built without it, so the binary is asked."""
    command = [os.environ.get("FORM", "form"), "bench", "machine", "env", "--json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
    names = ("machine.step", "env.step", "env.step+observe")
    return {row["name"]: row["value"] for row in rows if row["name"] in names}


PARTS = {"machine": machine, "wrapper": wrapper, "worlds": worlds, "minigrid": minigrid, "native": native}


def main() -> None:
    """Measure all parts in turn and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    options.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="measure just these")
    options.add_argument("--form", default="form", help="the binary, built in the same profile")
    options.add_argument("--part", choices=PARTS, help="measure just this and print JSON")
    chosen = options.parse_args()
    if chosen.part:
        print(json.dumps(PARTS[chosen.part](chosen.seconds)))
        return
    found: dict[tuple[str, str], list[float]] = {}
    for turn in range(chosen.repeats):
        for part in chosen.only:
            threads = (("one", "1"), ("all", "")) if part in ("machine", "worlds") else (("all", ""),)
            for cores, number in threads:
                print(f"turn {turn + 1} of {chosen.repeats}: {part}, {cores}", file=sys.stderr)
                command = [sys.executable, __file__, "--part", part, "--seconds", str(chosen.seconds)]
                environment = {**os.environ, "FORM": chosen.form, **({"RAYON_NUM_THREADS": number} if number else {})}
                done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                for name, value in json.loads(done.stdout).items():
                    found.setdefault((name, cores), []).append(value)
    middle = {key: statistics.median(values) for key, values in found.items()}
    print("| what | cores | median | lowest to highest | ratio |\n|---|---|---|---|---|")
    for (name, cores), values in found.items():
        unit = "ns" if "one, " in name or name == "empty call" else "/s"
        ratio = ""
        if unit == "ns" and name.startswith("machine"):
            ratio = f"{middle[name, cores] - middle['empty call', cores]:,.0f} ns above an empty call"
        elif name == "machine, many" and "native" in chosen.only:
            ratio = f"{middle[name, cores] / middle['machine.step', 'all']:.2f} of native `machine.step`, one core"
        elif "world" in name and {"native", "minigrid"} <= set(chosen.only):
            ratio = (
                f"{middle[name, cores] / middle['MiniGrid, vector', 'all']:,.0f} times MiniGrid, "
                f"{middle[name, cores] / middle['env.step+observe', 'all']:.2f} of native `env.step+observe`, one core"
            )
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"| {name} | {cores} | {middle[name, cores]:,.0f} {unit} | {spread} | {ratio} |")


if __name__ == "__main__":
    main()
