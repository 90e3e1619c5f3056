"""115/1 records made by hand: a QJST of a chosen length from plain numbers.

Offsets are typed from the layout facts; nothing here asks the package how QJST looks.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.builders import NOTHING, Section, ebcdic, qwhs_long, qwhx, smf_record, stck

LENGTHS = {"700": 120, "800": 576, "912": 592, "930": 596, "940": 720, "946": 720}
"""Length of QJST by the release in the SMF header; 946 stands for MQ 10."""

COUNTERS = {
    "qjstwrw": 8,
    "qjstwrnw": 12,
    "qjstwrf": 16,
    "qjstwtb": 20,
    "qjstrbuf": 24,
    "qjstract": 28,
    "qjstrarh": 32,
    "qjsttvc": 36,
    "qjstbsds": 40,
    "qjstbffl": 44,
    "qjstbfwr": 48,
    "qjstalr": 52,
    "qjstalw": 56,
    "qjstciof": 60,
    "qjstllcp": 64,
    "qjstwur": 68,
    "qjstlama": 72,
    "qjstlams": 76,
    "qjstlsus": 80,
    "qjstlogw": 84,
    "qjstciwr": 88,
    "qjstserw": 92,
    "qjstthrw": 96,
    "qjstbpag": 100,
    "qjstcmpreq": 120,
    "qjstcmpfail": 124,
    "qjstdecreq": 144,
    "qjstdecfail": 148,
}
"""Offsets of the 4-byte signed counters."""
WIDE_COUNTERS = {"qjstcmpuncmp": 128, "qjstcmpcomp": 136, "qjstdecuncmp": 152, "qjstdeccomp": 160}
"""Offsets of the 8-byte signed counters."""
IO_AT, IO_COPY, IO_TYPE = 264, 144, 72
SLEEP_AT = 552
QJST_TRIPLET = 11

START = dt.datetime(2023, 10, 2, 11, 52, 52)
"""When an interval starts, local time, unless told otherwise."""
EAST = dt.timedelta(hours=2)
"""Local time minus UTC, unless told otherwise."""


@dataclass(frozen=True)
class Io:
    """Write I/O of one log copy and type; times in microseconds, `at` is UTC."""

    ios: int = 0
    pages: int = 0
    io_us: int = 0
    suspended_us: int = 0
    longest_us: int = 0
    at: dt.datetime | None = None
    log: str = ""

    def pack(self) -> bytes:
        at = stck(self.at) if self.at else 0
        return (
            struct.pack(">IIQQ", self.ios, self.pages, self.io_us << 12, self.suspended_us << 12)
            + struct.pack(">QQ", self.longest_us << 12, at)
            + (ebcdic(self.log, 8) if self.log else bytes(8))
            + bytes(24)
        )


@dataclass(frozen=True)
class Log:
    """What one interval of a queue manager's log manager did.

    io  (copy 1-2, type 1-2: single page, several pages): Io
    """

    counters: Mapping[str, int] = field(default_factory=dict)
    io: Mapping[tuple[int, int], Io] = field(default_factory=dict)
    sleep_us: int = 0


def qjst(length: int, log: Log) -> bytes:
    """A QJST of `length` bytes: what a shorter one does not hold is left out."""
    data = bytearray(struct.pack(">HH", 0x0093, length) + ebcdic("QJST", 4)).ljust(720, b"\0")
    for name, value in log.counters.items():
        if name in COUNTERS:
            struct.pack_into(">i", data, COUNTERS[name], value)
        else:
            struct.pack_into(">q", data, WIDE_COUNTERS[name], value)
    for (copy, io_type), each in log.io.items():
        at = IO_AT + (copy - 1) * IO_COPY + (io_type - 1) * IO_TYPE
        data[at : at + IO_TYPE] = each.pack()
    struct.pack_into(">Q", data, SLEEP_AT, log.sleep_us)
    return bytes(data[:length])


def log_record(
    log: Log,
    *,
    release: str = "930",
    length: int | None = None,
    start: dt.datetime | None = START,
    duration_us: int = 10_000_000,
    east: dt.timedelta = EAST,
    system: str = "MVCA",
    qmgr: str = "MQPV",
    qsg: str = "",
) -> bytes:
    """A 115/1 record with the QJST that `release` writes, or one of `length` bytes.

    start  of the interval, local time; None: the QWHS without an interval, of old releases
    east   local time minus UTC
    """
    end = (start or START) + dt.timedelta(microseconds=duration_us)
    captured = (end - east).replace(tzinfo=dt.UTC)
    area = qwhs_long(captured, start, duration_us if start else 0, triplets=QJST_TRIPLET + 1)
    if start is None:
        area = struct.pack(">h", 36) + area[2:36]
    if release == "946":
        area += qwhx(qsg=qsg, release="100000")
    block = qjst(LENGTHS[release] if length is None else length, log)
    return smf_record(
        115,
        1,
        *[NOTHING] * (QJST_TRIPLET - 1),
        Section([block]),
        area=area,
        local=end,
        system=system,
        qmgr=qmgr,
        release=release,
    )
