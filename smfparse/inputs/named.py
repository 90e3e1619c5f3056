"""From names of inputs to files and datasets that can be read several times.

A name means a file, a folder, a pattern that the shell did not expand, `-` for standard input, a
pipe, a device or a URL. An input that can be read only once is copied to a temporary file, which is
removed with its `Input`.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.limits import LIMITS, Limits
from smfparse.reading.detection import Framing, framing_named, probe
from smfparse.reading.places import Place, Url, is_url, place_of
from smfparse.reading.reader import Input

STDIN = "-"
NOWHERE = Path(os.devnull)
"""The path of standard input. Compare it by `is`: any other equal path means the null device."""


def urls_like(pattern: Url) -> list[Url] | None:
    """Return the places that match a pattern, in order; None: the pattern is the name of a file.

    Raises OSError, also for a missing bucket.
    """
    if pattern.exists():
        return None
    top = Url(pattern.scheme, pattern.authority)
    top.stat()
    return sorted(top.glob(pattern.key), key=str)


def urls_below(folder: Url, damage: DamageLog, target: Place | None) -> Iterator[Url]:
    """Yield the files below a folder, except hidden files and files in `target` and in datasets.

    A skipped dataset is noted in `damage`. Raises InputError if the folder cannot be listed.
    """
    from smfparse.store.database import MANIFEST

    try:
        found = [each for each in folder.rglob() if not each.was_folder]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from error
    datasets = [each.parents[0] for each in found if each.name == MANIFEST]
    inner = [each for each in datasets if each != folder and not _is_hidden(each, folder)]
    for each in inner:
        if each != target:
            reason = "a dataset; name it as a separate input; skipped"
            damage.add(Damage(str(each), 0, None, reason))
    left_out = {*inner, target}
    for each in found:
        if not _is_hidden(each, folder) and left_out.isdisjoint(each.parents):
            yield each


def _is_hidden(place: Url, folder: Url) -> bool:
    return any(part.startswith(".") for part in place.relative_to(folder).parts)


_PROCESS_FILES = ("/dev/fd/", "/dev/stdin", "/proc/")
"""Prefixes of paths that mean a different file in each process."""


def resolve(
    names: Iterable[str | Path | Url],
    is_dataset: Callable[[Place], bool],
    damage: DamageLog,
    target: Place | None = None,
    options: ReadOptions = DEFAULTS,
) -> list[Input]:
    """Return the inputs for `names`, in order; the start of each input has been checked.

    names       texts; a Path or Url is one place, never a pattern or standard input
    is_dataset  returns whether a folder is a dataset, and not a folder of SMF files
    target      output folder, which is skipped if it is below an input folder
    options     options for reading: only framing, limits and `max_copy` are used

    In folders, files that are not SMF dumps are skipped and noted in `damage`. A file that a folder
    or pattern finds again is used once. Raises InputError if an input is missing, unreadable,
    not an SMF dump or too long to copy, or if a pattern or folder contains no input; RequestError
    if an input is named twice, because its records would count twice; OutputError if a copy does
    not fit on the disk.
    """
    framing = None if options.framing is None else framing_named(options.framing)
    limits = options.limits
    found: dict[Place | str, Input] = {}
    named: set[Place | str] = set()
    for each, is_named in _expanded(names):
        place = _real(each.path) if each.path is not NOWHERE else STDIN
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
    every = (
        look(_copied(each, options.max_copy), framing, limits) if each.once else each
        for each in found.values()
    )
    return [replace(each, limits=limits) for each in every]


def _copied(stream: Input, max_copy: int | None) -> Input:
    """Return a copy of an input that can be read only once; the code is loaded on first use."""
    from smfparse.inputs.temporary import copied

    return copied(stream, max_copy)


def check_apart(inputs: Iterable[Place], output: Place) -> None:
    """Raise RequestError if `output` is an input, or is inside an input."""
    place = _real(output)
    for each in inputs:
        if _real(each) in (place, *place.parents):
            raise RequestError(
                f"{output}: the output is an input, or is inside an input; name another output"
            )


def _expanded(names: Iterable[str | Path | Url]) -> Iterator[tuple[Input, bool]]:
    """Yield the inputs of each name, and whether the name is not a pattern."""
    for name in names:
        if name == STDIN:
            yield Input(NOWHERE, STDIN, once=True), True
        elif name == "":
            raise InputError("'': an empty input name; check whether a shell variable is set")
        elif isinstance(name, Url) or is_url(name):
            yield from _of_url(name)
        elif isinstance(name, Path) or not glob.has_magic(name) or os.path.lexists(name):
            yield _at(Path(name), str(name)), True
        else:
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise InputError(f"{name}: no file matches the pattern")
            for each in matches:
                yield _at(Path(each), each), False


def _of_url(name: str | Path | Url) -> Iterator[tuple[Input, bool]]:
    url = place_of(name)
    assert isinstance(url, Url)
    try:
        found = urls_like(url) if isinstance(name, str) and glob.has_magic(name) else None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    if found is None:
        yield _at(url, str(name)), True
    elif not found:
        raise InputError(f"{name}: no file matches the pattern")
    else:
        yield from ((_at(each, str(each)), False) for each in found)


def _at(path: Place, text: str) -> Input:
    name = _readable(text)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    lasting = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return Input(path, name, once=not lasting or str(path).startswith(_PROCESS_FILES))


def _real(path: Place) -> Place:
    """Return a path without links; for links that form a cycle, an arbitrary path."""
    if isinstance(path, Url):
        return path
    return Path(os.path.realpath(path))


def _readable(name: str | Place) -> str:
    r"""Return the name of a file as text, in which a byte that is not UTF-8 is shown as \xff."""
    return os.fsencode(str(name)).decode("utf-8", "backslashreplace")


def _new_inputs(
    folder: Place,
    files: Iterable[Place],
    found: Mapping[Place | str, Input],
    damage: DamageLog,
    framing: Framing | None,
    limits: Limits,
) -> Iterator[tuple[Place, Input]]:
    """Yield path and input of each SMF file in a folder that is not in `found`."""
    some = False
    ordered: list[Any] = [*files]
    for path in sorted(ordered):
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
        hint = ""
        if any(each.suffix == ".parquet" for each in ordered):
            hint = "; `convert` without --format writes a dataset, not single Parquet files"
        raise InputError(f"{folder}: the folder has no SMF file and is not a dataset{hint}")


def _files(
    folder: Place, is_dataset: Callable[[Place], bool], damage: DamageLog, target: Place | None
) -> Iterator[Place]:
    """Yield the files below a folder, except hidden files and files in `target` and in datasets.

    Links to folders are not followed: they are noted as skipped, unless they lead to a folder below
    this folder.
    """
    if isinstance(folder, Url):
        yield from urls_below(folder, damage, target)
        return
    written = None if target is None else _real(target)

    def unreadable(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise InputError(f"{folder}: {error.strerror or error}") from error
        _leave_out(Path(error.filename), error.strerror or str(error), damage)

    for place, folders, files in os.walk(folder, onerror=unreadable):
        within = Path(place)
        folders[:] = [
            each for each in folders if not each.startswith(".") and _real(within / each) != written
        ]
        for each in [each for each in sorted(folders) if is_dataset(within / each)]:
            folders.remove(each)
            _leave_out(within / each, "a dataset; name it as a separate input", damage)
        for each in [each for each in sorted(folders) if (within / each).is_symlink()]:
            if not Path(os.path.realpath(within / each)).is_relative_to(os.path.realpath(folder)):
                _leave_out(within / each, "a link to a folder; name it separately", damage)
        yield from (within / each for each in files if not each.startswith("."))


def _leave_out(path: Place, reason: str, damage: DamageLog) -> None:
    short = reason.split(". ")[0].rstrip(".")
    damage.add(Damage(_readable(path), 0, None, f"{short}; skipped"))


def look(found: Input, framing: Framing | None = None, limits: Limits = LIMITS) -> Input:
    """Return a file with its packing and framing, detected from its first bytes.

    framing  known framing; None: it is detected
    limits   limits, among them the maximum of decompressed bytes

    Raises InputError if the file is not an SMF dump.
    """
    packing, framing = probe(found.path, found.name, framing, limits)
    return replace(found, packing=packing, framing=framing)
