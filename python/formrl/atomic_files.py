"""Files that are there as a whole or not at all: whoever reads one while it is replaced sees the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file, all or nothing, in place of the one that is there."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        # A file would take its place: whoever may do that would have no /dev/null any more.
        raise OSError(f"{path}: a pipe or a device, not a file")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as partial:
        try:
            partial.write(data)
            partial.flush()
            os.fsync(partial.fileno())
            # Whoever may read other new files may read this one.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(partial.name, 0o666 & ~mask)
            os.replace(partial.name, path)
        except BaseException:
            os.unlink(partial.name)
            raise
