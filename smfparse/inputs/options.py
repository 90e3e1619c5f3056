"""How inputs are read: one object, from the command or `smfparse.open` to where it is used.

A new option is a field here, is used where it matters, and has a name on the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, TypedDict

from smfparse.errors import RequestError
from smfparse.limits import LIMITS, Limits
from smfparse.selecting.selection import ALL_RECORDS, Selection
from smfparse.selecting.zones import parse_zone


class Options(TypedDict, total=False):
    """Types of the keyword arguments of `ReadOptions`."""

    jobs: int
    keep_duplicates: bool
    strict: bool
    framing: str | None
    fingerprints: bool
    max_copy: int | None
    tz: str | None
    limits: Limits


@dataclass(frozen=True)
class ReadOptions:
    """How inputs are read.

    selection        what rows are wanted of: `Selection.of(qmgr="QM*", since="2200")`
    jobs             processors used for SMF files, when these are large: same rows, same order
    keep_duplicates  whether to keep records of an SMF file that an earlier dump has as well
    strict           whether the first damage of an SMF file ends the reading, by DamageError,
                     before its rows come
    framing          how the records of SMF files are framed: rdw, bdw, ...; None: that is detected
    fingerprints     whether `record` has the columns `fingerprint` and `dump_start`, by which
                     a query finds duplicates among inputs that are read apart
    max_copy         bytes of standard input, of a pipe or a device, each, that are copied to the
                     temporary folder; None: what is free there, less 1 GB, at least half of it
    tz               zone of the local times of rows and of the selection: `utc`, `Europe/Berlin`;
                     None: that of each z/OS system
    limits           how much is held at once

    Raises RequestError for fewer jobs than one, copies of fewer bytes than none, an unknown zone.
    """

    selection: Selection = ALL_RECORDS
    _: KW_ONLY
    jobs: int = 1
    keep_duplicates: bool = False
    strict: bool = False
    framing: str | None = None
    fingerprints: bool = False
    max_copy: int | None = None
    tz: str | None = None
    limits: Limits = LIMITS

    def __post_init__(self) -> None:
        if self.tz is not None:
            of_zone = self.selection._replace(zone=parse_zone(self.tz))
            object.__setattr__(self, "selection", of_zone)  # a frozen class has no other way
        if self.jobs < 1:
            raise RequestError(
                f"jobs={self.jobs}: at least one process is needed; give 1 or more", "jobs"
            )
        if self.max_copy is not None and self.max_copy < 0:
            raise RequestError(
                f"max_copy={self.max_copy}: a negative size; give 0 bytes or more", "max_copy"
            )


DEFAULTS = ReadOptions()


def read_options(given: MutableMapping[str, Any]) -> ReadOptions:
    """Take the options for reading out of those of a command.

    given  name to value; those of `Selection.of` may be several, and `type` is called `types`

    Raises RequestError where a value cannot be read.
    """
    if "types" in given:
        given["type"] = given.pop("types")
    asked = {name: given.pop(name) for name in _SELECTING if name in given}
    others = {name: given.pop(name) for name in _OTHERS if name in given}
    return ReadOptions(Selection.of(**asked), **others)


_SELECTING = tuple(inspect.signature(Selection.of).parameters)
_OTHERS = tuple(each.name for each in fields(ReadOptions) if each.name != "selection")
