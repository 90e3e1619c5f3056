"""Queue managers whose clocks go in any way: SMF records of them, and what is true of these.

A `Clock` says how one queue manager's time goes. `statistics` and `class_3` are its intervals. For
each of the former there is a 115/2, for each of the latter a 116/1 and, for some tasks, a 116/2.
All count the same work. `records` are their bytes, at the offsets of the fact
table; nothing here asks the code under test. A `Site` has several clocks, each on a z/OS system of
its own, so that one report tells about all of them.

Moments are true UTC unless they are said to be local. Clocks are drawn by drawing_clocks.py.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tests.support import smf
from tests.support.builders import Section, put, qwhs_long, qwhs_short, smf_record, stck

SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
NONE = dt.timedelta(0)
PART = dt.timedelta(minutes=15)
"""How long work goes on at one speed."""
BEFORE_END = HOUR / 2
"""A record counts at the middle of its interval, but no longer than this before its end."""
_LEAST = 10 * SECOND
"""The first and the last interval are longer than that, and so than any lag."""
PUT_US, PUT_BYTES = 20, 100
"""Elapsed time and size of each put or get."""
WRAPPED_US = -12
"""Elapsed time of the puts or gets of a record whose time wrapped."""
EPOCH = dt.datetime(1900, 1, 1, tzinfo=dt.UTC)
ODD_STARTS = {
    "missing": None,
    "1900": EPOCH + DAY,
    "2042": dt.datetime(2042, 9, 17, 23, 53, tzinfo=dt.UTC),
}
"""What WTASINTS is in a record whose interval cannot be known."""


@dataclass(frozen=True)
class Task:
    """A program that puts to a queue of its own, or gets from it, all the time.

    per_second  calls, at the lowest speed
    before      how long before the first record it was there: its first interval covers that
    whole       whether its only record is at its end, as without ACCTIME
    more        whether half of its calls are in a 116/2
    """

    job: str
    per_second: int
    verb: str = "put"
    before: dt.timedelta = NONE
    whole: bool = False
    more: bool = False

    @property
    def queue(self) -> str:
        return f"{self.job}.Q"


@dataclass(frozen=True)
class Span:
    """An interval, and how many puts or gets were in it.

    task        None: it is one of statistics, which has the work of all
    start, end  as the records say; without lag they are `begun` and `ended`
    number      QWHSISEQ: counts the records of its kind since the queue manager started, from 1
    odd         "missing", "1900", "2042": the record does not tell when it started
    wrapped     whether its elapsed time is below zero
    """

    task: Task | None
    start: dt.datetime
    end: dt.datetime
    begun: dt.datetime
    ended: dt.datetime
    number: int
    puts: int = 0
    gets: int = 0
    odd: str = ""
    wrapped: bool = False

    @property
    def calls(self) -> int:
        return self.puts + self.gets

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / SECOND

    @property
    def rate(self) -> float:
        return self.calls / self.seconds


@dataclass(frozen=True)
class Clock:
    """How time goes at a queue manager that is the only one on its z/OS system.

    begin     when the first records begin
    length    how long there are records
    statime   length of intervals of statistics
    acctime   length of intervals of class 3
    phase     how long after the local hour intervals begin; None: they begin with the start of the
              queue manager, and go on from there
    lag       how long after the end of statistics class 3 ends; below zero: before it
    late      how long after the end of an interval its record has the time of SMF
    leap      seconds that the TOD clock is ahead of UTC; local times are not
    east      local time minus UTC
    change    when clocks are changed, and by how much
    stops     when the queue manager ends, and how long until it starts again
    lost      intervals of statistics, from 0, whose records are missing
    odd       intervals of class 3, from 0, and what is wrong with their start
    wrapped   intervals of class 3, from 0, whose elapsed time is below zero
    speeds    what the speed of the work is multiplied by, in one PART after the other
    first     QWHSISEQ of the first statistics: 1, if the queue manager starts as records begin
    """

    system: str
    qmgr: str
    begin: dt.datetime
    length: dt.timedelta
    tasks: tuple[Task, ...]
    statime: dt.timedelta = 30 * MINUTE
    acctime: dt.timedelta = 30 * MINUTE
    phase: dt.timedelta | None = NONE
    lag: dt.timedelta = dt.timedelta(microseconds=123)
    late: dt.timedelta = dt.timedelta(milliseconds=1)
    leap: dt.timedelta = NONE
    east: dt.timedelta = HOUR
    change: tuple[dt.datetime, dt.timedelta] | None = None
    stops: tuple[tuple[dt.datetime, dt.timedelta], ...] = ()
    lost: frozenset[int] = frozenset()
    odd: tuple[tuple[int, str], ...] = ()
    wrapped: frozenset[int] = frozenset()
    speeds: tuple[int, ...] = (1, 3, 2, 5, 1, 4)
    first: int = 1

    # -- local time

    def offset(self, moment: dt.datetime) -> dt.timedelta:
        """Return local time minus UTC at a moment."""
        if self.change is None or moment < self.change[0]:
            return self.east
        return self.east + self.change[1]

    def local(self, moment: dt.datetime) -> dt.datetime:
        return (moment + self.offset(moment)).replace(tzinfo=None)

    def smf_time(self, span: Span) -> dt.datetime:
        """Return the local time in the SMF header, which has hundredths of a second."""
        local = self.local(span.end + self.late)
        return local.replace(microsecond=local.microsecond // 10_000 * 10_000)

    def counted(self, span: Span) -> set[dt.datetime]:
        """Return when a record of an interval counts, local time.

        There are several such moments where clocks were changed within the interval.
        """
        if span.odd:
            return {self.smf_time(span)}
        middle = span.start + (span.end - span.start) / 2
        at = max(middle, span.end - BEFORE_END)
        used = {self.offset(each) for each in (span.start, at, span.end + self.late)}
        return {(at + each).replace(tzinfo=None) for each in used}

    # -- intervals

    @property
    def runs(self) -> list[tuple[dt.datetime, dt.datetime]]:
        """From when to when the queue manager is there."""
        starts = [self.begin, *(moment + down for moment, down in self.stops)]
        ends = [*(moment for moment, _ in self.stops), self.begin + self.length]
        return list(zip(starts, ends, strict=True))

    @property
    def starts(self) -> int:
        """How often the queue manager starts: QWHSISEQ is 1 in the interval behind."""
        return len(self.stops) + (self.first == 1)

    @cached_property
    def statistics(self) -> list[Span]:
        made = [
            self._span(None, *edges, number)
            for start, end in self.runs
            for number, edges in enumerate(
                pairwise(self._edges(start, end, self.statime)),
                self.first if start == self.begin else 1,
            )
        ]
        return [span for number, span in enumerate(made) if number not in self.lost]

    @cached_property
    def class_3(self) -> list[Span]:
        made: list[Span] = []
        for start, end in self.runs:
            first = len(made)
            for task in self.tasks:
                edges = [start, end] if task.whole else self._edges(start, end, self.acctime)
                edges = [start - task.before if start == self.begin else start, *edges[1:]]
                made += [self._span(task, *each, len(made) - first) for each in pairwise(edges)]
        odd, wrapped = dict(self.odd), self.wrapped
        return [
            replace(span, odd=odd.get(number, ""), wrapped=number in wrapped)
            for number, span in enumerate(made)
        ]

    def _edges(self, start: dt.datetime, end: dt.datetime, step: dt.timedelta) -> list[dt.datetime]:
        """Return where intervals begin and end while the queue manager is there."""
        first = start
        if self.phase is not None:
            midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
            origin = midnight - DAY - self.east + self.phase
            first = origin + (start - origin) // step * step
        within = (first + number * step for number in range(1, (end - first) // step + 1))
        return [start, *(each for each in within if start + _LEAST < each < end - _LEAST), end]

    def _span(self, task: Task | None, begun: dt.datetime, ended: dt.datetime, number: int) -> Span:
        lag = self.lag if task else NONE
        calls = {"put": 0, "get": 0}
        for each in [task] if task else self.tasks:
            calls[each.verb] += self._done(each, ended) - self._done(each, begun)
        up = begun in (start for start, _ in self.runs) or begun < self.begin
        start = begun if up else begun + lag
        return Span(task, start, ended + lag, begun, ended, number, calls["put"], calls["get"])

    def _done(self, task: Task, moment: dt.datetime) -> int:
        """Return how many calls a task has made since EPOCH."""
        parts, rest = divmod(moment - EPOCH, PART)
        rounds, left = divmod(parts, len(self.speeds))
        whole = rounds * sum(self.speeds) + sum(self.speeds[:left])
        return task.per_second * (whole * PART + self.speeds[left] * rest) // SECOND

    # -- records

    @property
    def records(self) -> Iterator[tuple[dt.datetime, bytes, Span]]:
        """Yield when SMF takes each record, its bytes, and what it is about."""
        for span in self.statistics:
            yield span.end + self.late, self._statistics_record(span), span
        for span in self.class_3:
            for record in self._task_records(span):
                yield span.end + self.late, record, span

    def _statistics_record(self, span: Span) -> bytes:
        qmst = smf.block("QMST", qmstput=span.puts, qmstget=span.gets)
        start = (span.start + self.offset(span.start)).replace(tzinfo=None)
        length = (span.end - span.start) // dt.timedelta(microseconds=1)
        area = qwhs_long(span.end + self.leap, start, length, triplets=2)
        return self._record(115, 2, [Section([qmst])], area, span)

    def _task_records(self, span: Span) -> Iterator[bytes]:
        task = span.task
        assert task is not None
        who = Section([smf.who(task.job, "USER1")])
        halves = [(span.puts, span.gets)]
        if task.more:
            first_half = span.puts // 2, span.gets // 2
            halves = [first_half, (span.puts - first_half[0], span.gets - first_half[1])]
        start = ODD_STARTS[span.odd] if span.odd else span.start + self.leap
        token, end = self._token(span), span.end + self.leap
        own = smf.task(token, ended=end, wtasints=start, wtaswqct=len(halves))
        used = zip((task.queue, f"{task.job}.MORE"), halves, strict=False)
        first, *more = (self._queue(name, span, *half, token) for name, half in used)
        yield self._record(116, 1, [who, Section([own]), first], qwhs_short(end, 4), span)
        for each in more:
            yield self._record(116, 2, [who, each], qwhs_short(end, 3), span)

    def _token(self, span: Span) -> bytes:
        """The 16 bytes that identify a task: a restart makes another one of it."""
        assert span.task is not None
        up = max(start for start, _ in self.runs if start <= span.ended)
        started = up - (span.task.before if up == self.begin else NONE) + self.leap
        return struct.pack(">QII", stck(started), 1 + self.tasks.index(span.task), 0x5C000000)

    def _queue(self, name: str, span: Span, puts: int, gets: int, token: bytes) -> Section:
        def elapsed(calls: int) -> bytes:
            microseconds = WRAPPED_US if span.wrapped and calls else PUT_US * calls
            return struct.pack(">q", microseconds << 12)

        block = smf.queue(
            name, token, version=9, putn=puts, validput=puts, putbytes=PUT_BYTES * puts,
            putet=elapsed(puts), putct=PUT_US * puts, getn=gets, geta=gets, validget=gets,
            getdval=gets, getbytes=PUT_BYTES * gets, getet=elapsed(gets), getct=PUT_US * gets,
        )  # fmt: skip
        return Section([block])

    def _record(
        self, smf_type: int, subtype: int, sections: Sequence[Section], area: bytes, span: Span
    ) -> bytes:
        area = area[:24] + struct.pack(">II", span.number, span.number) + area[32:]
        header = {"system": self.system, "qmgr": self.qmgr, "release": "940"}
        local = self.local(span.end + self.late)
        return smf_record(smf_type, subtype, *sections, area=area, local=local, **header)


@dataclass(frozen=True)
class Site:
    """Clocks of several z/OS systems, whose records are in one file or in two.

    cut  share of the records, in 1/1000, that are in the first of two files
    """

    clocks: tuple[Clock, ...]
    cut: int = 0

    @cached_property
    def records(self) -> list[tuple[dt.datetime, bytes, Clock, Span]]:
        made = ((at, data, each, span) for each in self.clocks for at, data, span in each.records)
        return sorted(made, key=lambda each: each[0])

    def write(self, folder: Path) -> Path:
        return self._write(folder / "whole.smf", 0, None)

    def write_two(self, folder: Path) -> list[Path]:
        """Write them to two files, the second one of which goes on after any record."""
        at = min(max(1, len(self.records) * self.cut // 1000), len(self.records) - 1)
        first = self._write(folder / "first.smf", 0, at)
        return [first, self._write(folder / "second.smf", at, None)]

    def _write(self, path: Path, start: int, end: int | None) -> Path:
        return put(path, *(record for _, record, _, _ in self.records[start:end]))

    def clock(self, qmgr: str) -> Clock:
        return next(each for each in self.clocks if each.qmgr == qmgr)
