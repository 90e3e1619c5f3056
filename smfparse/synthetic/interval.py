"""Some intervals of a synthetic file: its tasks, and the load of each queue manager."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smfparse.layout import US_PER_DAY
from smfparse.schemas import REGISTRY
from smfparse.synthetic.draws import (
    Draws,
    Floats,
    Ints,
    Rows,
    randomize,
)
from smfparse.synthetic.workload import Tasks

_KEPT = frozenset({"correl", "wtasints", "wtasinte"})
"""What a dense file does not fill: whose a queue block is, and the interval of a task."""
_GROUP_SHARE = {"WTAS": 0.3, "WQST": 0.3}
"""Share of the blocks in which a dense file fills latches and coupling facility requests."""


@dataclass(frozen=True)
class MadeBlocks:
    """Blocks that are filled, and how many each record has."""

    rows: Rows
    count: Ints

    @classmethod
    def one_each(cls, rows: Rows) -> MadeBlocks:
        """Return the blocks that each record has once."""
        return cls(rows, np.ones(len(rows), np.int64))


class SyntheticInterval:
    """Some intervals: rows are interval by interval, then queue manager by task.

    offset      local time minus UTC, in microseconds
    start       of the first interval of the file
    first       number of the first of these intervals
    times       how many they are
    begin       a value a queue manager and interval, as `qmgr` and `load`
    task_stat   row of the queue manager and interval of each task
    queue_task  row of the task of each queue
    ended       rows of the tasks that end within their interval
    """

    def __init__(self, tasks: Tasks, offset: int, start: int, first: int, times: int) -> None:
        self.tasks = tasks
        self.site = tasks.site
        self.offset = offset
        self.first = first
        self.times = times
        qmgrs = len(self.site.qmgrs)
        begin = start + (first + np.arange(times)) * self.site.interval
        self.begin: Ints = np.repeat(begin, qmgrs)
        self.qmgr: Ints = np.tile(np.arange(qmgrs), times)
        self.load = self._load()
        self.task_stat: Ints = np.tile(tasks.qmgr, times) + qmgrs * self._nth(len(tasks.qmgr))
        self.queue_task: Ints = np.tile(tasks.task, times) + len(tasks.qmgr) * self._nth(
            len(tasks.task)
        )
        self.lasting = np.tile(tasks.lasting, times)
        self.ended: Ints = np.flatnonzero(~self.lasting)

    def _nth(self, rows: int) -> Ints:
        """Return the interval that each row belongs to, of `rows` an interval."""
        return np.repeat(np.arange(self.times), rows)

    def _load(self) -> Floats:
        """Return how busy each queue manager is: most at 14:00 local time, least at 2:00."""
        local = (self.begin + self.offset) % US_PER_DAY / US_PER_DAY * 24
        distance = np.minimum(np.abs(local - 14), 24 - np.abs(local - 14))
        noise = 0.9 + 0.2 * self.draws("load").uniform(len(local))
        load: Floats = (1 - 0.06 * distance) * noise
        return load

    def draws(self, purpose: str) -> Draws:
        """Return the random columns of these intervals for some purpose."""
        return Draws(self.site.seed, 1 + self.first, *purpose.encode())

    def rows(self, record: tuple[int, int], name: str, count: int) -> Rows:
        """Return the empty blocks of a kind of record."""
        block = next(each for each in REGISTRY[record].values() if each.name == name)
        return Rows(block, self.site.version, count)

    def densify(self, rows: Rows) -> None:
        """Make the blocks of a dense file random."""
        if self.site.dense:
            name = rows.block.name
            share = _GROUP_SHARE.get(name, 1)
            randomize(rows, self.draws(f"dense {name}"), keep=_KEPT, share=share)


def place(qmgr: Ints, part: int) -> Ints:
    """Return the address of something that each queue manager has."""
    places: Ints = 0x2E000000 + 0x1000 * (qmgr * 37 % 251) + part
    return places
