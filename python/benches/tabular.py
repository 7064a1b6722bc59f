"""The tabular benchmarks of Toro Icarte et al. (JAIR 2022) beside the published figures: `python python/benches/tabular.py FOLDER`.

Office and Craft world, single task and all tasks, with the cross-product baseline, CRM, and CRM with shaping; five seeds each, on
ten maps in Craft world. Writes the median learning curves and a table to FOLDER. Under three minutes of one core.
"""

from __future__ import annotations

import csv
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from formrl import Machine, tabular

SEEDS = 5
MAPS = 10
# World, number of steps, steps between points of a curve, the task that is learnt alone, published steps to 0.95.
WORLDS: dict[str, dict[str, Any]] = {
    "office": {"steps": 100_000, "tick": 1_000, "single": "coffee-and-mail", "published": ("18–22", "29–32")},
    "craft": {"steps": 2_000_000, "tick": 10_000, "single": "gem", "published": ("710–770", "800–860")},
}
METHODS: dict[str, dict[str, Any]] = {
    "cross product": {"crm": False},
    "CRM": {},
    "CRM with shaping": {"shaping": "value"},
}
# As published, and for worlds without chance: values move all the way, and start at what can be had at most.
SETTINGS: dict[str, dict[str, float]] = {
    "published": {"learning_rate": 0.5, "initial": 2.0},
    "deterministic": {"learning_rate": 1.0, "initial": 1.0},
}


def tables(world: str) -> list[tabular.LabelledMdp]:
    if world == "office":
        return [tabular.BenchmarkWorld.office().table()]
    return [tabular.BenchmarkWorld.craft(seed=seed).table() for seed in range(MAPS)]


def median_curve(curves: list[Any]) -> list[float]:
    points = min(len(curve) for curve in curves)
    return [statistics.median(float(curve[i]) for curve in curves) for i in range(points)]


def measure(
    world: str, machines: list[Machine], maps: list[Any], settings: dict[str, Any], pool: ThreadPoolExecutor
) -> tuple[list[float], float]:
    steps, tick = WORLDS[world]["steps"], WORLDS[world]["tick"]

    def learn(job: tuple[int, int]) -> Any:
        table, best = maps[job[0]]
        result = tabular.q_learning(table, machines, steps=steps, seed=job[1], **settings)
        return result.curve(best, tick=tick)

    jobs = [(place, seed) for place in range(len(maps)) for seed in range(SEEDS)]
    start = time.process_time()
    curves = list(pool.map(learn, jobs))
    return median_curve(curves), (time.process_time() - start) / len(jobs)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    pool = ThreadPoolExecutor()
    for world, facts in WORLDS.items():
        every = dict(tabular.BenchmarkWorld.tasks(world))
        for number, several in enumerate([False, True]):
            machines = list(every.values()) if several else [every[facts["single"]]]
            maps = [(table, tabular.optimum(table, machines)) for table in tables(world)]
            for name, choice in SETTINGS.items():
                for method, how in METHODS.items():
                    curve, seconds = measure(world, machines, maps, {**choice, **how}, pool)
                    reached = next((i + 1 for i, value in enumerate(curve) if value >= 0.95), None)
                    tasks = f"{len(machines)} tasks" if several else facts["single"]
                    steps = "never" if reached is None else f"{reached * facts['tick'] // 1000}"
                    published = facts["published"][number] if method.startswith("CRM") else ""
                    rows.append([world, tasks, method, name, steps, published, f"{curve[-1]:.3f}", f"{seconds:.2f}"])
                    print(*rows[-1], sep="\t", flush=True)
                    file = folder / f"{world}-{'all' if several else 'single'}-{method.replace(' ', '-').lower()}-{name}.csv"
                    with file.open("w", newline="") as out:
                        writer = csv.writer(out, lineterminator="\n")
                        writer.writerow(["steps", "median"])
                        writer.writerows([(i + 1) * facts["tick"], f"{v:.4f}"] for i, v in enumerate(curve))
    head = ["world", "task", "method", "settings", "thousand steps to 0.95", "published", "at the end", "CPU s per run"]
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
    (folder / "README.md").write_text(
        "# Tabular benchmarks\n\nMade by `python python/benches/tabular.py results/benchmarks`. Median over "
        f"{SEEDS} seeds (Craft world: on each of {MAPS} random maps) of the reward per step relative to the optimum, "
        "averaged over the last 100 episodes per task.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    main()
