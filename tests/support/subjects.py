"""Short records about jobs, queues and channels, and one that is about nobody."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, TypeAlias

from tests.support import smf

NOON = dt.datetime(2026, 3, 4, 12)
"""Local time of the records."""
HOUR = dt.timedelta(hours=1)
UTC = (NOON - HOUR).replace(tzinfo=dt.UTC)
_LOCAL: dict[str, Any] = {"east": HOUR, "system": "SYS1"}
_TASK: dict[str, Any] = _LOCAL | {"ended": UTC}
_INTERVAL: dict[str, Any] = _LOCAL | {"start": NOON - HOUR, "seconds": 3600}

Queue: TypeAlias = tuple[str, str]
"""The name it was opened by, and the base name."""


def task(
    job: str = "",
    channel: str = "",
    queues: Sequence[Queue] = (),
    token: int = 1,
    qmgr: str = "MQ01",
    wtid: bool = True,
) -> bytes:
    """116/1."""
    times = {"wtasints": None, "wtasinte": None}
    own = smf.task(_token(token), latches={1: (0, token, 0)}, **times)
    who = _who(job, channel, wtid)
    return smf.task_record(own, *_queues(queues, token), by=who, qmgr=qmgr, **_TASK)


def continuation(
    job: str = "",
    channel: str = "",
    queues: Sequence[Queue] = (),
    token: int = 1,
    qmgr: str = "MQ01",
    wtid: bool = True,
) -> bytes:
    """116/2 of the task with the same token."""
    who = _who(job, channel, wtid)
    return smf.more_queues(*_queues(queues, token), by=who, qmgr=qmgr, **_TASK)


def _token(number: int) -> bytes:
    return number.to_bytes(16)


def _who(job: str, channel: str, wtid: bool) -> bytes:
    return smf.block("WTID", wtidccn=job, wtidchl=channel) if wtid else b""


def _queues(queues: Sequence[Queue], token: int) -> list[bytes]:
    """Queue blocks with a request to the coupling facility each."""
    return [
        smf.queue(opened, _token(token), version=9, basename=base, cf={(0, 0): (7, 0, 0, 0, 0)})
        for opened, base in queues
    ]


def class1(job: str = "", blocks: Sequence[str] = ("QWAC", "QMAC"), qmgr: str = "MQ01") -> bytes:
    """116/0."""
    return smf.connection_record(job, "", blocks=blocks, qmgr=qmgr, **_TASK)


def channels(*names: str, qmgr: str = "MQ01") -> bytes:
    """116/10."""
    made = [smf.block("QCST", qcstchnm=each) for each in names]
    return smf.record(*made, of="QCST", qmgr=qmgr, **_INTERVAL)


def depths(*names: str, qmgr: str = "MQ01") -> bytes:
    """115/216."""
    made = [smf.block("QQST", qqstqnam=each) for each in names]
    return smf.record(*made, of="QQST", qmgr=qmgr, **_INTERVAL)


def statistics(qmgr: str = "MQ01") -> bytes:
    """115/2 with a QIST, which names nobody."""
    return smf.record(smf.block("QIST"), qmgr=qmgr, **_INTERVAL)
