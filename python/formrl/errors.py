"""The exceptions of the package: one hierarchy, with the places that the native code names."""

from __future__ import annotations

import os


class FormError(Exception):
    """Anything that this package has to complain about.

    >>> import formrl
    >>> try:
    ...     formrl.Machine.parse("initial u0\\naccept u1\\nu0 -> u1 : forall X.")
    ... except formrl.FormError as error:
    ...     print(type(error).__name__, error.line, error.column)
    ParseError 3 21
    """

    file: str | None
    """The file it is about, if there is one."""
    line: int | None
    """The line in the text, from 1."""
    column: int | None
    """The column in the line, from 1."""

    def __init__(
        self,
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column


class ParseError(FormError, ValueError):
    """A text that does not follow its grammar."""


class LabelError(FormError, ValueError):
    """A label that cannot be observed: the signature does not list it."""


class MachineError(FormError, ValueError):
    """A machine that cannot be."""


class TraceError(FormError, ValueError):
    """A trace, or a line of a trace file, that cannot be."""


class LearnError(FormError):
    """Learning failed. Reaching a limit is no failure: it is an outcome."""


class WorldError(FormError, ValueError):
    """A task or a world that cannot be, or that was used in a way it cannot be used."""


class LimitError(FormError):
    """Work that would exceed a limit; the message says what to do instead."""


class FileError(FormError, OSError):
    """A file that cannot be read or written."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], error: OSError) -> FileError:
        """What Python says of a file, as native code says it."""
        made = cls(f"{os.fspath(path)}: {error.strerror or error}", os.fspath(path))
        made.errno = error.errno
        return made


class DamagedFile(FileError, ValueError):
    """A file that is not what it should be: truncated, altered, or of another format."""


class TrialFailed(FormError):
    """The trainer refused a trial, or its folder holds another run: another attempt would end the same way."""
