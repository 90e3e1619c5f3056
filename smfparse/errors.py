"""The exception tree, and the log of damage.

    SmfError                 root: catch this class
    ├── InputError           no usable input: missing, unreadable, empty or not an SMF file
    ├── OutputError          the output, or a temporary file, cannot be written
    ├── RequestError         the request is wrong: unknown names, an output that exists
    │   └── QueryError       SQL that fails, with the message of DuckDB: several lines
    ├── DamageError          an input is damaged, and strict=True stops at the first damage
    └── LayoutError          a control block is declared or built wrongly

Damage inside a file is not an exception, unless requested: the good records are used, and each loss
is a `Damage` in the `DamageLog` of the input.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class SmfError(Exception):
    """Root of every error that smfparse raises on purpose.

    parameters  parameters in the message, as in `since=`, which the command line shows as options
    """

    def __init__(self, message: object, *parameters: str) -> None:
        super().__init__(message)
        self.parameters = parameters


class InputError(SmfError):
    """No usable input."""


class OutputError(SmfError):
    """The output, or a temporary file, cannot be written."""


def unwritable(place: object, error: OSError) -> OutputError:
    """Return the error for a place that cannot be written, with advice if the disk is full."""
    reason = os.strerror(error.errno) if error.errno else error.strerror or str(error)
    way_out = "; free some space there, or give another place" if error.errno in _NO_ROOM else ""
    return OutputError(f"{place}: {reason}{way_out}")


def did_you_mean(near: Iterable[str], otherwise: str, kind: str = "") -> str:
    """Return `did you mean A, B or C?`; without names, `otherwise`.

    kind  words before the names: `queue manager`
    """
    *before, last = [*near] or [""]
    names = " or ".join(filter(None, (", ".join(before), last)))
    return f"did you mean {f'{kind} {names}'.strip()}?" if names else otherwise


def install_command(*packages: str) -> str:
    """Return the command that installs packages into the environment of this process."""
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.join(packages)}"


class RequestError(SmfError):
    """A request that fails with any data: unknown names, an output that exists."""


class QueryError(RequestError):
    """SQL that fails, with the message of DuckDB: several lines."""


class LayoutError(SmfError):
    """A control block is declared wrongly, or values do not fit it."""


class Damage(NamedTuple):
    """Bytes of an input that could not be used.

    offset     first byte, in the decompressed source
    length     number of skipped bytes; None: to the end of a stream of unknown size
    record_no  number of the logical record, from 1; None: unknown
    """

    source: str
    offset: int
    length: int | None
    reason: str
    record_no: int | None = None
    type: int | None = None
    subtype: int | None = None

    def __str__(self) -> str:
        place = f"byte 0x{self.offset:X}"
        if self.record_no is not None:
            place = f"record {self.record_no} at {place}"
        if self.type is not None:
            subtype = "" if self.subtype is None else f" subtype {self.subtype}"
            place += f" (type {self.type}{subtype})"
        return f"{self.source}: {place}: {self.reason}"


class DamageError(SmfError):
    """The first damage of an input that is read strictly."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage)
        self.damage = damage


@dataclass
class DamageLog:
    """Distinct entries of `Damage`, in the order in which they were found.

    Some callers read an input once per table, and find the same damage again. It is counted once if
    its details are stored.

    keep     maximum number of entries with details
    details  the first entries
    count    number of all entries
    strict   whether the first damage ends the read
    """

    keep: int = 100_000
    details: list[Damage] = field(default_factory=list)
    count: int = 0
    strict: bool = False
    _seen: set[int] = field(default_factory=set, repr=False)

    def add(self, damage: Damage) -> None:
        """Add `damage` unless the log already contains it."""
        key = hash(damage)
        if key in self._seen:
            return
        self.count += 1
        if len(self.details) < self.keep:
            self._seen.add(key)
            self.details.append(damage)

    def extend(self, later: DamageLog) -> None:
        """Add the entries of another log, and the number of its entries without details."""
        for damage in later.details:
            self.add(damage)
        self.count += later.count - len(later.details)

    def arrange(self) -> None:
        """Sort the details by source and offset: the order of damage depends on the chunks."""
        sources = dict.fromkeys(each.source for each in self.details)
        places = {source: number for number, source in enumerate(sources)}
        self.details.sort(key=lambda each: (places[each.source], each.offset, each.reason))

    def check(self) -> None:
        """Raise DamageError for the entry with the least offset, if the log is strict.

        Called after each chunk, because damage in a chunk is not found in the order of the bytes.
        """
        if self.strict and self.details:
            raise DamageError(min(self.details, key=lambda each: each.offset))

    def __bool__(self) -> bool:
        return self.count > 0
