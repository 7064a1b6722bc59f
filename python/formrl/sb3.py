"""Stable-Baselines3: counterfactual experience for every off-policy algorithm, and the joint loop as a callback.

```python
env = MachineWrapper(gymnasium.make("Pendulum-v1"), machine, labels=my_labels, signature=["up", "down"], observation="flat")
model = SAC("MlpPolicy", env, **formrl.sb3.counterfactual(env))
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from formrl._native import Learner, Machine, Trace

from .counterfactual import Counterfactuals
from .episode import GOAL, can_accept, shortest
from .extras import require

require("stable_baselines3", "formrl.sb3", "sb3")

from gymnasium import spaces  # noqa: E402
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402


class CounterfactualReplayBuffer(ReplayBuffer):
    """A replay buffer that keeps, of every step, also what it would have been in every other state of the machine (CRM).

    For DQN, SAC, TD3, DDPG and every other off-policy algorithm, with observations that are dictionaries or rows of numbers. Its size
    counts all experiences: a step takes `counterfactuals.size` of them.
    """

    pos: int
    full: bool

    def __new__(cls, *args: Any, **settings: Any) -> CounterfactualReplayBuffer:
        """One for dictionaries, if observations are."""
        space = settings.get("observation_space", args[1] if len(args) > 1 else None)
        if cls is CounterfactualReplayBuffer and isinstance(space, spaces.Dict):
            cls = CounterfactualDictReplayBuffer
        made: CounterfactualReplayBuffer = object.__new__(cls)
        return made

    def __init__(self, *args: Any, counterfactuals: Counterfactuals, **settings: Any) -> None:
        super().__init__(*args, **settings)
        if self.optimize_memory_usage:
            raise ValueError("optimize_memory_usage takes the next experience for the next step: not with counterfactual ones")
        self.counterfactuals = counterfactuals

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        """Adds a step of all environments, and all that it stands for."""
        if any(info.get("old_machine", False) for info in infos):
            # Its states are those of a machine that is no longer followed from the next episode on.
            return
        super().add(obs, next_obs, action, reward, done, infos)
        ended = np.array([bool(over) and not info.get("TimeLimit.truncated", False) for over, info in zip(done, infos)])
        encoder = self.counterfactuals.encoder
        steps = self.counterfactuals.steps(*encoder.read_batch(obs), ended, infos)
        # An environment that has fewer repeats what happened, which stands first.
        steps.rewards[:, 0], steps.over[:, 0] = reward, ended
        most = int(steps.other.sum(axis=1).max())
        chosen = np.argsort(~steps.other, axis=1, kind="stable")[:, :most]
        chosen[~np.take_along_axis(steps.other, chosen, axis=1)] = 0
        # Experiences go before environments, as the buffer has them.
        environments = np.arange(len(infos))[None]
        chosen = chosen.T
        at = (self.pos + np.arange(most)) % self.buffer_size
        self._put(self.observations, at, encoder.replace_batch(obs, steps.states[environments, chosen], steps.seen[environments, chosen]))
        after = encoder.replace_batch(next_obs, steps.next_states[environments, chosen], steps.next_seen[environments, chosen])
        self._put(self.next_observations, at, after)
        self.actions[at] = np.reshape(action, (self.n_envs, self.action_dim))
        self.rewards[at] = steps.rewards[environments, chosen]
        self.dones[at] = steps.over[environments, chosen]
        self.timeouts[at] = 0.0
        self.full = self.full or self.pos + most >= self.buffer_size
        self.pos = (self.pos + most) % self.buffer_size

    def _put(self, kept: Any, at: Any, observations: Any) -> None:
        """Writes observations, or each of their entries, to places of the buffer."""
        if isinstance(kept, dict):
            for key, rows in kept.items():
                self._put(rows, at, observations[key])
        else:
            kept[at] = np.reshape(observations, (len(at), *kept.shape[1:]))


class CounterfactualDictReplayBuffer(CounterfactualReplayBuffer, DictReplayBuffer):
    """The same for observations that are dictionaries."""


def counterfactual(env: Any, *, limit: int = 64, seed: int = 0) -> dict[str, Any]:
    """The arguments that give an off-policy algorithm counterfactual experience in an environment with a `MachineWrapper` inside.

    `limit` is the most experiences that are kept of a step.
    """
    if hasattr(env, "envs"):
        env = env.envs[0]
    counterfactuals = Counterfactuals.of(env, limit=limit, rng=np.random.default_rng(seed))
    return {
        "replay_buffer_class": CounterfactualReplayBuffer,
        "replay_buffer_kwargs": {"counterfactuals": counterfactuals},
    }


class JointLoop(BaseCallback):
    """The joint loop: gathers counterexamples while a model learns, learns the machine anew, and puts it into all environments.

    Environments are `MachineWrapper`s with `room` for the states to come, so that the observation space stays the same; they begin with
    `formrl.nothing_known()` or any machine, and `truth="environment"`. A new machine is followed from the next episode on, in each
    environment for itself; a replay buffer is emptied, since its observations are those of the old one.

    - `every`: the number of steps, of all environments together, after which counterexamples are looked at.
    - `keep`: how many of these are kept at most: of each kind the shortest, a third of `keep`, rounded up.
    - `max_states`, `time_limit`: limits of `Learner.learn`; `learner`: options of `Learner`.
    """

    def __init__(
        self,
        *,
        every: int = 2048,
        keep: int = 60,
        max_states: int = 10,
        time_limit: float = 600.0,
        learner: Mapping[str, Any] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        self._every, self._keep = every, keep
        self._max_states, self._time_limit, self._options = max_states, time_limit, dict(learner or {})
        self.machines: list[Machine] = []
        """All machines that were followed, in order."""
        self.traces: list[Trace] = []
        """The counterexamples that were kept."""
        self._found: list[Trace] = []
        self._looked = 0

    @property
    def machine(self) -> Machine:
        """The machine that is followed from the next episodes on."""
        return self.machines[-1]

    def _on_training_start(self) -> None:
        if not self.machines:
            self.machines = [self.training_env.get_attr("machine")[0]]
            self.learner = Learner(self.training_env.get_attr("signature")[0], **self._options)

    def _on_step(self) -> bool:
        self._found += [info["counterexample"] for info in self.locals["infos"] if "counterexample" in info]
        if self.num_timesteps - self._looked >= self._every:
            self._looked = self.num_timesteps
            self._relearn()
        return True

    def _relearn(self) -> None:
        found, self._found = self._found, []
        # Episodes of an old machine may have gone on: what the present one knows is no news.
        bound = self.machine.bind(self.learner.signature)
        found = [trace for trace in found if not trace.agrees(bound)]
        self.traces += [trace for trace in shortest(found, self._keep) if self.learner.add(trace) is not None]
        # A machine that accepts too early hides the goals that would correct it: then it is better to know nothing.
        goal_known = any(trace.kind == GOAL for trace in self.traces)
        if not found or not (goal_known or can_accept(self.machine)):
            return
        machine = self.learner.learn(max_states=self._max_states, time_limit=self._time_limit).require()
        self.machines.append(machine)
        self.training_env.env_method("set_machine", machine)
        self.logger.record("machine/states", len(machine.states))
        self.logger.record("machine/counterexamples", len(self.traces))
        buffer = getattr(self.model, "replay_buffer", None)
        if buffer is not None:
            buffer.reset()
        if isinstance(buffer, CounterfactualReplayBuffer):
            buffer.counterfactuals = buffer.counterfactuals.with_machine(machine)
        if self.verbose:
            print(f"step {self.num_timesteps}: {len(self.traces)} counterexamples, {machine!r}")
