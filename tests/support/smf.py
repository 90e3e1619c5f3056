"""SMF 115 and 116 records from plain numbers; blocks are made at the offsets of the fact table.

`block`, `structures`, `task`, `queue` and `who` return blocks; `record`, `log_record`,
`task_record`, `more_queues` and `connection_record` return records. What of a record lies is made
by builders.py.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cache
from typing import Any

from tests.support import builders
from tests.support.builders import NOTHING, Section, ebcdic, smf_record, stck
from tests.support.paths import FACTS

_BLOCKS = """
QSST    72 115 1 9    QJST    596 115 1 11  QMST   104 115 2 1    QIST     80 115 2 2
QLST    32 115 2 4    Q5ST    672 115 2 5   QEST  4104 115 2 6    QTST     96 115 2 7
QESD   336 115 2 8    QSPH     88 115 5 1   QSGM    48 115 6 1    QSRS    232 115 7 1
QIS1   104 115 201 1  QPST    104 115 215 1 QQST    84 115 216 1  QCCT     48 115 231 1
QCT_DSP 36 115 231 2  QCT_ADP  32 115 231 3 QCT_SSL 48 115 231 4  QCT_DNS  48 115 231 5
QCST   504 116 10 1   QMAC     48 116 0 2   QWAC   176 116 0 1    WTID    208 116 1 1
"""
_ROWS = re.findall(r"(\w+) +(\d+) (\d+) (\d+) (\d+)", _BLOCKS)
LENGTHS = {name: int(length) for name, length, *_ in _ROWS}
"""Length of a block unless told otherwise."""
PLACES = {name: tuple(map(int, place)) for name, _, *place in _ROWS}
"""Type, subtype and triplet of a block."""
STUBS = ((115, 5), (115, 6), (115, 7))
"""Records without QWHS."""
IN_TOD_UNITS = ((115, 231), (116, 10))
"""Records of the channel initiator, whose QWHS has its duration in units of the TOD clock."""
QEST_HEADER, STRUCTURE = 8, 64
"""Bytes of the header of QEST, and of a structure in it."""
START = dt.datetime(2022, 6, 29, 21, 13, 20)
"""When an interval of statistics starts, local time, unless told otherwise."""

QJST_BYTES = {"700": 120, "800": 576, "912": 592, "930": 596, "940": 720, "946": 720}
"""Length of QJST by the release in the SMF header; 946 stands for MQ 10."""
IO_AT, IO_COPY, IO_TYPE = 264, 144, 72
LOG_START = dt.datetime(2023, 10, 2, 11, 52, 52)
"""When an interval of a log starts, local time, unless told otherwise."""
EAST = dt.timedelta(hours=2)
"""Local time minus UTC of the records of a log, unless told otherwise."""

ENDED = dt.datetime(2022, 7, 7, 14, 42, 10, tzinfo=dt.UTC)
"""When an interval of a task ends, unless told otherwise."""
MINUTE = dt.timedelta(minutes=1)
LATE = dt.timedelta(microseconds=200)
"""How long after an interval of statistics a task writes its record."""
WEST = dt.timedelta(hours=-4)
"""Local time minus UTC of the records of tasks, unless told otherwise."""
WQST_BYTES = {1: 576, 4: 672, 5: 704, 6: 2752, 8: 2792, 9: 2800}
"""Length of a queue block by its version."""
NO_MESSAGE = 0x0FFFFFFF
CF_REQUEST, CF_GROUP = 20, 400
COMMIT_CF, QUEUE_CF = 864, 736
LATCH_WAIT, LATCH_WAITS, LATCH_LONGEST = 48, 304, 2088

CfCounts = Mapping[tuple[int, int], tuple[int, int, int, int, int]]
"""(group, request) to count, synchronous number and time, asynchronous number and time."""


# -- blocks at the offsets of the fact table


@cache
def facts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the rows of the fact table by block and field."""
    found: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    with (FACTS / "layouts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["block"]][row["field"]] = row
    return found


def fact_block(name: str, length: int, shift: int = 0, **fields: Any) -> bytes:
    """Return a block of `length` bytes: what a shorter one does not hold is left out.

    Fields that are not named are zero, but length and eye-catcher where the block has them.

    shift   bytes that the fields are behind their own offsets: those of an entry of an array
    fields  numbers, texts, microseconds of durations, moments, names of bits, or bytes; a
            list of them where a field is an array
    """
    data = bytearray(_empty(name, length))
    for each_field, value in fields.items():
        at, pack = _places(name)[each_field]
        values = value if isinstance(value, list) else [value]
        packed = b"".join(each if isinstance(each, bytes) else pack(each) for each in values)
        data[shift + at : shift + at + len(packed)] = packed
    return bytes(data[:length])


@cache
def _empty(name: str, length: int) -> bytes:
    named = any(row["kind"] == "ebcdic" and row["offset"] == "4" for row in facts()[name].values())
    return builders.named_block(name, length).ljust(4200, b"\0") if named else bytes(4200)


@cache
def _places(name: str) -> Mapping[str, tuple[int, Callable[[Any], bytes]]]:
    """Return where each field of a block is, and what makes its bytes."""
    return {
        field: (int(row["offset"]), _packer(row["kind"], int(row["width"]), row["bits"]))
        for field, row in facts()[name].items()
    }


def _packer(kind: str, width: int, bits: str) -> Callable[[Any], bytes]:
    match kind:
        case "ebcdic":
            return lambda text: ebcdic(text, width)
        case "stck_duration":
            return lambda microseconds: round(microseconds * 4096).to_bytes(8)
        case "stck_timestamp":
            return lambda moment: (stck(moment) if moment else 0).to_bytes(8)
        case "flags":
            known = dict(each.split("=") for each in bits.split(";"))
            return lambda which: (
                sum(int(known[each], 16) for each in which.split())
                if isinstance(which, str)
                else int(which)
            ).to_bytes(width)
    return lambda number: round(number).to_bytes(width, signed=kind == "int")


# -- statistics, and the channel initiator


def block(name: str, length: int | None = None, **values: Any) -> bytes:
    """A block of a length that it has since long, or of another; values as `fact_block` says."""
    return fact_block(name, length or LENGTHS[name], **values)


def structures(*entries: Mapping[str, Any]) -> bytes:
    """A QEST with structures in its first slots."""
    data = block("QEST")
    for number, values in enumerate(entries):
        data = _with_entry(data, "QEST", QEST_HEADER, STRUCTURE, number * STRUCTURE, values)
    return data


def _with_entry(data: bytes, name: str, at: int, width: int, shift: int, values: Any) -> bytes:
    """Put an entry of an array into a block; the first one is `at` bytes from its start."""
    entry = fact_block(name, len(data), shift, **values)[at + shift : at + shift + width]
    return data[: at + shift] + entry + data[at + shift + width :]


def record(
    *blocks: bytes,
    of: str | None = None,
    start: dt.datetime = START,
    seconds: float = 1,
    interval: bool = True,
    duration: int | None = None,
    east: dt.timedelta = dt.timedelta(0),
    release: str = "930",
    system: str = "MVAA",
    qmgr: str = "VTS1",
    qsg: str = "",
) -> bytes:
    """A record over an interval, with blocks of one subtype.

    of        name of the blocks that have no eye-catcher, those of tasks of the channel initiator
    start     of the interval, local time
    interval  False: the QWHS is one without an interval, as old releases write it
    duration  what QWHSDURN says, in the unit of the subtype; None: `seconds`
    east      local time minus UTC
    """
    names = [of or each[4:8].decode("cp500") for each in blocks]
    found = defaultdict(list)
    for name, each in zip(names, blocks, strict=True):
        found[PLACES[name][2]].append(each)
    smf_type, subtype, last = PLACES[of or names[0]]
    sections = [Section(found.get(number, ())) for number in range(1, max([last, *found]) + 1)]
    end = start + dt.timedelta(seconds=seconds)
    area = builders.stub()
    if (smf_type, subtype) not in STUBS:
        shift = 12 if (smf_type, subtype) in IN_TOD_UNITS else 0
        told = round(seconds * 1e6) << shift if duration is None else duration
        captured = (end - east).replace(tzinfo=dt.UTC)
        area = builders.qwhs_long(captured, start, told, len(sections) + 1)
        if not interval:
            area = struct.pack(">h", 36) + area[2:36]
        if release == "946":
            area += builders.qwhx(qsg=qsg, release="100000")
    keys = {"system": system, "qmgr": qmgr, "release": release}
    return smf_record(smf_type, subtype, *sections, area=area, local=end, **keys)


# -- the log


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

    def values(self) -> dict[str, Any]:
        """Return the fields of its entry in QJST."""
        names = ("count", "ci", "totio", "totsus", "maxio", "maxioT", "maxiol")
        found = zip(names, astuple(self), strict=True)
        return {f"qjstio{name}": value for name, value in found if value != ""}


@dataclass(frozen=True)
class Log:
    """What one interval of a queue manager's log manager did.

    io  (copy 1-2, type 1-2: single page, several pages): Io
    """

    counters: Mapping[str, int] = field(default_factory=dict)
    io: Mapping[tuple[int, int], Io] = field(default_factory=dict)
    sleep_us: int = 0

    def block(self, length: int) -> bytes:
        """Return a QJST of `length` bytes: what a shorter one does not hold is left out."""
        data = block("QJST", 720, qjstslptu=self.sleep_us, **self.counters)
        for (copy, io_type), each in self.io.items():
            shift = (copy - 1) * IO_COPY + (io_type - 1) * IO_TYPE
            data = _with_entry(data, "QJST", IO_AT, IO_TYPE, shift, each.values())
        return (data[:2] + struct.pack(">H", length) + data[4:])[:length]


def log_record(
    log: Log,
    *,
    release: str = "930",
    length: int | None = None,
    start: dt.datetime | None = LOG_START,
    duration_us: int = 10_000_000,
    **keys: Any,
) -> bytes:
    """A 115/1 record with the QJST that `release` writes, or one of `length` bytes.

    start  of the interval, local time; None: the QWHS without an interval, of old releases
    """
    made = log.block(QJST_BYTES[release] if length is None else length)
    usual: dict[str, Any] = {"east": EAST, "system": "MVCA", "qmgr": "MQPV", "release": release}
    usual |= {"start": start or LOG_START, "interval": start is not None}
    return record(made, seconds=duration_us / 1e6, **(usual | keys))


# -- tasks and connections


def task_token(number: int = 1) -> bytes:
    """The 16 bytes that identify a task."""
    return token_of(number, ENDED - 100 * MINUTE + number * dt.timedelta(seconds=1))


def token_of(number: int, started: dt.datetime) -> bytes:
    return struct.pack(">QiI", stck(started) | 0xABC, -number, 0x5C000000 + number)


def who(job: str = "R001", user: str = "PERFTASK", kind: int = 2, **more: Any) -> bytes:
    return block("WTID", wtidatyp=kind, wtidccn=job, wtidopid=user, **more)


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
    for latch, (total, waits, longest) in (latches or {}).items():
        struct.pack_into(">Q", data, LATCH_WAIT + 8 * (latch - 1), total << 12)
        struct.pack_into(">i", data, LATCH_WAITS + 4 * (latch - 1), waits)
        struct.pack_into(">Q", data, LATCH_LONGEST + 8 * (latch - 1), longest << 12)
    return _of_task(data, length, 8, token, COMMIT_CF, cf)


def statistics(minute: float, minutes: float = 1, **keys: Any) -> bytes:
    """A record of 60 puts, of statistics that end so many minutes after ENDED."""
    start = (ENDED + WEST).replace(tzinfo=None) + (minute - minutes) * MINUTE
    return record(block("QMST", qmstput=60), start=start, seconds=60 * minutes, east=WEST, **keys)


def putting(minute: float, puts: int = 60, minutes: float = 1, **keys: Any) -> bytes:
    """A record of a task that puts for some minutes, until so many after ENDED and LATE.

    It is the first of its task if it is of more than a minute.
    """
    ended = ENDED + minute * MINUTE + LATE
    began = ended - minutes * MINUTE
    token = token_of(1, began) if minutes > 1 else None
    used = queue("Q1", token, putn=puts, putct=10 * puts, putet=20 * puts)
    own = task(token, ended=ended, wtasints=began)
    return task_record(own, used, ended=ended, **keys)


def queue(
    name: str,
    token: bytes | None = None,
    *,
    version: int = 8,
    cf: CfCounts | None = None,
    **values: Any,
) -> bytes:
    """A WQST of a local queue; cf: groups 0 to 4 are open, close, get, put and put1."""
    usual = {"objname": name, "basename": name, "qtype": 1}
    usual |= {"getminms": NO_MESSAGE, "putminms": NO_MESSAGE}
    data = fact_block("WQST", WQST_BYTES[9], **(usual | values | {"wqver": version}))
    return _of_task(bytearray(data), WQST_BYTES[version], 16, token, QUEUE_CF, cf)


def _of_task(
    data: bytearray, length: int, at: int, token: bytes | None, cf_at: int, cf: CfCounts | None
) -> bytes:
    """Put length, token and requests to the coupling facility into a block."""
    data[2:4] = struct.pack(">H", length)
    data[at : at + 16] = token or task_token()
    for (group, request), counts in (cf or {}).items():
        struct.pack_into(">5I", data, cf_at + CF_GROUP * group + CF_REQUEST * request, *counts)
    return bytes(data[:length])


def _record(subtype: int, sections: Sequence[Section], area: bytes, **header: Any) -> bytes:
    ended = header.pop("ended", ENDED)
    local = (ended + header.pop("east", WEST)).replace(tzinfo=None)
    header = {"system": "MVAA", "qmgr": "VTS1", "release": "930"} | header
    return smf_record(116, subtype, *sections, area=area, local=local, **header)


def _who(by: bytes | None) -> Section:
    return NOTHING if by == b"" else Section([by or who()])


def task_record(
    block: bytes, *queues: bytes, by: bytes | None = None, ended: dt.datetime = ENDED, **header: Any
) -> bytes:
    """A 116/1 record; by: its WTID, b"" if it has none."""
    sections = [_who(by), Section([block]), *([Section(queues)] if queues else [])]
    area = builders.qwhs_short(ended, triplets=len(sections) + 1)
    return _record(1, sections, area, ended=ended, **header)


def more_queues(
    *queues: bytes, by: bytes | None = None, ended: dt.datetime = ENDED, **header: Any
) -> bytes:
    """A 116/2 record; by: as in `task_record`."""
    sections = [_who(by), Section(queues)]
    return _record(2, sections, builders.qwhs_short(ended, triplets=3), ended=ended, **header)


def connection_record(
    job: str = "R001",
    user: str = "PERFTASK",
    *,
    cpu_us: int = 0,
    puts: Sequence[int] = (0, 0, 0, 0),
    gets: Sequence[int] = (0, 0, 0, 0),
    blocks: Sequence[str] = ("QWAC", "QMAC"),
    ended: dt.datetime = ENDED,
    east: dt.timedelta = WEST,
    system: str = "MVAA",
    qmgr: str = "VTS1",
    area: bytes | None = None,
    **qwac: Any,
) -> bytes:
    """A 116/0 record; puts and gets are by size, `blocks` are those of the two that it has."""
    qmac = block("QMAC", qmaccput=cpu_us)[:16] + struct.pack(">8I", *puts, *gets)
    made = {"QWAC": block("QWAC", **qwac), "QMAC": qmac}
    sections = [Section([made[each]]) if each in blocks else NOTHING for each in made]
    area = area or builders.qwhs_short(ended, triplets=7, qwhc=builders.qwhc_of(job, user))
    keys = {"ended": ended, "east": east, "system": system, "qmgr": qmgr}
    return _record(0, [*sections, *[NOTHING] * 4], area, **keys)
