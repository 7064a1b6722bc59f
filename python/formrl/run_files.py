"""The files of a run's folder, as they are read: one that is damaged is a `formrl.DamagedFile` with the place."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

from .errors import DamagedFile, FileError, FormError


def read_result(folder: Path) -> dict[str, Any] | None:
    """The `result.json` of a run, once it is over."""
    place = folder / "result.json"
    if not place.exists():
        return None
    try:
        result = json.loads(read_text(place))
    except json.JSONDecodeError as error:
        raise damaged(place, error.msg, error.lineno, error.colno) from None
    if not isinstance(result, dict):
        raise damaged(place, "expected an object, {...}", 1, 1)
    return result


def read_rows(place: Path) -> list[dict[str, float | None]]:
    """The rows of a table that may be growing: a last line without an end is not there yet."""
    if not place.exists():
        return []
    text = read_text(place)
    reader = csv.reader(text[: text.rfind("\n") + 1].splitlines())
    rows: list[dict[str, float | None]] = []
    names: list[str] = []
    try:
        for values in reader:
            if not names:
                names = values
            elif len(values) != len(names):
                raise damaged(place, f"{len(values)} values in a table of {len(names)} columns", reader.line_num, 1)
            else:
                rows.append({name: float(value) if value else None for name, value in zip(names, values, strict=True)})
    except (csv.Error, ValueError) as error:
        if isinstance(error, FormError):
            raise
        raise damaged(place, str(error), reader.line_num, 1) from None
    return rows


def read_text(place: Path) -> str:
    """The text of a file of a run."""
    try:
        return place.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError.of(place, error) from error
    except UnicodeDecodeError as error:
        read = error.object[: error.start]
        line, column = read.count(b"\n") + 1, error.start - read.rfind(b"\n")
        raise damaged(place, "not text", line, column) from None


def damaged(place: Path, problem: str, line: int | None = None, column: int | None = None) -> DamagedFile:
    """The error of a file of a run that is not what it was written as."""
    where = f"{place}:{line}:{column}" if line is not None else str(place)
    advice = "the file is damaged: restore it from a copy, or train the run again"
    return DamagedFile(f"{where}: {problem}: {advice}", os.fspath(place), line, column)
