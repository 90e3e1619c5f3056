"""What a user names as input, to files and datasets that can be read, and read again.

A name is a file, a folder, a pattern that the shell left as it is, `-` for standard input, a pipe
or a device. What can be read only once is copied to a temporary file, which goes with its `Input`.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from smfparse.errors import Damage, DamageLog, InputError, OutputError, RequestError
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.limits import LIMITS, Limits
from smfparse.reading import Framing, Input, framing_named, look_at
from smfparse.store import Folder

STDIN = "-"
_COPY = "copy"
_COPIED = 1 << 20
"""Bytes that are copied at once."""
_KEPT_FREE = 10**9
"""Bytes in the temporary folder that copies leave free."""
_OF_A_PROCESS = ("/dev/fd/", "/dev/stdin", "/proc/")
"""Start of names that mean something else in another process."""
_NOWHERE = Path(os.devnull)


def resolve(
    names: Iterable[str | Path],
    is_dataset: Callable[[Path], bool],
    damage: DamageLog,
    target: Path | None = None,
    options: ReadOptions = DEFAULTS,
) -> list[Input]:
    """Return the inputs that `names` stand for, in order: each is there and starts as it should.

    names       a Path is this path and nothing else: no pattern, not standard input
    is_dataset  whether a folder is one input, and not a folder of SMF files
    target      a folder that is written: where it is below another one it is skipped
    options     its framing, limits and `max_copy` count here

    In folders, files that are not SMF dumps are skipped and noted in `damage`. What a folder or
    pattern brings again is taken once. Raises InputError where an input is missing, unreadable, not
    an SMF dump or too long to copy, or a pattern or folder gives none; RequestError where one is
    named twice: its records would count twice; OutputError where there is no room for a copy.
    """
    framing = None if options.framing is None else framing_named(options.framing)
    limits = options.limits
    found: dict[Path | str, Input] = {}
    named: set[Path | str] = set()
    for each, is_named in _expanded(names):
        place = _real(each.path) if each.path is not _NOWHERE else STDIN
        if is_named and place in named:
            raise RequestError(f"{each.name}: named twice; its records would count twice")
        if is_named:
            named.add(place)
        if each.path.is_dir() and not is_dataset(each.path):
            files = _files(each.path, is_dataset, damage, target)
            for place, file in _new_inputs(each.path, files, found, damage, framing, limits):
                found[place] = file
        elif place not in found:
            is_file = not each.once and not each.path.is_dir()
            found[place] = look(each, framing, limits) if is_file else each
    copied = (_copied(each, options.max_copy) if each.once else each for each in found.values())
    every = (look(each, framing, limits) if each.copy else each for each in copied)
    return [replace(each, limits=limits) for each in every]


def check_apart(inputs: Iterable[Path], output: Path) -> None:
    """Raise RequestError where `output` would take the place of an input, or of a part of one."""
    place = _real(output)
    for each in inputs:
        if _real(each) in (place, *place.parents):
            raise RequestError(
                f"{output}: the output is an input, or is inside one; name another output"
            )


def _expanded(names: Iterable[str | Path]) -> Iterator[tuple[Input, bool]]:
    """Yield what each name stands for, and whether it is named itself, not by a pattern."""
    for name in names:
        if name == STDIN:
            yield Input(_NOWHERE, STDIN, once=True), True
        elif name == "":
            raise InputError("'': an input without a name; is a variable not set?")
        elif isinstance(name, Path) or not glob.has_magic(name) or os.path.lexists(name):
            yield _at(Path(name), str(name)), True
        else:
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise InputError(f"{name}: no file matches the pattern")
            for each in matches:
                yield _at(Path(each), each), False


def _at(path: Path, text: str) -> Input:
    """Return what is at a path, which has to be there."""
    name = _readable(text)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    lasting = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return Input(path, name, once=not lasting or str(path).startswith(_OF_A_PROCESS))


def _real(path: Path) -> Path:
    """Return a path without links; of links that lead to themselves, some path."""
    return Path(os.path.realpath(path))


def _readable(name: str | Path) -> str:
    r"""Return a name of a file as text, in which bytes that are not UTF-8 are shown as \xff."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _new_inputs(
    folder: Path,
    files: Iterable[Path],
    found: Mapping[Path | str, Input],
    damage: DamageLog,
    framing: Framing | None,
    limits: Limits,
) -> Iterator[tuple[Path, Input]]:
    """Yield the SMF files among those of a folder that are not found yet, by path."""
    some = False
    for path in sorted(files):
        place = _real(path)
        if place not in found:
            try:
                each = _at(path, str(path))
                if each.once:
                    raise InputError(f"{each.name}: a pipe or device")
                yield place, look(each, framing, limits)
            except InputError as error:
                _leave_out(path, str(error).removeprefix(f"{_readable(path)}: "), damage)
                continue
        some = True
    if not some:
        raise InputError(f"{folder}: the folder has no SMF file and is not a dataset")


def _files(
    folder: Path, is_dataset: Callable[[Path], bool], damage: DamageLog, target: Path | None
) -> Iterator[Path]:
    """Yield the files below a folder but the hidden ones, and those in `target`.

    Links to folders are not followed: what is below the folder is found without them, and of what
    is elsewhere it is noted that it is left out.
    """
    written = None if target is None else _real(target)

    def unreadable(error: OSError) -> None:
        _leave_out(Path(error.filename), error.strerror or str(error), damage)

    for place, folders, files in os.walk(folder, onerror=unreadable):
        within = Path(place)
        folders[:] = [
            each for each in folders if not each.startswith(".") and _real(within / each) != written
        ]
        for each in [each for each in sorted(folders) if is_dataset(within / each)]:
            folders.remove(each)
            _leave_out(within / each, "a dataset, which has to be named itself", damage)
        for each in [each for each in sorted(folders) if (within / each).is_symlink()]:
            if not _real(within / each).is_relative_to(_real(folder)):
                _leave_out(within / each, "a link to a folder, to be named itself", damage)
        yield from (within / each for each in files if not each.startswith("."))


def _leave_out(path: Path, reason: str, damage: DamageLog) -> None:
    short = reason.split(". ")[0].rstrip(".")
    damage.add(Damage(_readable(path), 0, None, f"{short}; skipped"))


def look(found: Input, framing: Framing | None = None, limits: Limits = LIMITS) -> Input:
    """Return a file with its packing and framing, which its first bytes show.

    framing  what is known of that; None: it is detected
    limits   how much is unpacked

    Raises InputError where it is not an SMF dump.
    """
    packing, framing = look_at(found.path, found.name, framing, limits)
    return replace(found, packing=packing, framing=framing)


def _copied(stream: Input, max_copy: int | None) -> Input:
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
    if stream.path is not _NOWHERE:
        return stream.path.open("rb", buffering=0)
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"{STDIN}: standard input is not a file or pipe")
    return nullcontext(sys.stdin.buffer)


def _no_room(stream: Input, error: OSError) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: {error.strerror or error}; {stream.name} is copied "
        "there first; set TMPDIR to another folder, or pass a file instead of a pipe"
    )
