#!/usr/bin/env python3
"""The speed of this project's policies beside PyTorch and Stable-Baselines3, measured in one run: prints one table.

    benches/policy/run.py [--repeats 3] [--seconds 2.5] [--without-compile]

Needs Linux (`taskset`), Python 3.11 or newer with venv, a C++ compiler and Rust; installs the pinned versions of
requirements.txt and of crates/form-rl/tests/torch under target/policy. Every contender is measured in turn, on one core and
on all, and the turns are repeated, so that what else the machine does hits all alike; the best of each counts, since what
else goes on can only slow a contender down. About ten minutes.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TORCH = ROOT / "crates/form-rl/tests/torch"
WORK = ROOT / "target/policy"
PYTHON = WORK / "venv/bin/python"
FORM = ROOT / "target/release/form"

EAGER, BEST, COMPILED = "PyTorch, as people write it", "PyTorch, best settings", "PyTorch, torch.compile"
SB3 = "Stable-Baselines3 on MiniGrid"
# What is measured: how the table says it, our row of `form bench`, the others with how many times faster we want to be.
MEASUREMENTS = {
    "train": (
        "samples trained, minibatch 4096",
        "net.train",
        [("eager", EAGER, 5.0), ("best", BEST, 2.5), ("compiled", COMPILED, None)],
    ),
    "infer": (
        "samples judged, batch 256",
        "net.infer",
        [("eager", EAGER, 5.0), ("best", BEST, 2.5), ("compiled", COMPILED, None)],
    ),
    "end-to-end": (
        "environment steps, batch 16384, 20 epochs",
        "train.end-to-end",
        [("eager", SB3, 6.0)],
    ),
}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, cwd=ROOT, **options)


def prepare():
    """Installs the others and builds ours."""
    requirements = [TORCH / "requirements.txt", HERE / "requirements.txt"]
    run(sys.executable, ROOT / ".ci/install.py", WORK, *requirements)
    run("cargo", "build", "--release", "--quiet")
    with open(WORK / "episodes.jsonl", "w") as file:
        episodes = ["cargo", "run", "--release", "--quiet", "-p", "form-env", "--example", "episodes"]
        run(*episodes, "--", "2", "7", "all-yellow", stdout=file)


def on(cores, *command, check=True):
    """Runs a measurement on some cores."""
    pinned = ["taskset", "--cpu-list", ",".join(map(str, cores)), *map(str, command)]
    environment = os.environ | {"RAYON_NUM_THREADS": str(len(cores))}
    return subprocess.run(pinned, check=check, cwd=ROOT, env=environment, capture_output=True, text=True)


def ours(cores, name):
    """A row of `form bench`, or nothing if there is none of this name yet."""
    outcome = on(cores, FORM, "bench", name, "--json", check=False)
    if outcome.returncode == 2 and "no figure starts with" in outcome.stderr:
        return None
    outcome.check_returncode()
    return next(row["value"] for row in json.loads(outcome.stdout)["rows"] if row["name"] == name)


def theirs(cores, what, engine, seconds):
    printed = on(cores, PYTHON, HERE / "contenders.py", what, engine, seconds, WORK / "episodes.jsonl").stdout
    return float(printed.split()[-1])


def measure(options, sets):
    """All figures by what was measured, where, and whose it is."""
    found = {}
    for turn in range(options.repeats):
        for where, cores in sets:
            for what, (_, name, others) in MEASUREMENTS.items():
                # What takes minutes is measured on all cores only.
                if what == "end-to-end" and where != sets[-1][0]:
                    continue
                print(f"turn {turn + 1} of {options.repeats}, {where}, {what} …", file=sys.stderr)
                found.setdefault((what, where, "FORM"), []).append(ours(cores, name))
                for engine, about, _ in others:
                    if engine == "compiled" and options.without_compile:
                        continue
                    figure = theirs(cores, what, engine, options.seconds)
                    found.setdefault((what, where, about), []).append(figure)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--seconds", type=float, default=2.5, help="of each measurement; `form bench` has its own 2.5")
    options.add_argument("--without-compile", action="store_true", help="leave torch.compile out")
    options = options.parse_args()
    prepare()
    cores = sorted(os.sched_getaffinity(0))
    sets = [("one core", cores[:1])] + ([(f"{len(cores)} cores", cores)] if len(cores) > 1 else [])
    found = measure(options, sets)
    print(f"| | engine | cores | a second, best of {options.repeats} | lowest | FORM is faster by | wanted |")
    print("|---|---|---|---|---|---|---|")
    for (what, where, engine), figures in found.items():
        about, name, others = MEASUREMENTS[what]
        if None in figures:
            print(f"| {about} | FORM | {where} | not there yet: `form bench {name}` | | | |")
            continue
        best = found[what, where, "FORM"]
        ratio = "" if engine == "FORM" or None in best else f"{max(best) / max(figures):.1f}"
        wanted = next((f"{wanted:g}" for _, other, wanted in others if other == engine and wanted), "")
        print(f"| {about} | {engine} | {where} | {max(figures):,.0f} | {min(figures):,.0f} | {ratio} | {wanted} |")


if __name__ == "__main__":
    main()
