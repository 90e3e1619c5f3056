"""Division of a file into parts that are read separately, possibly by other processes.

A scan of the lengths of records shows where parts can start. One scan reads the whole file, or
independent processes scan one blind range each. A blind range may start in the middle of a record.
Each scan returns the start of the first record in its range, the number of these records, and the
start of the next record. If all scans agree, their numbers of records add up to the record numbers.
Otherwise one scan reads the whole file.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from smfparse.errors import DamageLog, InputError, RequestError
from smfparse.limits import LIMITS, Limits
from smfparse.places.kinds import Place, place_of, size_at
from smfparse.places.url import Url
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part
from smfparse.reading.detection import Framing, framing_named
from smfparse.reading.headers import begins_dump, kinds_of
from smfparse.reading.packing import USUAL_GAIN, is_packed
from smfparse.reading.reader import Input

_NOTHING = np.zeros(0, np.int64)
_INDEPENDENT = [
    smf_type << 16 | subtype
    for smf_type, subtypes in ((115, (1, 2, 201, 215, 231)), (116, (0, 1, 10)))
    for subtype in subtypes
]
"""Kinds of record with a clock of their own that continue no other record."""


class Mark(NamedTuple):
    """A chunk of a range.

    begin      byte where a part that starts with the chunk begins; None: no part can start with it,
               because it is the first chunk of a blind range
    before     number of records of the range before the chunk
    can_start  whether a part should start with the chunk
    dump       number of records of the range before the last dump that begins in the chunk; None:
               no dump begins in it, except possibly the first dump of the source
    """

    begin: int | None
    before: int
    can_start: bool
    dump: int | None


class Look(NamedTuple):
    """The result of a scan of a range of a file.

    first      byte where the first record of the range starts; None: the range has none
    following  byte where the first record after the range starts; None: no record follows
    marks      the chunks of the range, in order, up to the first damage
    records    number of records that start in the range
    sound      whether the range contains no damage
    """

    first: int | None
    following: int | None
    marks: tuple[Mark, ...]
    records: int
    sound: bool


def size_of(path: Place) -> int:
    """Return the decompressed bytes of a file, estimated if it is packed.

    Raises InputError if it is unreadable.
    """
    try:
        size = size_at(path)
        return size * USUAL_GAIN if is_packed(path) else size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def plan(
    path: str | Path | Url,
    part_bytes: int,
    *,
    framing: Framing | str | None = None,
    limits: Limits = LIMITS,
) -> list[Part]:
    """Divide the SMF file `path` into parts of about `part_bytes`; their union is the whole file.

    A part consists of chunks of the whole file. The handling of damage, and the order of its notes,
    depend only on these chunks.

    framing  of the file: rdw, bdw, ...; None: it is detected
    limits   memory limits of the scan

    Only the bytes that separate records are read, once. The rest of the file after the first damage
    is not divided, and a packed file is never divided. Raises InputError if the file is unreadable,
    RequestError for an unknown framing.
    """
    if part_bytes < 1:
        raise RequestError(f"part_bytes={part_bytes}: too few bytes; give 1 or more")
    path = place_of(path)
    framing = framing_named(framing) if isinstance(framing, str) else framing
    if not is_cut(path, part_bytes):
        return [WHOLE_SOURCE]
    file = Input(path, str(path), framing=framing, limits=limits)
    return parts_of([look_through(file, WHOLE_SOURCE)], part_bytes, limits)


def is_cut(path: Place, part_bytes: int) -> bool:
    """Whether a file is divided: it is longer than `part_bytes`, and not packed."""
    return size_of(path) > part_bytes and not is_packed(path)


def ranges_of(file: Input, part_bytes: int) -> list[Part]:
    """Return the ranges of a file that are scanned separately: the whole file, or blind ranges.

    file  a file with known framing
    """
    assert file.framing is not None
    if not file.framing.walk.blind:
        return [WHOLE_SOURCE]
    borders = [*range(0, size_of(file.path), part_bytes), None]
    return [Part(start or 0, end, None) for start, end in itertools.pairwise(borders)]


def look_through(file: Input, part: Part) -> Look:
    """Scan the whole file or a blind range of it, and the next chunk after the range."""
    marks: list[Mark] = []
    first = following = None
    count = 0
    damage = DamageLog()
    for chunk in file.chunks(damage, part._replace(end=None), _NOTHING):
        if any(each.offset < chunk.begin for each in damage.details):
            break
        inside = chunk.offset < (np.inf if part.end is None else part.end)
        if inside.any():
            first = int(chunk.offset[0]) if first is None else first
            marks.append(_mark(chunk.where(inside), part, count, is_first=not marks))
            count += int(np.count_nonzero(inside))
        if not inside.all():
            following = int(chunk.offset[~inside][0])
            break
    end = following if following is not None else np.inf
    sound = not any(each.offset < end for each in damage.details)
    return Look(first, following, tuple(marks), count, sound)


def _mark(chunk: Chunk, part: Part, before: int, *, is_first: bool) -> Mark:
    """Return the mark of a chunk; `before` is the number of records of the range before it."""
    starts_anywhere = part.start > 0
    later = starts_anywhere | (chunk.record_no > 1)
    dumps = np.flatnonzero(begins_dump(chunk.buffer, chunk.start) & later)
    begin = None if is_first and starts_anywhere else chunk.begin
    return Mark(begin, before, _can_start(chunk), before + int(dumps[-1]) if dumps.size else None)


def parts_of(looks: Sequence[Look], part_bytes: int, limits: Limits = LIMITS) -> list[Part]:
    """Divide a file into parts of about `part_bytes`, by one scan of it or several that agree.

    The rest of the file after the first damage is not divided. The last part has no end.
    """
    starts = [(0, 1, (0, 1), 1)]
    dump = 1
    due = least = max(
        part_bytes - limits.window_bytes // 2, 1
    )  # so the part starts at the nearest chunk
    near = deque[tuple[int, int]]()
    before = list(itertools.accumulate((each.records for each in looks), initial=1))
    counted = zip(before, looks, strict=False)
    numbered = ((first, each) for first, look in counted for each in look.marks)
    for first, mark in numbered:
        if mark.begin is not None:
            near.append((mark.begin, first + mark.before))
            while len(near) > 1 and near[1][0] <= mark.begin - limits.look_back_bytes:
                near.popleft()
            if mark.begin >= due and mark.can_start:
                starts.append((*near[-1], near[0], dump))
                due = mark.begin + least
        if mark.dump is not None:
            dump = first + mark.dump
    parts = [
        Part(start, end, first, following - first, later > 1, back, dump)
        for (start, first, back, dump), (end, following, _, later) in itertools.pairwise(starts)
    ]
    start, first, back, dump = starts[-1]
    return [*parts, Part(start, None, first, back=back, dump=dump)]


def agree(looks: Sequence[Look]) -> bool:
    """Whether scans of consecutive ranges found no damage, and agree on the first record of each.

    Otherwise only a scan of the whole file shows where it can be divided, because damage must be
    read in the chunks of the whole file.
    """
    edges = [(before.following, after.first) for before, after in itertools.pairwise(looks)]
    return all(each.sound for each in looks) and all(
        place is not None and place == first for place, first in edges
    )


def _can_start(chunk: Chunk) -> bool:
    """Whether a part should start with a chunk: the first record depends on no earlier record.

    A part can start with any chunk, but after such a start it rarely reads bytes before itself.
    """
    return bool(np.isin(kinds_of(chunk.buffer, chunk.start[:1]), _INDEPENDENT)[0])
