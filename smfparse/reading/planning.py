"""A file cut into parts that are read apart, by other processes perhaps."""

from __future__ import annotations

import itertools
from collections import deque
from pathlib import Path

import numpy as np

from smfparse.errors import DamageLog, InputError, RequestError
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part
from smfparse.reading.detection import Framing, framing_named
from smfparse.reading.headers import kinds_of
from smfparse.reading.packing import USUAL_GAIN, is_packed
from smfparse.reading.reader import read_chunks

_NOTHING = np.zeros(0, np.int64)
_FIRSTS = [
    smf_type << 16 | subtype
    for smf_type, subtypes in ((115, (1, 2, 201, 215, 231)), (116, (0, 1, 10)))
    for subtype in subtypes
]
"""Kinds of record that have a clock of their own and go on from no other."""


def size_of(path: Path) -> int:
    """Return the bytes of a file, about those of what is packed in it.

    Raises InputError where it cannot be read.
    """
    try:
        size = path.stat().st_size
        return size * USUAL_GAIN if is_packed(path) else size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def plan(
    path: str | Path,
    part_bytes: int,
    *,
    framing: Framing | str | None = None,
    limits: Limits = LIMITS,
) -> list[Part]:
    """Cut the SMF file `path` into parts of about `part_bytes`; their union is the whole file.

    A part starts where a chunk of the whole file does, so its chunks are those of the whole file.
    What is done with damage, and in which order it is noted, depends on nothing else.

    framing  that of the file: rdw, bdw, ...; None: it is detected
    limits   how much is looked at at once

    Only what separates the records is looked at, once; behind the first damage the file is not
    cut any more, and a packed one nowhere. Raises InputError where the file cannot be read,
    RequestError for a framing that does not exist.
    """
    if part_bytes < 1:
        raise RequestError(f"part_bytes={part_bytes}: too few bytes; give 1 or more")
    path = Path(path)
    framing = framing_named(framing) if isinstance(framing, str) else framing
    if size_of(path) <= part_bytes or is_packed(path):
        return [WHOLE_SOURCE]
    starts = _starts(path, part_bytes, framing, limits)
    parts = [
        Part(start, end, first, following - first, dumps, back)
        for (start, first, back, _), (end, following, _, dumps) in itertools.pairwise(starts)
    ]
    start, first, back, _ = starts[-1]
    return [*parts, Part(start, None, first, back=back)]


def _starts(
    path: Path, part_bytes: int, framing: Framing | None, limits: Limits
) -> list[tuple[int, int, tuple[int, int], bool]]:
    """Return where parts start, the number of their first record, and `back` as in `Part`.

    And whether dumps begin before, which are not the first of the file.
    """
    starts = [(0, 1, (0, 1), False)]
    dumps = False
    due = least = max(part_bytes - limits.window_bytes // 2, 1)  # so the nearest chunk is taken
    damage = DamageLog()
    near = deque[tuple[int, int]]()
    for chunk in read_chunks(path, damage, kinds=_NOTHING, framing=framing, limits=limits):
        if any(each.offset < chunk.begin for each in damage.details):
            break
        near.append((chunk.begin, int(chunk.record_no[0])))
        while len(near) > 1 and near[1][0] <= chunk.begin - limits.look_back_bytes:
            near.popleft()
        if chunk.begin >= due and _can_start(chunk):
            starts.append((*near[-1], near[0], dumps))
            due = chunk.begin + least
        dumps = dumps or chunk.goes_on_with_a_dump
    return starts


def _can_start(chunk: Chunk) -> bool:
    """Whether a part may start with a chunk: its first record has to know nothing of those before.

    Any may; but a part that starts with one that does not mostly spares a look back.
    """
    return bool(np.isin(kinds_of(chunk.buffer, chunk.start[:1]), _FIRSTS)[0])
