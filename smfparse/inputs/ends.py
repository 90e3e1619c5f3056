"""When SMF files start, and which of their records are their last in time.

Each z/OS system has a local time of its own: times are compared within one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from smfparse.decoding import APART_US, TASK_KINDS, Tasks, tasks_in
from smfparse.errors import DamageLog
from smfparse.reading import WHOLE_SOURCE, Chunk, Headers, Input, Part, size_of
from smfparse.schemas import DUMP_HEADER, DUMP_TRAILER
from smfparse.vectors import Ints

_LOOK = 1 << 20
"""Bytes that are looked at first."""
_NO_KINDS = np.zeros(0, np.int64)


def starts_of(file: Input) -> dict[int, int]:
    """Return when SMF took the first records of a file, in microseconds, by system.

    Of the systems with records among the first; empty where no time is known.
    """
    starts: dict[int, int] = {}
    seen = 0
    for chunk in _brief(file).chunks(DamageLog(), WHOLE_SOURCE, _NO_KINDS):
        for system, times in _times(chunk).items():
            first = int(times.min())
            starts[system] = min(first, starts.get(system, first))
        seen += int(chunk.length.sum())
        if starts and seen >= _LOOK:
            break
    return starts


def head_of(file: Input, starts: dict[int, int]) -> Iterator[Chunk]:
    """Yield the records of a file up to APART_US after its start."""
    for chunk in _brief(file).chunks(DamageLog(), WHOLE_SOURCE, TASK_KINDS):
        yield chunk
        late = [
            times.min() > starts[system] + APART_US
            for system, times in _times(chunk).items()
            if system in starts
        ]
        if late and all(late):
            return


def end_of(file: Input) -> Iterator[Chunk]:
    """Yield the records of a file that SMF took within APART_US of the last, and some before."""
    return file.chunks(DamageLog(), _last_part(file), TASK_KINDS)


def last_tasks(file: Input) -> Iterator[Tasks]:
    """Yield the 116/1 records of the end of a file."""
    return map(tasks_in, end_of(file))


def is_streamed(file: Input) -> bool:
    """Whether the end of a file is only found by reading it from its start."""
    return bool(file.packing) or (file.framing is not None and not file.framing.walk.blind)


def _last_part(file: Input) -> Part:
    """Return the range that `end_of` reads: `look_back_bytes` at most, unless it is streamed."""
    if is_streamed(file):
        return WHOLE_SOURCE
    whole, size = size_of(file.path), _LOOK
    most = min(whole, file.limits.look_back_bytes)
    while size < most:
        part = Part(whole - size, None, None)
        first: dict[int, int] = {}
        for found in map(_times, _brief(file).chunks(DamageLog(), part, _NO_KINDS)):
            first = {system: int(times[0]) for system, times in found.items()} | first
            if any(times.max() > first[system] + APART_US for system, times in found.items()):
                return part
        size *= 4
    return Part(whole - most, None, None) if most < whole else WHOLE_SOURCE


def _brief(file: Input) -> Input:
    """Return the same file, of which few bytes are looked at at once."""
    brief = min(_LOOK, file.limits.chunk_bytes)
    return replace(file, limits=replace(file.limits, chunk_bytes=brief))


def _times(chunk: Chunk) -> dict[int, Ints]:
    """Return when SMF took the records of a chunk, by system; but those of a dump program."""
    headers = Headers(chunk.buffer, chunk.start, chunk.length)
    time, dated = headers.time
    used = dated & ~np.isin(headers.type, (DUMP_HEADER, DUMP_TRAILER))
    system = headers.raw("sm115sid").view(np.uint32)[:, 0]
    return {int(each): time[used & (system == each)] for each in np.unique(system[used])}
