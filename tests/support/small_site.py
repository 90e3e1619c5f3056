"""A site whose counters are small: 0, 1 and 2, ties, several records of everything.

With numbers like these a limit of 0 or 1, a sum or a maximum, a first or a last one are told
apart. All times are multiples of 1/4096 of a microsecond, as in records, so that sums are exact.
"""

from __future__ import annotations

import datetime as dt
import random
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import smf
from tests.support.builders import lost_record, rdw, stck
from tests.support.smf import facts

COUNTS = (0, 0, 1, 1, 2, 3, 5, 100)
TIMES = (0, 0, 1, 2, 3.25, 10.5, 1000.125)
FIRST = dt.datetime(2026, 3, 4, 23, 10, 7)
"""When the first interval starts, local time."""
LENGTHS = {0: 600, 600: 600, 1200: 600, 1800: 0.5, 2100: 600, 2705: 0, 2710: 1500}
"""Seconds from FIRST at which an interval starts, and its length.

There are a restart, a gap, an interval of no length and a long one, over midnight.
"""
OLD = ("QCCT", "QQST")
"""Blocks of which an old release does not hold every field."""
QQST_931 = 120
"""Bytes of a QQST of MQ 9.3.1."""
JOBS = (("JOBA", "USER1", 2), ("JOBA", "USER2", 2), ("JOBB", "USER1", 1), ("MOVER", "CHIN", 6))
QUEUES = (("LQ1", "LQ1", ""), ("LQ2", "LQ2", ""), ("ALIAS", "LQ1", ""), ("SQ1", "SQ1", "STRUC1"),
          ("MODEL", "DYN.0123456789ABCDEF", ""))  # fmt: skip
STREAMING = ("LQ2", "SQ1", "ALIAS")
"""Queues some of whose puts are streamed, or published."""
LONG_AGO = FIRST.replace(tzinfo=dt.UTC) - dt.timedelta(hours=9)
AGES = [dt.timedelta(seconds=each) for each in (0, 1, 2, 0.5, 60, 0)]
"""How long the tasks of an interval that are no older were there when it began."""


@dataclass(frozen=True)
class Qmgr:
    """A queue manager, and how its records are."""

    system: str
    name: str
    release: str
    east: dt.timedelta
    qsg: str = ""

    @property
    def header(self) -> dict[str, Any]:
        keys = {"system": self.system, "qmgr": self.name, "release": self.release}
        return keys | {"east": self.east}


QMGRS = (
    Qmgr("SYS1", "MQ01", "800", dt.timedelta(hours=2)),
    Qmgr("SYS1", "MQ02", "940", dt.timedelta(hours=2)),
    Qmgr("SYS2", "MQ01", "946", dt.timedelta(hours=-5), "QSG1"),
)


def write_small_site(path: Path, seed: int = 1, qmgrs: tuple[Qmgr, ...] = QMGRS) -> Path:
    """Write the site to a file, in time order as SMF does; return its path."""
    records = []
    for number, qmgr in enumerate(qmgrs):
        maker = _Maker(qmgr, random.Random(f"{seed} {number}"))
        for which, (at, seconds) in enumerate(LENGTHS.items()):
            start = FIRST + dt.timedelta(seconds=at)
            made = maker.interval(which, start, seconds)
            records += [(start + dt.timedelta(seconds=seconds), each) for each in made]
    for system in dict.fromkeys(qmgr.system for qmgr in qmgrs):
        for count, length in ((3, 28), (48_211, 36), (70_000, 62)):
            end = FIRST + dt.timedelta(seconds=count / 100)
            begun = end - dt.timedelta(seconds=count % 17)
            records.append((end, lost_record(begun, end, count, system=system, length=length)))
    records.sort(key=lambda each: each[0])
    path.write_bytes(rdw([each for _, each in records]))
    return path


class _Maker:
    """Makes the records of a queue manager."""

    def __init__(self, qmgr: Qmgr, draws: random.Random) -> None:
        self.qmgr, self.draws = qmgr, draws
        self.begun = FIRST

    def interval(self, which: int, start: dt.datetime, seconds: float) -> Iterator[bytes]:
        self.begun = start
        span = {"start": start, "seconds": seconds} | self.qmgr.header
        yield smf.record(*self._first(), qsg=self.qmgr.qsg, **span)
        yield smf.record(*self._second(), qsg=self.qmgr.qsg, **span)
        for name, count in (("QSPH", 3), ("QSGM", 2), ("QSRS", 1), ("QIS1", 3), ("QPST", 3)):
            yield smf.record(*(self._block(name, number) for number in range(count)), **span)
        for first in (0, 3):
            made = [self._block("QQST", number) for number in range(first, first + 3)]
            yield smf.record(*made, qsg=self.qmgr.qsg, **span)
        yield smf.record(self._block("QCCT", 0), **span)
        for name, count in (("QCT_DSP", 3), ("QCT_ADP", 2), ("QCT_SSL", 2), ("QCT_DNS", 1)):
            made = [self._block(name, number) for number in range(count)]
            yield smf.record(*made, of=name, **span)
        yield smf.record(*(self._block("QCST", number) for number in range(4)), **span)
        yield smf.record(*(self._block("QCST", number) for number in range(2, 4)), **span)
        end = (start + dt.timedelta(seconds=seconds) - self.qmgr.east).replace(tzinfo=dt.UTC)
        for number in range(4):
            yield self._connection(number, end)
        for number in range(6):
            yield from self._task(which, number, end, seconds)

    # -- statistics

    def _first(self) -> list[bytes]:
        draws = self.draws
        counters = {
            name: value
            for name, value in self._values("QJST").items()
            if not name.startswith(("qjstio", "qjstslptu"))
        }
        io = {
            (copy, kind): smf.Io(
                *(draws.choice(COUNTS) for _ in "12"),
                *(draws.choice((0, 1, 7, 5000)) for _ in "12"),
                draws.choice((0, 1, 7, 5000)),
                self._moment(),
                draws.choice(("", "LOG1", "LOG2")),
            )
            for copy in (1, 2)
            for kind in (1, 2)
            if draws.random() < 0.8
        }
        log = smf.Log(counters, io, draws.choice((0, 1, 300_000)))
        length = smf.QJST_BYTES[self.qmgr.release]
        return [self._block("QSST", 0), log.block(length)]

    def _second(self) -> list[bytes]:
        slots = self.draws.sample(range(1, 5), 3)
        structures = [
            self._values("QEST") | {"qeststr": f"STRUC{number}", "qeststrn": number}
            for number in slots
        ]
        shared = [self._block("QESD", number) for number in range(2)]
        single = [self._block(name, 0) for name in ("QMST", "QIST", "QLST", "Q5ST", "QTST")]
        return [*single, smf.structures(*structures), *shared]

    def _block(self, name: str, number: int) -> bytes:
        values = self._values(name) | self._identity(name, number)
        length = smf.LENGTHS[name]
        if name not in OLD or self.qmgr.release != "800":
            length = max(length, _whole(name))
        elif name == "QQST" and number > 2:
            length = QQST_931
        return smf.block(name, length, **values)

    def _identity(self, name: str, number: int) -> Mapping[str, Any]:
        draws = self.draws
        match name:
            case "QPST":
                return {"qpstpool": number}
            case "QIS1":
                return {"qis1psno": number}
            case "QESD":
                return {"qesdstr": f"STRUC{number}", "qesdstrn": number}
            case "QSPH":
                flags = draws.choice(("QSPHFIXED QSPH64BIT", "QSPHGLOB QSPHDSPC", "QSPHIVSA"))
                kept = {"qsphname": f"POOL{number}", "qsphbsize": number, "qsphdspnm": "SPACE"}
                return kept | {"qsphflags": flags}
            case "QSGM":
                place = {"qsgmoffset": draws.choice((-1, 4)), "qsgmscls": draws.choice((0, 1))}
                return place | {"qsgmcsect": f"CSQ{number}"}
            case "QQST":
                shared = "QQSTDISP " if number % 3 == 2 else ""
                partial = "QQSTPART" if draws.random() < 0.3 else ""
                kept = {
                    "qqstqnam": f"LQ{1 if number == 5 else number}",
                    "qqstflag": (shared + partial).strip(),
                }
                kept |= {"qqststrm": 3} if number == 0 else {}
                kept |= {"qqstputs": 3, "qqstput1": 0} if number == 4 else {}
                return kept | {"qqstpsid": number - 1, "qqstbpid": number - 1}
            case "QCST":
                started = LONG_AGO if number < 3 else self._moment()
                kept = {"qcstchnm": f"CHL{number // 2}", "qcstcnnm": f"10.0.0.{number % 2}"}
                return kept | {"qcststrt": started, "qcstcltm": self._moment(always=True)}
        return {}

    def _values(self, name: str) -> dict[str, Any]:
        """Return a random value of every field but the header; arrays have one for each place."""
        found: dict[str, Any] = {}
        for field, row in facts()[name].items():
            behind = int(row["offset"]) >= 8 or name in ("QCT_DSP", "QCT_ADP", "QCT_SSL", "QCT_DNS")
            if not behind or row["kind"] in ("pad", "bytes") or field.startswith(("filler", "res")):
                continue
            count = int(row["count"])
            values = [self._value(row) for _ in range(count)]
            found[field] = values[0] if count == 1 else values
        return found

    def _value(self, row: Mapping[str, str]) -> Any:
        draws, width = self.draws, int(row["width"])
        match row["kind"]:
            case "stck_duration":
                return draws.choice(TIMES)
            case "stck_timestamp":
                return self._moment()
            case "ebcdic":
                return draws.choice(("", "A", "B"))
            case "flags":
                bits = [each.split("=")[0] for each in row["bits"].split(";") if each]
                return " ".join(each for each in bits if draws.random() < 0.5)
        return draws.choice((1, 2, 3) if row["enum"] else COUNTS[:-1] if width == 1 else COUNTS)

    def _moment(self, *, always: bool = False) -> dt.datetime | None:
        if not always and self.draws.random() < 0.3:
            return None
        began = self.begun - self.qmgr.east
        return (began + dt.timedelta(microseconds=self.draws.randrange(900_000_000))).replace(
            tzinfo=dt.UTC
        )

    # -- accounting

    def _connection(self, number: int, end: dt.datetime) -> bytes:
        draws = self.draws
        job, user, _ = JOBS[number % 3]
        qwac = self._values("QWAC")
        for begin, until in (("qwacbjst", "qwacejst"), ("qwacbsrb", "qwacesrb")):
            qwac[until] = qwac[begin] + draws.choice(TIMES)
        qwac |= {"qwacbsc": end - dt.timedelta(seconds=draws.choice((0, 1, 90))), "qwacesc": end}
        return smf.connection_record(
            job, user, cpu_us=draws.choice((0, 1, 7, 1001)), ended=end,
            puts=[draws.choice(COUNTS) for _ in range(4)],
            gets=[draws.choice(COUNTS) for _ in range(4)],
            blocks=draws.choice((["QWAC", "QMAC"], ["QWAC", "QMAC"], ["QMAC"])),
            east=self.qmgr.east, system=self.qmgr.system, qmgr=self.qmgr.name, **qwac,
        )  # fmt: skip

    def _task(self, which: int, number: int, end: dt.datetime, seconds: float) -> Iterator[bytes]:
        """A task of two intervals (number 0-2), or of one; its queues in a 116/2 record as well."""
        draws = self.draws
        job, user, kind = JOBS[number % 4]
        channel = draws.choice(("", "CHL1", "CHL2")) if kind == 6 else ""
        by = smf.who(job, user, kind, wtidchl=channel, wtidtran=draws.choice(("", "T1")))
        ended = end - dt.timedelta(seconds=number, microseconds=number)
        began = ended - dt.timedelta(seconds=seconds + (7200 if number == 5 else 0))
        token = _token(number, began - AGES[number])
        if number < 3 and which < 2:
            token = _token(number, LONG_AGO)
        header = self.qmgr.header | {"ended": ended}
        used = [self._queue(token, each) for each in draws.sample(QUEUES, draws.randrange(5))]
        if number != 4 or which % 2:
            task = self._wtas(token, began, ended)
            yield smf.task_record(task, *used[:3], by=by, **header)
        rest = used if number == 4 else used[3:]
        if rest:
            later = header | {"ended": ended + dt.timedelta(microseconds=1)}
            yield smf.more_queues(*rest, by=by, **later)

    def _wtas(self, token: bytes, began: dt.datetime, ended: dt.datetime) -> bytes:
        draws = self.draws
        values = {
            name: value
            for name, value in self._values("WTAS").items()
            if not isinstance(value, list)
            and not name.startswith(("wtasstrt", "cf", "wtasmlw", "wtasver", "wtaslow"))
        }
        latches = {
            latch: (draws.choice((0, 1, 7)), draws.choice((0, 1, 2)), draws.choice((0, 1, 7)))
            for latch in draws.sample((1, 11, 12, 32), 2)
        }
        return smf.task(
            token, length=712 if self.qmgr.release == "800" else 2344, ended=ended,
            latches=latches, cf=self._cf(2), **(values | {"wtasints": began, "wtasinte": ended}),
        )  # fmt: skip

    def _queue(self, token: bytes, names: tuple[str, str, str]) -> bytes:
        opened, base, structure = names
        version = 6 if self.qmgr.release == "800" else 9
        values = {
            name: value
            for name, value in self._values("WQST").items()
            if name not in ("wqver", "correl", "objname", "basename") and name[:2] != "cf"
        }
        always = (opened, self.qmgr.name) == ("LQ2", "MQ02")
        streams = opened in STREAMING and (always or self.draws.random() < 0.5)
        more: dict[str, Any] = {} if streams else {"streamedn": 0, "publishedn": 0}
        more |= {"streamedn": 1} if always else {}
        if base in ("LQ2", QUEUES[-1][1]):
            more |= {"putbytes": values["validput"], "putpmsg": 0, "put1pmsg": 0}
        if opened != "ALIAS":
            more |= {"qtype": 1, "flags": ""}
        values |= {"basename": base, "cfstrucname": structure} | more
        return smf.queue(opened, token, version=version, cf=self._cf(5), **values)

    def _cf(self, groups: int) -> smf.CfCounts:
        draws = self.draws
        places = [(draws.randrange(groups), draws.choice((0, 5, 9, 11, 12, 13, 19))) for _ in "123"]
        return {
            place: tuple(draws.choice(COUNTS) for _ in range(5))  # type: ignore[misc]
            for place in places
        }


def _token(number: int, started: dt.datetime) -> bytes:
    """The 16 bytes that identify a task."""
    return struct.pack(">QiI", stck(started) | 0xABC, -number, 0x5C000000 + number)


def _whole(name: str) -> int:
    """Bytes of a block that holds every field."""
    ends = (
        int(row["offset"]) + int(row["width"]) * int(row["count"]) for row in facts()[name].values()
    )
    return (max(ends) + 3) // 4 * 4
