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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from formrl._native import Machine, Signature, Trace

from .episode import DEAD_END, GOAL, INCOMPLETE, Episode, StepResult
from .errors import LabelError, WorldError
from .extras import require
from .observation_encoder import How, ObservationEncoder

require("gymnasium", "formrl.wrappers")

import gymnasium  # noqa: E402


@dataclass(frozen=True)
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


Labels = Callable[[Transition], Iterable[str]]
"""What was observed: labels of the signature."""

Judge = Callable[[Transition], str]
"""What a step means for the task: `goal`, `dead-end`, or `incomplete` as long as it is neither."""


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


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """An environment whose task a machine follows.

    - `labels`: a function of the `Transition`; without one, `info["labels"]` of `reset` and `step`.
    - `signature`: what can be observed; without one, the environment's attribute `signature`.
    - `reward`: `"machine"`, or `"environment"` to leave it as it is. Shaping is added to either.
    - `shaping`: the discount γ of the training, to add γ Φ(u′) − Φ(u); `None` for no shaping.
    - `observation`: `"dict"` adds entries `machine` (the state, one-hot) and `progress`; `"flat"` makes one row of numbers of all;
      `"plain"` leaves it as it is.
    - `room`: observations have space for this number of states, so that the space stays the same when the machine changes.
    - `truth`: who says when the task is done. `"environment"`: the machine may be wrong, and an episode that it is wrong about
      is truncated with a counterexample, even where the environment ends as well. `"machine"`: the machine is the task, and its
      terminal states end episodes.
    - `judge`: what the environment says of the task at a step, see `judge`.
    - `compress`: whether only changes of the labels count (`True`) or every step does (`False`); as the machine says if `None`.

    Every `info` has `labels` and `machine_state`; the one that ends an episode also `trace`, and `counterexample` if there is one.
    """

    def __init__(
        self,
        env: Any,
        machine: Machine,
        labels: Labels | None = None,
        *,
        signature: Signature | Iterable[str] | None = None,
        reward: Literal["machine", "environment"] = "machine",
        shaping: float | None = None,
        observation: How = "dict",
        room: int | None = None,
        truth: Literal["environment", "machine"] = "environment",
        judge: Judge = judge,
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
        expect_choices(reward, truth, shaping)
        self.signature = signature_of(env, signature)
        self._label, self._judge = labels, judge
        self._reward, self._shaping, self._truth = reward, shaping, truth
        self._how, self._room, self._compress = observation, room, compress
        self._before: Any = None
        self._closed = False
        self.last_step: StepResult | None = None
        """What the last step of the episode did to the machine."""
        self.set_machine(machine)

    def set_machine(self, machine: Machine) -> None:
        """Follows another machine from the next reset on. The observation space changes with it, unless there is `room`."""
        if self._compress is not None:
            machine = machine.with_steps("changes" if self._compress else "all")
        bound = machine.bind(self.signature)
        encoder = ObservationEncoder.of_states(self.env.observation_space, bound, self._how, self._room)
        self.episode = Episode(bound, self._shaping, trusted=self._truth == "machine")
        self.encoder = encoder
        self.observation_space = encoder.space
        self._running = False

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
        transition = Transition(self.env.unwrapped, None, None, observation, info, begun=True)
        labels = self._labels(transition)
        self.episode.begin(labels)
        self._before, self._running, self.last_step = observation, True, None
        return self._see(observation), info | {"labels": labels, "machine_state": self.episode.state}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a step in the environment and in the machine."""
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment was closed: make another one")
        if not self._running:
            raise gymnasium.error.ResetNeeded("the episode is over, or the machine is another one: call reset() first")
        observation, earned, terminated, truncated, info = self.env.step(action)
        transition = Transition(
            self.env.unwrapped, self._before, action, observation, info, float(earned), terminated, truncated
        )
        labels = self._labels(transition)
        kind = INCOMPLETE if self._truth == "machine" else self._judge(transition)
        result = self.last_step = self.episode.advance(labels, kind)
        reward = (result.reward if self._reward == "machine" else float(earned)) + result.shaping
        info = info | {"labels": labels, "machine_state": self.episode.state}
        if self._truth == "machine":
            terminated = bool(terminated or self.episode.is_over)
            kind = self.episode.monitor.verdict
        elif result.counterexample is not None:
            info["counterexample"] = result.counterexample
            # A truncation even if the environment terminated: the states of a refuted machine have no known value.
            terminated, truncated = False, True
        elif kind != INCOMPLETE:
            # The task is done or lost, whether the environment would go on or not.
            terminated = True
        if terminated or truncated:
            info |= {"trace": self.episode.trace(kind), "outcome": kind}
            self._running = False
        self._before = observation
        return self._see(observation), reward, terminated, truncated, info

    def close(self) -> None:
        """Closes the environment. Steps after that are errors."""
        self._closed = True
        self.env.close()  # type: ignore[no-untyped-call]

    def _see(self, observation: Any) -> Any:
        return self.encoder.encode(observation, self.episode.state_index, self.episode.seen)

    def _labels(self, transition: Transition) -> list[str]:
        if self._label is not None:
            labels = self._label(transition)
        elif "labels" in transition.info:
            labels = transition.info["labels"]
        else:
            raise WorldError("info has no 'labels': give MachineWrapper a function `labels` of the transition")
        try:
            return self.signature.decode(labels)
        except LabelError as error:
            raise LabelError(f"labels of {self.env}: {error}") from error


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
        return observation, info | {"labels": list(labels)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        transition = Transition(
            self.env.unwrapped, self._before, action, observation, info, float(reward), terminated, truncated
        )
        self._before = observation
        return observation, reward, terminated, truncated, info | {"labels": list(self._label(transition))}


def expect_choices(reward: str, truth: str, shaping: float | None) -> None:
    """Rejects invalid arguments."""
    if reward not in ("machine", "environment"):
        raise ValueError(f"reward is 'machine' or 'environment', not {reward!r}")
    if truth not in ("environment", "machine"):
        raise ValueError(f"truth is 'environment' or 'machine', not {truth!r}")
    if shaping is not None and not 0 <= shaping <= 1:
        raise ValueError(f"shaping is the discount, from 0 to 1, not {shaping}")


def signature_of(env: Any, given: Signature | Iterable[str] | None) -> Signature:
    """What can be observed: as given, or as the environment, single or vector, says."""
    if given is not None:
        return given if isinstance(given, Signature) else Signature(given)
    try:
        # Vector environments hand attributes on by themselves.
        single = hasattr(env, "get_wrapper_attr")
        signature: Signature = env.get_wrapper_attr("signature") if single else env.signature
    except AttributeError:
        message = "the environment has no attribute `signature`: pass `signature`, the list of all labels"
        raise WorldError(message) from None
    return signature
