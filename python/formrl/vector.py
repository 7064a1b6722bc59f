"""Many environments at once with a machine: `MachineWrapper` for Gymnasium's vector environments.

All machines are stepped together in Rust, with one array of labels per step. Labels are `infos["labels"]`, as lists that the single
environments put into their `info` or as one boolean array (environments, atoms), or what a function of the transition says. An
episode that the machine is wrong about is truncated, even where its environment ends as well, with its trace in
`infos["counterexample"]`, and begins anew as Gymnasium's vector environments do: in the next step, or, with autoreset
disabled, when `reset` is called with a `reset_mask`, without which there is no next step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl._native import Machine, Signature, Trace

from .episode import DEAD_END, GOAL, INCOMPLETE, potentials
from .errors import LabelError, WorldError
from .extras import require
from .observation_encoder import How, ObservationEncoder
from .wrappers import Transition, expect_choices, signature_of

require("gymnasium", "formrl.vector")

import gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402


def judge_all(transition: Transition) -> npt.NDArray[Any]:
    """The judge unless another one is given: one kind per environment, from `outcome` in the infos, or from termination and reward."""
    outcomes = transition.info.get("outcome")
    if outcomes is not None:
        known = [outcome if outcome in (GOAL, DEAD_END) else INCOMPLETE for outcome in outcomes]
        return np.array(known, dtype=object)
    over = np.where(np.asarray(transition.reward) > 0, GOAL, DEAD_END)
    return np.where(transition.terminated, over, INCOMPLETE)


class MachineVectorWrapper(gymnasium.vector.VectorWrapper):
    """Vector environments whose tasks a machine follows. The arguments are those of `MachineWrapper`; functions get arrays, and are
    told by `begun` where an episode begins in place of a step."""

    def __init__(
        self,
        env: Any,
        machine: Machine,
        labels: Callable[[Transition], npt.NDArray[np.bool_]] | None = None,
        *,
        signature: Signature | Iterable[str] | None = None,
        reward: Literal["machine", "environment"] = "machine",
        shaping: float | None = None,
        observation: How = "dict",
        room: int | None = None,
        truth: Literal["environment", "machine"] = "environment",
        judge: Callable[[Transition], npt.NDArray[Any]] = judge_all,
    ) -> None:
        super().__init__(env)
        # Gymnasium writes it into the metadata of the single environments' class, which others may have written to since.
        stated = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self.autoreset = AutoresetMode(getattr(env.unwrapped, "autoreset_mode", stated))
        if self.autoreset not in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
            raise WorldError(f"environments that begin anew within a step ({self.autoreset}) hide how episodes end")
        expect_choices(reward, truth, shaping)
        self.signature = signature_of(env, signature)
        self._label, self._judge = labels, judge
        self._reward, self._shaping, self._truth = reward, shaping, truth
        self._how, self._room = observation, room
        self._before: Any = None
        self.set_machine(machine)

    def set_machine(self, machine: Machine) -> None:
        """Follows another machine from the next reset on. The observation space changes with it, unless there is `room`."""
        bound = machine.bind(self.signature)
        self.encoder = ObservationEncoder.of_states(self.env.single_observation_space, bound, self._how, self._room)
        self.monitors = bound.monitors(self.num_envs)
        self.machine = machine
        self.single_observation_space = self.encoder.space
        self.observation_space = batch_space(self.encoder.space, self.num_envs)
        self._potentials = potentials(machine)
        ends = {machine.accepting: GOAL, machine.rejecting: DEAD_END}
        self._verdicts = np.array([ends.get(state, INCOMPLETE) for state in machine.states], dtype=object)
        self._names = np.array(machine.states, dtype=object)
        self._steps: list[list[list[str]]] = [[] for _ in range(self.num_envs)]
        self._newest = np.zeros((self.num_envs, len(self.signature)), np.bool_)
        self._over = np.zeros(self.num_envs, np.bool_)
        self._cut = np.zeros(self.num_envs, np.bool_)
        self._running = False

    @property
    def machine_states(self) -> npt.NDArray[np.int32]:
        """The number of the state of each machine."""
        return self.monitors.states

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts episodes: in all environments, or in those that `options["reset_mask"]` marks."""
        begun = np.ones(self.num_envs, np.bool_)
        if options and "reset_mask" in options:
            begun = np.array(options["reset_mask"], np.bool_)
        observations, infos = self.env.reset(seed=seed, options=options)
        labels = self._labels(Transition(self.env.unwrapped, None, None, observations, infos, begun=begun.copy()))
        self._begin(begun, labels)
        self._cut &= ~begun
        self._before, self._running = observations, True
        return self._see(observations), self._tell(infos, labels)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step in all environments and machines."""
        if not self._running:
            raise gymnasium.error.ResetNeeded("the machine is another one: call reset() first")
        if self.autoreset == AutoresetMode.DISABLED and self._over.any():
            over = ", ".join(map(str, np.flatnonzero(self._over)))
            raise gymnasium.error.ResetNeeded(
                f"episodes are over (environments {over}): reset() them with a reset_mask first"
            )
        observations, earned, terminated, truncated, infos = self.env.step(actions)
        # Episodes that ended in the last step begin in this one: the environment does it for those it has ended itself.
        begun = self._over if self.autoreset == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, np.bool_)
        if self.autoreset == AutoresetMode.NEXT_STEP and self._cut.any():
            observations, more = self.env.reset(options={"reset_mask": self._cut.copy()})
            infos = _merged(infos, more, self._cut)
            earned, terminated, truncated = (np.where(self._cut, 0, x) for x in (earned, terminated, truncated))
            self._cut[:] = False
        terminated, truncated = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        step = self._before, actions, observations, infos, earned, terminated, truncated
        transition = Transition(self.env.unwrapped, *step, begun.copy())
        labels = self._labels(transition)
        self._begin(begun, labels)
        before = self.monitors.states
        was_over = self.monitors.over
        moved = ~begun
        observed = np.where(moved[:, None], labels, False)
        self._record(observed, moved)
        steps = self.monitors.observe(observed, mask=moved)
        kinds = np.full(self.num_envs, INCOMPLETE, dtype=object)
        if self._truth == "environment":
            kinds = np.where(moved, self._judge(transition), INCOMPLETE)
        rewards = steps.rewards.copy() if self._reward == "machine" else np.array(earned, np.float64)
        if self._shaping is not None:
            rewards += self._shaping * self._potentials[steps.states] - self._potentials[before]
        rewards[begun] = 0.0
        infos = self._tell(infos, labels)
        ended = terminated | truncated
        if self._truth == "machine":
            kinds = np.where(moved, self._verdicts[steps.states], INCOMPLETE)
            terminated |= moved & steps.over
        else:
            long = np.array([len(row) > 1 for row in self._steps])
            wrong = moved & ((self._verdicts[steps.states] != kinds) | (was_over & long))
            terminated |= moved & (kinds != INCOMPLETE)
            terminated &= ~wrong
            truncated |= wrong
            self._tell_traces(infos, "counterexample", wrong, kinds)
        self._over = terminated | truncated
        # The environment does not know of these ends.
        self._cut |= self._over & ~ended
        self._tell_traces(infos, "trace", self._over, kinds)
        self._before = observations
        return self._see(observations), rewards, terminated, truncated, infos

    def _begin(self, begun: npt.NDArray[np.bool_], labels: npt.NDArray[np.bool_]) -> None:
        """Starts new episodes in some environments, whose observation at reset counts."""
        if not begun.any():
            return
        self.monitors.reset(begun)
        self._newest[begun] = False
        self._over = self._over & ~begun
        for i in np.flatnonzero(begun):
            self._steps[i] = []
        labels = np.where(begun[:, None], labels, False)
        self._record(labels, begun)
        self.monitors.observe(labels, mask=begun)

    def _record(self, labels: npt.NDArray[np.bool_], which: npt.NDArray[np.bool_]) -> None:
        """Notes what was observed; Python looks only at environments that have something new to say."""
        new = labels.any(axis=1) & (labels != self._newest).any(axis=1)
        if self.machine.steps == "all":
            new = which
        for i in np.flatnonzero(new):
            self._steps[i].append(self.signature.decode(labels[i]))
        self._newest[new] = labels[new]

    def _see(self, observations: Any) -> Any:
        return self.encoder.encode_batch(observations, self.monitors.states, self.monitors.seen)

    def _tell(self, infos: dict[str, Any], labels: npt.NDArray[np.bool_]) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        states = self._names[self.monitors.states]
        return infos | {"labels": labels, "_labels": everywhere, "machine_state": states, "_machine_state": everywhere}

    def _tell_traces(self, infos: dict[str, Any], key: str, which: npt.NDArray[np.bool_], kinds: Any) -> None:
        if not which.any():
            return
        traces = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(which):
            traces[i] = Trace(str(kinds[i]), self._steps[i], self.signature, self.machine.steps == "changes")
        infos[key], infos[f"_{key}"] = traces, which.copy()

    def _labels(self, transition: Transition) -> npt.NDArray[np.bool_]:
        given = self._label(transition) if self._label is not None else transition.info.get("labels")
        if given is None:
            raise WorldError("infos have no 'labels': give MachineVectorWrapper a function `labels` of the transition")
        if isinstance(given, np.ndarray) and given.dtype == np.bool_:
            if given.shape != (self.num_envs, len(self.signature)):
                wanted = (self.num_envs, len(self.signature))
                raise LabelError(f"labels are an array of shape {wanted}, one column per atom, not {given.shape}")
            return given
        rows = [() if row is None else row for row in given]
        return np.array([self.signature.encode(row) for row in rows], np.bool_).reshape(len(rows), -1)


def _merged(infos: dict[str, Any], more: dict[str, Any], which: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Infos in which those of some environments are replaced."""
    merged = dict(infos)
    for key, value in more.items():
        if isinstance(value, np.ndarray) and isinstance(merged.get(key), np.ndarray):
            merged[key] = merged[key].copy()
            merged[key][which] = value[which]
        else:
            merged[key] = value
    return merged
