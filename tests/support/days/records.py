"""The intervals of a model as SMF records."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.builders import NOTHING, Section, qwhs_long, rdw, smf_record
from tests.support.days.accounting import task_records
from tests.support.days.blocks import Field, Planted
from tests.support.days.channels import channel_blocks, chinit_blocks
from tests.support.days.model import Fault, Model, Moved, Shown
from tests.support.days.sites import Site
from tests.support.days.times import hour_of, intervals
from tests.support.smf import Io, Log, fact_block, structures

TOD_UNITS = 12
_QCSTS = 150
"""So many channels are in a record."""


def day(
    site: Site, faults: Sequence[Fault] = (), fields: Sequence[Field] = (), seed: int = 1
) -> bytes:
    """Return the SMF file of a day of a site with what is planted."""
    model, planted = Model(site, faults, seed), Planted(fields, hour_of)
    shown = model.shown(intervals(site.day, site.minutes, site.east, **site.times))
    return rdw(record for each in shown for record in Writer(model, planted, each).records())


class Writer:
    def __init__(self, model: Model, planted: Planted, shown: Shown) -> None:
        self.model, self.site, self.shown = model, model.site, shown
        self.now = shown.interval
        self._planted = planted

    def block(self, name: str, length: int, of: Any, **values: Any) -> bytes:
        """Return a block of an object, with the fields that are planted."""
        return fact_block(name, length, **values | self.planted(name, of))

    def planted(self, name: str, of: Any) -> dict[str, float]:
        return self._planted.at(self.now.middle, name, of)

    def record(self, smf_type: int, subtype: int, *parts: Sequence[bytes]) -> bytes:
        """Return a record with the blocks of each of its triplets."""
        tod = smf_type == 116 or subtype == 231
        length = round(self.now.seconds * 1e6) << (TOD_UNITS if tod else 0)
        area = qwhs_long(self.now.end, self.now.local, length, len(parts) + 1)
        area = area[:24] + struct.pack(">I", self.now.number) + area[28:]
        sections = [Section(each) if each else NOTHING for each in parts]
        return self.record_at(self.now.end, smf_type, subtype, *sections, area=area)

    def record_at(
        self, at: dt.datetime, smf_type: int, subtype: int, *sections: Section, area: bytes
    ) -> bytes:
        """Return a record that SMF takes at a moment."""
        site, local = self.site, (at + self.now.east).replace(tzinfo=None)
        keys = {"system": site.system, "qmgr": site.qmgr, "release": site.release}
        return smf_record(smf_type, subtype, *sections, area=area, local=local, **keys)

    @property
    def checkpoints(self) -> int:
        """Checkpoints: at log switches, and about every twenty minutes."""
        every = 20.0
        first, last = self.now.hour * 60, self.now.hour * 60 + self.now.seconds / 60
        return max(self.shown.log.switches, int(last / every) - int(first / every))

    def _at_once(self) -> int:
        """Return pages that are written at once: some at each checkpoint."""
        most = 30 if self.site.is_rough else 1
        return sum(self.model.rng.randint(1, most) for _ in range(self.checkpoints))

    def records(self) -> Iterator[bytes]:
        no: Sequence[bytes] = ()
        yield self.record(115, 1, *[no] * 8, [self._storage()], no, [self._log()])
        calls, data, locks = [self._calls()], [self._data()], [self._locks()]
        shared = [[self._db2()], [self._structures()]] if self.site.structures else [no, no]
        topics, data_sets = [self.block("QTST", 96, None)], [*self._data_sets()]
        yield self.record(115, 2, calls, data, no, locks, *shared, topics, data_sets)
        yield self._region()
        yield self.record(115, 201, [self._page_set(each) for each in self.site.page_sets])
        yield self.record(115, 215, [self._pool(each) for each in self.site.pools])
        if self.site.statq:
            yield self.record(115, 216, [self._queue(each) for each in self.shown.moved])
        if self.site.class4 and self.site.channels:
            yield self.record(115, 231, *chinit_blocks(self))
            blocks = list(channel_blocks(self))
            for at in range(0, len(blocks), _QCSTS):
                yield self.record(116, 10, blocks[at : at + _QCSTS])
        if self.site.class3:
            yield from task_records(self)

    def _storage(self) -> bytes:
        values = {"qsstgetm": 9000, "qsstfrem": 9000, "qsstgplv": 600, "qsstfplv": 600}
        return self.block("QSST", 72, None, **values)

    def _region(self) -> bytes:
        mb = 1 << 20
        left = self.model.now("storage mb", self.site.region_mb, self.now)
        left -= self.model.now("storage leak", 0.0, self.now) * self.now.hour
        left *= self.model.noise(0.002)
        values = {"qsrsaval": left * mb, "qsrssos": 20 * mb, "qsrscrit": 2 * mb}
        values |= {"qsrsmvs": 30 * mb, "qsrsaval64": 3000 * mb, "qsrsmemlim": 4096}
        section = Section([self.block("QSRS", 232, None, **values)])
        return self.record_at(self.now.end, 115, 7, section, area=bytes.fromhex("00010180"))

    def _log(self) -> bytes:
        log, copies, seconds = self.shown.log, self.site.copies, self.now.seconds
        ios, checkpoints = log.one + log.more, self.checkpoints
        pages = log.one + log.more * log.pages_each
        values = {"qjstwrw": log.forces * 0.05, "qjstwrnw": 4 * log.forces, "qjstwrf": log.forces}
        values |= {"qjstrbuf": seconds / 60, "qjstbffl": log.pages, "qjstbfwr": ios}
        values |= {"qjstbsds": 4 * checkpoints, "qjstllcp": checkpoints}
        values |= {"qjstalw": copies * log.switches, "qjstciof": log.archived}
        values |= {"qjstcp1n": log.switches, "qjstcp2n": log.switches * (copies - 1)}
        values |= {"qjstlogw": copies * ios, "qjstciwr": copies * pages}
        values |= {"qjstslptu": 1e6 * seconds * (1 - log.busy)} | self.planted("QJST", None)
        found, at = dict[tuple[int, int], Io](), self.now.end - dt.timedelta(seconds=seconds / 3)
        stall = self.model.now("log longest us", 0.0, self.now)
        for copy in range(copies):
            several = log.more, log.more * log.pages_each, log.more_us
            for kind, (count, of_pages, us) in enumerate([(log.one, log.one, log.one_us), several]):
                long = stall if copy + kind == 0 else 0.0
                if self.site.is_rough and self.model.rng.random() < 0.002:
                    long = max(long, 45_000.0)
                top = max(6 * us[copy] * self.model.noise(0.2), long)
                total = count * us[copy] + long
                found[copy + 1, kind + 1] = Io(count, of_pages, total, total, top, at, "DS03")
        sleep = values.pop("qjstslptu")
        return Log(values, found, sleep).block(596 if self.site.release == "930" else 720)

    def _totals(self) -> tuple[int, int, int, int]:
        moved = self.shown.moved
        sums = [(e.puts, e.gets + e.backed_out, e.polls, e.skipped) for e in moved]
        puts, gets, polls, skipped = (sum(each) for each in zip(*sums, strict=True))
        return puts, gets, polls, skipped

    def _calls(self) -> bytes:
        puts, gets, polls, _ = self._totals()
        opens = 40 + (puts + gets) // 200
        values = {"qmstput": puts, "qmstget": gets * 1.004 + polls, "qmstopen": opens}
        return self.block("QMST", 104, None, **values, qmstclos=opens, qmstinq=opens / 4)

    def _data(self) -> bytes:
        _, gets, _, skipped = self._totals()
        stored = sum(m.puts * (1 - m.flow.handed) for m in self.shown.moved)
        reads = sum(each.reads / each.flow.pages for each in self.shown.moved)
        values = {"qistmget": gets + skipped, "qistmput": stored, "qistgetd": reads}
        values |= {"qistgetb": gets - min(reads, gets), "qistdcre": 1, "qistddel": 2}
        return self.block("QIST", 80, None, **values)

    def _locks(self) -> bytes:
        puts, gets, *_ = self._totals()
        locks = 3 * (puts + gets)
        return self.block("QLST", 32, None, qlstgetl=locks, qlsthldl=0.002 * locks)

    def _db2(self) -> bytes:
        seconds = self.now.seconds
        db2 = self.model.now("db2 us", self.site.db2_us, self.now) * self.model.noise()
        count = round(self.model.now("db2 requests", 0.5, self.now) * seconds)
        values: dict[str, Any] = {"numtask": 4, "acttask": 1, "dhigmax": 1, "readcnt": count}
        values |= {"readscuw": count * db2, "readtcuw": count * db2 * 1.1}
        return self.block("Q5ST", 672, None, **values, readsmxw=6 * db2, readtmxw=6 * db2)

    def _data_sets(self) -> Iterator[bytes]:
        for each in self.site.structures:
            usual = {"qesdbfto": 100, "qesdbfmf": 80, "qesdsmbd": 10_000, "qesdsmmu": 900}
            yield self.block("QESD", 336, each, qesdstr=each, **usual)

    def _structures(self) -> bytes:
        found = list[dict[str, Any]]()
        for number, (name, usual) in enumerate(self.site.structures.items()):
            calls = sum(3 * (m.puts + m.gets) for m in self.shown.moved if m.flow.structure == name)
            calls += round(0.5 * self.now.seconds)
            us = self.model.now(f"cf {name}", usual, self.now) * self.model.noise(0.04)
            several = calls // 8
            deep = sum(m.high for m in self.shown.moved if m.flow.structure == name)
            values = {"qeststr": name, "qeststrn": number, "qestrmec": several // 30}
            values |= {"qestcsec": calls, "qestsstc": calls * us}
            values |= {"qestcmec": several, "qestmstc": several * us * 1.8}
            values |= {"qestmnus": 2 * deep + 60, "qestmlus": 8 * deep + 90}
            found.append(values | self.planted("QEST", name))
        return structures(*found)

    def _page_set(self, number: int) -> bytes:
        each = self.site.page_sets[number]
        used = each.used * each.pages + self.shown.pages[number]
        pages, expanded = each.pages, 0
        while each.expands and used > 0.9 * pages:
            pages, expanded = round(pages * 1.1), expanded + 1
        free = max(pages - used, 0)
        moved = [m for m in self.shown.moved if m.flow.page_set == number and not m.flow.structure]
        reads, held = sum(m.reads for m in moved), self.shown.pages[number]
        io_us = self.model.now(f"page set us {number}", 420.0, self.now) * self.model.noise()
        full = round(sum(m.puts for m in moved) * 0.02) if not free else 0
        at_once = self._at_once()
        values = {"qis1psno": number, "qis1bpno": each.pool, "qis1topg": pages, "qis1unpg": free}
        values |= {"qis1ppg": held, "qis1ckpp": held * 0.001, "qis1full": full}
        values |= {"qis1getn": reads, "qis1getp": reads, "qis1gett": reads * io_us}
        values |= {"qis1imwn": at_once, "qis1imwp": at_once, "qis1imwt": at_once * io_us}
        values |= {"qis1expn": expanded, "qis1expm": 1 if each.expands else 3}
        bits = "QIS1EXPF" if each.expands else ""
        return self.block("QIS1", 104, number, **values, qis1flag=bits)

    def _pool(self, number: int) -> bytes:
        each, seconds = self.site.pools[number], self.now.seconds
        buffers = each.buffers
        peak = self.shown.peaks.get(number, 0.0) + 0.04 * buffers * self.model.noise(0.1)
        used = min(peak, 0.985 * buffers)
        sets, own = self.site.page_sets, (m for m in self.shown.moved if not m.flow.structure)
        moved = [m for m in own if sets[m.flow.page_set].pool == number]
        requests = sum((m.puts + m.gets) * (2 + m.flow.pages) for m in moved) + seconds / 2
        new = sum(m.puts * m.flow.pages for m in moved)
        over = max(peak - 0.85 * buffers, 0)
        written = over + 40 * self.checkpoints + new * 0.004
        at_once = max(peak - 0.95 * buffers, 0)
        reads = sum(m.reads for m in moved)
        bits = " ".join(["QPSTLOC"] * each.above + ["QPSTF4KB"] * each.fixed)
        values: dict[str, Any] = {"qpstpool": number, "qpstnbuf": buffers, "qpstflag": bits}
        values |= {"qpstcbsl": buffers - used, "qpstcbs": buffers - used * 0.97}
        values |= {"qpstgetp": requests, "qpstgetn": new, "qpstrio": reads}
        values |= {"qpststl": reads, "qpststla": reads * 0.01, "qpststw": requests * 0.8}
        values |= {"qpsttpw": written, "qpstwio": written / 12}
        values |= {"qpstimw": self._at_once() + at_once / 3}
        values |= {"qpstdwt": 1 + over // (0.2 * buffers) if over else 0}
        values |= {"qpstdmc": 1 + at_once // 500 if at_once else 0}
        return self.block("QPST", 104, number, **values)

    def _queue(self, m: Moved) -> bytes:
        flow, size = m.flow, m.flow.size
        last = self.now.end - dt.timedelta(seconds=1)
        usual = 1e6 * flow.lag if m.gets else 0
        values: dict[str, Any] = {"qqstqnam": flow.queue, "qqstqtst": usual, "qqstqtlt": usual}
        if flow.structure:
            values |= {"qqstqsgn": self.site.qsg, "qqstcfst": flow.structure}
            values |= {"qqstflag": "QQSTDISP"}
        else:
            pool = self.site.page_sets[flow.page_set].pool
            values |= {"qqstpsid": flow.page_set, "qqstbpid": pool}
        values |= {"qqstdpth": m.depth, "qqstdphi": m.high, "qqstdplo": m.low, "qqstmage": m.age}
        values |= {"qqstopct": 2, "qqstophi": 2, "qqstoplo": 2}
        values |= dict.fromkeys(("qqstipct", "qqstiphi", "qqstiplo"), m.getters)
        values |= {"qqstputs": m.puts, "qqstputb": m.puts * size}
        values |= {"qqstlput": last if m.puts else None, "qqstppt": m.puts * flow.persistent}
        values |= {"qqstnppt": m.puts * (not flow.persistent)}
        values |= dict.fromkeys(("qqstmsmi", "qqstmsma", "qqstmsav"), size)
        values |= {"qqstgets": m.gets + m.backed_out, "qqstlget": last if m.gets else None}
        values |= {"qqstgetb": m.gets * size, "qqstrbgt": m.backed_out, "qqstexpr": m.expired}
        return self.block("QQST", 552, flow.queue, **values, qqstfptc=m.puts * flow.handed)
