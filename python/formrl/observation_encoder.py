"""Observations extended by the machine's state and by progress towards `forall`s.

A `forall` ranges over everything observed since its state was entered, so an agent needs one indicator per ground atom that the
edges out of a state wait for (section 3.4 of the paper). Together with the state, one-hot, this makes the task Markovian.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from formrl._native import BoundMachine

from .episode import running_states
from .extras import require

require("gymnasium", "formrl.wrappers")

from gymnasium import spaces  # noqa: E402
from gymnasium.spaces.utils import flatdim, flatten  # noqa: E402

How = Literal["dict", "flat", "plain"]
"""Observations extended as a dictionary, as one row of numbers, or not at all."""


class ObservationEncoder:
    """Observations of a space, extended by `states` columns for the machine's state and one for each of `atoms`.

    `atoms` are the names of those with an indicator; `shown` says which of them the machine waits for anywhere: the others are 0.
    """

    def __init__(self, base: spaces.Space[Any], machine: BoundMachine, atoms: list[str], states: int, how: How) -> None:
        if how not in ("dict", "flat", "plain"):
            raise ValueError(f"observation is 'dict', 'flat' or 'plain', not {how!r}")
        self.base, self.how, self.states, self.atoms = base, how, states, atoms
        signature = machine.signature
        waited_for = {atom for state in running_states(machine.machine) for atom in machine.progress_atoms(state)}
        self.columns = np.array([signature.index(atom) for atom in atoms], dtype=np.intp)
        self.shown = np.array([atom in waited_for for atom in atoms], dtype=np.bool_)
        self.one_hot = np.eye(states, dtype=np.float32)
        self.space = self._space()
        self._adds = bool(self._parts()) and how != "plain"

    @classmethod
    def of_states(cls, base: spaces.Space[Any], machine: BoundMachine, how: How, room: int | None = None) -> ObservationEncoder:
        """For one agent in all states. With `room`, the space is the same for all machines with at most that many states."""
        states = machine.machine.states
        if room is None:
            waited_for = {atom for state in running_states(machine.machine) for atom in machine.progress_atoms(state)}
            atoms = [atom for atom in machine.signature.atoms if atom in waited_for]
            return cls(base, machine, atoms, len(states), how)
        if len(states) > room:
            raise ValueError(f"the machine has {len(states)} states, and there is room for {room}")
        return cls(base, machine, machine.signature.atoms, room, how)

    @classmethod
    def of_state(cls, base: spaces.Space[Any], machine: BoundMachine, state: str, how: How) -> ObservationEncoder:
        """For the agent of one state."""
        return cls(base, machine, machine.progress_atoms(state), 0, how)

    def _parts(self) -> dict[str, int]:
        parts = {"machine": self.states, "progress": len(self.atoms)}
        return {name: size for name, size in parts.items() if size > 0}

    def _space(self) -> spaces.Space[Any]:
        parts = self._parts()
        if self.how == "plain" or (self.how == "dict" and not parts):
            return self.base
        if self.how == "flat":
            if not _flattens(self.base):
                raise ValueError(
                    f"observations of {self.base} cannot be flattened: use observation='dict', or a wrapper that makes arrays of them, "
                    "such as minigrid.wrappers.FlatObsWrapper"
                )
            box = self.base if isinstance(self.base, spaces.Box) else None
            low, high = (
                (box.low.ravel(), box.high.ravel())
                if box
                else (np.zeros(flatdim(self.base)), np.ones(flatdim(self.base)))
            )
            more = sum(parts.values())
            low = np.concatenate([low, np.zeros(more)]).astype(np.float32)
            high = np.concatenate([high, np.ones(more)]).astype(np.float32)
            return spaces.Box(low, high, dtype=np.float32)
        inner = dict(self.base.spaces) if isinstance(self.base, spaces.Dict) else {"observation": self.base}
        if type(inner.get("mission")).__name__ == "MissionSpace":
            warnings.warn(
                "MiniGrid's observations have a text, `mission`, which networks cannot read: wrap the environment in "
                "minigrid.wrappers.ImgObsWrapper or FlatObsWrapper before it gets a machine, or use observation='plain'",
                stacklevel=6,
            )
        if taken := sorted(inner.keys() & parts.keys()):
            raise ValueError(f"observations have an entry {taken[0]!r} already: use observation='flat'")
        return spaces.Dict(inner | {name: spaces.Box(0.0, 1.0, (size,), np.float32) for name, size in parts.items()})

    def encode(self, observation: Any, state: int, seen: npt.NDArray[np.bool_]) -> Any:
        """One observation, extended."""
        if self.how == "flat":
            is_array = isinstance(observation, np.ndarray) and isinstance(self.base, spaces.Box)
            row: Any = observation.ravel() if is_array else flatten(self.base, observation)
            out = np.empty(len(row) + self.states + len(self.atoms), np.float32)
            out[: len(row)] = row
            self.write_tail(out, state, seen)
            return out
        if not self._adds:
            return observation
        extended = dict(observation) if isinstance(self.base, spaces.Dict) else {"observation": observation}
        if self.states:
            extended["machine"] = self.one_hot[state].copy()
        if self.atoms:
            extended["progress"] = (seen[self.columns] & self.shown).astype(np.float32)
        return extended

    def write_tail(self, row: npt.NDArray[Any], state: int, seen: npt.NDArray[np.bool_]) -> None:
        """Writes state and progress to the end of a flat observation."""
        at = len(row) - len(self.atoms)
        if self.states:
            row[at - self.states : at] = self.one_hot[state]
        if self.atoms:
            row[at:] = seen[self.columns] & self.shown

    def read(self, observation: Any) -> tuple[int, npt.NDArray[np.bool_]]:
        """The machine's state and progress, one boolean per atom with an indicator, of an extended observation."""
        if self.how == "plain" or not self.states:
            raise ValueError("observations without the machine's state: use observation='dict' or 'flat'")
        if self.how == "dict":
            progress = observation["progress"] if self.atoms else np.zeros(0)
            return int(np.argmax(observation["machine"])), np.asarray(progress) > 0.5
        at = len(observation) - len(self.atoms)
        return int(np.argmax(observation[at - self.states : at])), np.asarray(observation[at:]) > 0.5

    def read_batch(self, observations: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """The same of many environments, one row per environment."""
        if self.how == "plain" or not self.states:
            raise ValueError("observations without the machine's state: use observation='dict' or 'flat'")
        if self.how == "dict":
            states = np.asarray(observations["machine"])
            progress = observations["progress"] if self.atoms else np.zeros((len(states), 0))
        else:
            at = np.shape(observations)[1] - len(self.atoms)
            states, progress = observations[:, at - self.states : at], observations[:, at:]
        return np.argmax(states, axis=1), np.asarray(progress) > 0.5

    def replace(self, observation: Any, state: int, seen: npt.NDArray[np.bool_]) -> Any:
        """An extended observation with another state and another progress: the rest is shared."""
        if self.how == "flat":
            row = np.array(observation)
            self.write_tail(row, state, seen)
            return row
        extended = dict(observation)
        extended["machine"] = self.one_hot[state]
        if self.atoms:
            extended["progress"] = (seen[self.columns] & self.shown).astype(np.float32)
        return extended

    def replace_batch(self, observations: Any, states: npt.NDArray[Any], seen: npt.NDArray[np.bool_]) -> Any:
        """The observations of many environments with other states and progress, several of each: with an axis for these in front."""
        parts = self._extension(states, seen)
        if self.how == "flat":
            rows = np.repeat(np.asarray(observations)[None], len(states), axis=0)
            tail = np.concatenate([*parts.values()], axis=2)
            rows[:, :, rows.shape[2] - tail.shape[2] :] = tail
            return rows
        return {key: np.broadcast_to(value, (len(states), *np.shape(value))) for key, value in observations.items()} | parts

    def encode_batch(self, observations: Any, states: npt.NDArray[Any], seen: npt.NDArray[np.bool_]) -> Any:
        """The observations of many environments, one row per environment, extended."""
        parts = self._extension(states, seen)
        if self.how == "plain" or (self.how == "dict" and not parts):
            return observations
        if self.how == "flat":
            if not isinstance(self.base, spaces.Box):
                raise ValueError(
                    "observations of many environments are flattened if they are arrays: use observation='dict'"
                )
            rows = np.reshape(observations, (len(states), -1))
            return np.concatenate([rows, *parts.values()], axis=1, dtype=np.float32, casting="unsafe")
        inner = dict(observations) if isinstance(self.base, spaces.Dict) else {"observation": observations}
        return inner | parts

    def _extension(self, states: npt.NDArray[Any], seen: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.float32]]:
        parts = {}
        if self.states:
            parts["machine"] = self.one_hot[states]
        if self.atoms:
            parts["progress"] = (seen[..., self.columns] & self.shown).astype(np.float32)
        return parts


def _flattens(space: spaces.Space[Any]) -> bool:
    """Whether observations can be rows of numbers. MiniGrid's texts do not even say."""
    try:
        return space.is_np_flattenable
    except NotImplementedError:
        return False
