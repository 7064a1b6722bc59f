"""The commands of the binary `form`, as `formrl …` or `python -m formrl …`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from formrl._native import run_command
from formrl.saved_run import ERROR_FILE


BINARY_ONLY = ("play", "reproduce", "bench", "completions", "man")
"""The commands that the package is built without."""


def main() -> int:
    """Run the command that the arguments of the process ask for; the exit code."""
    # Python's own handler would wait for the command to end: Ctrl-C is the command's own business here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = "python -m formrl" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    arguments, errors = sys.argv[1:], None
    if len(arguments) > 1 and arguments[0] == ERROR_FILE:
        errors, arguments = Path(arguments[1]), arguments[2:]
    if arguments and arguments[0] in BINARY_ONLY:
        name = arguments[0]
        print(
            f"error: `{name}` is not in the Python package, it needs the binary `form`: in the root of the repository,\n"
            f"`cargo install --path crates/form-cli` installs it; then `form {name}`",
            file=sys.stderr,
        )
        return 2
    return run_command([program, *arguments], errors)


if __name__ == "__main__":
    sys.exit(main())
