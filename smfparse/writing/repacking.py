"""The manifest of a dataset after its files were combined."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from smfparse import __version__
from smfparse.store import (
    FORMAT,
    AnyFolder,
    Manifest,
    named_parts,
    own_files,
    part_of,
    read_parts,
)
from smfparse.tables import DAMAGE, table_names
from smfparse.writing.manifests import is_long, listed_with
from smfparse.writing.parts import Written

_OF_FILES = ("checksums", "rows", "records", "record_days")
"""What a part says of each of its files, by name."""


class _Earlier(NamedTuple):
    """The earlier parts of a manifest.

    stay  how those are listed that stay as they are
    anew  what those say that are written anew
    gone  the files of these, and of all indexes
    """

    stay: list[Manifest]
    anew: list[Manifest]
    gone: set[str]


def repacked(
    folder: AnyFolder,
    head: Manifest,
    written: Sequence[Written],
    gone: frozenset[str],
    most: int,
) -> tuple[Manifest, frozenset[str]]:
    """Return the manifest that names files in place of others, and the files that go then.

    New files are in parts by their days. The head names them itself where there are no parts, and
    few files; always those of damage, whose keys are looked for there.

    written  the new files
    gone     the files that they replace
    most     files and inputs that a part names
    """
    found = _earlier(folder, head, gone, most)
    here, new = _without(part_of(head), gone), _part(written)
    if found.stay or found.anew or is_long(_together([here, new]), most):
        here = _together([here, _part(each for each in written if each.table == DAMAGE)])
        new = _part(each for each in written if each.table != DAMAGE)
    else:
        here, new = _together([here, new]), _part([])
    rest = [_without(each, gone) for each in found.anew]
    parts = [*_of_inputs(rest, most), *_of_files(_together([new, *rest]), most)]
    earlier, number = listed_with(folder, found.stay, parts, head["next"])
    manifest = {
        **head,
        **here,
        "format": FORMAT,
        "smfparse": __version__,
        "files": {table: here["files"].get(table, []) for table in table_names()},
        "records": head["records"] and here["records"],
        "earlier": earlier,
        "next": number + 1,
    }
    return manifest, gone | found.gone


def _earlier(folder: AnyFolder, head: Manifest, gone: frozenset[str], most: int) -> _Earlier:
    """Look through the earlier parts: those with files that go are written anew, and short ones."""
    named = list(named_parts(folder.path, head["earlier"]))
    found = _Earlier([], [], {each["name"] for each in named if each["level"]})
    leaves = [each for each in named if not each["level"]]
    for each, part in zip(leaves, read_parts(folder.path, leaves), strict=True):
        is_short = len(part["inputs"]) + each["files"] <= most // 2
        if is_short or not gone.isdisjoint(own_files(part)):
            found.anew.append(part)
            found.gone.add(each["name"])
        else:
            found.stay.append(each)
    return found


def _part(written: Iterable[Written]) -> Manifest:
    """Return a part that names files."""
    some, files = list(written), dict[str, list[str]]()
    for each in some:
        files.setdefault(each.table, []).append(each.name)
    return {
        "inputs": [],
        "files": files,
        "checksums": {each.name: each.sha256 for each in some},
        "rows": {each.name: [each.rows, *each.days] for each in some},
        "records": {},
        "record_days": {},
    }


def _without(part: Manifest, gone: Container[str]) -> Manifest:
    """Return a part without some of its files."""
    return _with(part, lambda name: name not in gone)


def _with(part: Manifest, is_kept: Callable[[str], bool]) -> Manifest:
    """Return a part with some of its files."""
    files = {table: list(filter(is_kept, names)) for table, names in part["files"].items()}
    of_files = {
        key: {name: each for name, each in (part[key] or {}).items() if is_kept(name)}
        for key in _OF_FILES
    }
    return part | of_files | {"files": {table: names for table, names in files.items() if names}}


def _together(parts: Iterable[Manifest]) -> Manifest:
    """Return several parts as one."""
    found = _part([])
    for part in parts:
        found["inputs"] += part["inputs"]
        for table, names in part["files"].items():
            found["files"].setdefault(table, []).extend(names)
        for key in _OF_FILES:
            found[key] |= part[key] or {}
    return found


def _of_inputs(parts: Iterable[Manifest], most: int) -> Iterator[Manifest]:
    """Yield parts with the inputs and fingerprints of others, in order: none is too long."""
    held = _part([])
    for part in parts:
        own = _without(part, {each for names in part["files"].values() for each in names})
        if held["inputs"] and len(held["inputs"]) + len(own["inputs"]) > most:
            yield held
            held = _part([])
        held = _together([held, own])
    if held["inputs"] or held["records"]:
        yield held


def _of_files(part: Manifest, most: int) -> Iterator[Manifest]:
    """Yield parts with the files of one, each of the next days, as many as it may name."""
    own = part | {"inputs": [], "records": {}}
    every = sorted(own_files(own), key=lambda each: (part["rows"][each][1:], each))
    for start in range(0, len(every), most):
        yield _with(own, frozenset(every[start : start + most]).__contains__)
