"""A site whose counters are small: 0, 1 and 2, ties, several records of everything.

With numbers like these a limit of 0 or 1, a sum or a maximum, a first or a last one are told
apart. All times are multiples of 1/4096 of a microsecond, as in records, so that sums are exact.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import smf
from tests.support.builders import lost_record, put
from tests.support.smf import facts, token_of

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
JOBS = (("JOBA", "USER1", 2), ("JOBA", "USER2", 2), ("JOBB", "USER1", 1), ("MOVER", "CHIN", 6))
QUEUES = (("LQ1", "LQ1", ""), ("LQ2", "LQ2", ""), ("ALIAS", "LQ1", ""), ("SQ1", "SQ1", "STRUC1"),
          ("MODEL", "DYN.0123456789ABCDEF", ""))  # fmt: skip
STREAMING = ("LQ2", "SQ1", "ALIAS")
"""Queues some of whose puts are streamed, or published."""
LONG_AGO = FIRST.replace(tzinfo=dt.UTC) - dt.timedelta(hours=9)
AGES = [dt.timedelta(seconds=each) for each in (0, 1, 2, 0.5, 60, 0)]
"""How long the tasks of an interval that are no older were there when it began."""


class Qmgr(NamedTuple):
    """A queue manager, and how its records are."""

    system: str
    name: str
    release: str
    east: dt.timedelta
    qsg: str = ""


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
    return put(path, *(each for _, each in records))


class _Maker:
    """Makes the records of a queue manager."""

    def __init__(self, qmgr: Qmgr, draws: random.Random) -> None:
        self.qmgr, self.draws, self.begun = qmgr, draws, FIRST
        self.is_old = qmgr.release == "800"
        self.keys: dict[str, Any] = {"system": qmgr.system, "qmgr": qmgr.name, "east": qmgr.east}
        self.header = self.keys | {"release": qmgr.release}

    def interval(self, which: int, start: dt.datetime, seconds: float) -> Iterator[bytes]:
        self.begun = start
        span = {"start": start, "seconds": seconds} | self.header
        group = span | {"qsg": self.qmgr.qsg}
        yield smf.record(*self._first(), **group)
        yield smf.record(*self._second(), **group)
        for name, numbers in (
            *(("QSPH", range(3)), ("QSGM", range(2)), ("QSRS", range(1)), ("QIS1", range(3))),
            *(("QPST", range(3)), ("QQST", range(3)), ("QQST", range(3, 6)), ("QCCT", range(1))),
            *(("QCT_DSP", range(3)), ("QCT_ADP", range(2)), ("QCT_SSL", range(2))),
            *(("QCT_DNS", range(1)), ("QCST", range(4)), ("QCST", range(2, 4))),
        ):
            keys = group if name == "QQST" else span
            yield smf.record(*(self._block(name, each) for each in numbers), of=name, **keys)
        end = (start + dt.timedelta(seconds=seconds) - self.qmgr.east).replace(tzinfo=dt.UTC)
        for number in range(4):
            yield self._connection(number, end)
        for number in range(6):
            yield from self._task(which, number, end, seconds)

    def _counts(self, number: int) -> list[int]:
        return [self.draws.choice(COUNTS) for _ in range(number)]

    # -- statistics

    def _first(self) -> list[bytes]:
        draw = self.draws.choice
        counters = self._values("QJST", without=("qjstio", "qjstslptu"))
        io = {}
        for place in ((1, 1), (1, 2), (2, 1), (2, 2)):
            if self.draws.random() < 0.8:
                drawn = [*self._counts(2), *(draw((0, 1, 7, 5000)) for _ in "123")]
                io[place] = smf.Io(*drawn, self._moment(), draw(("", "LOG1", "LOG2")))
        log = smf.Log(counters, io, draw((0, 1, 300_000)))
        return [self._block("QSST", 0), log.block(smf.QJST_BYTES[self.qmgr.release])]

    def _second(self) -> list[bytes]:
        structures = [
            self._values("QEST") | {"qeststr": f"STRUC{number}", "qeststrn": number}
            for number in self.draws.sample(range(1, 5), 3)
        ]
        shared = [self._block("QESD", number) for number in range(2)]
        single = [self._block(name, 0) for name in ("QMST", "QIST", "QLST", "Q5ST", "QTST")]
        return [*single, smf.structures(*structures), *shared]

    def _block(self, name: str, number: int) -> bytes:
        values = self._values(name) | self._identity(name, number)
        length = smf.LENGTHS[name]
        if name not in OLD or not self.is_old:
            length = max(length, _whole(name))
        elif name == "QQST" and number > 2:
            length = 120  # of MQ 9.3.1
        return smf.block(name, length, **values)

    def _identity(self, name: str, number: int) -> Mapping[str, Any]:
        draw = self.draws.choice
        match name:
            case "QPST":
                return {"qpstpool": number}
            case "QIS1":
                return {"qis1psno": number}
            case "QESD":
                return {"qesdstr": f"STRUC{number}", "qesdstrn": number}
            case "QSPH":
                flags = draw(("QSPHFIXED QSPH64BIT", "QSPHGLOB QSPHDSPC", "QSPHIVSA"))
                kept = {"qsphname": f"POOL{number}", "qsphbsize": number, "qsphdspnm": "SPACE"}
                return kept | {"qsphflags": flags}
            case "QSGM":
                place = {"qsgmoffset": draw((-1, 4)), "qsgmscls": draw((0, 1))}
                return place | {"qsgmcsect": f"CSQ{number}"}
            case "QQST":
                flags = "QQSTDISP " if number % 3 == 2 else ""
                flags += "QQSTPART" if self.draws.random() < 0.3 else ""
                kept = {"qqstqnam": f"LQ{1 if number == 5 else number}", "qqstflag": flags.strip()}
                kept |= {"qqststrm": 3} if number == 0 else {}
                kept |= {"qqstputs": 3, "qqstput1": 0} if number == 4 else {}
                return kept | {"qqstpsid": number - 1, "qqstbpid": number - 1}
            case "QCST":
                started = LONG_AGO if number < 3 else self._moment()
                kept = {"qcstchnm": f"CHL{number // 2}", "qcstcnnm": f"10.0.0.{number % 2}"}
                return kept | {"qcststrt": started, "qcstcltm": self._moment(always=True)}
        return {}

    def _values(self, name: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return a random value of every field but the header; arrays have one for each place.

        without  how names start of fields that are left out, though values are drawn
        """
        tasks, unnamed = ("QCT_DSP", "QCT_ADP", "QCT_SSL", "QCT_DNS"), ("pad", "bytes")
        found: dict[str, Any] = {}
        for field, row in facts()[name].items():
            is_named = not field.startswith(("filler", "res")) and row["kind"] not in unnamed
            if is_named and (int(row["offset"]) >= 8 or name in tasks):
                values = [self._value(row) for _ in range(int(row["count"]))]
                found[field] = values if len(values) > 1 else values[0]
        return {field: value for field, value in found.items() if not field.startswith(without)}

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
        after = dt.timedelta(microseconds=self.draws.randrange(900_000_000))
        return (self.begun - self.qmgr.east + after).replace(tzinfo=dt.UTC)

    # -- accounting

    def _connection(self, number: int, end: dt.datetime) -> bytes:
        draw = self.draws.choice
        job, user, _ = JOBS[number % 3]
        qwac = self._values("QWAC")
        for begin, until in (("qwacbjst", "qwacejst"), ("qwacbsrb", "qwacesrb")):
            qwac[until] = qwac[begin] + draw(TIMES)
        qwac |= {"qwacbsc": end - dt.timedelta(seconds=draw((0, 1, 90))), "qwacesc": end}
        return smf.connection_record(
            job, user, cpu_us=draw((0, 1, 7, 1001)), ended=end,
            puts=self._counts(4), gets=self._counts(4),
            blocks=draw((["QWAC", "QMAC"], ["QWAC", "QMAC"], ["QMAC"])), **self.keys, **qwac,
        )  # fmt: skip

    def _task(self, which: int, number: int, end: dt.datetime, seconds: float) -> Iterator[bytes]:
        """A task of two intervals (number 0-2), or of one; its queues in a 116/2 record as well."""
        draws = self.draws
        job, user, kind = JOBS[number % 4]
        channel = draws.choice(("", "CHL1", "CHL2")) if kind == 6 else ""
        by = smf.who(job, user, kind, wtidchl=channel, wtidtran=draws.choice(("", "T1")))
        ended = end - dt.timedelta(seconds=number, microseconds=number)
        began = ended - dt.timedelta(seconds=seconds + (7200 if number == 5 else 0))
        is_older = number < 3 and which < 2
        token = token_of(number, LONG_AGO if is_older else began - AGES[number])
        used = [self._queue(token, each) for each in draws.sample(QUEUES, draws.randrange(5))]
        if number != 4 or which % 2:
            task = self._wtas(token, began, ended)
            yield smf.task_record(task, *used[:3], by=by, ended=ended, **self.header)
        rest = used if number == 4 else used[3:]
        if rest:
            later = ended + dt.timedelta(microseconds=1)
            yield smf.more_queues(*rest, by=by, ended=later, **self.header)

    def _wtas(self, token: bytes, began: dt.datetime, ended: dt.datetime) -> bytes:
        draw = self.draws.choice
        left_out = ("wtasstrt", "cf", "wtasmlw", "wtasver", "wtaslow")
        values = self._values("WTAS", left_out)
        values = {name: each for name, each in values.items() if not isinstance(each, list)}
        latches = {
            latch: (draw((0, 1, 7)), draw((0, 1, 2)), draw((0, 1, 7)))
            for latch in self.draws.sample((1, 11, 12, 32), 2)
        }
        values |= {"wtasints": began, "wtasinte": ended, "length": 712 if self.is_old else 2344}
        return smf.task(token, ended=ended, latches=latches, cf=self._cf(2), **values)

    def _queue(self, token: bytes, names: tuple[str, str, str]) -> bytes:
        opened, base, structure = names
        values = self._values("WQST", ("wqver", "correl", "objname", "basename", "cf"))
        always = (opened, self.qmgr.name) == ("LQ2", "MQ02")
        streams = opened in STREAMING and (always or self.draws.random() < 0.5)
        values |= {} if streams else {"streamedn": 0, "publishedn": 0}
        values |= {"streamedn": 1} if always else {}
        if base in ("LQ2", QUEUES[-1][1]):
            values |= {"putbytes": values["validput"], "putpmsg": 0, "put1pmsg": 0}
        if opened != "ALIAS":
            values |= {"qtype": 1, "flags": ""}
        values |= {"basename": base, "cfstrucname": structure}
        version = 6 if self.is_old else 9
        return smf.queue(opened, token, version=version, cf=self._cf(5), **values)

    def _cf(self, groups: int) -> smf.CfCounts:
        draws = self.draws
        places = [(draws.randrange(groups), draws.choice((0, 5, 9, 11, 12, 13, 19))) for _ in "123"]
        return {place: tuple(self._counts(5)) for place in places}  # type: ignore[misc]


def _whole(name: str) -> int:
    """Bytes of a block that holds every field."""
    rows = facts()[name].values()
    ends = [int(each["offset"]) + int(each["width"]) * int(each["count"]) for each in rows]
    return (max(ends) + 3) // 4 * 4
