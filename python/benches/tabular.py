"""The tabular benchmarks of Toro Icarte et al. (JAIR 2022) beside the published figures.

    python python/benches/tabular.py FOLDER                     # writes median learning curves, a row for every run, and a table
    python python/benches/tabular.py FOLDER --maps REPOSITORY   # Craft world also on the published maps
    python python/benches/tabular.py --choose                   # the settings, on seeds and maps that are not reported

Office and Craft world, single task and all tasks, with the cross-product baseline, CRM, and CRM with shaping; five seeds each, on
five maps in Craft world. Three minutes of one core. REPOSITORY is a clone of the published code, `reward_machines`.

The raw results in that repository say that its Office world was another one when the figures were made: the shortest episodes that
succeed have 11 steps (coffee), 23 (mail) and 25 (coffee and mail), where its map, which is also ours, takes 15, 29 and 29. A door
between the room of the office and the one below gives these three lengths. `office, one more door` is that world.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from formrl import Machine, tabular

REPORTED = {"seeds": range(201, 206), "maps": range(200, 205)}
FOR_THE_CHOICE = {"seeds": range(101, 106), "maps": range(100, 102)}
# World, number of steps, steps between points of a curve; tasks that are learnt together, with the published steps to 0.95.
WORLDS: dict[str, dict[str, Any]] = {
    "office": {
        "steps": 100_000,
        "tick": 1_000,
        "tasks": {"coffee-and-mail": "18–22", "patrol": "18–22", "all": "29–32"},
    },
    "office, one more door": {"steps": 100_000, "tick": 1_000, "tasks": {"mail": "18–22", "coffee-and-mail": "18–22"}},
    "craft": {"steps": 2_000_000, "tick": 10_000, "tasks": {"gem": "710–770", "all": "800–860"}},
    "craft, published maps": {"steps": 2_000_000, "tick": 10_000, "tasks": {"gem": "710–770", "all": "800–860"}},
}
METHODS: dict[str, dict[str, Any]] = {
    "cross product": {"crm": False},
    "CRM": {},
    "CRM with shaping": {"shaping": "value"},
}
# As published, and as chosen by `--choose`.
SETTINGS: dict[str, dict[str, float]] = {
    "published": {"learning_rate": 0.5, "initial": 2.0},
    "deterministic": {"learning_rate": 1.0, "initial": 1.0},
}


def with_a_door(table: tabular.LabelledMdp) -> tabular.LabelledMdp:
    """Office world with a door between the room of the office and the one below."""
    width, up, down = 12, 0, 2
    below, above = 6 * width + 4, 5 * width + 4
    outcomes = [[table.outcomes(state, action) for action in range(table.actions)] for state in range(table.states)]
    outcomes[below][up] = [(1.0, above, 0.0, False)]
    outcomes[above][down] = [(1.0, below, 0.0, False)]
    labels = np.array([table.signature.encode(table.labels(state)) for state in range(table.states)])
    return tabular.LabelledMdp(table.signature, labels, outcomes, [(1.0, 7 * width + 2)])


def tables(world: str, maps: range, repository: Path | None) -> list[tabular.LabelledMdp]:
    office = tabular.BenchmarkWorld.office().table()
    if world.startswith("office"):
        return [office if world == "office" else with_a_door(office)]
    if world == "craft":
        return [tabular.BenchmarkWorld.craft(seed=seed).table() for seed in maps]
    if repository is None:
        return []
    files = [repository / f"reward_machines/envs/grids/maps/map_{number}.txt" for number in range(1, 11)]
    return [tabular.BenchmarkWorld.craft(map=file.read_text()).table() for file in files]


def machines_of(world: str, tasks: str) -> list[Machine]:
    every = dict(tabular.BenchmarkWorld.tasks(world.split(",")[0]))
    return list(every.values()) if tasks == "all" else [every[tasks]]


def median_curve(curves: list[Any]) -> list[float]:
    points = min(len(curve) for curve in curves)
    return [statistics.median(float(curve[i]) for curve in curves) for i in range(points)]


def measure(
    world: str, machines: list[Machine], maps: list[Any], seeds: range, settings: dict[str, Any], pool: ThreadPoolExecutor
) -> tuple[list[Any], float]:
    """The curves, map by map and seed by seed, and the seconds of one core of a run."""
    steps, tick = WORLDS[world]["steps"], WORLDS[world]["tick"]

    def learn(job: tuple[int, int]) -> Any:
        table, best = maps[job[0]]
        result = tabular.q_learning(table, machines, steps=steps, seed=job[1], **settings)
        return result.curve(best, tick=tick)

    jobs = [(place, seed) for place in range(len(maps)) for seed in seeds]
    start = time.process_time()
    curves = list(pool.map(learn, jobs))
    return curves, (time.process_time() - start) / len(jobs)


def reached(curve: Any, tick: int) -> int | None:
    """Thousand steps to 0.95."""
    first = next((i + 1 for i, value in enumerate(curve) if value >= 0.95), None)
    return None if first is None else first * tick // 1000


def choose(pool: ThreadPoolExecutor) -> None:
    """All pairs of a few learning rates and first values, with CRM."""
    seeds, maps = FOR_THE_CHOICE["seeds"], FOR_THE_CHOICE["maps"]
    print("learning rate, initial:", *(f"{world} {tasks}" for world in ("office", "craft") for tasks in WORLDS[world]["tasks"]), sep="\t")
    for rate, initial in itertools.product([0.5, 0.8, 1.0], [1.0, 2.0]):
        row = []
        for world in ("office", "craft"):
            drawn = tables(world, maps, None)
            for tasks in WORLDS[world]["tasks"]:
                machines = machines_of(world, tasks)
                both = [(table, tabular.optimum(table, machines)) for table in drawn]
                curves, _ = measure(world, machines, both, seeds, {"learning_rate": rate, "initial": initial}, pool)
                row.append(reached(median_curve(curves), WORLDS[world]["tick"]))
        print(rate, initial, *row, sep="\t", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--maps", type=Path, metavar="REPOSITORY")
    parser.add_argument("--choose", action="store_true")
    args = parser.parse_args()
    pool = ThreadPoolExecutor()
    if args.choose or args.folder is None:
        return choose(pool) if args.choose else parser.error("name a folder, or --choose")
    folder: Path = args.folder
    folder.mkdir(parents=True, exist_ok=True)
    rows, runs = [], []
    for world, facts in WORLDS.items():
        drawn = tables(world, REPORTED["maps"], args.maps)
        for tasks, published in facts["tasks"].items() if drawn else ():
            machines = machines_of(world, tasks)
            maps = [(table, tabular.optimum(table, machines)) for table in drawn]
            for (name, choice), (method, how) in itertools.product(SETTINGS.items(), METHODS.items()):
                if "," in world and (method == "cross product" or name != "published"):
                    continue
                curves, seconds = measure(world, machines, maps, REPORTED["seeds"], {**choice, **how}, pool)
                curve = median_curve(curves)
                steps = reached(curve, facts["tick"])
                for (place, seed), own in zip(itertools.product(range(len(maps)), REPORTED["seeds"]), curves, strict=True):
                    first = reached(own, facts["tick"])
                    runs.append([world, tasks, method, name, place + 1, seed, "never" if first is None else first, f"{own[-1]:.4f}"])
                row = [world, f"{len(machines)} tasks" if tasks == "all" else tasks, method, name, "never" if steps is None else str(steps)]
                rows.append([*row, published if method.startswith("CRM") else "", f"{curve[-1]:.3f}", f"{seconds:.2f}"])
                print(*rows[-1], sep="\t", flush=True)
                file = folder / f"{world}-{tasks}-{method}-{name}.csv".replace(", ", "-").replace(" ", "-").lower()
                with file.open("w", newline="") as out:
                    writer = csv.writer(out, lineterminator="\n")
                    writer.writerow(["steps", "median"])
                    writer.writerows([(i + 1) * facts["tick"], f"{v:.4f}"] for i, v in enumerate(curve))
    with (folder / "tabular-runs.csv").open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["world", "tasks", "method", "settings", "map", "seed", "thousand steps to 0.95", "at the end"])
        writer.writerows(runs)
    head = ["world", "task", "method", "settings", "thousand steps to 0.95", "published", "at the end", "CPU s per run"]
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
    seeds, maps_drawn = REPORTED["seeds"], REPORTED["maps"]
    (folder / "tabular.md").write_text(
        "# Tabular benchmarks\n\nMade by `python python/benches/tabular.py results/benchmarks`, the published maps with `--maps`. Medians over seeds "
        f"{seeds[0]} to {seeds[-1]} (Craft world: on each of maps {maps_drawn[0]} to {maps_drawn[-1]}, or of the ten published ones) of the reward per step "
        "relative to the optimum, averaged over the last 100 episodes per task. The settings `deterministic` were chosen on other seeds and maps. "
        "`tabular-runs.csv` has every run.\n\n"
        + "\n".join(lines)
        + "\n"
    )


if __name__ == "__main__":
    main()
