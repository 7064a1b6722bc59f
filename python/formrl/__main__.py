"""The commands of the binary `form`, as `formrl …` or `python -m formrl …`."""

from __future__ import annotations

import signal
import sys

from formrl._native import run_command


def main() -> int:
    """Run the command that the arguments of the process ask for; the exit code."""
    # Python's own handler would wait for the command to end: Ctrl-C is the command's own business here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = "python -m formrl" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    return run_command([program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
