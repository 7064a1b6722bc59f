"""Tabular Q-learning with counterfactual experience, in tables and in environments."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from formrl import LabelError, Machine, WorldError, tabular
from formrl.benchmarks import OfficeEnv, tasks
from formrl.tabular import BenchmarkWorld, LabelledMdp, QLearner
from formrl.wrappers import MachineWrapper, Transition

OFFICE = BenchmarkWorld.office().table()


def test_crm_learns_all_tasks_of_office_world() -> None:
    machines = list(tasks("office").values())
    best = tabular.optimum(OFFICE, machines, episodes=500)
    assert best.values == pytest.approx([0.9 ** (steps - 1) for steps in (15, 29, 30, 29)])
    result = tabular.q_learning(OFFICE, machines, steps=60_000, learning_rate=1.0, initial=1.0, seed=1)
    curve = result.curve(best)
    assert curve[0] < 0.3 and curve[-1] > 0.9
    assert result.tasks[:5].tolist() == [0, 1, 2, 3, 0]


def test_counterfactual_experience_needs_fewer_steps() -> None:
    machine = tasks("office")["coffee-and-mail"]
    with_crm = tabular.q_learning(OFFICE, machine, steps=30_000, seed=2)
    without = tabular.q_learning(OFFICE, machine, steps=30_000, crm=False, seed=2)
    assert with_crm.accepted.sum() > 2 * without.accepted.sum()


def test_the_policy_goes_the_shortest_way() -> None:
    result = tabular.q_learning(OFFICE, tasks("office")["coffee"], steps=60_000, shaping="value", seed=3)
    assert [(task, state) for task, state, _ in result.learner.situations] == [(0, "u0"), (0, "u1")]
    env = OfficeEnv()
    state, _ = env.reset(seed=0)
    situation, steps = 0, 0
    while situation < 2 and steps < 50:
        state, _, _, _, info = env.step(int(result.policy(situation)[state]))
        steps += 1
        situation += info["labels"] == [["coffee"], ["office"]][situation]
    assert steps == 15


def test_an_environment_is_learnt_as_its_table_is() -> None:
    machine = tasks("office")["coffee"]
    result = tabular.q_learning(OfficeEnv(), machine, steps=15_000, learning_rate=1.0, initial=1.0, seed=1)
    assert result.success(last=50) > 0.6
    assert int(result.steps.sum()) <= 15_000


def test_machines_are_taken_as_texts_and_files(tmp_path: Path) -> None:
    """As `MachineWrapper` takes them."""
    machine = tasks("office")["coffee"]
    (tmp_path / "coffee.form").write_text(str(machine))
    found = [tabular.q_learning(OfficeEnv(), given, steps=300) for given in (machine, str(machine), tmp_path / "coffee.form", [str(machine)])]
    assert all((one.steps == found[0].steps).all() and (one.rewards == found[0].rewards).all() for one in found)
    with pytest.raises(TypeError, match=r"result\.require"):
        tabular.q_learning(OfficeEnv(), None, steps=300)  # type: ignore[arg-type]


def test_gymnasiums_own_tables() -> None:
    lake = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=False)
    machine = Machine.parse("initial u0\naccept done\nu0 -> u1 : gift\nu1 -> done : goal")
    table = tabular.table_of(lake, lambda state: {9: ["gift"], 15: ["goal"]}.get(state, []), ["gift", "goal"])
    assert table.labels(9) == ["gift"] and table.states == 16
    best = tabular.optimum(table, machine, epsilon=0.0)
    assert best.values == pytest.approx([0.9**5])
    result = tabular.q_learning(table, machine, steps=20_000, seed=0)
    assert result.success() > 0.5

    def labels(transition: Transition) -> list[str]:
        return {9: ["gift"], 15: ["goal"]}.get(transition.after, [])

    again = tabular.q_learning(lake, machine, labels, signature=["gift", "goal"], steps=10_000, seed=0)
    assert again.success() > 0.5
    # A wrapper brings labels and signature.
    wrapped = MachineWrapper(lake, machine, labels, signature=["gift", "goal"], observation="plain")
    assert tabular.q_learning(wrapped, machine, steps=10_000, seed=0).success() > 0.5
    with pytest.raises(WorldError, match="observation=\"plain\" to MachineWrapper"):
        tabular.q_learning(MachineWrapper(lake, machine, labels, signature=["gift", "goal"]), machine, steps=1)
    with pytest.raises(WorldError, match="pass `signature`"):
        tabular.q_learning(lake, machine, labels, steps=1)


def test_windows_of_forall_are_situations() -> None:
    machine = Machine.parse("initial u0\naccept done\nu0 -> done : forall X. yellow(X)")
    env: Any = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=False)
    table = tabular.table_of(
        env, lambda s: {2: ["yellow(a)"], 8: ["yellow(b)"]}.get(s, []), ["yellow(a)", "yellow(b)"]
    )
    result = tabular.q_learning(table, machine, steps=20_000, seed=0)
    assert sorted(seen for _, _, seen in result.learner.situations) == [[], ["yellow(a)"], ["yellow(b)"]]
    # Two to the one, back, two to the other.
    assert result.steps[result.accepted].min() == 6


def test_mistakes_are_named() -> None:
    machine = tasks("office")["coffee"]
    with pytest.raises(WorldError, match="shaping"):
        tabular.q_learning(OFFICE, machine, steps=1, shaping="distance")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a whole number, 0 or more, not -1"):
        tabular.q_learning(OFFICE, machine, steps=-1)
    with pytest.raises(ValueError, match="epsilon = 2"):
        tabular.q_learning(OFFICE, machine, steps=1, epsilon=2.0)
    with pytest.raises(WorldError, match="discrete observation"):
        tabular.q_learning(OfficeEnv(observation="position"), machine, steps=1)
    with pytest.raises(ValueError, match="add up to"):
        LabelledMdp(OFFICE.signature, np.zeros((1, 8), np.bool_), [[[(0.5, 0, 0.0, False)]]], [(1.0, 0)])
    learner = QLearner([machine.bind(OFFICE.signature)], OFFICE)
    with pytest.raises(ValueError, match="no episode"):
        learner.act()
    with pytest.raises(LabelError):
        learner.begin(0, ["unknown"])
    with pytest.raises(IndexError):
        learner.values(0, 99)
    assert learner.cut_off() is None
