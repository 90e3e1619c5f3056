"""The intervals of a queue manager, its clock, and the state before each interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from smfparse.layout.members import version_key
from smfparse.selecting.selection import ALL_RECORDS, Selection
from smfparse.selecting.zones import Zone
from smfparse.vectors import Bools, Floats, Ints

CALENDAR = "calendar"
"""Name of the rows of `calendar_query` in a catalog."""
SECOND_US = 1_000_000
_HOUR_US = 3600 * SECOND_US
_DAY = 24 * 3600
_TABLES = ("qmst", "qjst", "qcct", "wtid", "qcst")
_ACCOUNTING = 3
"""Value of `Calendar.source` for accounting: intervals of tasks and channels, which overlap."""
_FIRST = 3
"""Ratio to an interval's length from which a row also covers time before the interval."""
_ODD = ("first", "stub")
_NONE_UNSELECTED = "unselected_seconds(began, ended, utc_offset) AS 0;"
"""Default definition of a macro, which a selection of daily hours replaces."""


def calendar_macros(selection: Selection = ALL_RECORDS) -> str:
    """Return the SQL that makes the macros of the calendar.

    selection  selection of records; outside the selected daily hours, no data counts as missing
    """
    macros = Path(__file__).with_name("macros.sql").read_text("utf-8")
    if not selection.daily:
        return macros
    unselected = _NONE_UNSELECTED.replace(
        " 0;", f" {_unselected(selection.daily, selection.zone)};"
    )
    return macros.replace(_NONE_UNSELECTED, unselected)


def _unselected(daily: tuple[int, int], zone: Zone | None) -> str:
    """Return the SQL of the seconds between two moments that are outside daily hours."""
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
    """Return the ends of intervals, microseconds since 1970."""
    ends: Ints = starts + (seconds * SECOND_US).astype(np.int64)
    return ends


@dataclass(frozen=True)
class Calendar:
    """The intervals of a queue manager, in the order of time, and the clock of its system.

    clock     zone for local times
    source    1: intervals of statistics; 2: of the channel initiator; 3: of accounting, which
              overlap
    typical   median length of an interval, seconds; 0: unknown
    starts    start of each interval, microseconds since 1970, UTC
    ends      end of each interval, microseconds since 1970, UTC
    kinds     kind of each interval: typical, long, short, stub or first (see docs/selecting.md)
    gaps      seconds without data before each interval; 0: none
    restarts  whether the queue manager was restarted before each interval
    missing   number of missing intervals before each interval, by QWHSISEQ
    derived   whether records contain no intervals (MQ 7), so that an interval is the time since the
              previous record
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
        """Whether each interval covers no time before the trace; if all do, True for all."""
        lengths = (self.ends - self.starts) / SECOND_US
        if self.is_recorded:
            found = np.array([each != "first" for each in self.kinds], bool)
        else:
            found = lengths <= _FIRST * self.typical
        return found if found.any() else np.ones(len(lengths), bool)

    @cached_property
    def usual_seconds(self) -> tuple[float, float]:
        """Percentiles 5 and 95 of the lengths of intervals that are not in _ODD, seconds."""
        lengths = (self.ends - self.starts) / SECOND_US
        usual = lengths[[each not in _ODD for each in self.kinds]]
        low, high = np.quantile(usual if len(usual) else lengths, [0.05, 0.95], method="nearest")
        return float(low), float(high)

    @property
    def facts(self) -> dict[str, Any]:
        """Return numbers of intervals, gaps and restarts for JSON, the same in every command."""
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
        """Return the number of seconds with data between each begin and end."""
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
        """Return which rows do not show normal work.

        These are rows in a first interval, which covers time before the trace; rows in a stub,
        because pools and log are not normal after a start; and rows that begin before all intervals
        and are much longer than an interval.

        starts, seconds  start and length of each row, in any order
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
    """Return the calendar of each queue manager, by system and queue manager.

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

    A record contains the offset at the end of its interval. If two consecutive offsets differ,
    clocks were changed in the later interval: at a full hour in the interval, otherwise at its
    start.

    starts, ends, offsets  start, end and offset of each interval, in the order of time
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
