"""Training in three lines, and what a run can be asked."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import formrl

SMALL: Any = {"settings": {"worlds": 8, "ppo.train_batch": 256, "ppo.minibatch": 64, "evaluation.episodes": 4, "evaluation.final_episodes": 4}, "layouts": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[formrl.Run, list[dict[str, float | None]]]:
    told: list[dict[str, float | None]] = []
    out = tmp_path_factory.mktemp("runs") / "first"
    return formrl.train("all-yellow", method="handcrafted", out=out, iterations=2, progress=told.append, **SMALL), told


def test_a_run_in_three_lines(run: Any) -> None:
    made, told = run
    again = formrl.load_run(made.folder)
    assert again.machine.diff(formrl.Task("all-yellow").machine, formrl.Task("all-yellow").signature) is None
    assert again.machines[-1] == again.machine and again.task.name == "all-yellow"
    assert [row["iteration"] for row in again.metrics][-1] == 2 and len(told) == 3
    assert [row["steps"] for row in told] == [row["steps"] for row in again.metrics] and told[:2] == again.metrics[:2]
    assert again.config["method"] == "handcrafted" and again.result is not None
    assert again.success is not None and 0 <= again.success <= 1 and "2 iterations" in repr(again)
    assert again.policy("u0").actions == 3
    with pytest.raises(KeyError, match="u0"):
        again.policy("u7")


def test_evaluations_are_those_of_the_command_line(run: Any, tmp_path: Path) -> None:
    made, _ = run
    rows = made.evaluate(8, held_out=True, greedy=False, seed=3)
    assert len(rows) == 1 and 0 <= rows[0]["success"] <= 1 and "random" in rows[0]
    assert made.draw(tmp_path / "end.txt", map=1, seed=2).read_text()


def played(run: formrl.Run, seed: int, *, held_out: bool = False, greedy: bool = False) -> tuple[list[Any], list[int], str]:
    """An episode step by step, in the run's own environment."""
    env = run.env(held_out=held_out)
    observation, info = env.reset(seed=seed)
    observations, actions, over = [observation], [], False
    while not over:
        actions.append(run.act(observation, greedy=greedy))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        observations.append(observation)
        over = terminated or truncated
    return observations, actions, info["outcome"]


@pytest.mark.parametrize("method", ["handcrafted", "recurrent-ppo", "reach-avoid"])
def test_a_run_acts_as_it_is_played(method: str, tmp_path: Path) -> None:
    """Step by step in an environment it is the episode that the native player makes of the same seed: the first one of the first map."""
    settings: Any = SMALL | {"iterations": 1}
    if method == "recurrent-ppo":
        settings["settings"] = SMALL["settings"] | {"network.sequence": 32}
    elif method == "reach-avoid":
        # Until it has learnt its machine: some seconds.
        settings = {"layouts": 2}
    run = formrl.train("all-yellow", method=method, out=tmp_path / "run", progress=False, **settings)
    for seed in (1, 2):
        rollout = run.rollout(map=0, seed=seed, greedy=True)
        observations, actions, outcome = played(run, seed, greedy=True)
        # Where the machine is refuted, the native player stops.
        machine = run.task.machine if method == "recurrent-ppo" else run.machine
        refuted = not rollout.trace.agrees(machine.bind(run.task.signature))
        assert rollout.outcome == ("running" if refuted else outcome) and (refuted or rollout.steps == len(actions))
        assert actions[: rollout.steps] == rollout.actions and rollout.steps > 0
        assert (np.array(observations[: rollout.steps + 1]) == rollout.observations).all()
        assert len(rollout.labels) == len(rollout.states) == rollout.steps + 1
        assert rollout.success == (rollout.outcome == "goal") and not rollout.held_out
        if method == "reach-avoid":
            assert rollout.success and rollout.shortest is not None and rollout.steps >= rollout.shortest
            assert rollout.trace.kind == "goal" and rollout.trace.agrees(run.machine)
            assert rollout.states[0] == run.machine.initial and rollout.states[-1] == run.machine.accepting
            for state in (None, "u0"):
                with pytest.raises(formrl.FormError, match="one policy for all sub-tasks"):
                    run.policy(state)


def test_without_a_machine_actions_are_random(tmp_path: Path) -> None:
    """One iteration is too short to learn one: there is nothing to be greedy about."""
    run = formrl.train("all-yellow", method="single-policy", out=tmp_path / "run", iterations=1, progress=False, **SMALL)
    assert run.machine == formrl.nothing_known()
    env = run.env()
    seen, _ = env.reset(seed=1)
    assert run.probabilities(seen).tolist() == pytest.approx([1 / 3] * 3)
    actions = []
    for _ in range(20):
        actions.append(run.act(seen, greedy=True))
        seen = env.step(actions[-1])[0]
    assert len(set(actions)) == 3


def test_actions_are_drawn_by_the_environments_seed(run: Any) -> None:
    made, _ = run
    first, again = played(made, 3, held_out=True)[1], played(made, 3, held_out=True)[1]
    assert first == again and len(set(first)) > 1
    assert played(made, 4, held_out=True)[1] != first
    rollout = made.rollout(map=5, held_out=True, seed=3)
    assert rollout.held_out and rollout.map == 5 and rollout.actions == made.rollout(map=5, held_out=True, seed=3).actions
    assert "map=5" in repr(rollout) and "observations" not in repr(rollout)


def test_two_environments_at_once(run: Any) -> None:
    """The run follows the one that it is asked about, from its start on."""
    made, _ = run
    one, other = made.env(), made.env(held_out=True)
    one.reset(seed=1)
    seen, _ = other.reset(seed=1)
    probabilities = made.probabilities(seen)
    assert probabilities.shape == (3,) and probabilities.sum() == pytest.approx(1) and (made.probabilities(seen) == probabilities).all()
    assert made.act(env=gymnasium.Wrapper(one)) in range(3)
    with pytest.raises(formrl.WorldError, match="not what the run's environment shows"):
        made.act(255 - seen)


def test_policies_are_asked_at_every_step(run: Any) -> None:
    made, _ = run
    with pytest.raises(formrl.WorldError, match="run.env"):
        formrl.load_run(made.folder).act()
    env = made.env()
    with pytest.raises(formrl.WorldError, match="reset"):
        made.act()
    env.reset(seed=1)
    made.act()
    for _ in range(2):
        env.step(0)
    with pytest.raises(formrl.WorldError, match="after every step"):
        made.act()
    env.reset()
    env.step(0)
    with pytest.raises(formrl.WorldError, match="begin"):
        made.act()
    env.reset()
    assert made.act() in range(3)
    with pytest.raises(formrl.WorldError, match="map 7"):
        made.rollout(map=7)
    with pytest.raises(formrl.WorldError, match="map is a whole number, 0 or more, not -1"):
        made.rollout(map=-1)
    with pytest.raises(formrl.WorldError, match="seed is a whole number"):
        made.rollout(seed=-1)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(formrl.TrainError, match="no-such"):
        formrl.train("no-such", out=tmp_path / "run", progress=False)
    with pytest.raises(formrl.FileError, match="config.toml"):
        formrl.load_run(tmp_path)
    with pytest.raises(formrl.TrainError, match="^--set worlds=many: .*expected a whole number, 0 or more$"):
        formrl.train("all-yellow", out=tmp_path / "run", progress=False, settings={"worlds": "many"})
    with pytest.raises(formrl.TrainError) as error:
        formrl.train("all-yellow", out=tmp_path / "run", progress=False, iterations=-1)
    assert str(error.value) == "invalid value '-1' for '--iterations <N>': expected a whole number, 1 or more"


@pytest.mark.parametrize(
    ("name", "content", "place", "problem"),
    [
        ("result.json", b'{"ending": "conv', (1, 12), "Unterminated string"),
        ("result.json", b"[]", (1, 1), "expected an object"),
        ("result.json", b"\n{\xff}", (2, 2), "not text"),
        ("metrics.csv", b"iteration,success\n1,0.5\n2,\xff\xfe\n", (3, 3), "not text"),
        ("metrics.csv", b"iteration,success\n1,0.5\n2,often\n3,1\n", (3, 1), "could not convert string to float: 'often'"),
        ("metrics.csv", b"iteration,success\n1\n", (2, 1), "1 values in a table of 2 columns"),
        ("config.toml", b"\x80\x00\x00", (1, 1), "not text"),
        ("config.toml", b"task = 'all-yellow'\nview = \n", (2, 8), "Invalid value"),
    ],
)
def test_what_is_damaged_is_named(run: Any, tmp_path: Path, name: str, content: bytes, place: tuple[int, int], problem: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run[0].folder, folder)
    (folder / name).write_bytes(content)
    damaged = formrl.load_run(folder)
    asked = {"result.json": "result", "metrics.csv": "metrics", "config.toml": "config"}[name]
    with pytest.raises(formrl.DamagedFile) as found:
        getattr(damaged, asked)
    error = found.value
    assert (error.file, (error.line, error.column)) == (str(folder / name), place)
    assert str(error).startswith(f"{folder / name}:{place[0]}:{place[1]}: {problem}") and str(error).endswith("train the run again")
    with pytest.raises(formrl.FormError, match=name):
        damaged.env() if name == "config.toml" else repr(damaged)


def test_settings_that_are_missing_are_named(run: Any, tmp_path: Path) -> None:
    shutil.copytree(run[0].folder, tmp_path / "run")
    (tmp_path / "run" / "config.toml").write_text('layouts = "ten"\n')
    with pytest.raises(formrl.DamagedFile, match="expected a number `layouts`, not 'ten'"):
        formrl.load_run(tmp_path / "run").env()
    (tmp_path / "run" / "task.toml").unlink(missing_ok=True)
    with pytest.raises(formrl.DamagedFile, match="expected a text `task`, not None"):
        _ = formrl.load_run(tmp_path / "run").task


def test_a_checkpoint_that_is_cut_short_is_refused_in_words(run: Any, tmp_path: Path) -> None:
    whole = run[0].checkpoint.read_bytes()
    cut = tmp_path / "cut.safetensors"
    for length, problem in ((0, "empty or cut short"), (len(whole) // 2, "its length is not what its header says")):
        cut.write_bytes(whole[:length])
        with pytest.raises(formrl.FileError, match=problem) as found:
            formrl.Policy(cut, "u0")
        assert found.value.file == str(cut)


def test_tasks_that_are_trained_may_be_objects(run: Any, tmp_path: Path) -> None:
    small: Any = SMALL | {"method": "handcrafted", "iterations": 1, "progress": False}
    built_in = formrl.train(formrl.Task("all-yellow"), out=tmp_path / "built-in", **small)
    assert built_in.config["task"] == "all-yellow"
    text = formrl.Task("all-yellow").to_toml().replace('name = "all-yellow"', 'name = "mine"')
    mine = formrl.train(formrl.Task.from_toml(text), out=tmp_path / "mine", **small)
    assert mine.task.to_toml() == formrl.Task.from_toml(text).to_toml()
    assert formrl.load_run(mine.folder).env().task.name == "mine"


def test_files_beside_a_run_are_never_replaced(run: Any, tmp_path: Path) -> None:
    task = formrl.Task.from_toml(formrl.Task("all-yellow").to_toml().replace('name = "all-yellow"', 'name = "mine"'))
    place, remark = tmp_path / "mine.toml", "# My own task.\n"
    own = remark + task.to_toml().replace("steps = ", "steps = 1")
    for found in (own, "not a task"):
        place.write_text(found)
        with pytest.raises(formrl.FileError, match="mine.toml: the task would be written to this file") as error:
            formrl.train(task, out=tmp_path / "mine", progress=False)
        assert place.read_text() == found and error.value.file == str(place) and not (tmp_path / "mine").exists()
    # The same task in other words is not written again.
    place.write_text(remark + task.to_toml())
    small: Any = SMALL | {"method": "handcrafted", "iterations": 1, "progress": False}
    made = formrl.train(formrl.Task(place), out=tmp_path / "mine", machine=task.machine, **small)
    assert made.task.name == "mine" and place.read_text() == remark + task.to_toml()
    machine = tmp_path / "mine.form"
    assert formrl.Machine.read(machine) == task.machine
    with pytest.raises(formrl.FileError, match="mine.form: the machine would be written to this file"):
        formrl.train("all-yellow", machine=formrl.nothing_known(), out=tmp_path / "mine", progress=False)
    assert formrl.Machine.read(machine) == task.machine


def test_without_a_terminal_pythons_own_streams_get_what_the_trainer_says(tmp_path: Path) -> None:
    """As in a notebook, where `sys.stdout` is not what other programs write to."""
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        formrl.train("all-yellow", method="reach-avoid", out=tmp_path / "run")
        with pytest.raises(formrl.TrainError, match="^no task `all-yelow`"):
            formrl.train("all-yelow", out=tmp_path / "other")
    assert "forall X. yellow(X)" in said.getvalue()
    # Errors are raised, not shown as well.
    assert "iteration" in complained.getvalue() and "no task" not in complained.getvalue()


def test_ctrl_c_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    # Shells start what runs in the background with the signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        while not (out / "metrics.csv").exists() or len((out / "metrics.csv").read_text().splitlines()) < 3:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    machine = formrl.Task("all-yellow").machine
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        formrl.train("all-yellow", method="handcrafted", machine=machine, out=out, iterations=100_000, progress=False, **SMALL)
    stopped = formrl.load_run(out)
    done = int(stopped.metrics[-1]["iteration"] or 0)
    assert 1 <= done < 100_000
    went_on = formrl.resume(out, iterations=done + 1, progress=False)
    assert went_on.metrics[-1]["iteration"] == done + 1
    json.dumps(went_on.result)
