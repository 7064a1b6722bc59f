"""First-order reward machines: read, checked, drawn, run, learnt from traces, and put to work in environments.

>>> import formrl
>>> machine = formrl.Machine.parse('''
... initial u0
... accept  done
... u0 -> u1   : forall X. yellow(X)
... u1 -> done : goal
... ''')
>>> monitor = machine.bind(formrl.Signature(["yellow(o0)", "yellow(o1)", "goal"])).monitor()
>>> for label in ["yellow(o1)", "goal", "yellow(o0)", "goal"]:
...     step = monitor.observe([label])
>>> step.state, step.reward
('done', 1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formrl._native import (
    BoundMachine,
    Learner,
    Machine,
    Monitor,
    Monitors,
    Policy,
    ReachAvoidPolicy,
    Recorder,
    Signature,
    Step,
    SubTasks,
    Task,
    Trace,
    TraceReader,
    Worlds,
    __version__,
    learn,
    read_signature,
    read_traces,
    write_traces,
)
from formrl.errors import (
    DamagedFile,
    FileError,
    FormError,
    LabelError,
    LearnError,
    LimitError,
    MachineError,
    ParseError,
    TraceError,
    TrialFailed,
    WorldError,
)
from formrl.records import (
    Difference,
    Edge,
    LearnResult,
    Level,
    MachineRun,
    Overlap,
    PureStep,
    PureSteps,
    Reaction,
    Report,
    Round,
    Steps,
    Suspect,
)

from formrl.episode import nothing_known
from formrl.saved_run import Rollout, Run, TrainError, load_run, resume, train
from formrl.shaping import Shaping
from formrl.trials import Trial, TrialResult, sweep
from formrl.zero_shot import ZeroShotResult, run

if TYPE_CHECKING:
    from os import PathLike

    from formrl.worlds import GridWorldEnv
    from formrl.wrappers import MachineWrapper

__all__ = [
    "BoundMachine",
    "DamagedFile",
    "Difference",
    "Edge",
    "FileError",
    "FormError",
    "LabelError",
    "LearnError",
    "LearnResult",
    "Learner",
    "Level",
    "LimitError",
    "Machine",
    "MachineError",
    "MachineRun",
    "MachineWrapper",
    "Monitor",
    "Monitors",
    "Overlap",
    "ParseError",
    "Policy",
    "PureStep",
    "PureSteps",
    "ReachAvoidPolicy",
    "Reaction",
    "Recorder",
    "Report",
    "Rollout",
    "Round",
    "Run",
    "Shaping",
    "Signature",
    "Step",
    "Steps",
    "SubTasks",
    "Suspect",
    "Task",
    "Trace",
    "TraceError",
    "TraceReader",
    "TrainError",
    "Trial",
    "TrialFailed",
    "TrialResult",
    "WorldError",
    "Worlds",
    "ZeroShotResult",
    "__version__",
    "learn",
    "load_run",
    "make_task",
    "nothing_known",
    "read_signature",
    "read_traces",
    "resume",
    "run",
    "sweep",
    "train",
    "write_traces",
]


def __getattr__(name: str) -> Any:
    """`MachineWrapper`, which needs Gymnasium, when it is asked for."""
    if name == "MachineWrapper":
        from formrl.wrappers import MachineWrapper

        return MachineWrapper
    raise AttributeError(f"module 'formrl' has no attribute {name!r}")


def make_task(task: Task | str | PathLike[str], **settings: Any) -> GridWorldEnv:
    """A Gymnasium environment of a task: a built-in one by its name, or a `.toml` file of your own.

    >>> import formrl
    >>> env = formrl.make_task("green-but-one", actions="moves")
    >>> env.actions
    ['left', 'right', 'forward']
    """
    from formrl.worlds import GridWorldEnv

    return GridWorldEnv(task, **settings)
