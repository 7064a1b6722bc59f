#!/usr/bin/env python3
"""The speed of this project's worlds beside MiniGrid, XLand-MiniGrid and Navix, measured in one run: prints one table.

    benches/worlds/run.py [--repeats 3] [--seconds 8]

Needs Linux (`taskset`), Python 3.11 or newer with venv, and Rust; installs the pinned versions of requirements.txt under
target/worlds. Every contender is measured in turn, and the turns are repeated, so that what else the machine does hits
all alike. The ratios are those of medians. About ten minutes.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "target/worlds"
FORM = ROOT / "target/release/form"

# Library, world, and how the table describes it.
OTHERS = [
    ("minigrid", str(WORK / "episodes.jsonl"), "MiniGrid", "the paper's room, 13 x 13, full view"),
    ("xminigrid", "XLand-MiniGrid-R4-13x13", "XLand-MiniGrid", "four rooms, 13 x 13, its 5 x 5 view"),
    ("xminigrid", "MiniGrid-EmptyRandom-16x16", "XLand-MiniGrid", "empty room, 16 x 16, its 7 x 7 view"),
    ("navix", "Navix-FourRooms-v0", "Navix", "four rooms, 17 x 17, full view"),
    ("navix", "Navix-Empty-16x16-v0", "Navix", "empty room, 16 x 16, full view"),
]
OURS = [
    ("env.step+observe", "the paper's room, 13 x 13, labels, machine, full view"),
    ("env.step", "the same without a view"),
]


def run(*command, **options):
    return subprocess.run(command, check=True, cwd=ROOT, **options)


def prepare():
    """Installs the others and builds ours; returns the others' Python."""
    WORK.mkdir(parents=True, exist_ok=True)
    python = WORK / "venv/bin/python"
    wanted, installed = (HERE / "requirements.txt").read_text(), WORK / "installed.txt"
    if not installed.exists() or installed.read_text() != wanted:
        run(sys.executable, "-m", "venv", "--clear", WORK / "venv")
        run(python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt")
        installed.write_text(wanted)
    run("cargo", "build", "--release", "--quiet")
    with open(WORK / "episodes.jsonl", "w") as file:
        episodes = ["cargo", "run", "--release", "--quiet", "-p", "form-env", "--example", "episodes"]
        run(*episodes, "--", "2", "7", "all-yellow", "green-but-one", "blue-all-yellow-7", stdout=file)
    return python


def steps_a_second(cores, *command):
    """Runs a measurement on some cores and returns what it printed."""
    pinned = ["taskset", "--cpu-list", ",".join(map(str, cores)), *map(str, command)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "RAYON_NUM_THREADS": str(len(cores))}
    return run(*pinned, env=environment, capture_output=True, text=True).stdout


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--seconds", type=float, default=8, help="of each measurement")
    options = options.parse_args()
    python = prepare()
    cores = sorted(os.sched_getaffinity(0))
    sets = [("one core", cores[:1])] + ([(f"{len(cores)} cores", cores)] if len(cores) > 1 else [])
    found = {}
    for turn in range(options.repeats):
        for where, used in sets:
            print(f"turn {turn + 1} of {options.repeats}, {where} …", file=sys.stderr)
            rows = json.loads(steps_a_second(used, FORM, "bench", "env", "--json"))["rows"]
            for name, about in OURS:
                # This row uses one core wherever it runs.
                if name == "env.step" or len(used) == 1:
                    value = next(row["value"] for row in rows if row["name"] == name)
                    found.setdefault(("FORM", about, where), []).append(value)
            for library, world, name, about in OTHERS:
                # MiniGrid has one thread.
                if library == "minigrid" and len(used) > 1:
                    continue
                printed = steps_a_second(used, python, HERE / "contenders.py", library, options.seconds, world)
                found.setdefault((name, about, where), []).append(float(printed.split()[-1]))
    minigrid = next(statistics.median(values) for (name, _, _), values in found.items() if name == "MiniGrid")
    print("| world | | cores | steps a second, median | lowest to highest | times MiniGrid |")
    print("|---|---|---|---|---|---|")
    for (name, about, where), values in sorted(found.items(), key=lambda row: -statistics.median(row[1])):
        median = statistics.median(values)
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"| {name} | {about} | {where} | {median:,.0f} | {spread} | {median / minigrid:,.1f} |")


if __name__ == "__main__":
    main()
