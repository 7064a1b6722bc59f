"""Atomic file replacement: a reader sees the old file or the new one, never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file atomically, replacing an existing one."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe or device, such as /dev/null, would be replaced by a file.
        raise OSError(f"{path}: a pipe or a device, not a file")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as partial:
        try:
            partial.write(data)
            partial.flush()
            os.fsync(partial.fileno())
            # The same permissions as other new files, not those of temporary files.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(partial.name, 0o666 & ~mask)
            os.replace(partial.name, path)
        except BaseException:
            os.unlink(partial.name)
            raise
