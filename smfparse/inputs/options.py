"""The options for reading inputs: one object, from the command or `smfparse.open` to the readers.

A new option requires a field here, code that uses it, and an option of the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, TypedDict

from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.decoding.zones import parse_zone
from smfparse.errors import RequestError
from smfparse.limits import LIMITS, Limits


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
    """The options for reading inputs.

    selection        selection of rows: `Selection.of(qmgr="QM*", since="2200")`
    jobs             number of processes for large SMF files; rows and their order do not change
    keep_duplicates  whether to keep records of an SMF file that an earlier dump also contains
    strict           whether the first damage of an SMF file raises DamageError, before rows of the
                     file are returned
    framing          record format of the SMF files: rdw, bdw, ...; None: it is detected
    fingerprints     whether `record` has the columns `fingerprint` and `dump_start`, with which a
                     query finds duplicates among inputs that are read separately
    max_copy         maximum bytes of each pipe, device or standard input that are copied to the
                     temporary folder; None: free space minus 1 GB, at least half the free space
    tz               time zone of local times in rows and in the selection: `utc`, `Europe/Berlin`;
                     None: local time of each z/OS system
    limits           memory limits

    Raises RequestError for fewer jobs than one, a negative max_copy, or an unknown zone.
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
    """Remove the options for reading from the options of a command, and return them.

    given  values by name; options of `Selection.of` may have several values; the option `type` is
           `types` here

    Raises RequestError for an invalid value.
    """
    if "types" in given:
        given["type"] = given.pop("types")
    asked = {name: given.pop(name) for name in _SELECTING if name in given}
    others = {name: given.pop(name) for name in _OTHERS if name in given}
    return ReadOptions(Selection.of(**asked), **others)


_SELECTING = tuple(inspect.signature(Selection.of).parameters)
_OTHERS = tuple(each.name for each in fields(ReadOptions) if each.name != "selection")
