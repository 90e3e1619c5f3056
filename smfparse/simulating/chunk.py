"""A chunk, consecutive intervals of a simulated site: its work, queue managers and tasks.

`time` is the index of an interval in a chunk; moments are microseconds since 1970, in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.simulating.declaration import APPLICATION_KINDS
from smfparse.simulating.draws import Bools, Columns, Draws, Floats, Ints, Rows, numbered
from smfparse.simulating.plan import Effects, Plan
from smfparse.simulating.records import Writers

_LATER = 9
"""Microseconds from the end of an interval to the first statistics record of the interval."""
_CONNECTED = 40_000
"""Minimum microseconds for which a client is connected."""
_AT_PEAK = 3
"""Ratio of the maximum to the average number of brief tasks."""
_WEEK = 7 * 86_400_000_000
_EARLY, _LATE, _EARLY_ONE_OF = 90, 150, 141
"""Microseconds from the end of an interval to the first task record: before the statistics (which
are written at 109), and after the statistics. One in _EARLY_ONE_OF task records is written before
the statistics; in SMF data of MQ 10, the median is one in 123.
"""


@dataclass(frozen=True)
class Chunk:
    """Consecutive intervals.

    did        results of the engine: arrays by name, one row per interval
    down       share of each interval for which each queue manager is down; also for the intervals
               before and after the chunk
    stretches  times at which each application is connected: rows (from, to), microseconds from the
               start of the estate
    begin      start of each interval
    length     length of every interval, microseconds
    first      number of the first interval
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
        """Return the number of intervals."""
        return len(self.begin)

    @property
    def zero(self) -> int:
        """Return the start of interval 0, the start of the estate."""
        return int(self.begin[0]) - self.first * self.length

    def draws(self, purpose: str) -> Draws:
        """Return a source of random columns; the same purpose gives the same columns."""
        return Draws(self.seed, 1 + self.first, *purpose.encode())

    def rows(self, block: Block, rows: int, columns: Columns | None = None) -> Rows:
        """Return blocks of the site's MQ version, with `columns` set."""
        found = Rows(block, self.plan.estate.version, rows)
        found.set_all(columns or {})
        return found


class Reporters:
    """Statistics: one row per interval and queue manager that writes at the end of the interval.

    begin, end  time that the row covers: the interval, or its part after a restart
    row_of      row by interval and queue manager; -1: no statistics
    again       whether the queue manager restarted in the interval, or at its start
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
        """Return the length of the time that each row covers."""
        return self.end - self.begin

    def of(self, values: Any) -> Any:
        """Return one value per row, from an array by interval and queue manager."""
        return values[self.time, self.manager]

    def declared(self, part: str, name: str) -> Any:
        """Return a declared property of `part` (log or mover), one value per row."""
        values = np.array([getattr(getattr(each, part), name) for each in self._declared])
        return values[self.manager]

    def summed(self, values: Any, of: Any) -> Floats:
        """Return sums of values, one per row; `values`: one per task or queue block in `of`."""
        row = self.row_of[of.time, of.manager]
        known = row >= 0
        return np.bincount(row[known], values[known], len(self)).astype(np.float64)

    def writers(self, order: int, which: Ints | slice = slice(None)) -> Writers:
        """Return the writers of statistics; `order`: index among the records of an interval."""
        return Writers(
            self.manager[which],
            self.end[which] + _LATER + 100 * order,
            self.begin[which],
            agent=0x2E000000 + 0x1000 * self.manager[which],
            length=self.microseconds[which],
        )


class Cells:
    """Objects that queue managers report: one row per row of `Reporters` and object.

    row    index in `Reporters`
    thing  number of the object
    count  number of objects per row of `Reporters`
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
    """Return the parts of totals from share `low` to share `high`; the parts add up to `total`."""
    part: Ints = (np.floor(total * high) - np.floor(total * low)).astype(np.int64)
    return part


class Tasks:
    """Connected tasks: one row per task and interval, application by application.

    Each task does a fixed share of its application's work, so the counts of its tasks add up.

    low, high   start and end of the task's share in the application's work, 0 to 1
    begin, end  time in the interval that the accounting of the task covers
    started     time at which the task connected
    ended       whether the row is the last row of the task
    number      number of the task in its application
    """

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self.plan = chunk.plan
        parts = [self._application(number) for number in range(len(self.plan.estate.applications))]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self.time: Ints = columns["time"]
        self.app: Ints = columns["app"]
        self.number: Ints = columns["number"]
        self.low, self.high = columns["low"], columns["high"]
        self.begin: Ints = columns["begin"]
        self.end: Ints = columns["end"]
        self.started: Ints = columns["started"]
        self.ended: Bools = columns["ended"].astype(bool)
        self.manager: Ints = self.plan.app_manager[self.app]
        kinds = np.array([APPLICATION_KINDS[each.kind] for each in self.plan.estate.applications])
        self.kind: Ints = kinds[self.app]

    @property
    def brief(self) -> Bools:
        """Return which tasks connected and ended within one interval."""
        found: Bools = self.ended & (self.started == self.begin)
        return found

    def __len__(self) -> int:
        return len(self.time)

    def present(self) -> Floats:
        """Return each task's connected share of an interval; for brief tasks, the share at peak."""
        share = np.minimum(_AT_PEAK * (self.end - self.begin) / self._chunk.length, 1)
        return np.where(self.brief, share, 1)

    def _application(self, number: int) -> dict[str, Any]:
        each = self.plan.estate.applications[number]
        brief = np.where(
            self._chunk.effects.brief[:, number] > 0,
            self._chunk.effects.brief[:, number],
            each.stays,
        )
        columns = self._brief(number, brief) if each.stays else self._lasting(number)
        columns["app"] = np.full(len(columns["time"]), number, np.int64)
        lost = self._chunk.effects.lost[columns["time"], self.plan.app_manager[number]] >= 0.5
        return {name: values[~lost] for name, values in columns.items()}

    def _lasting(self, number: int) -> dict[str, Any]:
        """Return columns of tasks that stay connected: one row per task, interval and stretch."""
        chunk, each = self._chunk, self.plan.estate.applications[number]
        time, begin, end, share, stretch = self._connected(number)
        draws = Draws(chunk.seed, 7, number)
        weight = draws.near(each.tasks, 0.15)
        cut = np.concatenate([[0.0], np.cumsum(weight) / weight.sum()])
        cut[-1] = 1.0
        rows = np.repeat(np.arange(len(time)), each.tasks)
        tasks = np.tile(np.arange(each.tasks), len(time))
        first, last = (chunk.stretches[number][stretch, side] for side in (0, 1))
        ended = (end == last)[rows]
        before = 60_000_000 + int(draws.below(1, _WEEK)[0])
        started = np.where((first == 0) & (not each.window), -before, first)
        zero = chunk.zero
        turn = _LATE + 5 * tasks + 23 * number

        def recorded(moment: Ints) -> Ints:
            """Return the times of task records: one after another, a few before the statistics."""
            nth = moment // chunk.length + 7 * tasks + 31 * number
            return zero + moment + np.where(nth % _EARLY_ONE_OF == 1, _EARLY, turn)

        of_task, whole = cut[tasks + 1] - cut[tasks], share[1][rows] == 1
        return {
            "time": time[rows],
            "number": tasks,
            "low": cut[tasks] + of_task * share[0][rows],
            "high": np.where(whole, cut[tasks + 1], cut[tasks] + of_task * share[1][rows]),
            "begin": recorded(begin[rows]),
            "end": np.where(ended, zero + end[rows] + turn % 900 - 1000, recorded(end[rows])),
            "started": zero + started[rows] + 11 * tasks,
            "ended": ended,
        }

    def _connected(self, number: int) -> tuple[Ints, Ints, Ints, tuple[Floats, Floats], Ints]:
        """Return the connected stretches of an application: one row per interval and stretch.

        The columns are interval, from and to (microseconds from the start of the estate), low and
        high share of the application's work in the interval, and number of the stretch.
        """
        chunk, known = self._chunk, self._chunk.stretches[number]
        at = (chunk.begin - chunk.zero)[:, None]
        begin = np.maximum(known[:, 0], at)
        end = np.minimum(known[:, 1], at + chunk.length)
        length = np.maximum(end - begin, 0)
        reached = np.cumsum(length, axis=1)
        every = np.maximum(reached[:, -1:], 1)
        time, stretch = np.nonzero(length)
        place = (time, stretch)
        shares = ((reached - length) / every, reached / every)
        return time, begin[place], end[place], (shares[0][place], shares[1][place]), stretch

    def _brief(self, number: int, messages: Any) -> dict[str, Any]:
        """Return columns of clients that connect for a few messages each: one row per client."""
        chunk = self._chunk
        works = self.plan.app == number
        units = chunk.did["units"][:, works].sum(axis=1)
        count = np.ceil(units / np.maximum(messages, 1)).astype(np.int64)
        time = np.repeat(np.arange(chunk.times), count)
        nth = numbered(count)
        draws = chunk.draws(f"clients {number}")
        length = np.floor(chunk.length * 0.02 * draws.uniform(len(time))).astype(np.int64)
        length = np.minimum(length + _CONNECTED, chunk.length // 2)
        most = chunk.length - length - 3000
        begin = chunk.begin[time] + np.floor(most * (nth + draws.uniform(len(time))) / count[time])
        begin = begin.astype(np.int64) + 1000
        return {
            "time": time,
            "number": nth,
            "low": nth / count[time],
            "high": (nth + 1) / count[time],
            "begin": begin,
            "end": begin + length,
            "started": begin,
            "ended": np.ones(len(time), bool),
        }
