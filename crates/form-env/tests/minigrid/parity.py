"""Replays recorded episodes in the real MiniGrid and compares every observation, position, direction, label and ending.

    cargo run --release -p form-env --example episodes -- 6 7 > episodes.jsonl
    python parity.py episodes.jsonl

MiniGrid knows nothing of checkpoints and tasks. Here a checkpoint is an object that can be walked over, with the number that
the paper's published environment gives it. A key is MiniGrid's, but lies on the floor: it is walked over and cannot be picked up. A door is
MiniGrid's, open, and stays so. Each task is written down once more, in Python, independently of the machines. Exits with 1 at the first
difference, and names it.
"""

import copy
import json
import re
import sys

import numpy as np
from minigrid.core.constants import IDX_TO_OBJECT, OBJECT_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Door, Goal, Key, Lava, Wall, WorldObj
from minigrid.minigrid_env import MiniGridEnv
from minigrid.wrappers import FullyObsWrapper

OBJECT_TO_IDX["checkpoint"] = 13
IDX_TO_OBJECT[13] = "checkpoint"


class Checkpoint(WorldObj):
    """A ball that is walked over."""

    def __init__(self, atom):
        self.atom = atom
        self.number = int(re.fullmatch(r"\w+\(o(\d+)\)", atom)[1])
        super().__init__("checkpoint", atom.split("(")[0])

    def can_overlap(self):
        return True


class KeyOnTheFloor(Key):
    """MiniGrid's key, walked over instead of picked up."""

    def __init__(self, atom):
        self.atom = atom
        super().__init__(atom[len("key(") : -1])

    def can_overlap(self):
        return True

    def can_pickup(self):
        return False


class OpenDoor(Door):
    """MiniGrid's door, open for good. That an open one can be walked through is MiniGrid's own rule."""

    def __init__(self, atom):
        self.atom = atom
        super().__init__(atom[len("door(") : -1], is_open=True)

    def toggle(self, env, pos):
        return False


def thing_of(atom):
    """The MiniGrid object that an atom is observed at."""
    if atom in ("goal", "lava"):
        return {"goal": Goal, "lava": Lava}[atom]()
    kinds = {"key": KeyOnTheFloor, "door": OpenDoor}
    return kinds.get(atom.split("(")[0], Checkpoint)(atom)


class Room(MiniGridEnv):
    """A MiniGrid environment on a recorded map. Nothing of MiniGrid's own rules is changed."""

    def __init__(self, description):
        self.description = description
        width, height = description["size"]
        mission = MissionSpace(mission_func=lambda: "")
        super().__init__(
            mission_space=mission, width=width, height=height, max_steps=description["steps"], see_through_walls=True
        )

    def _gen_grid(self, width, height):
        self.grid = Grid(width, height)
        for x, y in self.description["walls"]:
            self.put_obj(Wall(), x, y)
        for atom, (x, y) in self.description["objects"]:
            self.put_obj(thing_of(atom), x, y)
        self.agent_pos = tuple(self.description["agent"])
        self.agent_dir = self.description["direction"]


def labels_of(env, moved):
    """A checkpoint, key or door when it is entered, goal and lava as long as the agent is there."""
    thing = env.grid.get(*env.agent_pos)
    if isinstance(thing, (Checkpoint, KeyOnTheFloor, OpenDoor)):
        return [thing.atom] if moved else []
    return [thing.type] if thing is not None else []


# The tasks in Python. Each is fed one label at a time and says "goal", "dead-end" or "running".


class VisitAllThenGoal:
    """All checkpoints of a colour in any order, then the goal; where there is lava, it ends the episode."""

    def __init__(self, colour, things):
        self.left = {atom for atom in things if atom.startswith(colour)}

    def see(self, label):
        if label == "lava":
            return "dead-end"
        if not self.left:
            return "goal" if label == "goal" else "running"
        self.left.discard(label)
        return "running"


class GreenButOne:
    """A green checkpoint other than number 12, then the goal."""

    def __init__(self, _things):
        self.seen_green = False

    def see(self, label):
        if label == "lava":
            return "dead-end"
        if self.seen_green:
            return "goal" if label == "goal" else "running"
        self.seen_green = label.startswith("green") and label != "green(o12)"
        return "running"


class BlueAllYellow7:
    """Any blue checkpoint, then all yellow ones, then purple number 7, then the goal."""

    def __init__(self, things):
        self.stage = 0
        self.left = {atom for atom in things if atom.startswith("yellow")}

    def see(self, label):
        if self.stage == 0:
            self.stage = 1 if label.startswith("blue") else 0
        elif self.stage == 1:
            self.left.discard(label)
            self.stage = 1 if self.left else 2
        elif self.stage == 2:
            self.stage = 3 if label == "purple(o7)" else 2
        elif label == "goal":
            return "goal"
        return "running"


class Gather:
    """Some number of different labels that begin with these words, in any order, then the goal."""

    def __init__(self, wanted, _things):
        self.wanted = wanted
        self.seen = set()
        self.gathered = False

    def see(self, label):
        if self.gathered:
            return "goal" if label == "goal" else "running"
        self.seen.add(label)
        count = {word: sum(label.startswith(word) for label in self.seen) for word in self.wanted}
        self.gathered = all(count[word] >= least for word, least in self.wanted.items())
        return "running"


class KeyAndDoor:
    """A key, then the door of its colour, then the goal."""

    def __init__(self, _things):
        self.keys = set()
        self.through = False

    def see(self, label):
        if self.through:
            return "goal" if label == "goal" else "running"
        if label.startswith("key("):
            self.keys.add(label[len("key(") :])
        self.through = label.startswith("door(") and label[len("door(") :] in self.keys
        return "running"


TASKS = {
    "all-yellow": lambda things: VisitAllThenGoal("yellow", things),
    "all-yellow-4": lambda things: VisitAllThenGoal("yellow", things),
    "all-yellow-6": lambda things: VisitAllThenGoal("yellow", things),
    "green-but-one": GreenButOne,
    "blue-all-yellow-7": BlueAllYellow7,
    "any-two-yellow": lambda things: Gather({"yellow": 2}, things),
    "yellow-and-blue": lambda things: Gather({"yellow": 1, "blue": 1}, things),
    "key-and-door": KeyAndDoor,
    "two-rooms": lambda things: VisitAllThenGoal("red", things),
}


class Difference(Exception):
    """The two worlds disagree."""


def compare(step, what, recorded, minigrid):
    if recorded != minigrid:
        raise Difference(f"step {step}: {what} is {recorded} here and {minigrid} in MiniGrid")


def compare_frame(step, recorded, env, image, labels, outcome):
    compare(step, "the agent's cell", recorded["agent"], [int(i) for i in env.agent_pos])
    compare(step, "the agent's direction", recorded["direction"], int(env.agent_dir))
    compare(step, "the list of labels", recorded["labels"], labels)
    compare(step, "the outcome", recorded["outcome"], outcome)
    here = np.frombuffer(bytes.fromhex(recorded["image"]), dtype=np.uint8).reshape(image.shape)
    for x, y, channel in np.argwhere(here != image):
        place = f"cell ({x}, {y}), channel {channel},"
        compare(step, place, int(here[x, y, channel]), int(image[x, y, channel]))


def replay(episode):
    """Plays one recorded episode in MiniGrid; returns its number of steps and its outcome."""
    description = episode["map"]
    env = FullyObsWrapper(Room(description))
    task = TASKS[description["task"]]([atom for atom, _ in description["objects"]])
    observation, _ = env.reset()
    inside, last = env.unwrapped, None
    if len(episode["frames"]) != len(episode["actions"]) + 1:
        raise Difference("there is not one frame an action, and one more")
    compare_frame(0, episode["frames"][0], inside, observation["image"], labels_of(inside, True), "running")
    outcome = "running"
    for step, action in enumerate(episode["actions"], 1):
        if outcome != "running":
            raise Difference(f"step {step}: MiniGrid's episode was over before")
        before = tuple(inside.agent_pos)
        observation, _, terminated, truncated, _ = env.step(action)
        labels = labels_of(inside, tuple(inside.agent_pos) != before)
        if labels and labels[0] != last:
            last = labels[0]
            outcome = task.see(last)
        # MiniGrid ends at the goal and in lava. The goal ends it here only if the task is done.
        on = inside.grid.get(*inside.agent_pos)
        entered = on.type if on is not None and tuple(inside.agent_pos) != before else None
        if terminated and entered not in ("goal", "lava") or entered in ("goal", "lava") and not terminated:
            raise Difference(f"step {step}: MiniGrid does not end where this comparison expects it to")
        if entered == "lava" and outcome != "dead-end":
            raise Difference(f"step {step}: the task goes on in lava")
        if outcome == "running" and truncated:
            outcome = "out-of-time"
        compare_frame(step, episode["frames"][step], inside, observation["image"], labels, outcome)
    return len(episode["actions"]), outcome


def check_that_differences_are_noticed(episode):
    """Every field of a frame, once tampered with, must be noticed."""
    middle = len(episode["frames"]) // 2
    changes = {
        "image": lambda image: image[:-2] + "07",
        "agent": lambda cell: [cell[0] + 1, cell[1]],
        "direction": lambda direction: (direction + 1) % 4,
        "labels": lambda labels: labels + ["goal"],
        "outcome": lambda _: "goal",
    }
    for field, change in changes.items():
        tampered = copy.deepcopy(episode)
        frame = tampered["frames"][middle]
        frame[field] = change(frame[field])
        try:
            replay(tampered)
        except Difference:
            continue
        raise Difference(f"a wrong {field} was not noticed")


def main():
    counts = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for number, line in enumerate(file):
            episode = json.loads(line)
            name = episode["map"]["task"]
            try:
                steps, outcome = replay(episode)
                if number == 0:
                    check_that_differences_are_noticed(episode)
            except Difference as difference:
                sys.exit(f"{name}, line {number + 1}: {difference}")
            of_task = counts.setdefault(name, {"steps": 0})
            of_task["steps"] += steps
            of_task[outcome] = of_task.get(outcome, 0) + 1
    missing = [name for name in TASKS if "goal" not in counts.get(name, {})]
    if missing:
        sys.exit(f"no completed episode of {', '.join(missing)}")
    for name, of_task in counts.items():
        steps = of_task.pop("steps")
        print(f"{name}: {steps} steps alike;", ", ".join(f"{n} x {outcome}" for outcome, n in of_task.items()))


if __name__ == "__main__":
    main()
