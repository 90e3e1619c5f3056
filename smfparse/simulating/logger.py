"""The log of a queue manager: number and size of writes, and the wait of a commit.

A log writes one I/O after another. Commits during a write are written by the next write. So F
forced writes per second that take t seconds each become F / (1 + F t) writes, and a busier log has
more pages per write. The counters of a log distinguish writes of one page and of several pages, on
each copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smfparse.schemas import QJST
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
from smfparse.simulating.draws import Columns, Floats, Ints, Rows
from smfparse.simulating.plan import Plan, column

_ROUNDS = 12
_IDLE_WRITES = 0.2
"""Log writes per second of an idle queue manager."""
_PAGES_MORE = 3
"""Excess of the pages of a multi-page write over the mean pages of all writes."""
_SECOND_COPY = 1.02
_SUSPENDED = 1.004
"""Ratio of the suspended time of the logger to the time of writes."""
_WORKS, _WORKS_MORE = 1.01, 0.048
"""Ratio of the busy time of the logger to its suspended time: constant, and increase at full load.
"""
_RESTART_READS = (400, 2600)


@dataclass(frozen=True)
class LogLoad:
    """The work of logs in an interval, one value per queue manager.

    writes, pages  writes and written pages per second and copy: a partly filled page is written,
                   and counted, again
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
        slower  factor on the times of the device
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
    """Makes the log blocks of some intervals: counters by copy of the log and kind of write."""

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
