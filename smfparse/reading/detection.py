"""Detection of the packings and the framing of an input, by its first bytes.

A record counts only if its SMF header has a time and date, and another record follows. Without this
check, a file of blocks could be read as a file of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np

from smfparse.errors import InputError, RequestError
from smfparse.layout.kinds import ENCODING
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import SLACK
from smfparse.reading.evidence import Heads, are_heads, fills, next_record
from smfparse.reading.framings import FRAMINGS
from smfparse.reading.headers import SMF_HEADER, are_sound
from smfparse.reading.packing import unpacked
from smfparse.reading.places import Place
from smfparse.reading.segments import FIRST, LAST, RDW_SIZE, Segments, Walk
from smfparse.schemas import REGISTRY
from smfparse.vectors import Bools, Bytes, Ints


def _walk(home: str) -> Walk:
    module, name = home.split(":")
    found: Walk = getattr(import_module(f"smfparse.reading.{module}"), name)()
    return found


WALKS = {name: _walk(framed.walk) for name, framed in FRAMINGS.items()}
"""The walk of each framing, by name of the framing, in the order of FRAMINGS."""


_ENOUGH = 32
"""Maximum number of records that are counted to choose a walk."""
_STEPS = (1 << 7, 1 << 12)
"""Maximum number of segments and block descriptor words that are read to find these records. The
second maximum is used only if the first is not sufficient.
"""
_HEAD_BYTES = 1 << 20
"""Number of bytes at the start of a file that are used for detection."""
_LINES = 20
"""Minimum number of X'0A' for the check of line ends. In a binary file with so many X'0A', some do
not follow X'0D'.
"""
_ASCII_NAMES = {
    block.eyecatcher[1].decode(ENCODING).encode()
    for triplets in REGISTRY.values()
    for block in triplets.values()
    if block.eyecatcher
}
"""Eye-catchers of the control blocks in ASCII."""


class Framing(NamedTuple):
    """The framing of a file: a name in FRAMINGS, and the reason why it was chosen.

    asked  whether the user selected the framing
    """

    name: str
    why: str
    asked: bool = False

    @property
    def walk(self) -> Walk:
        """The walk that finds the records of the file."""
        walk = WALKS[self.name]
        return walk.asked() if self.asked else walk


def framing_named(name: str) -> Framing:
    """Return the framing that the user selected. Raises RequestError for an unknown name."""
    if name not in WALKS:
        raise RequestError(
            f"framing={name}: no such framing; give one of {', '.join(WALKS)}", "framing"
        )
    return Framing(name, "as asked", asked=True)


def probe(
    path: Place, name: str | None = None, framing: Framing | None = None, limits: Limits = LIMITS
) -> tuple[tuple[str, ...], Framing]:
    """Return the packings of an SMF file, outermost first, and its framing.

    name     name of the file in messages; None: its path
    framing  framing of the file; None: it is detected

    Raises InputError if the file is missing, unreadable, empty, or has no SMF records.
    """
    source = name or str(path)
    buffer = np.zeros(RDW_SIZE + _HEAD_BYTES + SLACK, np.uint8)
    with unpacked(path, name, limits) as data:
        try:
            end = RDW_SIZE + data.fill(buffer.data[RDW_SIZE : RDW_SIZE + _HEAD_BYTES])
        except OSError as error:
            raise InputError(f"{source}: {error.strerror or error}") from error
        if end == RDW_SIZE:
            raise InputError(f"{source}: {data.fault or 'the file is empty'}")
        last = end < RDW_SIZE + _HEAD_BYTES
        buffer = buffer[: end + SLACK]  # a walk that moves bytes receives a copy
        framing = framing or detect(buffer, RDW_SIZE, end, last)
        if framing is None:
            raise _no_dump(source, buffer[RDW_SIZE:end].tobytes())
        return data.packing, framing


def _no_dump(source: str, head: bytes) -> InputError:
    if _is_translated(head):
        return InputError(
            f"{source}: the file was translated to ASCII during the transfer, as the names of MQ "
            "control blocks show. Its numbers are lost. Transfer the dump again in "
            "binary (FTP: binary, quote site rdw)."
        )
    return InputError(
        f"{source}: no SMF records in it. It must be the binary copy of an SMF dump, as IFASMFDP "
        "or IFASMFDL writes it (FTP: binary, quote site rdw); not compressed by AMATERSE or XMIT."
    )


def detect(buffer: Bytes, at: int, end: int, last: bool) -> Framing | None:
    """Return the framing of a file, by its start buffer[at:end]; None: no SMF records are found.

    last  whether buffer[at:end] is the whole file
    """
    found = _by_framing(buffer, at, end, last)
    if not any(each.count == _ENOUGH or each.is_sure(at) for each in found.values()):
        found = _by_framing(buffer, at, end, last, further=True)
    if not any(each.count for each in found.values()):
        if _is_translated(buffer[at:end].tobytes()):
            return None
        found = _by_framing(buffer, at, end, last, further=True, named=False)
    found = _likely(found, at)
    name = max(found, key=lambda each: (found[each].score, -found[each].place))
    if found[name].count:
        why = _why(name, found[name].count, found[name].place - at)
        return Framing(name, why + _line_ends(buffer[at:end].tobytes()))
    for name, walk in WALKS.items():
        if last and _is_cut(walk, buffer, at, end):
            return Framing(
                name, f"the first record, which is truncated, has {FRAMINGS[name].title}"
            )
    return None


def _by_framing(
    buffer: Bytes, at: int, end: int, last: bool, further: bool = False, named: bool = True
) -> dict[str, _Found]:
    """Return the result of `_found` for the walk of each framing in buffer[at:end].

    The framings are tried in the order of FRAMINGS, until a result is certain.
    """
    found = {}
    for name, walk in WALKS.items():
        found[name] = _found(walk, buffer, at, end, last, further, named)
        if walk.chained and found[name].is_sure(at):
            break
    return found


def _likely(found: dict[str, _Found], at: int) -> dict[str, _Found]:
    """Return the framings without those whose records belong to another framing, or are no records.

    A framing that is not chained (see `Walk`) stays in three cases: (1) Its first record is at the
    start of the file. (2) It has more than twice as many records as each chained framing. (3) It
    has at least as many records, more than twice as many of the right length, and no chained
    framing has several records from the start of the file on.
    """
    out = {FRAMINGS[name].instead_of for name, each in found.items() if each.count}
    found = {name: each for name, each in found.items() if name not in out}
    chained = [each for name, each in found.items() if WALKS[name].chained]
    most, most_filled = max(each.count for each in chained), max(each.filled for each in chained)
    leads = any(each.place == at and each.count > 1 for each in chained)
    return {
        name: each
        for name, each in found.items()
        if WALKS[name].chained
        or each.place == at
        or each.count > 2 * most
        or (each.filled > 2 * most_filled and each.count >= most and not leads)
    }


def _why(name: str, count: int, behind: int) -> str:
    first = "the first record has" if count == 1 else f"the first {count} records have"
    place = f", after {behind} other bytes," if behind else ""
    return f"{first}{place} {FRAMINGS[name].title}"


@dataclass(frozen=True)
class _Found:
    """Records that a walk finds.

    score  number of records, for the comparison of walks: a record counts as two if its length
           agrees with its contents, or if it has several segments and its last segment exists
    count  number of records, up to _ENOUGH
    place  place of the first record
    whole  whether the file contains no further records
    """

    score: int
    count: int
    place: int
    whole: bool = False

    @property
    def filled(self) -> int:
        """Number of records that count as two in `score`."""
        return self.score - self.count

    def is_sure(self, at: int) -> bool:
        """Whether the records start at `at`, and at least half of them count as two in `score`.

        The number of records must be _ENOUGH, or at least 2 records must fill the file.
        """
        many = self.count == _ENOUGH or (self.whole and self.count > 1)
        return self.place == at and many and 2 * self.filled >= self.count


def _found(
    walk: Walk, buffer: Bytes, at: int, end: int, last: bool, further: bool, named: bool
) -> _Found:
    """Return the records that a walk finds in buffer[at:end], the start of a file.

    further  whether to continue after damage, until _ENOUGH records are found; otherwise only
             contiguous records from `at` on count
    named    whether headers must have a system indicator byte and a system id, as z/OS writes them
    """
    score = count = 0
    if not further and not walk.may_show(buffer, at, end, _STEPS[0], _ENOUGH):
        return _Found(0, 0, at)
    place: int | None = at
    first, shown, whole = at, False, False
    while place is not None and count < _ENOUGH:
        data = buffer if walk.mapped else buffer.copy()
        run, heads = _first_records(walk, data, place, end, last, named)
        heads = heads[: _ENOUGH - count]
        if heads.size:
            first = first if count else place
            shown = shown or walk.shows(data, run, at, end)
            whole = not count and walk.chained and last and _is_all(run, heads, end)
            count += heads.size
            score += heads.size + int(
                (fills(data, run.where(heads)) | _are_complete(run)[heads]).sum()
            )
        if not further or (heads.size and run.gaps and not walk.marked):
            break
        place = _later(walk, buffer, int(run.place[heads[-1]] if heads.size else place), end, last)
    shown = shown and walk.suits(buffer, at, end)
    return _Found(score, count, first, whole) if shown else _Found(0, 0, at)


def _is_all(run: Segments, heads: Ints, end: int) -> bool:
    starts = int(np.count_nonzero(run.code <= FIRST))
    return run.end == end and not (run.gaps or run.broken or run.short) and starts == heads.size


def _are_complete(run: Segments) -> Bools:
    """Return for each segment whether it starts a complete record of several segments."""
    starts = np.flatnonzero(run.code <= FIRST)
    final = np.append(starts[1:], run.code.size) - 1
    found: Bools = np.zeros(run.code.size, np.bool_)
    found[starts] = (run.code[starts] == FIRST) & (run.code[final] == LAST)
    return found


def _first_records(
    walk: Walk, buffer: Bytes, at: int, end: int, last: bool, named: bool
) -> tuple[Segments, Ints]:
    """Return the segments from `at` on, and which of them start records; stop at a wrong start."""
    for most in _STEPS:
        found = walk.segments(buffer, at, end, last, most)
        if found.gaps and not walk.marked:
            found = found.where(found.place < found.gaps[0][0])
        heads = np.flatnonzero(found.code <= FIRST)[:_ENOUGH]
        if not heads.size or heads[0]:
            return found, heads[:0]
        good = are_heads(buffer, found)[heads]
        if named:
            good &= are_sound(buffer, found.at[heads]) | (found.length[heads] < SMF_HEADER)
        if not good.all():
            return found, heads[: int(np.argmin(good))]
        if heads.size == _ENOUGH or not walk.chained:
            break
    return found, heads


def _is_cut(walk: Walk, buffer: Bytes, at: int, end: int) -> bool:
    found = walk.segments(buffer.copy(), at, end, True)
    return not found.code.size and not found.broken and walk.begins(buffer, at, end)


def _later(walk: Walk, buffer: Bytes, at: int, end: int, last: bool) -> int | None:
    """Return the first place after `at` at which records start; None: no such place."""
    if walk.chained:
        place, sure = next_record(walk, Heads(buffer), at + 1, end, last)
        return place if sure else None
    buffer = buffer.copy()
    found = walk.segments(buffer, at + 1, end, last)
    good = np.flatnonzero(are_heads(buffer, found))
    return int(found.place[good[0]]) if good.size > 1 else None


def _line_ends(data: bytes) -> str:
    """Return a note about line ends that a transfer as text inserted in `data`; '': none."""
    count = data.count(b"\n")
    if count < _LINES or data.count(b"\r\n") < count:
        return ""
    return (
        f"; each of the first {count} X'0A' follows X'0D': the transfer inserted line ends, "
        "transfer again in binary"
    )


def _is_translated(data: bytes) -> bool:
    """Whether `data` contains names of control blocks in ASCII, unlike a binary copy."""
    return any(each in data for each in _ASCII_NAMES)
