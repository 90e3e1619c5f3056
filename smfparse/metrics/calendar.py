"""The calendar of a queue manager: its clock, its intervals, and missing or unrecorded data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.decoding.zones import Zone
from smfparse.layout.columns import version_key
from smfparse.vectors import Bools, Floats, Ints

CALENDAR = "calendar"
"""Name of the result of `calendar_query` in a catalog."""
SECOND_US = 1_000_000
_HOUR_US = 3600 * SECOND_US
_DAY = 24 * 3600
_TABLES = ("qmst", "qjst", "qcct", "wtid", "qcst")
_ACCOUNTING = 3
"""Value of `Calendar.source` for accounting: intervals of tasks and channels, which overlap."""
_FIRST = 3
"""Factor: a row longer than this many typical intervals also covers time before its interval."""
_ODD = ("first", "stub")
_NONE_UNSELECTED = "unselected_seconds(began, ended, utc_offset) AS 0;"
"""Default definition of a macro, which a selection of daily hours replaces."""


def calendar_macros(selection: Selection = ALL_RECORDS) -> str:
    """Return the SQL that makes the macros of the calendar.

    selection  selection of records; data outside its daily hours does not count as missing
    """
    macros = Path(__file__).with_name("calendar.sql").read_text("utf-8")
    if not selection.daily:
        return macros
    unselected = _NONE_UNSELECTED.replace(
        " 0;", f" {_unselected(selection.daily, selection.zone)};"
    )
    return macros.replace(_NONE_UNSELECTED, unselected)


def _unselected(daily: tuple[int, int], zone: Zone | None) -> str:
    """Return the SQL of the number of seconds from `began` to `ended` outside daily hours."""
    opens, closes = daily
    closed = (opens - closes) % _DAY
    offset = zone.sql("ended") if zone else "coalesce(utc_offset, 0)"
    ended, began = (
        f"({moment} // {SECOND_US} + {offset} - {closes})" for moment in ("ended", "began")
    )
    return " - ".join(
        f"({each} // {_DAY} * {closed} + least({each} % {_DAY}, {closed}))"
        for each in (ended, began)
    )


def calendar_query() -> str:
    """Return the query for the intervals of all queue managers."""
    named = ", ".join(f"'inputs.{each}'" for each in _TABLES)
    return f"SELECT * REPLACE (epoch_us(started) AS started) FROM intervals_of_qmgrs({named})"


def ends_of(starts: Ints, seconds: Floats) -> Ints:
    """Return the ends of intervals; starts and ends are microseconds since 1970."""
    ends: Ints = starts + (seconds * SECOND_US).astype(np.int64)
    return ends


@dataclass(frozen=True)
class Calendar:
    """The intervals of a queue manager, in the order of time, and the clock of its system.

    clock     zone for local times
    source    1: intervals of statistics; 2: intervals of channel initiator statistics; 3: intervals
              of accounting, which overlap
    typical   median length of an interval, seconds; 0: unknown
    starts    start of each interval, microseconds since 1970, UTC
    ends      end of each interval, microseconds since 1970, UTC
    kinds     kind of each interval: typical, long, short, stub or first (see docs/selecting.md)
    gaps      seconds without data before each interval; 0: none
    restarts  whether the queue manager was restarted before each interval
    missing   number of missing intervals before each interval, by QWHSISEQ
    derived   whether an interval is the time since the previous record, because records contain no
              intervals (MQ 7)
    """

    system: str
    qmgr: str
    mq_version: str
    clock: Zone
    source: int
    typical: float
    starts: Ints
    ends: Ints
    kinds: Sequence[str]
    gaps: Floats
    restarts: Bools
    missing: Ints
    derived: bool

    @property
    def key(self) -> tuple[str, str]:
        """System and queue manager."""
        return self.system, self.qmgr

    @property
    def is_recorded(self) -> bool:
        """Whether the intervals come from statistics of the queue manager or channel initiator."""
        return self.source < _ACCOUNTING

    @cached_property
    def whole(self) -> Bools:
        """Which intervals cover no time before the trace (bool); if none does, all intervals."""
        lengths = (self.ends - self.starts) / SECOND_US
        if self.is_recorded:
            found = np.array([each != "first" for each in self.kinds], bool)
        else:
            found = lengths <= _FIRST * self.typical
        return found if found.any() else np.ones(len(lengths), bool)

    @cached_property
    def usual_seconds(self) -> tuple[float, float]:
        """Percentiles 5 and 95 of interval lengths in seconds, without first and stub intervals."""
        lengths = (self.ends - self.starts) / SECOND_US
        usual = lengths[[each not in _ODD for each in self.kinds]]
        low, high = np.quantile(usual if len(usual) else lengths, [0.05, 0.95], method="nearest")
        return float(low), float(high)

    @property
    def facts(self) -> dict[str, Any]:
        """Numbers of intervals, gaps and restarts for JSON, the same in every command."""
        recorded = self.is_recorded
        return {
            "intervals": len(self.starts) if recorded else 0,
            "interval_seconds": self.typical if recorded else 0.0,
            "gaps": int((self.gaps > 0).sum()) if recorded else 0,
            "gap_seconds": float(self.gaps.sum()) if recorded else 0.0,
            "restarts": int(self.restarts.sum()),
            "missing_intervals": int(self.missing.sum()),
            "derived": self.derived,
        }

    @property
    def first(self) -> int:
        """Start of the covered time, microseconds since 1970, UTC."""
        return int(self.starts[self.whole].min())

    @property
    def last(self) -> int:
        """End of the covered time, microseconds since 1970, UTC."""
        return int(self.ends[self.whole].max())

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """Starts and ends of the periods with data, which do not overlap, in order.

        If only tasks are known, the time from the first to the last task is one period.
        """
        if not self.is_recorded:
            return np.array([self.first]), np.array([self.last])
        starts, ends = self.starts[self.whole], np.maximum.accumulate(self.ends[self.whole])
        begins = np.maximum(starts, np.r_[starts[0], ends[:-1]])
        kept = ends > begins
        return begins[kept], ends[kept]

    def covered(self, begins: Ints, ends: Ints) -> Floats:
        """Return seconds with data between `begins` and `ends`, both in microseconds since 1970."""
        starts, stops = self.spans
        before = np.r_[0, np.cumsum(stops - starts)]

        def up_to(moments: Ints) -> Ints:
            at = np.searchsorted(starts, moments, side="right")
            last = np.maximum(at - 1, 0)
            beyond = np.where(at > 0, np.maximum(moments - stops[last], 0), 0)
            inside = np.where(at > 0, moments - starts[last] - beyond, 0)
            found: Ints = before[last] * (at > 0) + inside
            return found

        found: Floats = (up_to(ends) - up_to(begins)) / SECOND_US
        return found

    def is_odd(self, starts: Ints, seconds: Floats) -> Bools:
        """Return which rows do not show normal work: bool (rows,).

        A row in a first interval, or a long row that begins before all intervals, covers time
        before the trace. In a stub, pools and log are not yet normal after a start.

        starts   start of each row in microseconds since 1970, in any order
        seconds  length of each row
        """
        if not len(self.starts):
            return np.zeros(len(starts), bool)
        middles = starts + (seconds * (SECOND_US / 2)).astype(np.int64)
        at = np.clip(np.searchsorted(self.starts, middles, side="right") - 1, 0, None)
        begins, ends = self.starts[at], self.ends[at]
        is_inside: Bools = (begins == middles) | ((begins < middles) & (middles < ends))
        odd = np.array([each in _ODD for each in self.kinds], bool)[at] & is_inside
        if self.is_recorded:
            goes_back = starts < self.first - self.typical * SECOND_US
            odd |= goes_back & (seconds > _FIRST * self.typical)
        return odd


def calendars_of(rows: Any, zone: Zone | None = None) -> dict[tuple[str, str], Calendar]:
    """Return the calendar of each queue manager, by (system, queue manager).

    rows  result of `calendar_query`, as a pyarrow.Table in any order
    zone  zone of local times; None: local time of each system
    """
    found = {}
    ordered = sorted(rows.to_pylist(), key=lambda row: (*_key(row), row["started"], row["seconds"]))
    for key, several in groupby(ordered, key=_key):
        found[key] = _calendar(key, [*several], zone)
    return found


def _key(row: Any) -> tuple[str, str]:
    return row["system"] or "", row["qmgr"] or ""


def _calendar(key: tuple[str, str], rows: Sequence[Any], zone: Zone | None) -> Calendar:
    starts = np.array([each["started"] for each in rows], np.int64)
    ends = starts + np.rint([each["seconds"] * SECOND_US for each in rows]).astype(np.int64)
    offsets = [each["utc_offset"] for each in rows]
    return Calendar(
        *key,
        mq_version=max((each["mq_version"] or "" for each in rows), key=version_key),
        clock=zone or clock_of(starts.tolist(), ends.tolist(), offsets),
        source=rows[0]["source"],
        typical=rows[0]["typical"] or 0.0,
        starts=starts,
        ends=ends,
        kinds=[each["kind"] for each in rows],
        gaps=np.array([each["gap"] or 0.0 for each in rows], np.float64),
        restarts=np.array([bool(each["is_restart"]) for each in rows]),
        missing=np.array([each["missing"] or 0 for each in rows], np.int64),
        derived=any(each["is_derived"] for each in rows),
    )


def clock_of(starts: Sequence[int], ends: Sequence[int], offsets: Sequence[int | None]) -> Zone:
    """Return the clock of a system: the offset from UTC at each moment, derived from intervals.

    A record contains the offset at the end of its interval. If two consecutive offsets differ, the
    clock was changed in the later interval: at the first full hour, if any, otherwise at the start.

    starts, ends  start and end of each interval, microseconds since 1970, in order
    offsets       offset in each interval, in seconds; None: unknown
    """
    known = [each for each in zip(starts, ends, offsets, strict=True) if each[2] is not None]
    changes: list[int] = []
    shown: list[int] = [known[0][2] or 0] if known else [0]
    for start, end, offset in known:
        if offset is None or offset == shown[-1]:
            continue
        hour = -(-start // _HOUR_US) * _HOUR_US
        changes.append(max(hour if hour <= end else start, changes[-1] + 1 if changes else start))
        shown.append(offset)
    return Zone("", tuple(changes), tuple(shown))


COVERAGE = "coverage"
"""Name of the result of `coverage_query` in a catalog."""
_MOST_RATIO = 1.5
"""Ratio of the lengths of two intervals above which the lengths are reported as different."""


class TraceClass(NamedTuple):
    """A trace class.

    name    name of the class, as STAT(4)
    figure  key of the number of records, in the column `figures` of `coverage_query`
    record  type and subtype of the records
    since   first MQ release with the class
    """

    name: str
    figure: str
    record: tuple[int, int]
    since: tuple[int, ...]


_CLASSES = (
    TraceClass("STAT(1)", "statistics", (115, 2), (0,)),
    TraceClass("STAT(4)", "channel_initiator", (115, 231), (8,)),
    TraceClass("STAT(5)", "queue_statistics", (115, 216), (9, 3)),
    TraceClass("ACCTG(3)", "tasks", (116, 1), (0,)),
    TraceClass("ACCTG(4)", "channels", (116, 10), (8,)),
)


@dataclass(frozen=True)
class Coverage:
    """The completeness of the data of a queue manager.

    gaps            phrases about intervals that MQ wrote but the data does not contain
    lost            phrases about losses that intervals do not show: records lost by SMF, damage
    absent_classes  names of trace classes without records: STAT(4)
    switched_off    phrases about objects in use without STATQ or STATCHL
    notes           phrases about other facts that affect the interpretation of the data
    is_judged       whether the data contains statistics, which are required to find gaps
    """

    system: str
    qmgr: str
    gaps: Sequence[str]
    lost: Sequence[str]
    absent_classes: Sequence[str]
    switched_off: Sequence[str]
    notes: Sequence[str]
    is_judged: bool

    @property
    def missing(self) -> list[str]:
        """Phrases about data that MQ wrote but the input does not contain."""
        return [*self.gaps, *self.lost]

    @property
    def answer(self) -> str:
        """`complete`, `incomplete`, or `completeness unknown`."""
        if self.missing:
            return "incomplete"
        return "complete" if self.is_judged else "completeness unknown"

    @property
    def facts(self) -> dict[str, Any]:
        """These properties for JSON."""
        return {
            "system": self.system,
            "qmgr": self.qmgr,
            "answer": self.answer,
            "missing": self.missing,
            "absent_classes": [*self.absent_classes],
            "switched_off": [*self.switched_off],
            "notes": [*self.notes],
        }


def coverage_query() -> str:
    """Return the query for the numbers of records and objects of each queue manager."""
    return Path(__file__).with_name("coverage.sql").read_text("utf-8")


def coverage_of(
    calendars: Mapping[tuple[str, str], Calendar],
    rows: Any,
    lost: Mapping[str, int | None],
    is_read: Callable[[int, int], bool] = lambda *_: True,
    damaged: int = 0,
) -> list[Coverage]:
    """Return the completeness of the data of each queue manager.

    rows      result of `coverage_query`, as a pyarrow.Table
    lost      number of records that SMF lost (type 7), by system; None: unknown number
    is_read   function that returns whether records of a type and subtype are read
    damaged   number of damaged places in the inputs, reported for all queue managers
    """
    figures = {(each["system"] or "", each["qmgr"] or ""): each for each in rows.to_pylist()}
    systems: dict[str, list[str]] = {}
    for system, qmgr in calendars:
        systems.setdefault(qmgr, []).append(system)
    found = []
    for key, calendar in sorted(calendars.items()):
        counts = dict(figures[key]["figures"]) if key in figures else {}
        found.append(
            Coverage(
                *key,
                gaps=[*_gaps(calendar)],
                lost=[*_lost(calendar, lost, damaged)],
                absent_classes=[*_absent(calendar, counts, is_read)],
                switched_off=[*_switched_off(counts)],
                notes=[*_notes(calendar, counts, systems[calendar.qmgr])],
                is_judged=calendar.is_recorded,
            )
        )
    return found


def length_text(seconds: float) -> str:
    """Return the text of a duration: 30 minutes, 59.8 seconds."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size and round(seconds) % size == 0:
            count = round(seconds) // size
            return f"{count} {unit if count > 1 else unit[:-1]}"
    return f"{seconds:.1f} seconds" if seconds < 600 else f"{seconds / 60:.0f} minutes"


def lengths_text(calendar: Calendar) -> str:
    """Return the usual length of intervals as text: 30 minutes, or a range: 5 to 30 minutes."""
    low, high = calendar.usual_seconds
    if high <= _MOST_RATIO * low:
        return length_text(calendar.typical)
    first, unit = length_text(low), length_text(high).split()[1]
    return f"{first.removesuffix(f' {unit}')} to {length_text(high)}"


def _gaps(calendar: Calendar) -> Iterator[str]:
    """Yield phrases about gaps, except gaps before a restart, when the queue manager was down."""
    if calendar.is_recorded:
        gaps = calendar.gaps[~calendar.restarts]
        if count := int((gaps > 0).sum()):
            several = "gaps" if count > 1 else "gap"
            yield f"{count} {several} in the statistics, {length_text(float(gaps.sum()))} in total"
    if intervals := int(calendar.missing.sum()):
        several = "intervals" if intervals > 1 else "interval"
        yield f"{intervals:,} {several} missing by QWHSISEQ"


def _lost(calendar: Calendar, lost: Mapping[str, int | None], damaged: int) -> Iterator[str]:
    """Yield phrases about losses that intervals do not show."""
    if damaged:
        places = "place" if damaged == 1 else "places"
        yield f"damage at {damaged:,} {places} in the input"
    if calendar.system in lost:
        records = lost[calendar.system]
        count_text = "an unknown number of" if records is None else f"{records:,}"
        yield f"SMF of {calendar.system} lost {count_text} records (type 7)"


def _absent(
    calendar: Calendar, counts: Mapping[str, float], is_read: Callable[[int, int], bool]
) -> Iterator[str]:
    release = version_key(calendar.mq_version or "0")
    for each in _CLASSES:
        if not counts.get(each.figure) and release >= each.since and is_read(*each.record):
            yield each.name


def _switched_off(counts: Mapping[str, float]) -> Iterator[str]:
    for option, of, name in (
        ("STATQ", "queues", "queue_statistics"),
        ("STATCHL", "channels", "channels"),
    ):
        unknown, used = counts.get(f"unknown_{of}", 0), counts.get(f"used_{of}", 0)
        if unknown and counts.get(name):
            yield f"{option} is off for {unknown:.0f} of {used:.0f} {of} in use"


def _notes(
    calendar: Calendar, counts: Mapping[str, float], systems: Sequence[str]
) -> Iterator[str]:
    of_tasks = counts.get("task_seconds", 0.0)
    if calendar.is_recorded and calendar.typical and of_tasks:
        low, high = calendar.usual_seconds
        if max(low / of_tasks, of_tasks / high) > _MOST_RATIO:
            yield (
                f"intervals of statistics are {lengths_text(calendar)}, "
                f"of class 3 {length_text(of_tasks)}"
            )
    if not calendar.clock.name:
        for change, before, after in zip(
            calendar.clock.changes, calendar.clock.offsets, calendar.clock.offsets[1:], strict=False
        ):
            yield (
                f"the clock changed by {(after - before) / 60:+.0f} minutes at "
                f"{calendar.clock.local(change):%Y/%m/%d %H:%M}"
            )
    if len(systems) > 1:
        others = ", ".join(each for each in systems if each != calendar.system)
        yield f"{calendar.qmgr} is also the name of a queue manager on {others}"
    if calendar.derived:
        yield "the records contain no intervals (MQ 7); the time since the previous record is used"
