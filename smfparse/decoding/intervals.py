"""The interval in each record: statistics from QWHS, class 3 from WTAS."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from smfparse.decoding.areas import HeaderAreas
from smfparse.layout import STCK_UNITS_PER_US, US_PER_SECOND, Values, believed_seconds
from smfparse.vectors import Bools, Ints

_TOD_INTERVALS = ((115, 231), (116, 10))
"""Records whose QWHSDURN counts TOD units; it is microseconds in the others."""
_QUARTER_US = 15 * 60 * US_PER_SECOND
_LATE_US = 5 * US_PER_SECOND
"""QWHSSTCK is microseconds behind the end of the interval, seconds where the system is busy."""

Interval: TypeAlias = tuple[Ints, Values, Bools, Bools]
"""Start in UTC microseconds, seconds, and where each is known; one row per record."""


def declared(areas: HeaderAreas, time: tuple[Ints, Bools], offset: tuple[Ints, Bools]) -> Interval:
    """Return the intervals of QWHSDURN and QWHSTIME; `time` is QWHSSTCK, in UTC microseconds."""
    length, timed = areas.number("qwhsdurn")
    units = np.full(len(length), US_PER_SECOND, np.float64)
    for record in _TOD_INTERVALS:
        units[areas.records.of(record)] = US_PER_SECOND * STCK_UNITS_PER_US
    seconds = length.astype(np.uint64) / units
    timed &= believed_seconds(seconds)
    start, started = _starts(areas, np.where(timed, seconds, 0), timed, time, offset)
    return start, seconds, started, timed


def _starts(
    areas: HeaderAreas,
    seconds: Values,
    timed: Bools,
    time: tuple[Ints, Bools],
    offset: tuple[Ints, Bools],
) -> tuple[Ints, Bools]:
    """Return where intervals of QWHSDURN begin, in UTC microseconds, and where that is known.

    It is QWHSSTCK less QWHSDURN, which needs no offset. QWHSTIME says the same to the microsecond,
    and alike in all records of an interval, but in local time: so its offset from UTC is the one at
    that moment, which is another one than the record's where clocks were changed meanwhile.
    """
    local, started = areas.number("qwhstime")
    ahead_of_utc, has_offset = offset
    end, has_end = time
    begin = end - np.rint(seconds * US_PER_SECOND).astype(np.int64)
    ahead = np.rint((local - begin) / _QUARTER_US).astype(np.int64) * _QUARTER_US
    beyond = local - begin - ahead
    exact = begin + np.where(np.abs(beyond) <= _LATE_US, beyond, 0)
    start = np.where(has_end & timed, exact, local - ahead_of_utc * US_PER_SECOND)
    return start, started & has_offset


def put_task_intervals(intervals: Interval, owner: Ints, numbers: Ints) -> None:
    """Give class 3 records the interval of WTAS: `numbers` as in `Tasks`, of 116/2 its 116/1's."""
    start, seconds, started, timed = intervals
    begin, end = numbers[:, 2], numbers[:, 3]
    start[owner], started[owner] = begin, numbers[:, 4] == 1
    seconds[owner], timed[owner] = (end - begin) / US_PER_SECOND, numbers[:, 5] == 1
