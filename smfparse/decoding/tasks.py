"""Which 116/1 record a 116/2 record goes on from.

A task with more queues than a 116/1 record holds writes the rest to 116/2. It belongs to the
nearest 116/1 before it of the same system, queue manager and task token. The token alone is not
enough: one task writes a 116/1 every interval, and the token holds addresses that other queue
managers use as well.

How far before it that may be is bounded, in bytes of the source: so what a record belongs to does
not depend on where reading began, and what a part has to look back for does not grow with the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smfparse.decoding.records import Blocks, Records
from smfparse.layout import US_PER_SECOND, Field, Instant, Values
from smfparse.limits import LIMITS
from smfparse.schemas import CONTINUATION, TASK, WQST, WTAS
from smfparse.vectors import Bools, Ints, gather

if TYPE_CHECKING:
    from smfparse.decoding.surroundings import Before

TASK_KINDS = np.array([smf_type << 16 | subtype for smf_type, subtype in (TASK, CONTINUATION)])
"""Kinds, as of `kinds_of`, of the records of tasks."""
_TOKEN_AT = WTAS.field("wtasstrt")
_CORREL = WQST.field("correl")


class Tasks(NamedTuple):
    """116/1 records in order: key, place, and the interval they cover.

    key      V24 (tasks,): system, queue manager, token
    numbers  int64 (tasks, 6): place of the record, record_no, interval start and end in
             microseconds UTC, and whether (1) each of the two is known
    """

    key: Values
    numbers: Ints

    @property
    def place(self) -> Ints:
        """Where the records start."""
        return self.numbers[:, 0]


def tasks_of(records: Records, ahead: Ints) -> tuple[Ints, Tasks]:
    """Return the indices of the 116/1 records of a chunk that have a WTAS, and what they say.

    ahead  int64 (records,): seconds by which the TOD clock is ahead of UTC
    """
    found = _first(records.blocks(WTAS), WTAS.field("wtasinte"))
    begin, has_begin = _instant(records, found, "wtasints")
    end, has_end = _instant(records, found, "wtasinte")
    chunk, owner = records.chunk, found.owner
    place = chunk.place[owner], chunk.record_no[owner]
    later = ahead[owner] * US_PER_SECOND
    numbers = np.stack([*place, begin - later, end - later, has_begin, has_end], axis=1)
    return owner, Tasks(_keys(records, found, _TOKEN_AT), numbers)


def tokens_of(records: Records) -> tuple[Ints, Values]:
    """Return the indices of the records that show whose they are, and the token of the task.

    The token is two doublewords: uint64 (records, 2). WTAS has it, and in a 116/2 the first WQST.
    """
    queues = records.blocks(WQST)
    later = _first(queues.where(records.is_of([CONTINUATION])[queues.owner]), _CORREL)
    first = _first(records.blocks(WTAS), WTAS.field("wtaswtas"))
    raw = [
        gather(records.chunk.buffer, found.at + field.offset, _CORREL.kind.width)
        for found, field in ((first, _TOKEN_AT), (later, _CORREL))
    ]
    words = np.ascontiguousarray(np.concatenate(raw)).view(">u8").astype(np.uint64)
    return np.concatenate([first.owner, later.owner]), words


def joined(several: list[Tasks]) -> Tasks:
    """Return the tasks of several chunks, at least one, as one."""
    return Tasks(
        np.concatenate([each.key for each in several]),
        np.concatenate([each.numbers for each in several]),
    )


class TaskLinks:
    """The 116/1 records that are near enough to be gone on from, carried from chunk to chunk.

    before  knows those before the part of the source that is read
    reach   bytes before a 116/2 in which its 116/1 starts
    """

    def __init__(self, before: Before | None = None, reach: int = LIMITS.look_back_bytes) -> None:
        self._before = before
        self._reach = reach
        self._seen: list[Tasks] = []

    def link(self, records: Records, tasks: Tasks) -> tuple[Ints, Ints, Bools]:
        """Return the 116/2 records of a chunk, the numbers of their task, and whether it is known.

        tasks  the 116/1 records of the chunk
        """
        self._remember(tasks, int(records.chunk.place[0]))
        queues = records.blocks(WQST)
        later = _first(queues.where(records.is_of([CONTINUATION])[queues.owner]), _CORREL)
        if not len(later):
            return later.owner, np.zeros((0, 6), np.int64), np.zeros(0, np.bool_)
        key, place = _keys(records, later, _CORREL), records.chunk.place[later.owner]
        known = joined(self._seen)
        which, found = _nearest(known, key, place, self._reach)
        if self._before is not None and self._before.is_near(place[~found], self._reach):
            self._seen.append(self._before.tasks)
            self._before = None
            known = joined(self._seen)
            which, found = _nearest(known, key, place, self._reach)
        return later.owner, known.numbers[which[found]], found

    def _remember(self, tasks: Tasks, place: int) -> None:
        """Take the tasks of a chunk that starts at `place`; forget those that are too far back."""
        least = place - self._reach
        self._seen = [each for each in self._seen if len(each.key) and each.place[-1] >= least]
        self._seen.append(tasks)


def _first(found: Blocks, last: Field) -> Blocks:
    return found.where((found.number == 1) & (found.length >= last.end))


def _instant(records: Records, found: Blocks, name: str) -> tuple[Ints, Bools]:
    each = WTAS.field(name)
    assert isinstance(each.kind, Instant)
    values, present = each.kind.values(records.read(found.at, each))
    assert present is not None
    return values, present


def _keys(records: Records, found: Blocks, token: Field) -> Values:
    width = _CORREL.kind.width
    parts = [
        records.headers.raw("sm115sid")[found.owner],
        records.headers.raw("sm115SSI")[found.owner],
        gather(records.chunk.buffer, found.at + token.offset, width),
    ]
    return np.ascontiguousarray(np.hstack(parts)).view("V24")[:, 0]


def _nearest(known: Tasks, key: Values, place: Ints, reach: int) -> tuple[Ints, Bools]:
    """Return for each key the index of the last known task with it that starts before `place`.

    And whether there is one, no more than `reach` bytes before.
    """
    every = np.concatenate([known.key, key])
    _, same = np.unique(every, return_inverse=True)
    order = np.lexsort((np.concatenate([known.place, place]), same))
    is_task = order < len(known.key)
    last = np.maximum.accumulate(np.where(is_task, np.arange(len(order)), -1))
    task = order[np.maximum(last, 0)]
    found = (last >= 0) & (same[task] == same[order])
    index, hit = np.zeros(len(order), np.int64), np.zeros(len(order), np.bool_)
    index[order], hit[order] = task, found
    index, hit = index[len(known.key) :], hit[len(known.key) :]
    hit[hit] = place[hit] - known.place[index[hit]] <= reach
    return index, hit
