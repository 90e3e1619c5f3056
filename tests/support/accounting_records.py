"""116 records made by hand: tasks with their queues, and connections, from plain numbers."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.builders import (
    NOTHING,
    Section,
    qwhc_of,
    qwhs_short,
    smf_record,
    stck,
)
from tests.support.fact_blocks import fact_block

ENDED = dt.datetime(2022, 7, 7, 14, 42, 10, tzinfo=dt.UTC)
"""When an interval ends, unless told otherwise."""
MINUTE = dt.timedelta(minutes=1)
WEST = dt.timedelta(hours=-4)
"""Local time minus UTC."""
WQST_BYTES = {1: 576, 4: 672, 5: 704, 6: 2752, 8: 2792, 9: 2800}
"""Length of a queue block by its version."""
NO_MESSAGE = 0x0FFFFFFF
CF_REQUEST = 20
COMMIT_CF, QUEUE_CF, CF_GROUP = 864, 736, 400
LATCH_WAIT, LATCH_WAITS, LATCH_LONGEST = 48, 304, 2088

CfCounts = Mapping[tuple[int, int], tuple[int, int, int, int, int]]
"""(group, request) to count, synchronous number and time, asynchronous number and time."""


def task_token(number: int = 1) -> bytes:
    """The 16 bytes that tell a task."""
    started = stck(ENDED - 100 * MINUTE + number * dt.timedelta(seconds=1)) | 0xABC
    return struct.pack(">QiI", started, -number, 0x5C000000 + number)


def who(job: str = "R001", user: str = "PERFTASK", kind: int = 2, **more: Any) -> bytes:
    """A WTID."""
    return fact_block("WTID", 208, wtidatyp=kind, wtidccn=job, wtidopid=user, **more)


def task(
    token: bytes | None = None,
    *,
    ended: dt.datetime = ENDED,
    length: int = 2344,
    latches: Mapping[int, tuple[int, int, int]] | None = None,
    cf: CfCounts | None = None,
    **values: Any,
) -> bytes:
    """A WTAS that ends a minute's interval.

    latches  class to total wait, waits and longest wait, in microseconds
    cf       group 0: commit, 1: prepare
    """
    version = {712: 1, 2344: 8}[length]
    values = {"wtasints": ended - MINUTE, "wtasinte": ended, "wtasver": version} | values
    data = bytearray(fact_block("WTAS", 2344, **values))
    data[2:4] = struct.pack(">H", length)
    data[8:24] = token or task_token()
    for latch, (total, waits, longest) in (latches or {}).items():
        struct.pack_into(">Q", data, LATCH_WAIT + 8 * (latch - 1), total << 12)
        struct.pack_into(">i", data, LATCH_WAITS + 4 * (latch - 1), waits)
        struct.pack_into(">Q", data, LATCH_LONGEST + 8 * (latch - 1), longest << 12)
    _set_cf(data, COMMIT_CF, cf or {})
    return bytes(data[:length])


def queue(
    name: str,
    token: bytes | None = None,
    *,
    version: int = 8,
    cf: CfCounts | None = None,
    **values: Any,
) -> bytes:
    """A WQST of a local queue; cf: groups 0 to 4 are open, close, get, put and put1."""
    values = {
        "objname": name,
        "basename": name,
        "qtype": 1,
        "getminms": NO_MESSAGE,
        "putminms": NO_MESSAGE,
    } | values
    length = WQST_BYTES[version]
    block = fact_block("WQST", WQST_BYTES[9], **(values | {"wqver": version}))
    data = bytearray(block)
    data[2:4] = struct.pack(">H", length)
    data[16:32] = token or task_token()
    _set_cf(data, QUEUE_CF, cf or {})
    return bytes(data[:length])


def _set_cf(data: bytearray, at: int, cf: CfCounts) -> None:
    for (group, request), counts in cf.items():
        struct.pack_into(">5I", data, at + CF_GROUP * group + CF_REQUEST * request, *counts)


def _record(subtype: int, sections: Sequence[Section], area: bytes, **header: Any) -> bytes:
    ended = header.pop("ended", ENDED)
    local = (ended + WEST).replace(tzinfo=None)
    header = {"system": "MVAA", "qmgr": "VTS1", "release": "930"} | header
    return smf_record(116, subtype, *sections, area=area, local=local, **header)


def task_record(
    block: bytes, *queues: bytes, by: bytes | None = None, ended: dt.datetime = ENDED, **header: Any
) -> bytes:
    """A 116/1 record."""
    sections = [Section([by or who()]), Section([block]), *([Section(queues)] if queues else [])]
    area = qwhs_short(ended, triplets=len(sections) + 1)
    return _record(1, sections, area, ended=ended, **header)


def more_queues(
    *queues: bytes, by: bytes | None = None, ended: dt.datetime = ENDED, **header: Any
) -> bytes:
    """A 116/2 record."""
    sections = [Section([by or who()]), Section(queues)]
    return _record(2, sections, qwhs_short(ended, triplets=3), ended=ended, **header)


def connection_record(
    job: str = "R001",
    user: str = "PERFTASK",
    *,
    cpu_us: int = 0,
    puts: Sequence[int] = (0, 0, 0, 0),
    gets: Sequence[int] = (0, 0, 0, 0),
    ended: dt.datetime = ENDED,
    **qwac: Any,
) -> bytes:
    """A 116/0 record; puts and gets are by size."""
    qmac = fact_block("QMAC", 48, qmaccput=cpu_us)
    qmac = qmac[:16] + struct.pack(">8I", *puts, *gets)
    sections = [Section([fact_block("QWAC", 176, **qwac)]), Section([qmac]), *[NOTHING] * 4]
    area = qwhs_short(ended, triplets=7, qwhc=qwhc_of(job, user))
    return _record(0, sections, area, ended=ended)
