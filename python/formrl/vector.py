"""Many environments at once with a machine: `MachineWrapper` for Gymnasium's vector environments.

All machines are stepped together in Rust, with one array of labels per step. Labels are `infos["labels"]`, as lists that the single
environments put into their `info` or as one boolean array (environments, atoms), or what a function of the transition says. An
episode that the machine is wrong about is truncated, even where its environment ends as well, with its trace in
`infos["counterexample"]`, and begins anew as Gymnasium's vector environments do: in the next step, or, with autoreset
disabled, when `reset` is called with a `reset_mask`, without which there is no next step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from formrl._native import Machine, Signature, Trace

from .episode import DEAD_END, GOAL, INCOMPLETE, machine_of
from .errors import LabelError, WorldError
from .extras import require
from .observation_encoder import How, ObservationEncoder
from .shaping import Reward, Shaping, combined, expect_reward
from .wrappers import Decision, Transition, Truth, signature_of

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
        machine: Machine | str | os.PathLike[str],
        labels: Callable[[Transition], npt.NDArray[np.bool_]] | None = None,
        *,
        signature: Signature | Iterable[str] | None = None,
        reward: Reward = "machine",
        shaping: float | Shaping | None = None,
        observation: How = "dict",
        room: int | None = None,
        truth: Truth | None = None,
        judge: Callable[[Transition], npt.NDArray[Any]] | None = None,
    ) -> None:
        super().__init__(env)
        # Gymnasium writes it into the metadata of the single environments' class, which others may have written to since.
        stated = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self.autoreset = AutoresetMode(getattr(env.unwrapped, "autoreset_mode", stated))
        if self.autoreset not in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
            raise WorldError(f"environments that begin anew within a step ({self.autoreset}) hide how episodes end")
        expect_reward(reward)
        machine = machine_of(machine)
        self.truth = Decision.of(truth, env, judge is not None, machine)
        self.signature = signature_of(env, signature)
        self._columns = _columns(env, self.signature) if labels is None else None
        self._label, self._judge = labels, judge or judge_all
        self.reward_of, self.shaping = reward, Shaping.of(shaping)
        self._how, self._room = observation, room
        self._before: Any = None
        self._running = False
        self._next: Machine | None = None
        self.set_machine(machine)

    def set_machine(self, machine: Machine | str | os.PathLike[str]) -> None:
        """Follows another machine from the next `reset` of all environments on; until then, all go on with the old one. The observation
        space changes with it, unless there is `room`."""
        machine = machine_of(machine)
        bound = machine.bind(self.signature)
        encoder = ObservationEncoder.of_states(self.env.single_observation_space, bound, self._how, self._room)
        self._next = None
        if self._running:
            self._next = machine
            return
        self.encoder = encoder
        self.monitors = bound.monitors(self.num_envs)
        self.machine = machine
        self.single_observation_space = self.encoder.space
        self.observation_space = batch_space(self.encoder.space, self.num_envs)
        self._potentials = (self.shaping or Shaping(1.0)).potentials(machine)
        ends = {machine.accepting: GOAL, machine.rejecting: DEAD_END}
        self._verdicts = np.array([ends.get(state, INCOMPLETE) for state in machine.states], dtype=object)
        self._names = np.array(machine.states, dtype=object)
        self._steps: list[list[list[str]]] = [[] for _ in range(self.num_envs)]
        self._newest = np.zeros((self.num_envs, len(self.signature)), np.bool_)
        self._over = np.zeros(self.num_envs, np.bool_)
        self._cut = np.zeros(self.num_envs, np.bool_)
        # Rewards of edges that were taken at reset: those of the next step.
        self._owed = np.zeros(self.num_envs)

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
        if self._next is not None and begun.all():
            self._running = False
            self.set_machine(self._next)
        self.truth.hear(infos)
        labels = self._labels(Transition(self.env.unwrapped, None, None, observations, infos, begun=begun.copy()))
        self._begin(begun, labels)
        self._cut &= ~begun
        self._before, self._running = observations, True
        return self._see(observations), self._tell(infos, labels)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step in all environments and machines."""
        if not self._running:
            raise gymnasium.error.ResetNeeded("call reset() first")
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
        by_machine = self.truth.by_machine
        kinds = np.full(self.num_envs, INCOMPLETE, dtype=object)
        if not by_machine or (self.truth.warns and terminated.any()):
            kinds = np.where(moved, self._judge(transition), INCOMPLETE)
        verdicts = np.where(moved, self._verdicts[steps.states], INCOMPLETE)
        infos = self._tell(infos, labels)
        ended = terminated | truncated
        wrong = np.zeros(self.num_envs, np.bool_)
        if by_machine:
            terminated |= moved & steps.over
        else:
            long = np.array([len(row) > 1 for row in self._steps])
            wrong = moved & ((verdicts != kinds) | (was_over & long))
            terminated |= moved & (kinds != INCOMPLETE)
            terminated &= ~wrong
            truncated |= wrong
            self._tell_traces(infos, "counterexample", wrong, kinds)
        if self.truth.warns:
            for i in np.flatnonzero(moved & ((verdicts != INCOMPLETE) | (kinds != INCOMPLETE))):
                if self.truth.warns:
                    self.truth.compare(str(verdicts[i]), str(kinds[i]), bool(wrong[i]), self.machine.name)
        rewards = np.array(combined(self.reward_of, steps.rewards + self._owed, np.asarray(earned, np.float64)), np.float64)
        if self.shaping is not None:
            there = np.where(terminated, 0.0, self._potentials[steps.states])
            rewards += self.shaping.gamma * there - self._potentials[before]
        rewards[begun] = 0.0
        self._owed[moved] = 0.0
        if by_machine:
            kinds = verdicts
        self._over = terminated | truncated
        # The environment does not know of these ends.
        self._cut |= self._over & ~ended
        self._tell_traces(infos, "trace", self._over, kinds)
        if self._over.any():
            infos["is_success"], infos["_is_success"] = self._over & (kinds == GOAL), self._over.copy()
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
        self._owed[begun] = self.monitors.observe(labels, mask=begun).rewards[begun]

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
            return given if self._columns is None else given[:, self._columns]
        rows = [() if row is None else row for row in given]
        return np.array([self.signature.encode(row) for row in rows], np.bool_).reshape(len(rows), -1)


def _columns(env: Any, signature: Signature) -> list[int] | None:
    """Where the environments' own arrays of labels have the atoms of another signature, if their signature is another one."""
    try:
        own = signature_of(env, None)
    except WorldError:
        return None
    if own == signature or len(own) != len(signature):
        # Arrays of another length are refused where they come.
        return None
    if set(own) != set(signature):
        raise WorldError("`signature` has other atoms than the environments' own: pass `labels`, too")
    return [own.index(atom) for atom in signature]


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
