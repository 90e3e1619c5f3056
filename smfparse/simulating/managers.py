"""Statistics of queue managers: messages, data, the log, storage, locks and structures.

A log does one write after another. All commits during a write wait for the next write. So F forced
writes per second that take t seconds each become F / (1 + F t) writes, and a busier log has more
pages per write. Each copy of a log has counters for writes of one page and of several pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.schemas import Q5ST, QEST, QIST, QJST, QLST, QMST, QSRS, QSST, QTST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.block_parts import LOGS, log_totals, set_log_writes
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.costs import (
    MOST_PAGES,
    USED_OF_CI,
    ZHYPERWRITE_LARGE,
    ZHYPERWRITE_PAGES,
    ZHYPERWRITE_SMALL,
)
from smfparse.simulating.declaration import Log
from smfparse.simulating.draws import Bools, Columns, Floats, Ints, Rows
from smfparse.simulating.plan import Plan, column
from smfparse.simulating.records import RecordParts, once

_ROUNDS = 12
_IDLE_WRITES = 0.2
"""Log writes per second of an idle queue manager."""
_PAGES_MORE = 3
"""Pages of a multi-page write minus the mean pages of all writes."""
_SECOND_COPY = 1.02
_SUSPENDED = 1.004
"""Ratio of the suspended time of the logger to the time of writes."""
_WORKS, _WORKS_MORE = 1.01, 0.048
"""Ratio of the logger's busy time to its suspended time: when idle, and the increase at full load.
"""
_RESTART_READS = (400, 2600)


@dataclass(frozen=True)
class LogLoad:
    """The work of logs in an interval, one value per queue manager.

    writes, pages  writes and written pages per second and copy; a partly filled page is written and
                   counted several times
    wait           microseconds that a commit waits
    """

    writes: Floats
    pages: Floats
    wait: Floats


class Devices:
    """The devices of the logs of queue managers."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.io = column(logs, "io")
        self._page = column(logs, "page") / column(logs, "stripes")
        self._parallel = column(logs, "zhyperwrite") == "enabled"

    def took(self, pages: Floats, managers: Ints) -> Floats:
        """Return the microseconds of a write of `pages` pages to the logs of `managers`."""
        small = np.where(pages <= ZHYPERWRITE_PAGES, ZHYPERWRITE_SMALL, ZHYPERWRITE_LARGE)
        share = np.where(self._parallel[managers], small, 1.0)
        time: Floats = (self.io[managers] + self._page[managers] * pages) * share
        return time


class Logs:
    """The logs of all queue managers."""

    def __init__(self, plan: Plan) -> None:
        logs = [each.log for each in plan.estate.queue_managers]
        self._devices = Devices(logs)
        self._every = np.arange(len(logs))
        self.first_wait: Floats = self._devices.io * 1.2
        self._load, self._size = column(logs, "load"), column(logs, "pages")
        self._records, self._pages = np.zeros(len(logs)), np.zeros(len(logs))

    def load(self, logged: Floats, forced: Floats, slower: Floats) -> LogLoad:
        """Return the work of the logs.

        logged  logged bytes per second
        forced  forced writes per second
        slower  factor on the times of writes
        """
        new = logged / USED_OF_CI
        due = forced + _IDLE_WRITES
        pages = np.ones(len(due))
        took = self._devices.took(pages, self._every) * slower
        for _ in range(_ROUNDS):
            writes = due / (1 + due * took / 1e6)
            pages = np.minimum(new / writes + 1, MOST_PAGES)
            took = (took + self._devices.took(pages, self._every) * slower) / 2
        full = new * took / 1e6 / MOST_PAGES
        writes = np.where(full > 1, 1e6 / took, np.maximum(writes, new / MOST_PAGES))
        busy = np.minimum(writes * took / 1e6, 1)
        wait = took * (1 + busy / 2) * np.square(np.square(np.maximum(full, 1)))
        return LogLoad(writes, new + writes, wait)

    def checkpoints(self, logged: dict[str, Floats]) -> dict[str, Floats]:
        """Return the numbers of checkpoints and of log switches."""
        self._records += logged["log_records"]
        self._pages += logged["log_bytes"] / USED_OF_CI
        points, switches = self._records // self._load, self._pages // self._size
        self._records -= points * self._load
        self._pages -= switches * self._size
        return {"checkpoints": points + switches, "switches": switches}


class LogBlocks:
    """Makes the log blocks of a chunk: counters by copy of the log and kind of write."""

    def __init__(self, chunk: Chunk, reporters: Reporters) -> None:
        self._chunk, self._reporters, self._draws = chunk, reporters, chunk.draws("log")
        self._devices = Devices([each.log for each in chunk.plan.estate.queue_managers])
        self._copies = reporters.declared("log", "copies")
        self._rows = chunk.rows(QJST, len(reporters))

    def rows(self, backouts: Floats) -> Rows:
        """Return the QJST blocks; `backouts` is the number of backouts, which read the log."""
        of, did, rows = self._reporters.of, self._chunk.did, self._rows
        writes = np.rint(of(did["log_writes"])).astype(np.int64)
        pages = np.maximum(np.rint(of(did["log_pages"])).astype(np.int64), writes)
        suspended = self._set_writes(writes, pages)
        squares = np.floor(suspended * suspended / np.maximum(writes, 1) * 1.1).astype(np.int64)
        rows.set("qjstiosqu", np.stack([np.zeros_like(squares), squares], axis=1))
        length = self._reporters.microseconds
        share = np.minimum(suspended / length, 1)
        busy = np.minimum(suspended * (_WORKS + _WORKS_MORE * share), length * 0.9995)
        rows.set("qjstslptu", np.floor(length - busy).astype(np.int64))
        rows.set_all(self._of_both(writes, pages, backouts))
        return rows

    def _set_writes(self, writes: Ints, pages: Ints) -> Floats:
        """Set the writes of both copies; return the time that the logger was suspended."""
        slower = self._reporters.of(self._chunk.effects.log)
        large = np.minimum(pages / np.maximum(writes, 1) + _PAGES_MORE, MOST_PAGES)
        several = np.floor((pages - writes) / (large - 1)).astype(np.int64)
        several = np.minimum(np.maximum(several, (pages > writes).astype(np.int64)), writes)
        single = writes - several
        suspended = np.zeros(len(writes))
        for copy in range(2):
            total = np.zeros(len(writes))
            for kind, (count, cis) in enumerate(((single, single), (several, pages - single))):
                some = np.where(self._copies > copy, count, 0)
                pages_each = cis / np.maximum(count, 1)
                took = self._devices.took(pages_each, self._reporters.manager) * slower
                took = some * took * _SECOND_COPY**copy
                total += self._set(2 * copy + kind, some, np.where(some > 0, cis, 0), took)
            suspended = np.maximum(suspended, total)
        return suspended

    def _set(self, entry: int, count: Ints, cis: Ints, took: Floats) -> Floats:
        """Set the writes of one copy and kind; return the time that the logger was suspended."""
        rows, reporters = self._rows, self._reporters
        longest = took / np.maximum(count, 1) * (2 + self._draws.skewed(len(rows), 2, 20))
        longest = np.minimum(np.where(count > 0, longest, 0), took)
        part = reporters.microseconds * self._draws.uniform(len(rows))
        when = reporters.begin + np.floor(part).astype(np.int64)
        log = (self._chunk.first + reporters.time) // 40 % LOGS
        shares = (_SUSPENDED, _SUSPENDED)
        return set_log_writes(rows, entry, (count, cis), (took, longest), shares, when, log)

    def _of_both(self, writes: Ints, pages: Ints, backouts: Floats) -> Columns:
        of, did, declared = self._reporters.of, self._chunk.did, self._reporters.declared
        switches, points = of(did["switches"]), of(did["checkpoints"])
        opened, zhyperwrite = self._copies * switches, declared("log", "zhyperwrite")
        log_pages = declared("log", "pages")
        forced = np.rint(of(did["log_forced"]))
        from_buffers, from_log = (
            np.where(self._reporters.again, reads, 0) for reads in _RESTART_READS
        )
        return {
            **log_totals(writes, pages, switches, log_pages, self._copies),
            "qjstwrnw": np.rint(of(did["log_records"])),
            "qjstwrf": forced,
            "qjstrbuf": 2 * backouts + from_buffers,
            "qjstract": from_log,
            "qjstbsds": 20 + 6 * switches + 2 * points,
            "qjstbffl": np.ceil(of(did["log_bytes"]) / USED_OF_CI),
            "qjstllcp": points,
            "qjstlsus": forced,
            "qjstthrw": np.floor(pages / 2000),
            "qjsthwc": np.where(zhyperwrite != "none", opened, 0),
            "qjsthwe": np.where(zhyperwrite == "enabled", opened, 0),
        }


_OWN_ENTRIES, _OWN_ELEMENTS = 40, 90
_ELEMENT_BYTES = 256
_MB = 1 << 20
_FREE_31, _CONNECTION_31 = 900 * _MB, 16 * 1024
"""Free 31-bit storage of a queue manager without connections, and bytes per connection."""
_RESERVES = {"qsrsmvs": 6 * _MB, "qsrscrit": 10 * _MB, "qsrssos": 20 * _MB}


class Managers:
    """Makes the records 115/1, 115/2 and 115/7 of a chunk."""

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._draws = chunk.draws("managers")

    def records(self) -> Iterator[RecordParts]:
        storage, messages = self._storage(), self._messages()
        backouts = self._by_task(self._accounting.work.backouts)
        log = LogBlocks(self._chunk, self._reporters).rows(backouts)
        for record, order, blocks in (
            ((115, 1), 0, {9: self._rows(QSST, storage), 11: log}),
            (
                (115, 2),
                1,
                {
                    1: self._rows(QMST, messages),
                    2: self._rows(QIST, self._data(messages)),
                    4: self._rows(QLST, self._locks(messages)),
                    5: self._rows(Q5ST),
                    6: self._structures(),
                    7: self._rows(QTST),
                },
            ),
            ((115, 7), 4, {1: self._rows(QSRS, self._region())}),
        ):
            counted = {number: once(rows) for number, rows in blocks.items()}
            yield RecordParts(record, self._reporters.writers(order), counted)

    def _rows(self, block: Block, columns: Columns | None = None) -> Rows:
        return self._chunk.rows(block, len(self._reporters), columns)

    def _by_queue(self, **values: Any) -> Columns:
        queues = self._accounting.queues
        return {name: self._reporters.summed(of, queues) for name, of in values.items()}

    def _by_task(self, values: Any) -> Floats:
        return self._reporters.summed(values, self._accounting.tasks)

    def _messages(self) -> Columns:
        """Return the counters of calls of all tasks; copies on streaming queues count as puts."""
        used, columns = self._accounting.queues, self._accounting.queues.columns
        size = columns["putbytes"] / np.maximum(used.put, 1)
        persistent = np.where(used.persistent, used.put + used.streamed, 0)
        plain = np.where(used.persistent, 0, used.put + used.streamed)
        return {
            **self._by_queue(
                qmstopen=columns["openn"],
                qmstclos=columns["closen"],
                qmstget=columns["getn"],
                qmstput=columns["putn"] + used.streamed,
                qmstput1=columns["put1n"],
                qmstinq=columns["inqn"],
                qmstspp=persistent,
                qmstsnp=plain,
                qmstpbp=persistent * size,
                qmstnbp=plain * size,
            ),
            "qmstctl": self._by_task(self._accounting.work.columns["wtasctn"]),
            "qmstcalh": self._by_task(self._accounting.tasks.ended),
        }

    def _data(self, messages: Columns) -> Columns:
        used, columns = self._accounting.queues, self._accounting.queues.columns
        makes, opened = self._chunk.plan.slot_makes[used.slot], messages["qmstopen"]
        found = self._by_queue(
            got=columns["validget"],
            looked=columns["getsmsg"],
            qistgetd=np.minimum(columns["getpsn"], used.got),
            qistdcre=np.where(makes, used.opened, 0),
            qistddel=np.where(makes, used.closed, 0),
            qistmput=used.put + used.streamed,
        )
        got, looked = found.pop("got"), found.pop("looked")
        return found | {
            "qistmget": got + looked,
            "qistdget": np.floor(opened / 3),
            "qistdloc": opened * 2,
            "qistmblr": np.floor(got * 0.002),
            "qistgetb": got + looked - found["qistgetd"],
        }

    def _locks(self, messages: Columns) -> Columns:
        held = messages["qmstopen"] + messages["qmstget"]
        return {
            "qlstgetl": held * 2,
            "qlsthldl": np.floor(held * 0.3),
            "qlstrell": np.floor(held * 1.7),
        }

    def _storage(self) -> Columns:
        pools = 4 + self._draws.below(len(self._reporters), 12)
        taken = 40 + self._draws.below(len(self._reporters), 60)
        return {
            "qsstgplf": pools,
            "qsstfplf": pools,
            "qsstgplv": 10 * pools,
            "qsstfplv": 10 * pools,
            "qsstexpv": 30 * pools,
            "qsstfrev": 30 * pools,
            "qsstgetm": taken,
            "qsstfrem": taken,
        }

    def _region(self) -> Columns:
        """Return the columns of storage of the address space; connections reduce free storage."""
        connected = self._by_task(np.ones(len(self._accounting.tasks)))
        free = _FREE_31 - connected * _CONNECTION_31
        buffers = np.bincount(
            self._chunk.plan.pool_manager, self._chunk.plan.buffers, len(self._chunk.plan.names)
        )[self._reporters.manager]
        return {
            "qsrsaval": free,
            "qsrsesiza": 1_500 * _MB,
            "qsrseloal": 1_500 * _MB - free,
            "qsrsmemlim": 20_480,
            "qsrsabytes": buffers * 4096,
            "qsrsaval64": 20_480 * float(_MB) - buffers * 4096,
            **_RESERVES,
        }

    def _structures(self) -> Rows:
        rows = self._rows(QEST)
        of = np.array([each.structure for each in self._chunk.plan.estate.queues])
        for entry, name in enumerate(sorted({*of.tolist()} - {""})):
            self._set_structure(rows, entry, name, of == name)
        return rows

    def _set_structure(self, rows: Rows, entry: int, name: str, mine: Bools) -> None:
        """Set requests and contents of the structure `name`; `mine`: queues in the structure."""
        queues, plan = self._accounting.queues, self._chunk.plan
        coupling, inside = queues.coupling, mine[queues.queue]
        single, several, took = (
            self._reporters.summed(np.where(inside, values, 0), queues)
            for values in (coupling.single, coupling.several, coupling.took)
        )
        depth = self._chunk.did["depth_most"][:, mine]
        elements = np.ceil(plan.queue_size[mine] / _ELEMENT_BYTES)
        share = single / np.maximum(single + several, 1)
        rows.set_texts("qeststr", [name], 0, entry)
        for field, values in {
            "qeststrn": entry + 1,
            "qestcsec": single,
            "qestcmec": several,
            "qestsstc": took * share,
            "qestmstc": took * (1 - share),
            "qestmnus": depth.sum(axis=1)[self._reporters.time] + _OWN_ENTRIES,
            "qestmlus": (depth @ elements)[self._reporters.time] + _OWN_ELEMENTS,
        }.items():
            rows.set(field, values, entry)
