"""The same small job here and with `pyrewardmachines` (pycrm): tabular CRM for coffee in Office world. `python python/benches/beside_pycrm.py`.

Prints lines of the program, success of the last 100 episodes and processor time per step, three seeds each. Needs `pip install
pyrewardmachines==1.1.1`; its tabular agents work without PyTorch: `pip install --no-deps pyrewardmachines==1.1.1 && pip install tqdm`. The
world is the same Gymnasium environment for both. Values start at 0 in pycrm; with `first=2.0` its table is replaced by one that starts
where ours and the published one do.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import time
from collections import defaultdict
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

STEPS = 60_000


def ours_in_a_table(seed: int) -> tuple[float, int]:
    from formrl import tabular
    from formrl.benchmarks import OfficeEnv, tasks

    result = tabular.q_learning(OfficeEnv().table(), tasks("office")["coffee"], steps=STEPS, seed=seed)
    return result.success(), int(result.steps.sum())


def ours_in_an_environment(seed: int) -> tuple[float, int]:
    from formrl import Machine, tabular
    from formrl.benchmarks import OfficeEnv

    machine = Machine.parse(
        """
        initial u0
        accept  done
        reject  broken
        u0 -> broken : plant
        u0 -> u1     : coffee
        u1 -> broken : plant
        u1 -> done   : office
        """
    )
    result = tabular.q_learning(OfficeEnv(), machine, steps=STEPS, seed=seed)
    return result.success(), int(result.steps.sum())


def pycrm_in_an_environment(seed: int, first: float = 0.0) -> tuple[float, int]:
    from pycrm.agents.tabular import CounterfactualQLearningAgent
    from pycrm.automaton import RewardMachine
    from pycrm.crossproduct import CrossProduct
    from pycrm.label import LabellingFunction

    from formrl.benchmarks import OfficeEnv

    class Event(Enum):
        COFFEE = "coffee"
        OFFICE = "office"
        PLANT = "plant"

    class Coffee(RewardMachine):  # type: ignore[misc]
        @property
        def u_0(self) -> int:
            return 0

        def _get_state_transition_function(self) -> dict[int, dict[str, int]]:
            return {
                0: {"PLANT": -1, "COFFEE": 1, "not PLANT and not COFFEE": 0},
                1: {"PLANT": -1, "OFFICE": -1, "not PLANT and not OFFICE": 1},
            }

        def _get_reward_transition_function(self) -> dict[int, dict[str, float]]:
            return {
                0: {"PLANT": 0.0, "COFFEE": 0.0, "not PLANT and not COFFEE": 0.0},
                1: {"PLANT": 0.0, "OFFICE": 1.0, "not PLANT and not OFFICE": 0.0},
            }

    world = OfficeEnv(observation="position")
    table = world.table()
    space: Any = world.observation_space
    width = int(space.high[0]) + 1

    def label(position: Any) -> list[str]:
        return table.labels(int(position[1]) * width + int(position[0]))

    class Labels(LabellingFunction[Any, int]):  # type: ignore[misc]
        @LabellingFunction.event  # type: ignore[untyped-decorator]
        def coffee(self, _: Any, __: int, after: Any) -> Event | None:
            return Event.COFFEE if "coffee" in label(after) else None

        @LabellingFunction.event  # type: ignore[untyped-decorator]
        def office(self, _: Any, __: int, after: Any) -> Event | None:
            return Event.OFFICE if "office" in label(after) else None

        @LabellingFunction.event  # type: ignore[untyped-decorator]
        def plant(self, _: Any, __: int, after: Any) -> Event | None:
            return Event.PLANT if "plant" in label(after) else None

    env = CrossProduct(world, Coffee(Event), Labels(), 1000)
    env.action_space = world.action_space
    np.random.seed(seed)
    agent = CounterfactualQLearningAgent(env, epsilon=0.1, learning_rate=0.5, discount_factor=0.9)
    agent.q_table = defaultdict(lambda: np.full(4, first))
    returns: list[float] = []
    steps = 0
    while steps < STEPS:
        returns += agent.learn(1).tolist()
        steps += env.steps
    return float(np.mean(returns[-100:])), steps


def main() -> None:
    jobs: dict[str, Any] = {
        "formrl.tabular, a table": ours_in_a_table,
        "formrl.tabular, an environment": ours_in_an_environment,
        "pycrm": pycrm_in_an_environment,
        "pycrm, first values of 2": partial(pycrm_in_an_environment, first=2.0),
    }
    for name, job in jobs.items():
        lines = sum(bool(line.strip()) for line in inspect.getsource(getattr(job, "func", job)).splitlines())
        results = []
        # What the first run loads is not of the job.
        for seed in range(4):
            start = time.process_time()
            with contextlib.redirect_stderr(io.StringIO()):
                success, steps = job(seed)
            results.append((success, (time.process_time() - start) / steps * 1e6))
        for success, micros in results[1:]:
            print(f"{name}\tlines {lines}\tsuccess {success:.2f}\t{micros:.2f} µs per step", flush=True)


if __name__ == "__main__":
    main()
