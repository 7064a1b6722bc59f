"""The files that weights travel in: named arrays and a description, as safetensors with a checksum.

Networks and checkpoints of the native trainer are such files. Reading refuses one whose checksum is wrong; writing adds the
checksum and replaces the old file at once, so that the native tools read the result again. Arrays are kept as the bytes they
are: what is not changed comes out as it went in.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DamagedFile, FileError
from .extras import require
from .atomic_files import write_atomic

CHECKSUM = "crc32"

# safetensors' names of the types that occur, and numpy's.
_TYPES = {"F32": "<f4", "F64": "<f8", "U8": "|u1", "U32": "<u4", "U64": "<u8", "I32": "<i4", "I64": "<i8"}
_NAMES = {np.dtype(there): here for here, there in _TYPES.items()}


@dataclass
class Bundle:
    """What a file is made of: arrays by name, and texts beside them."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)

    def description(self, key: str) -> Any:
        """What stands in the metadata under `key`, read as JSON."""
        if key not in self.metadata:
            raise DamagedFile(f"its metadata has no {key!r}")
        try:
            return json.loads(self.metadata[key])
        except ValueError as error:
            raise DamagedFile(f"its metadata has no JSON under {key!r}: {error}") from error

    def describe(self, key: str, value: Any) -> None:
        """Puts a value into the metadata, as JSON."""
        self.metadata[key] = json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def checksum(self) -> int:
        """The CRC-32 of everything, as the native tools compute it."""
        crc = 0
        for key in sorted(self.metadata, key=lambda key: key.encode()):
            crc = zlib.crc32(key.encode() + self.metadata[key].encode(), crc)
        for name in sorted(self.arrays, key=lambda name: name.encode()):
            array = self.arrays[name]
            shape = f"{name} {_NAMES[array.dtype]} [{', '.join(map(str, array.shape))}]"
            crc = zlib.crc32(shape.encode(), crc)
            crc = zlib.crc32(np.ascontiguousarray(array).tobytes(), crc)
        return crc

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, all or nothing."""
        safetensors = require("safetensors.numpy", "writing weights")
        arrays = self.arrays | {CHECKSUM: np.array([self.checksum()], dtype="<u4")}
        data = safetensors.save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, self.metadata)
        try:
            write_atomic(path, data)
        except OSError as error:
            raise FileError.of(path, error) from error

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Bundle:
        """Reads a file. One with a checksum is refused if it is wrong."""
        safetensors = require("safetensors", "reading weights")
        load = require("safetensors.numpy", "reading weights").load
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise FileError.of(path, error) from error
        try:
            arrays = load(data)
            length = int.from_bytes(data[:8], "little")
            metadata = json.loads(data[8 : 8 + length]).get("__metadata__", {})
        except (safetensors.SafetensorError, ValueError) as error:
            raise DamagedFile(f"{path}: not a safetensors file: {error}", str(path)) from error
        for name, array in arrays.items():
            if array.dtype not in _NAMES:
                raise DamagedFile(
                    f"{path}: tensor {name!r} is of a type that no native file has, {array.dtype}", str(path)
                )
        stored = arrays.pop(CHECKSUM, None)
        bundle = cls(arrays, metadata)
        if stored is not None and (stored.size != 1 or int(stored.reshape(-1)[0]) != bundle.checksum()):
            raise DamagedFile(f"{path}: damaged: the checksum is not that of the contents", str(path))
        return bundle
