"""The other inputs of a run. They may contain 116/1 records of tasks that continue in a file.

SMF may switch files between a 116/1 and its 116/2. If a 116/2 at the start of a file has no 116/1,
the end of each other file is read once; otherwise nothing is read. Each z/OS system has its own
local time, so only times of the same system are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smfparse.decoding.decoder import tasks_in
from smfparse.decoding.matching import queue_tasks
from smfparse.decoding.tasks import (
    APART_US,
    NO_TASKS,
    TASK_KINDS,
    Continued,
    Tasks,
    in_source,
    joined_tasks,
    latest_tasks,
    sources_in,
)
from smfparse.errors import DamageLog
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part
from smfparse.reading.headers import Headers
from smfparse.reading.reader import Input, size_of
from smfparse.schemas import DUMP_HEADER, DUMP_TRAILER
from smfparse.vectors import Ints

if TYPE_CHECKING:
    from smfparse.inputs.sources import Dataset

_LOOK = 1 << 20
"""Bytes of the start of a file that are searched for times."""
_NO_KINDS = np.zeros(0, np.int64)


def starts_of(file: Input) -> dict[int, int]:
    """Return the SMF time of the first record of each system (us since 1970), by system id.

    Only systems with records at the start of the file are included; empty: no time is known.
    """
    starts: dict[int, int] = {}
    seen = 0
    for chunk in _in_small_pieces(file).chunks(DamageLog(), WHOLE_SOURCE, _NO_KINDS):
        for system, times in _times(chunk).items():
            first = int(times.min())
            starts[system] = min(first, starts.get(system, first))
        seen += int(chunk.length.sum())
        if starts and seen >= _LOOK:
            break
    return starts


def head_of(file: Input, starts: dict[int, int]) -> Iterator[Chunk]:
    """Yield the records of a file up to APART_US after its start."""
    for chunk in _in_small_pieces(file).chunks(DamageLog(), WHOLE_SOURCE, TASK_KINDS):
        yield chunk
        late = [
            times.min() > starts[system] + APART_US
            for system, times in _times(chunk).items()
            if system in starts
        ]
        if late and all(late):
            return


def end_of(file: Input) -> Iterator[Chunk]:
    """Yield the records from APART_US before the end of a file, and some earlier records."""
    return file.chunks(DamageLog(), _last_part(file), TASK_KINDS)


def last_tasks(file: Input) -> Iterator[Tasks]:
    """Yield the 116/1 records of the end of a file."""
    return map(tasks_in, end_of(file))


def is_streamed(file: Input) -> bool:
    """Whether a file must be read from its start to reach its end."""
    return bool(file.packing) or (file.framing is not None and not file.framing.walk.blind)


def _last_part(file: Input) -> Part:
    """Return the range for `end_of`: at most `look_back_bytes`, or the whole streamed file."""
    if is_streamed(file):
        return WHOLE_SOURCE
    whole, size = size_of(file.path), _LOOK
    most = min(whole, file.limits.look_back_bytes)
    while size < most:
        part = Part(whole - size, None, None)
        first: dict[int, int] = {}
        for found in map(_times, _in_small_pieces(file).chunks(DamageLog(), part, _NO_KINDS)):
            first = {system: int(times[0]) for system, times in found.items()} | first
            if any(times.max() > first[system] + APART_US for system, times in found.items()):
                return part
        size *= 4
    return Part(whole - most, None, None) if most < whole else WHOLE_SOURCE


def _in_small_pieces(file: Input) -> Input:
    brief = min(_LOOK, file.limits.chunk_bytes)
    return replace(file, limits=replace(file.limits, chunk_bytes=brief))


def _times(chunk: Chunk) -> dict[int, Ints]:
    headers = Headers(chunk.buffer, chunk.start, chunk.length)
    time, dated = headers.time
    used = dated & ~np.isin(headers.type, (DUMP_HEADER, DUMP_TRAILER))
    system = headers.raw("sm115sid").view(np.uint32)[:, 0]
    return {int(each): time[used & (system == each)] for each in np.unique(system[used])}


_ANY = frozenset({"*"})


@dataclass(eq=False)
class Others:
    """The inputs of a run. Sources are numbered: the files, then the sources in datasets.

    files     SMF files, in order
    datasets  the datasets, in order
    """

    files: tuple[Input, ...]
    datasets: tuple[Dataset, ...] = ()
    _starts: dict[str, dict[int, int]] = field(default_factory=dict)
    _ends: dict[str, Tasks] = field(default_factory=dict)
    _spanning: dict[frozenset[str], Ints] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the sources; the first source has number 1."""
        stored = (name for each in self.datasets for name in each.sources)
        return (*(each.name for each in self.files), *stored)

    def note(self, source: str, last: Tasks) -> None:
        """Keep the last 116/1 records of a read file, so that the file is not read again."""
        self._ends[source] = last.last(APART_US)

    def tasks(self, source: str, lost: Continued) -> Tasks:
        """Return the 116/1 records to which the 116/2 records at the start of a file may belong.

        These 116/1 records are at the ends of other files.
        """
        file = next(each for each in self.files if each.name == source)
        starts = self._starts_of(file)
        found = [NO_TASKS]
        for system, own in lost.by_system.items() if starts else ():
            started = starts.get(system, min(starts.values()))
            at_start = own.where(own.time <= started + APART_US)
            if len(at_start.key):
                found.append(self._tasks_before(file, system, at_start))
        return joined_tasks(found)

    def _tasks_before(self, source: Input, system: int, lost: Continued) -> Tasks:
        """Return the 116/1 records to which 116/2 records of a system may belong, as in `tasks`.

        Files that must be read from their start are read in descending order of the time of their
        first record, until all tasks are found.
        """
        first, last = int(lost.time.min()) - APART_US, int(lost.time.max())
        found = [NO_TASKS, *self._stored(first, last)]
        waiting: list[tuple[int, int]] = []
        for number, file in enumerate(self.files):
            starts = self._starts_of(file)
            started = starts.get(system, 0)
            if file is source or not starts or started > last:
                continue
            if is_streamed(file) and file.name not in self._ends:
                waiting.append((started, number))
            else:
                found.append(self._end(number))
        for started, number in sorted(waiting, reverse=True):
            if latest_tasks(joined_tasks(found), lost)[1].all():
                break
            found.append(self._end(number))
            if 0 < started < first:
                break
        every = joined_tasks(found)
        return every.where((every.time >= first) & (every.time <= last))

    def named(self, source: str, patterns: frozenset[str]) -> Ints:
        """Return the tasks that cover several files, including `source`, and use a matching queue.

        The result has the form of the result of `queue_tasks` for that file.
        """
        if patterns not in self._spanning:
            self._spanning[patterns] = self._tasks_named(patterns)
        every = self._spanning[patterns]
        own = [each.name for each in self.files].index(source) + 1
        return np.where(sources_in(every) == own, every - in_source(0, own), every)

    def _tasks_named(self, patterns: frozenset[str]) -> Ints:
        """Return the numbers (`in_source`) of tasks in several files that use a matching queue."""
        going_on, named = self._at_starts(_ANY), [self._at_starts(patterns)]
        for number in np.unique(sources_in(going_on)).tolist():
            if number <= len(self.files):
                file = self.files[number - 1]
                own = queue_tasks(end_of(file), patterns, file.limits.look_back_bytes)
                named.append(in_source(own, number))
        return np.intersect1d(going_on, np.concatenate(named))

    def _at_starts(self, patterns: frozenset[str]) -> Ints:
        """Return the tasks with a matching queue that continue at the start of another file."""
        found = [np.zeros(0, np.int64)]
        for file in self.files:
            starts = self._starts_of(file)
            if starts:
                reach = file.limits.look_back_bytes
                found.append(queue_tasks(head_of(file, starts), patterns, reach, self))
        every = np.unique(np.concatenate(found))
        return every[sources_in(every) > 0]

    def _starts_of(self, file: Input) -> dict[int, int]:
        if file.name not in self._starts:
            self._starts[file.name] = starts_of(file)
        return self._starts[file.name]

    def _end(self, number: int) -> Tasks:
        file = self.files[number]
        if file.name not in self._ends:
            self._ends[file.name] = joined_tasks([NO_TASKS, *last_tasks(file)])
        return self._ends[file.name].of_source(number + 1)

    def _stored(self, first: int, last: int) -> Iterator[Tasks]:
        number = len(self.files) + 1
        for each in self.datasets:
            from smfparse.inputs.stored import tasks_between

            yield from tasks_between(each, first, last, number)
            number += len(each.sources)
