"""The other inputs of a run: in these may be the 116/1 records of tasks that go on in a file.

SMF switches files between a 116/1 and its 116/2. Where a 116/2 at the start of a file has no 116/1,
the ends of the others are looked at, once each; where there is none, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smfparse.decoding import (
    APART_US,
    NO_TASKS,
    Continued,
    Tasks,
    in_source,
    joined_tasks,
    latest_tasks,
    queue_tasks,
    sources_in,
)
from smfparse.inputs.ends import end_of, head_of, is_streamed, last_tasks, starts_of
from smfparse.reading import Input
from smfparse.vectors import Ints

if TYPE_CHECKING:
    from smfparse.inputs.sources import Dataset

_ANY = frozenset({"*"})


@dataclass(eq=False)
class Others:
    """All inputs of a run. Sources are numbered: the files, then those in datasets.

    files     SMF files, in order
    datasets  what else there is
    """

    files: tuple[Input, ...]
    datasets: tuple[Dataset, ...] = ()
    _starts: dict[str, dict[int, int]] = field(default_factory=dict, repr=False)
    _ends: dict[str, Tasks] = field(default_factory=dict, repr=False)
    _spanning: dict[frozenset[str], Ints] = field(default_factory=dict, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the sources, by number less one."""
        stored = (name for each in self.datasets for name in each.sources)
        return (*(each.name for each in self.files), *stored)

    def note(self, source: str, last: Tasks) -> None:
        """Take the last 116/1 records of a file that was read: it need not be read again."""
        self._ends[source] = last.last(APART_US)

    def tasks(self, source: str, lost: Continued) -> Tasks:
        """Return the 116/1 records that records of a file may go on from.

        Those are at the start of the file, and the others end there.
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
        """Return the 116/1 records that records of a system at the start of a file may go on from.

        Of files that have to be read from their start, those are looked at that start last before,
        until all are found.
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
        """Return the tasks of several files, one of these `source`, with a queue like a pattern.

        As `queue_tasks` does for that file.
        """
        if patterns not in self._spanning:
            self._spanning[patterns] = self._tasks_named(patterns)
        every = self._spanning[patterns]
        own = [each.name for each in self.files].index(source) + 1
        return np.where(sources_in(every) == own, every - in_source(0, own), every)

    def _tasks_named(self, patterns: frozenset[str]) -> Ints:
        """Return the tasks of several files with a queue like a pattern, as `in_source` does."""
        going_on, named = self._at_starts(_ANY), [self._at_starts(patterns)]
        for number in np.unique(sources_in(going_on)).tolist():
            if number <= len(self.files):
                file = self.files[number - 1]
                own = queue_tasks(end_of(file), patterns, file.limits.look_back_bytes)
                named.append(in_source(own, number))
        return np.intersect1d(going_on, np.concatenate(named))

    def _at_starts(self, patterns: frozenset[str]) -> Ints:
        """Return the tasks of other files that go on, with such a queue, at the start of any."""
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
        """Yield the tasks in datasets that SMF took in a span of time."""
        number = len(self.files) + 1
        for each in self.datasets:
            from smfparse.inputs.stored_tasks import tasks_between

            yield from tasks_between(each, first, last, number)
            number += len(each.sources)
