"""Which 116/1 record a 116/2 record goes on from.

A task with more queues than a 116/1 record holds writes the rest to 116/2. It belongs to the
nearest 116/1 before it of the same system, queue manager and task token. The token alone is not
enough: one task writes a 116/1 every interval, and the token holds addresses that other queue
managers use as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smfparse.decoding.records import Blocks, Records
from smfparse.layout import Field, Values
from smfparse.schemas import CONTINUATION, WQST, WTAS
from smfparse.vectors import Bools, Ints, gather

REMEMBERED = 1 << 18
"""116/1 records that a later chunk's 116/2 can still belong to: the nearest ones."""
_TOKEN_AT = WTAS.field("wtasstrt")
_CORREL = WQST.field("correl")


@dataclass(frozen=True)
class Tasks:
    """116/1 records in order: key, place, and the interval they cover.

    key      V24 (tasks,): system, queue manager, token
    numbers  int64 (tasks, 6): byte of the source where the record starts, record_no, interval start
             and end in microseconds UTC, and whether (1) each of the two is known
    """

    key: Values
    numbers: Ints


class TaskLinks:
    """The 116/1 records seen so far in a source, carried from chunk to chunk.

    `look_back` finds those before the part of the source that is read.
    """

    def __init__(self, look_back: Callable[[], TaskLinks] | None = None) -> None:
        self._look_back = look_back
        self._seen: list[Tasks] = []
        self._count = 0

    def link(self, records: Records, tasks: Tasks) -> tuple[Ints, Ints, Bools]:
        """Return the 116/2 records of a chunk, the numbers of their task, and whether it is known.

        tasks  the 116/1 records of the chunk
        """
        self._remember(tasks)
        queues = records.blocks(WQST)
        later = _first(queues.where(records.is_of([CONTINUATION])[queues.owner]), _CORREL)
        if not len(later):
            return later.owner, np.zeros((0, 6), np.int64), np.zeros(0, np.bool_)
        key, offset = _keys(records, later, _CORREL), records.chunk.offset[later.owner]
        place, found = _nearest(self._known(), key, offset)
        if not found.all() and self._look_back is not None:
            self._prepend(self._look_back())
            self._look_back = None
            place, found = _nearest(self._known(), key, offset)
        return later.owner, self._known().numbers[place[found]], found

    def _known(self) -> Tasks:
        return Tasks(
            np.concatenate([each.key for each in self._seen]),
            np.concatenate([each.numbers for each in self._seen]),
        )

    def _prepend(self, earlier: TaskLinks) -> None:
        self._seen = [*earlier._seen, *self._seen]
        self._count += earlier._count
        self._forget()

    def _remember(self, tasks: Tasks) -> None:
        self._seen.append(tasks)
        self._count += len(tasks.key)
        self._forget()

    def _forget(self) -> None:
        while self._count - len(self._seen[0].key) >= REMEMBERED:
            self._count -= len(self._seen.pop(0).key)


def task_blocks(records: Records) -> Blocks:
    """Return the WTAS of each 116/1 record that has one."""
    return _first(records.blocks(WTAS), WTAS.field("wtasinte"))


def task_keys(records: Records, found: Blocks) -> Values:
    """Return system, queue manager and token of 116/1 records, by their WTAS."""
    return _keys(records, found, _TOKEN_AT)


def _first(found: Blocks, last: Field) -> Blocks:
    return found.where((found.number == 1) & (found.length >= last.end))


def _keys(records: Records, found: Blocks, token: Field) -> Values:
    width = _CORREL.kind.width
    parts = [
        records.headers.raw("sm115sid")[found.owner],
        records.headers.raw("sm115SSI")[found.owner],
        gather(records.chunk.buffer, found.at + token.offset, width),
    ]
    return np.ascontiguousarray(np.hstack(parts)).view("V24")[:, 0]


def _nearest(known: Tasks, key: Values, offset: Ints) -> tuple[Ints, Bools]:
    """Return for each key the index of the last known task with it that starts before `offset`."""
    every = np.concatenate([known.key, key])
    _, same = np.unique(every, return_inverse=True)
    order = np.lexsort((np.concatenate([known.numbers[:, 0], offset]), same))
    is_task = order < len(known.key)
    last = np.maximum.accumulate(np.where(is_task, np.arange(len(order)), -1))
    task = order[np.maximum(last, 0)]
    found = (last >= 0) & (same[task] == same[order])
    place, hit = np.zeros(len(order), np.int64), np.zeros(len(order), np.bool_)
    place[order], hit[order] = task, found
    return place[len(known.key) :], hit[len(known.key) :]
