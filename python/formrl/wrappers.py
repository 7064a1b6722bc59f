"""Any Gymnasium environment with labels as one with a machine.

```python
env = MachineWrapper(gymnasium.make("MiniGrid-DoorKey-5x5-v0"), machine, labels=my_labels, signature=["key(o0)", "door(o0)", "goal"])
```

The labels of a step are `info["labels"]`, or what a function of the transition says. The machine follows them: its reward takes
the place of the environment's (`reward`), shaped if a discount is given (`shaping`); its state and progress extend the
observation (`observation`); and where it is wrong about the task, `info["counterexample"]` is the trace to learn a better one
from, which `set_machine` puts in its place.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl._native import Machine, Signature, Trace

from .episode import DEAD_END, GOAL, INCOMPLETE, Episode, StepResult, can_accept, machine_of
from .errors import LabelError, WorldError
from .extras import require
from .observation_encoder import How, ObservationEncoder
from .shaping import Reward, Shaping, combined, expect_reward

require("gymnasium", "formrl.wrappers")

import gymnasium  # noqa: E402


@dataclass(slots=True)
class Transition:
    """A step of an environment, for functions that label or judge it. At reset there is neither `before` nor `action`.

    Of many environments, some of which may begin an episode in place of a step, `begun` tells which: in those, neither `before` nor
    `action` has anything to do with `after`.
    """

    env: Any
    """The environment, unwrapped."""
    before: Any
    action: Any
    after: Any
    """The observation after it; `before` is the one before it."""
    info: dict[str, Any]
    reward: Any = 0.0
    terminated: Any = False
    truncated: Any = False
    begun: Any = False
    """Whether an episode begins with it. Of many environments, this and all others but `env` and `info` are arrays."""


Labels = Callable[[Transition], Iterable[str] | Mapping[str, bool] | int | npt.NDArray[np.bool_]]
"""What was observed: labels of the signature, or of each whether it is there, as a dictionary, a row of booleans or an integer."""

Judge = Callable[[Transition], str]
"""What a step means for the task: `goal`, `dead-end`, or `incomplete` as long as it is neither."""

Truth = Literal["environment", "machine"]
"""Who says when the task is done."""


def judge(transition: Transition) -> str:
    """The judge unless another one is given: `info["outcome"]` where there is one; else an episode that terminates with a reward has
    reached the goal, and one that terminates without cannot any more.
    """
    outcome = transition.info.get("outcome")
    if outcome is not None:
        return outcome if outcome in (GOAL, DEAD_END) else INCOMPLETE
    if not transition.terminated:
        return INCOMPLETE
    return GOAL if transition.reward > 0 else DEAD_END


_judge_by_default = judge


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """An environment whose task a machine follows.

    - `machine`: a `Machine`, the name of its file, or its text.
    - `labels`: a function of the `Transition`; without one, `info["labels"]` of `reset` and `step`.
    - `signature`: what can be observed; without one, the environment's attribute `signature`.
    - `reward`: `"machine"`, `"environment"`, `"sum"`, or a function of the machine's reward and the environment's.
    - `shaping`: the discount γ of the training, to add γ Φ(u′) − Φ(u), or a `Shaping` with a Φ of its own; `None` for no shaping.
    - `observation`: `"dict"` adds entries `machine` (the state, one-hot) and `progress`; `"flat"` makes one row of numbers of all;
      `"plain"` leaves it as it is.
    - `room`: observations have space for this number of states, so that the space stays the same when the machine changes.
    - `truth`: who says when the task is done. `"machine"`: the machine is the task, and its terminal states end episodes.
      `"environment"`: the machine may be wrong, and an episode that it is wrong about is truncated with a counterexample, even where
      the environment ends as well. Unless given, the environment decides if it says so (`judge`, `info["outcome"]` at reset, or an attribute
      `judges` that is true) or if the machine cannot accept and so has to be learnt; else the machine does. Where both speak and differ, there is a warning then.
    - `judge`: what the environment says of the task at a step, see `judge`.
    - `compress`: whether only changes of the labels count (`True`) or every step does (`False`); as the machine says if `None`.

    Every `info` has `labels` and `machine_state`, after a step also `newest` (the last observation before it that counted) and
    `env_reward`, and `old_machine` if another one waits for the next episode; the one that ends an episode also `trace`, `outcome`, `is_success`, and `counterexample` if there is one.
    """

    def __init__(
        self,
        env: Any,
        machine: Machine | str | os.PathLike[str],
        labels: Labels | None = None,
        *,
        signature: Signature | Iterable[str] | None = None,
        reward: Reward = "machine",
        shaping: float | Shaping | None = None,
        observation: How = "dict",
        room: int | None = None,
        truth: Truth | None = None,
        judge: Judge | None = None,
        compress: bool | None = None,
    ) -> None:
        # With these, `env.spec.make()` makes the same environment again, wrapped as this one is.
        gymnasium.utils.RecordConstructorArgs.__init__(
            self,
            machine=machine,
            labels=labels,
            signature=signature,
            reward=reward,
            shaping=shaping,
            observation=observation,
            room=room,
            truth=truth,
            judge=judge,
            compress=compress,
        )
        gymnasium.Wrapper.__init__(self, env)
        expect_reward(reward)
        self.truth = Decision.of(truth, env, judge is not None, machine_of(machine))
        self.signature = signature_of(env, signature)
        self._label, self._judge = labels, judge or _judge_by_default
        self.reward_of, self.shaping = reward, Shaping.of(shaping)
        self._how, self._room, self._compress = observation, room, compress
        self._before: Any = None
        self._unwrapped = env.unwrapped
        self._closed = self._running = False
        self._next: Machine | None = None
        self.last_step: StepResult | None = None
        """What the last step of the episode did to the machine."""
        self.set_machine(machine_of(machine))

    def set_machine(self, machine: Machine | str | os.PathLike[str]) -> None:
        """Follows another machine from the next reset on; an episode that is under way goes on with the old one. The observation space
        changes with it, unless there is `room`."""
        machine = self._stepping(machine_of(machine))
        self._next = None
        if self._running:
            # What cannot be followed is said now, not at reset.
            ObservationEncoder.of_states(self.env.observation_space, machine.bind(self.signature), self._how, self._room)
            self._next = machine
        else:
            self.switch_machine(machine)

    def _stepping(self, machine: Machine) -> Machine:
        """The machine, which counts what `compress` says."""
        return machine if self._compress is None else machine.with_steps("changes" if self._compress else "all")

    def switch_machine(self, machine: Machine) -> None:
        """Follows another machine at once: an episode that is under way cannot go on."""
        machine = self._stepping(machine)
        bound = machine.bind(self.signature)
        encoder = ObservationEncoder.of_states(self.env.observation_space, bound, self._how, self._room)
        self.episode = Episode(bound, self.shaping, trusted=self.truth.by_machine)
        self.encoder = encoder
        self.observation_space = encoder.space
        self._running, self._next = False, None

    @property
    def machine(self) -> Machine:
        """The machine that is followed."""
        return self.episode.machine.machine

    @property
    def machine_state(self) -> str:
        """The state that it is in."""
        return self.episode.state

    def trace(self, kind: str = INCOMPLETE) -> Trace:
        """What was observed in this episode so far."""
        return self.episode.trace(kind)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. What is observed at reset counts."""
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment was closed: make another one")
        observation, info = self.env.reset(seed=seed, options=options)
        if self._next is not None:
            self.switch_machine(self._next)
        self.truth.hear(info)
        self.episode.trusted = self.truth.by_machine
        transition = Transition(self._unwrapped, None, None, observation, info, begun=True)
        labels = self._labels(transition)
        self.episode.begin(labels)
        self._before, self._running, self.last_step = observation, True, None
        return self._see(observation), info | {"labels": labels, "machine_state": self.episode.state}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a step in the environment and in the machine."""
        if not self._running:
            if self._closed:
                raise gymnasium.error.ClosedEnvironmentError("the environment was closed: make another one")
            raise gymnasium.error.ResetNeeded("the episode is over, or the machine is another one: call reset() first")
        observation, earned, terminated, truncated, info = self.env.step(action)
        earned = float(earned)
        transition = Transition(self._unwrapped, self._before, action, observation, info, earned, terminated, truncated)
        labels = self._labels(transition)
        episode, truth = self.episode, self.truth
        # Where the machine decides, the environment is asked only where both may speak.
        by_machine = truth.by_machine
        kind = INCOMPLETE if by_machine and not (terminated and truth.warns) else self._judge(transition)
        newest = episode.newest
        result = self.last_step = episode.advance_decoded(labels, kind, bool(terminated))
        machine_reward = result.reward
        reward = (
            machine_reward if self.reward_of == "machine" else float(combined(self.reward_of, machine_reward, earned))
        ) + result.shaping
        info = info | {"labels": labels, "machine_state": episode.states[result.state], "newest": newest, "env_reward": earned}
        if self._next is not None:
            info["old_machine"] = True
        terminated = result.terminated
        if truth.warns:
            truth.compare(episode.monitor.verdict, kind, result.counterexample is not None, self.machine.name)
        if by_machine:
            kind = episode.monitor.verdict
        elif result.counterexample is not None:
            info["counterexample"] = result.counterexample
            # A truncation even if the environment terminated: the states of a refuted machine have no known value.
            truncated = True
        if terminated or truncated:
            info["trace"], info["outcome"], info["is_success"] = episode.trace(kind), kind, kind == GOAL
            self._running = False
        self._before = observation
        return self._see(observation), reward, terminated, truncated, info

    def close(self) -> None:
        """Closes the environment. Steps after that are errors."""
        self._closed, self._running = True, False
        self.env.close()  # type: ignore[no-untyped-call]

    def _see(self, observation: Any) -> Any:
        monitor = self.episode.monitor
        return self.encoder.encode(observation, monitor.state_index, monitor.seen_row)

    def _labels(self, transition: Transition) -> list[str]:
        if self._label is not None:
            labels: Any = self._label(transition)
        elif "labels" in transition.info:
            labels = transition.info["labels"]
        else:
            raise WorldError("info has no 'labels': give MachineWrapper a function `labels` of the transition")
        try:
            return self.signature.decode(labels)
        except LabelError as error:
            raise LabelError(f"labels of {self.env}: {error}") from error


class Decision:
    """Who says when the task is done: as it was given, or as it follows from what was given."""

    def __init__(self, truth: Truth | None, by_machine: bool, warns: bool) -> None:
        self.given, self.by_machine, self.warns = truth, by_machine, warns

    @classmethod
    def of(cls, truth: Truth | None, env: Any, has_judge: bool, machine: Machine) -> Decision:
        """From the arguments of a wrapper."""
        if truth not in ("environment", "machine", None):
            raise ValueError(f"truth is 'environment' or 'machine', not {truth!r}")
        accepts = can_accept(machine)
        judges = has_judge or bool(getattr(env.unwrapped, "judges", False))
        by_machine = truth == "machine" or (truth is None and accepts and not judges)
        return cls(truth, by_machine, warns=truth is None and accepts)

    def hear(self, info: Mapping[str, Any]) -> None:
        """What an environment says at reset: with an outcome it decides, unless the argument says otherwise."""
        if self.given is None and "outcome" in info:
            self.by_machine = False

    def compare(self, verdict: str, kind: str, wrong: bool, machine: str) -> None:
        """Warns, once, where machine and environment differ and nobody said who is right."""
        # A machine without a rejecting state need not know of the environment's dead ends.
        differ = kind == GOAL != verdict or (verdict != INCOMPLETE != kind and verdict != kind)
        if not (differ if self.by_machine else wrong and verdict != INCOMPLETE):
            return
        self.warns = False
        decides = "the machine decides" if self.by_machine else "the environment decides, and the episode is truncated"
        warnings.warn(
            f"the environment says {kind!r} where the machine {machine!r} says {verdict!r}: {decides}. Pass truth='machine' if the "
            "machine is the task, truth='environment' if it may be wrong about it",
            stacklevel=3,
        )


class LabelWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that says itself what was observed: `info["labels"]`, and an attribute `signature`.

    `labels` is a function of the transition. A wrapped environment carries its labels with it, for
    instance to another process or to RLlib.
    """

    def __init__(self, env: Any, labels: Labels, signature: Signature | Iterable[str]) -> None:
        super().__init__(env)
        self.signature = signature_of(env, signature)
        self._label = labels
        self._before: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = observation
        labels = self._label(Transition(self.env.unwrapped, None, None, observation, info, begun=True))
        return observation, info | {"labels": self.signature.decode(labels)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        transition = Transition(
            self.env.unwrapped, self._before, action, observation, info, float(reward), terminated, truncated
        )
        self._before = observation
        return observation, reward, terminated, truncated, info | {"labels": self.signature.decode(self._label(transition))}


def signature_of(env: Any, given: Signature | Iterable[str] | None) -> Signature:
    """What can be observed: as given, or as the environment, single or vector, says."""
    if given is not None:
        return given if isinstance(given, Signature) else Signature(given)
    try:
        if hasattr(env, "get_wrapper_attr"):
            signature = env.get_wrapper_attr("signature")
        elif hasattr(env, "signature"):
            # Vector environments hand attributes on by themselves.
            signature = env.signature
        else:
            signature = env.get_attr("signature")[0]
    except AttributeError:
        message = "the environment has no attribute `signature`: pass `signature`, the list of all labels"
        raise WorldError(message) from None
    return signature if isinstance(signature, Signature) else Signature(signature)
