"""Connected tasks: a row for each task and interval with class 3 accounting.

The work of an application is shared among its tasks by fixed shares, so their counts add up to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating.chunk import Chunk
from smfparse.simulating.declaration import APPLICATION_KINDS
from smfparse.simulating.draws import Bools, Draws, Floats, Ints, numbered

_CONNECTED = 40_000
"""Least microseconds that a client is connected."""
_AT_PEAK = 3
"""How many more brief tasks there are at one time than on average."""
_WEEK = 7 * 86_400_000_000
_EARLY, _LATE, _EARLY_ONE_OF = 90, 150, 141
"""Microseconds from the end of an interval to the earliest records of tasks: before the statistics,
which are written at 109, and after them; and of how many records one is before. In SMF data of
MQ 10 this is one of 141, and the median is 123 after."""


class Tasks:
    """Rows by task and interval, application by application.

    low, high   the shares of the application's work between which that of the task is
    begin, end  from when to when the task is accounted for in the interval
    started     when it connected
    ended       whether this is its last row
    number      which of the tasks of its application it is
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
        """Return which tasks came and went within an interval."""
        found: Bools = self.ended & (self.started == self.begin)
        return found

    def __len__(self) -> int:
        return len(self.time)

    def present(self) -> Floats:
        """Return how much each is of those connected at one time: a brief one for its while."""
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
        """Return the tasks that stay: a row an interval and stretch in which they are connected."""
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
            """Return when tasks are recorded at moments: behind each other, now and then early."""
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
        """Return the stretches of an application in each interval, which have a part of its work.

        They are interval, from and to (microseconds from the start), the shares of the work in the
        interval between which theirs is, and number of the stretch.
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
        """Return the clients that come for some messages and go: each is one row."""
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
