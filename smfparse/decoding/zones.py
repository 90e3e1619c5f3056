"""Local times in a zone that the user names, and the time at which a record counts.

If the user names no zone, local times are those of the z/OS system, as in the records, never those
of the workstation. The rules of zones come from pytz, which every installation contains: Windows
has no such rules, and the rules of DuckDB differ.

Columns of moments without a zone are local times of the system: `smf_time`, `counted_at`, and some
columns of control blocks. With the `utc_offset` of its row, each such time is converted to UTC, and
then to local time of the zone; `utc_offset` itself becomes the offset of the zone at the SMF time.
In rows without `utc_offset`, the local times of a zone are NULL, and such rows are not selected by
time. Two implementations give the same result: arrays, and SQL for the rows of a dataset in DuckDB.

Selections use the time at which a record counts, a local time of its system. A record counts at the
middle of its interval, but no earlier than half an hour before the interval ends. So a record is in
the period that contains most of its interval, even if class 3 ends slightly before or after the
statistics. The first record of a long task counts near the end of its interval, which starts with
the task. A record without an interval counts at its SMF time.

An interval is used only if it ends near the SMF time. Otherwise the record counts at its SMF time,
so that damage moves no record to another day. As every record counts near its SMF time, the SMF
header alone shows whether the record can be in a selected time.

Rows contain the time at which their record counts in the key column `counted_at`.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.errors import RequestError, did_you_mean
from smfparse.layout.clocks import US_PER_DAY, US_PER_SECOND
from smfparse.vectors import Bools, Floats, Ints

_FIRST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LAST = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
"""Moments before and after which offsets do not change: no SMF date is outside them."""
_STEP = dt.timedelta(days=7)
"""Time in which no zone changes its offset twice."""
_SECOND = dt.timedelta(seconds=1)
_NEAR = 3


@dataclass(frozen=True)
class Zone:
    """A time zone, as a table of offsets. Moments are microseconds since 1970.

    changes  moments in UTC at which a new offset begins, ascending
    offsets  seconds that local time is ahead of UTC: before the first change, and after each change
    """

    name: str
    changes: tuple[int, ...]
    offsets: tuple[int, ...]

    def offset(self, moment: int) -> int:
        """Return the seconds that local time is ahead of UTC at a moment in UTC."""
        return self.offsets[bisect_right(self.changes, moment)]

    def each_offset(self, moments: Ints) -> Ints:
        """Return the `offset` at each moment."""
        which = np.searchsorted(np.array(self.changes, np.int64), moments, side="right")
        found: Ints = np.array(self.offsets, np.int64)[which]
        return found

    def local(self, moment: int) -> dt.datetime:
        """Return a moment in UTC as local time, without a zone."""
        epoch = _FIRST.replace(tzinfo=None)
        return epoch + dt.timedelta(microseconds=moment, seconds=self.offset(moment))

    def moment(self, local: dt.datetime) -> int:
        """Return the first moment in UTC with this local time.

        For a local time that a change of clocks skips, the offset before the change is used.
        """
        seen = (local - _FIRST.replace(tzinfo=None)) // dt.timedelta(microseconds=1)
        near = (self.offset(seen - US_PER_DAY), self.offset(seen + US_PER_DAY))
        several = [seen - each * US_PER_SECOND for each in near]
        return min((each for each in several if self.local(each) == local), default=several[0])

    def sql(self, moment: str) -> str:
        """Return the SQL of `offset`: an integer, NULL if the moment is NULL.

        moment  SQL of the moment: microseconds since 1970
        """
        if not self.changes:
            return f"(CASE WHEN {moment} IS NOT NULL THEN {self.offsets[0]} END)"
        before = f"len(list_filter({[*self.changes]}, lambda change: change <= {moment}))"
        return f"({[*self.offsets]}[1 + CASE WHEN {moment} IS NOT NULL THEN {before} END])"


@cache
def fixed_zone(seconds: int) -> Zone:
    """Return the zone of a system whose clock is always `seconds` ahead of UTC."""
    return Zone("", (), (seconds,))


def parse_zone(text: str) -> Zone:
    """Return the zone with this name: utc or a name of IANA, in upper or lower case.

    Raises RequestError with similar names for an unknown name.
    """
    import pytz  # slow to load, and rarely used

    known = {name.lower(): name for name in ("UTC", *pytz.all_timezones)}
    asked = text.strip().lower()
    if asked not in known:
        near = [known[each] for each in _near(asked, [*known])]
        way_out = did_you_mean(near, "write it like Europe/Berlin")
        raise RequestError(f"tz={text!r} is not utc or a time zone of IANA; {way_out}", "tz")
    return _zone(known[asked])


def _near(asked: str, names: list[str]) -> list[str]:
    """Return zone names similar to a text, such as "new york"; names of the same place first."""
    place = asked.rpartition("/")[2].replace(" ", "_")
    places = {each.rpartition("/")[2]: each for each in reversed(names)}
    same = [each for each in names if place and each.rpartition("/")[2] == place]
    alike = get_close_matches(asked, names, _NEAR, 0.8)
    alike += [places[each] for each in get_close_matches(place, places, _NEAR, 0.75)]
    return list(dict.fromkeys([*same, *alike]))[:_NEAR]


@cache
def _zone(name: str) -> Zone:
    """Return the table of a zone; changes are searched within weeks that end with a new offset."""
    from zoneinfo import ZoneInfo

    import pytz

    with pytz.open_resource(name) as file:
        rules = ZoneInfo.from_file(file, name)

    def offset(moment: dt.datetime) -> int:
        shown = moment.astimezone(rules).utcoffset()
        assert shown is not None
        return int(shown.total_seconds())

    changes, offsets, before = [], [offset(_FIRST)], _FIRST
    while before < _LAST:
        later = before + _STEP
        if offset(later) != offsets[-1]:
            low, high = before, later
            while high - low > _SECOND:
                middle = (low + (high - low) / 2).replace(microsecond=0)
                low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
            changes.append((high - _FIRST) // _SECOND * US_PER_SECOND)
            offsets.append(offset(later))
        before = later
    return Zone(name, tuple(changes), tuple(offsets))


OFFSET = "utc_offset"
_SMF_TIME = "smf_time"


def in_zone(
    zone: Zone, time: Ints, known: Bools, offset: Ints, has_offset: Bools
) -> tuple[Ints, Bools]:
    """Return times of systems as local times of a zone, and which of them are known.

    time           int64 (rows,): microseconds since 1970, local time of the system
    known          bool (rows,): whether the time is known
    offset         int64 (rows,): seconds that this local time is ahead of UTC
    has_offset     bool (rows,): whether the offset is known
    """
    moments = time - offset * US_PER_SECOND
    return moments + zone.each_offset(moments) * US_PER_SECOND, known & has_offset


def local_columns(schema: Any) -> list[str]:
    """Return the columns whose values depend on the zone: local times and `utc_offset`."""
    return [each.name for each in schema if each.name == OFFSET or _is_local(each.type)]


def _is_local(kind: Any) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is None


def read_for(schema: Any) -> frozenset[str]:
    """Return the columns that `shown_in_zone` reads to show the columns of a schema."""
    also = (OFFSET, _SMF_TIME) if local_columns(schema) else ()
    return frozenset((*schema.names, *also))


def shown_in_zone(zone: Zone, batch: Any, schema: Any) -> Any:
    """Return the rows of a batch with the columns of a schema, and local times in a zone.

    batch  rows with the columns `read_for(schema)`
    """
    changed = local_columns(schema)
    if not changed:
        return batch.select(schema.names)
    shown = [
        _shown(zone, batch, name) if name in changed else batch.column(name)
        for name in schema.names
    ]
    return pa.RecordBatch.from_arrays(shown, schema=schema)


def _shown(zone: Zone, batch: Any, name: str) -> Any:
    offset, local = _numbers(batch, OFFSET)
    time, known = _numbers(batch, _SMF_TIME if name == OFFSET else name)
    found, known = in_zone(zone, time, known, offset, local)
    if name == OFFSET:
        found = (found - time) // US_PER_SECOND + offset
    return pa.array(found, pa.int64(), mask=~known).cast(batch.column(name).type, safe=False)


def _numbers(batch: Any, name: str) -> tuple[Ints, Bools]:
    column = batch.column(name)
    known: Bools = column.is_valid().to_numpy(zero_copy_only=False)
    found: Ints = column.cast(pa.int64()).fill_null(0).to_numpy()
    return found.astype(np.int64), known


def shown_sql(zone: Zone, name: str) -> str:
    """Return the SQL of a column converted from local time of the system to time of a zone."""
    time = _SMF_TIME if name == OFFSET else name
    moment = f"(epoch_us({time}) - {OFFSET}::BIGINT * {US_PER_SECOND})"
    offset = zone.sql(moment)
    if name == OFFSET:
        return f"{offset}::INTEGER"
    return f"make_timestamp({moment} + {offset}::BIGINT * {US_PER_SECOND})"


COUNTED_AT = "counted_at"
_HOUR = 3600 * US_PER_SECOND
NEAR_US = 2 * _HOUR
"""Maximum microseconds between the end of an interval and the SMF time. A record is written within
a second after the end of its interval. Leap seconds add half a minute, and a change of clocks
(daylight saving time) an hour.
"""
_LONGEST_US = 10**9 * US_PER_SECOND
"""Maximum length of an interval in microseconds: more than thirty years can only be damage."""
_BEFORE_END_US = _HOUR // 2
"""Maximum microseconds from the time at which a record counts to the end of its interval: half an
hour. The work of a longer interval is rarely even: a task that waited for hours before the trace
began has all of its work at the end.
"""
BEFORE_US = NEAR_US + _BEFORE_END_US
AFTER_US = NEAR_US
"""Maximum microseconds that a record counts before, and after, its SMF time."""


def counting_time(smf_time: Ints, start: Ints, seconds: Floats, known: Bools) -> Ints:
    """Return the time at which each record counts: microseconds since 1970, local time.

    smf_time  int64 (records,): SMF time, microseconds since 1970, local time
    start     int64 (records,): start of the interval, microseconds since 1970, local time
    seconds   double (records,): length of the interval
    known     bool (records,): whether the record has an interval
    """
    length = np.where(known, seconds, 0) * US_PER_SECOND
    known = known & (length > 0) & (length <= _LONGEST_US)
    length_us = np.floor(np.where(known, length, 0) + 0.5).astype(np.int64)
    known &= np.abs(start + length_us - smf_time) <= NEAR_US
    counted: Ints = start + np.maximum(length_us // 2, length_us - _BEFORE_END_US)
    return np.where(known, counted, smf_time)
