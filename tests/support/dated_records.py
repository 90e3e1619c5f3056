"""Records of every kind, of a moment, a system and a queue manager."""

from __future__ import annotations

import datetime as dt

from tests.support import smf
from tests.support.builders import (
    NOTHING,
    Section,
    foreign_record,
    named_block,
    qwhs_long,
    smf_record,
)
from tests.support.subjects import HOUR


def utc(moment: dt.datetime, east: dt.timedelta = HOUR) -> dt.datetime:
    return (moment - east).replace(tzinfo=dt.UTC)


def statistics(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/2 with a QIST and a QPST."""
    blocks = [NOTHING, Section([named_block("QIST", 80)]), Section([named_block("QPST", 104)])]
    area = qwhs_long(utc(local), triplets=4)
    return smf_record(115, 2, *blocks, area=area, local=local, system=system, qmgr=qmgr)


def pools(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/215 with two QPST."""
    keys = {"start": local - HOUR, "seconds": 3600, "system": system, "qmgr": qmgr}
    return smf.record(smf.block("QPST"), smf.block("QPST"), east=HOUR, **keys)


def storage(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/5, which has no time of its own but the SMF header's."""
    return smf.record(smf.block("QSPH"), start=local, seconds=0, system=system, qmgr=qmgr)


def task(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """116/1 with one queue, over an hour."""
    own = smf.task(ended=utc(local), wtasints=utc(local) - HOUR)
    keys = {"ended": utc(local), "east": HOUR, "system": system, "qmgr": qmgr}
    return smf.task_record(own, smf.queue("Q"), **keys)


def continuation(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """116/2 of the same task."""
    keys = {"ended": utc(local), "east": HOUR, "system": system, "qmgr": qmgr}
    return smf.more_queues(smf.queue("Q"), **keys)


def foreign(local: dt.datetime, system: str = "SYS1", qmgr: str = "") -> bytes:
    return foreign_record(2, local, system)


def other(local: dt.datetime, system: str = "SYS1", qmgr: str = "JES2") -> bytes:
    """Type 30 subtype 2: subsystem and subtype, but no queue manager."""
    return smf_record(30, 2, area=qwhs_long(), local=local, system=system, qmgr=qmgr)


def unknown(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """A subtype of 115 that is not known."""
    return smf_record(115, 99, area=qwhs_long(utc(local)), local=local, system=system, qmgr=qmgr)


def lasting(
    local: dt.datetime, seconds: float, late: dt.timedelta, system: str = "SYS1", qmgr: str = "MQ01"
) -> bytes:
    """115/215 of an interval so long, which SMF took so long after its end."""
    area = qwhs_long(utc(local), local - late - _span(seconds), round(seconds * 1e6) % 2**64)
    pool = Section([named_block("QPST", 104)])
    return smf_record(115, 215, pool, area=area, local=local, system=system, qmgr=qmgr)


def lasting_task(
    local: dt.datetime, seconds: float, late: dt.timedelta, system: str = "SYS1", qmgr: str = "MQ01"
) -> bytes:
    """116/1 of a task's interval so long, which SMF took so long after its end."""
    ended = utc(local) - late
    own = smf.task(ended=ended, wtasints=ended - _span(seconds))
    keys = {"ended": utc(local), "east": HOUR, "system": system, "qmgr": qmgr}
    return smf.task_record(own, smf.queue("Q"), **keys)


def _span(seconds: float) -> dt.timedelta:
    """Return it as far back as a TOD clock goes."""
    return min(dt.timedelta(seconds=min(seconds, 1e9)), dt.timedelta(days=365 * 20))


MAKERS = (statistics, pools, storage, task, continuation, foreign, other, unknown)


def with_date(record: bytes, date: str | None) -> bytes:
    return record if date is None else record[:10] + bytes.fromhex(date) + record[14:]
