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

from formrl._native import (
    BoundMachine,
    Learner,
    Machine,
    Monitor,
    Monitors,
    Recorder,
    Signature,
    Step,
    Trace,
    TraceReader,
    learn,
    read_signature,
    read_traces,
    write_traces,
)
from formrl.errors import (
    FileError,
    FormError,
    LabelError,
    LearnError,
    LimitError,
    MachineError,
    ParseError,
    TraceError,
    WorldError,
)
from formrl.records import (
    Difference,
    Edge,
    LearnResult,
    Overlap,
    Reaction,
    Report,
    Round,
    Steps,
)

__all__ = [
    "BoundMachine",
    "Difference",
    "Edge",
    "FileError",
    "FormError",
    "LabelError",
    "LearnError",
    "LearnResult",
    "Learner",
    "LimitError",
    "Machine",
    "MachineError",
    "Monitor",
    "Monitors",
    "Overlap",
    "ParseError",
    "Reaction",
    "Recorder",
    "Report",
    "Round",
    "Signature",
    "Step",
    "Steps",
    "Trace",
    "TraceError",
    "TraceReader",
    "WorldError",
    "learn",
    "read_signature",
    "read_traces",
    "write_traces",
]
