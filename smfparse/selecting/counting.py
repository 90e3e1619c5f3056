"""The time at which a record counts, in local time of its system, for all selections.

A record counts at the middle of its interval, but no earlier than half an hour before the interval
ends. So a record is in the section that contains most of its interval, even if class 3 ends
slightly before or after the statistics. The first record of a long task, whose interval starts with
the task, counts near its end. A record without an interval counts at its SMF time.

An interval is used only if it ends near the SMF time. Otherwise the record counts at its SMF time,
so that damage moves no record to another day. As every record counts near its SMF time, the SMF
header alone shows whether the record can be in a selected time.

Rows contain the time at which their record counts in the key column `counted_at`.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.vectors import Bools, Floats, Ints

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
