"""Records of tasks that put to queues and get from them: who talks to whom."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from tests.support.smf import queue, task, task_record, task_token, who

_TOKENS = 5000


def using(job: str, *queues: Mapping[str, Any], channel: str = "", **header: Any) -> bytes:
    """The record of the one task of a job, with what it did on each queue."""
    token = task_token(zlib.crc32(job.encode()) % _TOKENS)
    by = who(job, kind=6 if channel else 2, wtidchl=channel)
    used = (queue(token=token, **each) for each in queues)
    return task_record(task(token), *used, by=by, **header)


def put(name: str, count: int, size: int = 100, **more: Any) -> dict[str, Any]:
    return {"name": name, "putn": count, "validput": count, "putbytes": size * count} | more


def got(name: str, count: int, by_id: int = 0, size: int = 100, **more: Any) -> dict[str, Any]:
    counts = {"getn": count, "validget": count, "getdval": count, "getbytes": size * count}
    return {"name": name, "gets": by_id, "geta": count - by_id} | counts | more


PAIR = (
    using("CICSA", put("PAY.REQUEST", 1000, putct=4000.0), got("PAY.REPLY", 998, by_id=998)),
    using("PAYSRV", got("PAY.REQUEST", 1000, totlatnt=2e6), put("PAY.REPLY", 1000, putct=5000.0)),
)
"""A requester and its server."""
OTHER_PAIR = (
    using("CICSC", put("RATE.ASK", 70), got("RATE.TOLD", 70, by_id=70)),
    using("RATESRV", got("RATE.ASK", 70), put("RATE.TOLD", 70)),
)
_DATA, _REPLY = "SYSTEM.FTE.DATA.AGENT2", "SYSTEM.FTE.REPLY.AGENT1"
AGENTS = (
    using("FTESRC", put(_DATA, 100), got(_REPLY, 10, by_id=10)),
    using("FTEDST", got(_DATA, 100), put(_REPLY, 10)),
)
"""Two agents of Managed File Transfer."""


def _sent(name: str, count: int, opens: int) -> dict[str, Any]:
    """Messages to a cluster queue, by way of a transmission queue."""
    counts = {"openn": opens, "openct": 9 * opens, "openet": 12 * opens, "putpmsg": count // 2}
    return put("CLAIM.IN", count, basename=f"{_TRANSMIT}.{name}", putct=5 * count, **counts)


_TRANSMIT = "SYSTEM.CLUSTER.TRANSMIT"
CLUSTER = (
    using("GATE", _sent("QM02", 60, 6), _sent("QM02", 30, 3), _sent("QM03", 40, 4)),
    using("BATCH", _sent("QM03", 20, 20)),
)
"""Two jobs that put to a cluster queue."""
