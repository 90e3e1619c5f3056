"""Facts about the records before and after a part of a source; read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from smfparse.decoding.areas import HeaderAreas
from smfparse.decoding.clocks import Clock, Shown, made_at, shown_by
from smfparse.decoding.records import Records
from smfparse.decoding.spacing import written_without_interval
from smfparse.decoding.tasks import NO_TASKS, TASK_KINDS, Tasks, joined_tasks, tasks_of
from smfparse.decoding.triplets import BlockIndex
from smfparse.errors import DamageLog
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import kinds_of
from smfparse.schemas import WTAS
from smfparse.vectors import Ints


class Before:
    """The records before a part, as far back as records of the part depend on them.

    start  byte of the source where the part starts
    read   function that reads these records; its argument contains the kinds (as in `kinds_of`;
           None: all) that are read beyond their header
    """

    def __init__(self, start: int, read: Callable[[Ints | None], Iterator[Chunk]]) -> None:
        self._start = start
        self._read = read

    def is_near(self, place: Ints, reach: int) -> bool:
        """Whether any record at `place` is less than `reach` bytes after the start of the part."""
        return bool((place - self._start < reach).any())

    @cached_property
    def tasks(self) -> Tasks:
        """The 116/1 records."""
        return joined_tasks([NO_TASKS, *map(tasks_in, self._read(TASK_KINDS))])

    @cached_property
    def clocks(self) -> dict[bytes, Clock]:
        """The last record of each system with a known UTC offset."""
        found: dict[bytes, Clock] = {}
        for chunk in self._read(None):
            shown = shown_by(Records(chunk, DamageLog()))
            every, last = np.unique(shown.system[::-1], return_index=True)
            last = len(shown.system) - 1 - last
            clocks = map(Clock, shown.place[last].tolist(), shown.seconds[last].tolist())
            found |= zip((each.tobytes() for each in every), clocks, strict=True)
        return found

    @cached_property
    def written(self) -> dict[bytes, tuple[int, int]]:
        """Place and time of the last record of statistics without an interval, by its key."""
        found: dict[bytes, tuple[int, int]] = {}
        for chunk in self._read(None):
            records = Records(chunk, DamageLog())
            written = written_without_interval(records, made_at(HeaderAreas(records)))
            for key, *last in zip(written.key, written.place, written.time, strict=True):
                found[key.tobytes()] = int(last[0]), int(last[1])
        return found


def tasks_in(chunk: Chunk) -> Tasks:
    """Return the 116/1 records of a chunk."""
    of_tasks = np.isin(kinds_of(chunk.buffer, chunk.start), TASK_KINDS)
    records = Records(chunk.where(of_tasks), DamageLog(), BlockIndex([WTAS]))
    return tasks_of(records, made_at(HeaderAreas(records)).ahead)[1]


class Ahead:
    """UTC offsets in later records of a source; each record is read once.

    read  function that reads the source from the start of the part, or from an earlier byte
    """

    def __init__(self, read: Callable[[], Iterator[Chunk]]) -> None:
        self._read = read
        self._held: list[Shown] = []
        self._end = -1
        """Byte of the source where the last read record starts."""

    @cached_property
    def _chunks(self) -> Iterator[Chunk]:
        return self._read()

    def first(self, system: bytes, behind: int, until: int) -> Clock | None:
        """Return the first record of a system that starts after a byte and has a known offset.

        behind  the byte; it must not decrease from call to call
        until   byte up to which such a record is certainly found
        """
        self._held = [each for each in self._held if each.place[-1] > behind]
        number = np.frombuffer(system, np.uint32)
        for each in self._more(behind, until):
            found = np.flatnonzero((each.system == number) & (each.place > behind))
            if found.size:
                return Clock(int(each.place[found[0]]), int(each.seconds[found[0]]))
        return None

    def _more(self, behind: int, until: int) -> Iterator[Shown]:
        """Yield the stored records, then read and yield records up to byte `until`."""
        yield from self._held
        while self._end < until:
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            self._end = int(chunk.offset[-1])
            if self._end > behind:
                shown = shown_by(Records(chunk, DamageLog()))
                if len(shown.place):
                    self._held.append(shown)
                    yield shown
