"""Short records: of a moment, a system and a queue manager, or about jobs and queues."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

from tests.support import builders, smf

NOON = dt.datetime(2026, 3, 4, 12)
"""Local time of the records."""
HOUR = dt.timedelta(hours=1)
UTC = (NOON - HOUR).replace(tzinfo=dt.UTC)
_LOCAL: dict[str, Any] = {"east": HOUR, "system": "SYS1"}
_TASK: dict[str, Any] = _LOCAL | {"ended": UTC}
_INTERVAL: dict[str, Any] = _LOCAL | {"start": NOON - HOUR, "seconds": 3600}

Queue: TypeAlias = tuple[str, str]
"""The name it was opened by, and the base name."""


# -- of a moment, a system and a queue manager


def utc(moment: dt.datetime, east: dt.timedelta = HOUR) -> dt.datetime:
    return (moment - east).replace(tzinfo=dt.UTC)


def statistics(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/2 with a QIST and a QPST."""
    blocks = builders.named_block("QIST", 80), builders.named_block("QPST", 104)
    sections = [builders.NOTHING, *(builders.Section([each]) for each in blocks)]
    area = builders.qwhs_long(utc(local), triplets=4)
    return builders.smf_record(115, 2, *sections, area=area, local=local, system=system, qmgr=qmgr)


def pools(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/215 with two QPST."""
    span: dict[str, Any] = {"start": local - HOUR, "seconds": 3600, "east": HOUR}
    return smf.record(smf.block("QPST"), smf.block("QPST"), system=system, qmgr=qmgr, **span)


def storage(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """115/5, which has no time of its own but the SMF header's."""
    return smf.record(smf.block("QSPH"), start=local, seconds=0, system=system, qmgr=qmgr)


def task(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """116/1 with one queue, over an hour."""
    return lasting_task(local, 3600, dt.timedelta(0), system, qmgr)


def continuation(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """116/2 of the same task."""
    keys = {"ended": utc(local), "east": HOUR, "system": system, "qmgr": qmgr}
    return smf.more_queues(smf.queue("Q"), **keys)


def foreign(local: dt.datetime, system: str = "SYS1", qmgr: str = "") -> bytes:
    return builders.foreign_record(2, local, system)


def other(local: dt.datetime, system: str = "SYS1", qmgr: str = "JES2") -> bytes:
    """Type 30 subtype 2: subsystem and subtype, but no queue manager."""
    return builders.smf_record(30, 2, local=local, system=system, qmgr=qmgr)


def unknown(local: dt.datetime, system: str = "SYS1", qmgr: str = "MQ01") -> bytes:
    """A subtype of 115 that is not known."""
    area = builders.qwhs_long(utc(local))
    return builders.smf_record(115, 99, area=area, local=local, system=system, qmgr=qmgr)


def lasting(local: dt.datetime, seconds: float, late: dt.timedelta) -> bytes:
    """115/215 of an interval so long, which SMF took so long after its end."""
    start, duration = local - late - _span(seconds), round(seconds * 1e6) % 2**64
    pool = builders.Section([builders.named_block("QPST", 104)])
    area = builders.qwhs_long(utc(local), start, duration)
    return builders.smf_record(115, 215, pool, area=area, local=local)


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


# -- about jobs, queues and channels


def _job(
    record: Any,
    job: str = "",
    channel: str = "",
    queues: Sequence[Queue] = (),
    token: int = 1,
    qmgr: str = "MQ01",
    wtid: bool = True,
    program: str = "",
) -> bytes:
    """A record of a task, with a request to the coupling facility for each queue.

    wtid     whether there is one
    program  the transaction of CICS, or of IMS a longer name
    """
    kind, reference = 1 if len(program) <= 4 else 4, bytes(4) + builders.ebcdic(program, 8)
    by = smf.block("WTID", wtidatyp=kind, wtidccn=job, wtidchl=channel, wtidcori=reference)
    own, cf = token.to_bytes(16), {(0, 0): (7, 0, 0, 0, 0)}
    blocks = [smf.queue(name, own, version=9, basename=base, cf=cf) for name, base in queues]
    if record is smf.task_record:
        blocks.insert(0, smf.task(own, latches={1: (0, token, 0)}, wtasints=None, wtasinte=None))
    made: bytes = record(*blocks, by=by if wtid else b"", qmgr=qmgr, **_TASK)
    return made


job_task = partial(_job, smf.task_record)
"""116/1."""
job_queues = partial(_job, smf.more_queues)
"""116/2 of the task with the same token."""


def class1(
    job: str = "",
    blocks: Sequence[str] = ("QWAC", "QMAC"),
    qmgr: str = "MQ01",
    transaction: str = "",
) -> bytes:
    """116/0."""
    made = bytearray(builders.qwhc_of(job))
    made[16:20], made[48:52] = builders.ebcdic(transaction, 4), (1).to_bytes(4)
    area = builders.qwhs_short(_TASK["ended"], triplets=7, qwhc=bytes(made))
    return smf.connection_record(area=area, blocks=blocks, qmgr=qmgr, **_TASK)


def channels(*names: str, qmgr: str = "MQ01") -> bytes:
    """116/10."""
    made = [smf.block("QCST", qcstchnm=each) for each in names]
    return smf.record(*made, of="QCST", qmgr=qmgr, **_INTERVAL)


def depths(*names: str, qmgr: str = "MQ01") -> bytes:
    """115/216."""
    made = [smf.block("QQST", qqstqnam=each) for each in names]
    return smf.record(*made, of="QQST", qmgr=qmgr, **_INTERVAL)
