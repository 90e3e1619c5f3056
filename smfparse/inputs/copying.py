"""Copies of inputs that can be read only once: standard input, a pipe, a device."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from smfparse.errors import InputError, OutputError
from smfparse.inputs.stdin import NOWHERE
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.reading import Input
from smfparse.store import Folder

_COPY = "copy"
_COPIED = 1 << 20
"""Bytes that are copied at once."""
_KEPT_FREE = 10**9
"""Bytes in the temporary folder that copies leave free."""


def copied(stream: Input, max_copy: int | None) -> Input:
    """Copy what can be read only once to a temporary file: `max_copy` bytes of it, None: `_room`.

    Raises InputError where it is longer.
    """
    try:
        folder = TemporaryFolder()
        target = os.fdopen(Folder(folder.path).create(_COPY), "wb", buffering=0)
    except OSError as error:
        raise _no_room(stream, error) from error
    try:
        with target:
            _copy(stream, target, _room() if max_copy is None else max_copy)
    except BaseException:
        folder.remove()
        raise
    return Input(folder.path / _COPY, stream.name, copy=folder)


def _copy(stream: Input, target: Any, most: int) -> None:
    """Copy what can be read only once, at most `most` bytes of it."""
    left = most
    for block in _blocks(stream):
        left -= len(block)
        if left < 0:
            raise InputError(
                f"{stream.name}: longer than the {most:,} bytes that are copied to "
                f"{tempfile.gettempdir()}; allow more by max_copy=, or pass a file",
                "max_copy",
            )
        try:
            target.write(block)
        except OSError as error:
            raise _no_room(stream, error) from error


def _room() -> int:
    """Return how many bytes are copied at most where nothing else is asked for.

    All that is free in the temporary folder but 1 GB; where less than 2 GB is free, half of it.
    """
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return max(free - _KEPT_FREE, free // 2)


def _blocks(stream: Input) -> Iterator[bytes]:
    """Read what can be read only once. Raises InputError where it cannot be read."""
    try:
        with _opened(stream) as source:
            while block := source.read(_COPIED):
                yield block
    except OSError as error:
        raise InputError(f"{stream.name}: {error.strerror or error}") from error


def _opened(stream: Input) -> Any:
    """Return a context that gives a binary file; standard input stays open behind it."""
    if stream.path is not NOWHERE:
        return stream.path.open("rb", buffering=0)
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"{stream.name}: standard input is not a file or pipe")
    return nullcontext(sys.stdin.buffer)


def _no_room(stream: Input, error: OSError) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: {error.strerror or error}; {stream.name} is copied "
        "there first; set TMPDIR to another folder, or pass a file instead of a pipe"
    )
