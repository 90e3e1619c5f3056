"""Some intervals of a simulated site: their work, and the tasks with records of it.

`time` numbers the intervals of a chunk; moments are microseconds since 1970, in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.layout import Block
from smfparse.simulating.draws import Bools, Columns, Draws, Floats, Ints, Rows
from smfparse.simulating.incidents import Effects
from smfparse.simulating.plan import Plan
from smfparse.simulating.records import Writers

_LATER = 9
"""Microseconds after the end of an interval at which the first record of it is taken."""


@dataclass(frozen=True)
class Chunk:
    """Some intervals.

    did      what the engine says, an array by name, a row an interval
    down     share of each interval that queue managers are down: also of one before and one behind
    stretches  when each application is connected: rows from, to; microseconds from the start
    begin    when each interval begins
    length   of all of them, microseconds
    first    number of the first of them
    """

    plan: Plan
    did: dict[str, Any]
    effects: Effects
    down: Floats
    stretches: list[Ints]
    begin: Ints
    length: int
    first: int
    seed: int

    @property
    def times(self) -> int:
        """Return how many intervals these are."""
        return len(self.begin)

    @property
    def zero(self) -> int:
        """Return when the estate starts, microseconds since 1970."""
        return int(self.begin[0]) - self.first * self.length

    def draws(self, purpose: str) -> Draws:
        """Return random columns for some purpose."""
        return Draws(self.seed, 1 + self.first, *purpose.encode())

    def rows(self, block: Block, rows: int, columns: Columns | None = None) -> Rows:
        """Return blocks of the site's MQ version with some columns."""
        found = Rows(block, self.plan.estate.version, rows)
        found.set_all(columns or {})
        return found


class Reporters:
    """Queue managers in the intervals at whose end they write statistics: a row each.

    begin, end  of what the row counts: from a restart on, if one is in the interval
    row_of      row of each interval and queue manager, -1: it writes none
    again       whether the queue manager came up within the interval, or at its start
    """

    def __init__(self, chunk: Chunk) -> None:
        before, down, after = chunk.down[:-2], chunk.down[1:-1], chunk.down[2:]
        stops = (after > 0) & (before == 0) & (down < 1)
        again = (down < 1) & ~stops & ((down > 0) | (before > 0))
        gap = np.floor(down * chunk.length).astype(np.int64)
        written = (down < 1) & (chunk.effects.lost < 0.5) & ~(stops & (gap > 0))
        self.time, self.manager = (each.astype(np.int64) for each in np.nonzero(written))
        self.row_of: Ints = np.full(written.shape, -1, np.int64)
        self.row_of[self.time, self.manager] = np.arange(len(self.time))
        self.begin: Ints = chunk.begin[self.time] + self.of(np.where(again, gap, 0))
        self.again: Bools = self.of(again)
        self.end: Ints = chunk.begin[self.time] + chunk.length
        self._declared = chunk.plan.estate.queue_managers

    def __len__(self) -> int:
        return len(self.time)

    @property
    def microseconds(self) -> Ints:
        """Return how long each is."""
        return self.end - self.begin

    def of(self, values: Any) -> Any:
        """Return the values of an array by interval and queue manager."""
        return values[self.time, self.manager]

    def declared(self, part: str, name: str) -> Any:
        """Return something that is declared of the queue managers' log or mover, a value a row."""
        values = np.array([getattr(getattr(each, part), name) for each in self._declared])
        return values[self.manager]

    def summed(self, values: Any, of: Any) -> Floats:
        """Add values of tasks or their queues up, by interval and queue manager."""
        row = self.row_of[of.time, of.manager]
        known = row >= 0
        return np.bincount(row[known], values[known], len(self)).astype(np.float64)

    def writers(self, order: int, which: Ints | slice = slice(None)) -> Writers:
        """Return who writes statistics: `order` says which record of an interval it is."""
        return Writers(
            self.manager[which],
            self.end[which] + _LATER + 100 * order,
            self.begin[which],
            agent=0x2E000000 + 0x1000 * self.manager[which],
            length=self.microseconds[which],
        )


class Cells:
    """Things that each queue manager reports on: a row each, interval by interval.

    thing  number of what each row is about
    count  rows of each record
    """

    def __init__(self, reporters: Reporters, manager: Ints) -> None:
        mine = [np.flatnonzero(manager == each) for each in range(reporters.row_of.shape[1])]
        sizes = np.array([len(each) for each in mine], np.int64)
        self.count: Ints = sizes[reporters.manager]
        self.row: Ints = np.repeat(np.arange(len(reporters)), self.count)
        parts = [mine[each] for each in reporters.manager]
        self.thing: Ints = np.concatenate([np.zeros(0, np.int64), *parts])
        self.time: Ints = reporters.time[self.row]


def spread(total: Ints, low: Floats, high: Floats) -> Ints:
    """Return the part of whole numbers that is between two shares of them: parts add up."""
    part: Ints = (np.floor(total * high) - np.floor(total * low)).astype(np.int64)
    return part
