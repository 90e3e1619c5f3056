"""When a record counts, local time of its system: the one rule of time.

A record is of the time of the middle of its interval, a task's record of its end, any other of its
SMF time. The end of an interval is not in it, so a task's record counts a microsecond before.

An interval is believed where it is not longer than one that MQ can be asked for, and ends near the
SMF time. Else the SMF time counts, so that damage puts no record into another day. So a record also
counts near its SMF time, which shows by the SMF header alone which records cannot be in a span.

Rows carry it as the key column `counted_at`. Files of datasets that were written before the column
came are given it as they are read, from other key columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.layout import US_PER_SECOND, Values
from smfparse.schemas import TASK_RECORDS
from smfparse.tables import RECORD, TABLES
from smfparse.vectors import Bools, Floats, Ints

COUNTED_AT = "counted_at"
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
    length = np.where(known, seconds, 0) * US_PER_SECOND
    longest = np.where(of_task, _LONGEST_TASK_US, LONGEST_US)
    known = known & (length > 0) & (length <= longest)
    whole = np.floor(np.where(known, length, 0) + 0.5).astype(np.int64)
    known &= np.abs(start + whole - smf_time) <= NEAR_US
    counted: Ints = start + np.where(of_task, whole - 1, whole // 2)
    return np.where(known, counted, smf_time)


def counted_from(table: str) -> tuple[str, ...]:
    """Return the columns of a table that `counted_rows` and `counting_sql` look at."""
    kind = ("type", "subtype") if table == RECORD else ()
    return ("smf_time", "utc_offset", "interval_start", "interval_seconds", *kind)


def counted_rows(table: str, batch: Any) -> Any:
    """Return the column `counted_at` of rows of a table that lack it, as an Arrow array."""
    taken, dated = _numbers(batch, "smf_time")
    start, started = _numbers(batch, "interval_start")
    offset, local = _numbers(batch, "utc_offset")
    seconds, timed = _numbers(batch, "interval_seconds", pa.float64())
    of_task = np.full(batch.num_rows, _is_task(table))
    if table == RECORD:
        kinds = _numbers(batch, "type")[0] << 16 | _numbers(batch, "subtype")[0]
        of_task = np.isin(kinds, [smf_type << 16 | subtype for smf_type, subtype in TASK_RECORDS])
    start = start + offset * US_PER_SECOND
    counted = counting_time(taken, start, seconds, started & local & timed, of_task)
    return pa.array(counted, pa.int64(), mask=~dated).cast(pa.timestamp("us"))


def _is_task(table: str) -> bool:
    return table != RECORD and TABLES[table].task


def _numbers(batch: Any, name: str, kind: Any = None) -> tuple[Values, Bools]:
    """Return a column as int64 or as `kind`, and where it is known."""
    column = batch.column(name)
    values = column.cast(kind or pa.int64()).fill_null(0).to_numpy()
    return values, column.is_valid().to_numpy(zero_copy_only=False)


def counting_sql(table: str) -> str:
    """Return `counted_at` in SQL, for rows of a table that lack it."""
    of_task = "TRUE" if _is_task(table) else "FALSE"
    if table == RECORD:
        kinds = (f"({smf_type}, {subtype})" for smf_type, subtype in sorted(TASK_RECORDS))
        of_task = f"((type, subtype) IN ({', '.join(kinds)}))"
    microseconds = f"interval_seconds * {US_PER_SECOND}"
    longest = f"CASE WHEN {of_task} THEN {_LONGEST_TASK_US} ELSE {LONGEST_US} END"
    believed = f"{microseconds} > 0 AND {microseconds} <= {longest}"
    length = f"floor(CASE WHEN {believed} THEN {microseconds} + 0.5 END)::BIGINT"
    start = f"(epoch_us(interval_start) + utc_offset::BIGINT * {US_PER_SECOND})"
    part = f"CASE WHEN {of_task} THEN {length} - 1 ELSE {length} // 2 END"
    near = f"abs({start} + {length} - epoch_us(smf_time)) <= {NEAR_US}"
    return f"coalesce(CASE WHEN {near} THEN make_timestamp({start} + {part}) END, smf_time)"
