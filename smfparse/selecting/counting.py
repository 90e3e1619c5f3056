"""When a record counts, local time of its system: the one rule of time.

A record counts at the middle of its interval, but no earlier than half an hour before its end. So a
record is in the section that contains most of it, even if class 3 ends slightly before or after the
statistics. The first record of a long task, which covers the time since the task began, counts near
its end. A record without an interval counts at its SMF time.

An interval is used only if it ends near the SMF time. Otherwise the SMF time counts, so that damage
puts no record into another day. So a record counts near its SMF time, and its SMF header alone
shows whether it can be in a span.

Rows contain this time in the key column `counted_at`.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.vectors import Bools, Floats, Ints

COUNTED_AT = "counted_at"
_HOUR = 3600 * US_PER_SECOND
NEAR_US = 2 * _HOUR
"""Maximum time between the end of an interval and the SMF time. A record is written within a second
after the end of its interval. Leap seconds add half a minute, and a change of clocks (daylight
saving time) an hour."""
_LONGEST_US = 10**9 * US_PER_SECOND
"""The interval of a task can be as long as its life; more than thirty years are damage."""
_BEFORE_END_US = _HOUR // 2
"""A record counts at most this long before its end: the middle of an hour. The work of a longer
interval is rarely even: a task that waited for hours before the trace began has all of its work at
the end."""
BEFORE_US = NEAR_US + _BEFORE_END_US
AFTER_US = NEAR_US
"""Maximum time between the SMF time of a record and the time at which it counts."""


def counting_time(smf_time: Ints, start: Ints, seconds: Floats, known: Bools) -> Ints:
    """Return when records count, in microseconds since 1970, local time of their system.

    smf_time  int64 (records,): microseconds since 1970, local time
    start     int64 (records,): start of the interval, likewise
    seconds   double (records,): length of the interval
    known     bool (records,): whether there is an interval
    """
    length = np.where(known, seconds, 0) * US_PER_SECOND
    known = known & (length > 0) & (length <= _LONGEST_US)
    whole = np.floor(np.where(known, length, 0) + 0.5).astype(np.int64)
    known &= np.abs(start + whole - smf_time) <= NEAR_US
    counted: Ints = start + np.maximum(whole // 2, whole - _BEFORE_END_US)
    return np.where(known, counted, smf_time)
