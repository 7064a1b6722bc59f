"""Counterfactual experience (CRM, Toro Icarte et al. 2022): what a step would have been in every other state of the machine.

The environment does not depend on the machine: a step of it, with its labels, says for each machine state, and for each window (what
has been observed since the state was entered), where the machine would have gone and what it would have paid. `bound.step` says it
exactly, in Rust, for all at once. `formrl.sb3.CounterfactualReplayBuffer` puts all of these experiences into a replay buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from formrl._native import BoundMachine, Machine

from .episode import is_terminal
from .observation_encoder import ObservationEncoder
from .shaping import Reward, Shaping, combined


@dataclass
class Experience:
    """A step as it would have been: an off-policy learner takes it like one that was made."""

    before: Any
    """The observation before it; `after` is the one after it."""
    after: Any
    reward: float
    terminated: bool


@dataclass
class Steps:
    """Steps of several environments as they would have been, the steps themselves first: arrays (environments, experiences)."""

    states: npt.NDArray[np.int32]
    seen: npt.NDArray[np.bool_]
    """What had been seen since the state was entered, with an axis for atoms."""
    next_states: npt.NDArray[np.int32]
    next_seen: npt.NDArray[np.bool_]
    rewards: npt.NDArray[np.float64]
    over: npt.NDArray[np.bool_]
    other: npt.NDArray[np.bool_]
    """Whether it is another one than the step itself, and to be learnt from."""


class Counterfactuals:
    """The experiences that a step of a `MachineWrapper` stands for, besides itself.

    All states that are not terminal, each with all windows: all sets of the atoms that its quantifiers wait for. If there are more than
    `limit` of these, `limit` of them, drawn by `rng`, for each step.
    """

    def __init__(
        self,
        machine: BoundMachine,
        encoder: ObservationEncoder,
        reward: Reward = "machine",
        shaping: float | Shaping | None = None,
        *,
        limit: int = 64,
        rng: np.random.Generator | None = None,
    ) -> None:
        if encoder.how == "plain" or not encoder.states:
            raise ValueError("counterfactual experience needs observations with the machine's state: observation='dict' or 'flat'")
        self.machine, self.encoder, self.reward, self.shaping = machine, encoder, reward, Shaping.of(shaping)
        self.limit, self._rng = limit, rng or np.random.default_rng(0)
        lifted = machine.machine
        self._potentials = (self.shaping or Shaping(1.0)).potentials(lifted)
        self._running = [i for i, state in enumerate(lifted.states) if not is_terminal(lifted, state)]
        self._waits = {
            i: np.array([machine.signature.index(atom) for atom in machine.progress_atoms(i)], np.intp) for i in self._running
        }
        self.size = min(limit, sum(2 ** len(self._waits[i]) for i in self._running))
        """How many there are of each step, the step itself included."""
        self._all = self._enumerate() if sum(2 ** len(self._waits[i]) for i in self._running) <= limit else None

    @classmethod
    def of(cls, env: Any, *, limit: int = 64, rng: np.random.Generator | None = None) -> Counterfactuals:
        """Those of a `MachineWrapper`, or of an environment that has one inside."""
        inside = env
        while not (hasattr(inside, "episode") and hasattr(inside, "encoder")):
            if not hasattr(inside, "env"):
                raise ValueError("the environment has no MachineWrapper inside")
            inside = inside.env
        return cls(inside.episode.machine, inside.encoder, inside.reward_of, inside.shaping, limit=limit, rng=rng)

    def with_machine(self, machine: Machine) -> Counterfactuals:
        """The same for another machine, whose observations have the same space."""
        bound = machine.bind(self.machine.signature)
        encoder = ObservationEncoder(self.encoder.base, bound, self.encoder.atoms, self.encoder.states, self.encoder.how)
        return Counterfactuals(bound, encoder, self.reward, self.shaping, limit=self.limit, rng=self._rng)

    def _enumerate(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        states, seen = [], []
        for state in self._running:
            waits = self._waits[state]
            for number in range(2 ** len(waits)):
                row = np.zeros(len(self.machine.signature), np.bool_)
                row[waits] = [bool(number >> bit & 1) for bit in range(len(waits))]
                states.append(state)
                seen.append(row)
        return np.array(states, np.int32), np.array(seen).reshape(len(states), -1)

    def _draw(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        states = self._rng.choice(self._running, self.size).astype(np.int32)
        seen = np.zeros((self.size, len(self.machine.signature)), np.bool_)
        for row, state in zip(seen, states):
            waits = self._waits[int(state)]
            row[waits] = self._rng.random(len(waits)) < 0.5
        return states, seen

    def expand(self, before: Any, after: Any, terminated: bool, info: dict[str, Any]) -> list[Experience]:
        """All other experiences of a step, from its observations, whether it terminated, and its `info`.

        There are none where the machine was wrong about the episode.
        """
        own, progress = self.encoder.read(before)
        steps = self.steps(np.array([own]), progress[None], np.array([terminated]), [info])
        return [
            Experience(
                self.encoder.replace(before, int(steps.states[0, i]), steps.seen[0, i]),
                self.encoder.replace(after, int(steps.next_states[0, i]), steps.next_seen[0, i]),
                float(steps.rewards[0, i]),
                bool(steps.over[0, i]),
            )
            for i in np.flatnonzero(steps.other[0])
        ]

    def steps(
        self,
        own: npt.NDArray[Any],
        progress: npt.NDArray[np.bool_],
        terminated: npt.NDArray[np.bool_],
        infos: Sequence[Mapping[str, Any]],
    ) -> Steps:
        """What a step of each of several environments would have been: of the states that their machines were in before it, by
        number, with their progress, one row of booleans each."""
        n, atoms = len(infos), len(self.machine.signature)
        own_seen = np.zeros((n, 1, atoms), np.bool_)
        own_seen[:, 0, self.encoder.columns] = progress
        drawn = [self._all or self._draw() for _ in infos]
        # The step itself goes first: whether the machine ended it says what its end means for the others.
        states = np.concatenate([own[:, None], np.stack([some for some, _ in drawn])], axis=1).astype(np.int32)
        seen = np.concatenate([own_seen, np.stack([some for _, some in drawn])], axis=1)
        encode = self.machine.signature.encode
        windows = np.empty((*states.shape, 2, atoms), np.bool_)
        windows[:, :, 0] = seen
        windows[:, :, 1] = np.stack([encode(info["newest"]) for info in infos])[:, None]
        labels = np.empty((*states.shape, atoms), np.bool_)
        labels[:] = np.stack([encode(info["labels"]) for info in infos])[:, None]
        steps = self.machine.step(states.ravel(), windows.reshape(-1, 2, atoms), labels.reshape(-1, atoms))
        next_states, over = steps.states.reshape(states.shape), steps.over.reshape(states.shape)
        # An end that is not the machine's is the environment's own, in whatever state the machine is.
        over = over | (terminated & ~over[:, 0])[:, None]
        rewards = steps.rewards.reshape(states.shape)
        if self.reward != "machine":
            # A function of both rewards is one of two numbers.
            rewards = np.array(
                [
                    [float(combined(self.reward, float(paid), info.get("env_reward", 0.0))) for paid in row]
                    for row, info in zip(rewards, infos)
                ]
            )
        if self.shaping is not None:
            there = np.where(over, 0.0, self._potentials[next_states])
            rewards = rewards + self.shaping.gamma * there - self._potentials[states]
        other = (states != own[:, None]) | (seen != own_seen).any(axis=2)
        other &= np.array([["counterexample" not in info] for info in infos])
        return Steps(states, seen, next_states, steps.windows[:, 0].reshape(seen.shape), rewards, over, other)
