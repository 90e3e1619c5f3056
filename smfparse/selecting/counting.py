"""When a record counts, local time of its system: the one rule of time.

A record is of the time of the middle of its interval, a task's record of its end, any other of its
SMF time. The end of an interval is not in it, so a task's record counts a microsecond before.

An interval is believed where it is not longer than one that MQ can be asked for, and ends near the
SMF time. Else the SMF time counts, so that damage puts no record into another day. So a record also
counts near its SMF time, which shows by the SMF header alone which records cannot be in a span.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout import US_PER_SECOND
from smfparse.vectors import Bools, Floats, Ints

_HOUR = 3600 * US_PER_SECOND
NEAR_US = 2 * _HOUR
"""How far the end of an interval can be from the SMF time. A record is written when its interval
ends, within a second; leap seconds are half a minute, and where the clocks are changed meanwhile
(daylight saving time) the two differ by an hour."""
LONGEST_US = 25 * _HOUR
"""No interval of a queue manager is longer: STATIME and ACCTIME go up to 24 hours."""
_LONGEST_TASK_US = 10**9 * US_PER_SECOND
"""The interval of a task can be as long as it lives; more than thirty years are damage."""
BEFORE_US = NEAR_US + LONGEST_US // 2
AFTER_US = NEAR_US
"""How long before and after its SMF time a record can count."""


def counting_time(
    smf_time: Ints, start: Ints, seconds: Floats, known: Bools, of_task: Bools
) -> Ints:
    """Return when records count, in microseconds since 1970, local time of their system.

    smf_time  int64 (records,): microseconds since 1970, local time
    start     int64 (records,): likewise, of the interval
    seconds   double (records,): length of the interval
    known     bool (records,): whether there is an interval
    of_task   bool (records,): whether the record is of a task
    """
    longest = np.where(of_task, _LONGEST_TASK_US, LONGEST_US)
    length = np.where(known, seconds, 0) * US_PER_SECOND
    known = known & (length > 0) & (length <= longest)
    whole = np.floor(np.where(known, length, 0) + 0.5).astype(np.int64)
    known &= np.abs(start + whole - smf_time) <= NEAR_US
    counted: Ints = start + np.where(of_task, whole - 1, whole // 2)
    return np.where(known, counted, smf_time)
