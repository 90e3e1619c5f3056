"""Buffer pools and page sets: messages are in buffers until a pool is nearly full.

When 85% of the buffers of a pool are changed, pages are written asynchronously until only 75% are
changed. If messages arrive faster than pages are written, tasks write single pages at 95%, and wait
for a buffer at 100%.
Buffers of written pages are reused, so a get reads such a page again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.schemas import QIS1, QPST, QSGM, QSPH
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Cells, Chunk, Reporters
from smfparse.simulating.costs import DEFERRED, IMMEDIATE, PAGES_A_WRITE, WRITTEN_DOWN_TO
from smfparse.simulating.draws import Floats, Ints, Rows, big_endian
from smfparse.simulating.plan import NONE, Plan, column
from smfparse.simulating.records import RecordParts

_OWN_PAGES = 40.0
"""Number of pages in a pool that contain no messages."""
_SET_PAGES = 60.0
"""Number of pages in a page set that contain no messages."""
_FULL, _MORE = 0.9, 0.1
"""Used share at which a page set expands; size of the expansion as a share of the page set."""
_ABOVE, _FIXED, _MAY_EXPAND = 0x80000000, 0x40000000, 0x80000000
_BY_SYSTEM, _AVAILABLE = 2, 0
_KB = 1024
_POOLS = (
    *(("CONNECTION CONTROL", 2600, 1.0), ("OBJECT HANDLES", 420, 0.3)),
    *(("MESSAGE BUFFERS", 5200, 2.0), ("LOCKS", 900, 0.2), ("UNITS OF WORK", 640, 0.2)),
    ("TOPIC TREE", 300, 0.0),
)
"""Storage pools: name, KB without connections, multiple of _CONNECTION_KB per connection."""
_MODULES = {"CSQMCPRI": 96, "CSQVEUS2": 48, "CSQRLPR": 512, "CSQP1GET": 160}
_CONNECTION_KB = 4


@dataclass(frozen=True)
class _Written:
    """The writes of nearly full buffer pools in an interval, by pool.

    every      number of pages written because the pool was nearly full
    by_tasks   number of these pages that tasks wrote themselves, because the pool was 95% full
    least      minimum number of free buffers
    none_free  number of pages for which no buffer was free
    wait       microseconds that a task spends on its own writes, per page put
    """

    every: Floats
    by_tasks: Floats
    least: Floats
    none_free: Floats
    wait: Floats


class Storage:
    """The state of all buffer pools and page sets."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._own = np.flatnonzero(plan.queue_pool != NONE)
        self.size = column(plan.page_sets, "pages").astype(np.float64)
        self.expanded = np.zeros(len(self.size))
        self._written = np.zeros(len(plan.pools))
        self._in_use = np.full(len(plan.pools), _OWN_PAGES)
        io, page = (column(plan.page_sets, name) for name in ("io", "page"))
        self._deferred_rate = self._of_sets(PAGES_A_WRITE * 1e6 / (io + PAGES_A_WRITE * page))
        self._immediate_rate = self._of_sets(1e6 / (io + page))

    def _of_sets(self, page_set_rates: Floats) -> Floats:
        """Return written pages per second of the slowest page set in each pool."""
        known = self._plan.set_pool != NONE
        slowest = np.full(len(self._plan.pools), np.inf)
        np.minimum.at(slowest, self._plan.set_pool[known], page_set_rates[known])
        return slowest

    def page_wait(self, flow: dict[str, Ints], seconds: float) -> Floats:
        """Return the microseconds that a task spends on page writes, per page put, by pool.

        Unlike `step`, this method does not change the state of the pools.

        flow  as in `step`
        """
        return self._levels(flow, seconds)[-1].wait

    def _levels(
        self, flow: dict[str, Ints], seconds: float
    ) -> tuple[Floats, Floats, Floats, _Written]:
        """Return pages in use, pages written earlier, changed pages, and the writes of an interval.

        The numbers of pages are those at the end of the interval, without the interval's writes.
        """
        pages = self._plan.queue_pages
        use = self._by_pool(flow["depth"] * pages) + _OWN_PAGES
        out = self._by_pool((flow["went"] + flow["expired"]) * pages)
        written = np.clip(self._written - out, 0, use)
        changed, changed_before = use - written, self._in_use - written
        most = np.maximum(changed, changed_before) + self._by_pool(flow["wave"] * pages)
        came_in = self._by_pool(flow["came"] * pages)
        return use, written, changed, self._write(most, came_in, seconds)

    def step(
        self, before: Ints, flow: dict[str, Ints], points: Floats, seconds: float
    ) -> dict[str, Any]:
        """Return the activity of pools and page sets in an interval, and update their state.

        before  number of messages on each queue at the start of the interval
        flow    numbers of messages, by queue: put (came), got (went), expired, at the end (depth);
                maximum depth minus the higher of the depths at start and end (wave)
        points  number of checkpoints of each queue manager
        """
        pages = self._plan.queue_pages
        went = flow["went"] + flow["expired"]
        came_in, out = self._by_pool(flow["came"] * pages), self._by_pool(went * pages)
        read = self._read(before * pages, went * pages)
        use, self._written, changed, wrote = self._levels(flow, seconds)
        gone = np.minimum(wrote.every, self._above(WRITTEN_DOWN_TO, changed))
        stayed = np.minimum(self._by_pool(np.maximum(before - went, 0) * pages), use)
        stayed = stayed - self._written - gone
        kept = np.where(points[self._plan.pool_manager] > 0, np.maximum(stayed, 0), 0)
        self._written += gone + kept
        self._in_use = use
        return {
            "buffers_free": np.maximum(self._plan.buffers - (use - self._written), 0),
            "buffers_least": wrote.least,
            "pages_read": self._by_pool(read),
            "queue_read": read,
            "pages_behind": wrote.every - wrote.by_tasks,
            "pages_immediate": wrote.by_tasks,
            "pages_refused": wrote.none_free,
            "pages_kept": kept,
            "wrote_behind": np.ceil(
                wrote.every / ((DEFERRED - WRITTEN_DOWN_TO) * self._plan.buffers)
            ),
            "page_wait": wrote.wait,
            "pages_got": 2 * out + came_in,
            "pages_new": came_in,
            **self._sets(flow["depth"]),
        }

    def _read(self, before: Ints, out: Ints) -> Floats:
        """Return the number of pages that MQGET calls read, because the pool has reused buffers."""
        held, plan = self._by_pool(before), self._plan
        gone = np.maximum(self._in_use - plan.buffers, 0) / np.maximum(held, 1)
        share = np.append(gone, 0)[plan.queue_pool]
        read: Floats = np.minimum(out, np.floor(before * share))
        return read

    def _above(self, share: float, pages: Floats) -> Floats:
        return np.maximum(np.ceil(pages - share * self._plan.buffers), 0)

    def _write(self, most: Floats, came_in: Floats, seconds: float) -> _Written:
        """Return the writes of pools in an interval.

        most     maximum number of changed pages in the interval
        came_in  number of pages put
        """
        buffers, rate = self._plan.buffers, came_in / seconds
        every = np.where(most >= DEFERRED * buffers, self._above(WRITTEN_DOWN_TO, most), 0)
        late = np.minimum(np.maximum(rate - self._deferred_rate, 0) * seconds, every)
        by_tasks = np.floor(np.maximum(late - (IMMEDIATE - DEFERRED) * buffers, 0))
        over = np.maximum(by_tasks - self._immediate_rate * seconds, 0)
        none_free = np.floor(np.maximum(over - (1 - IMMEDIATE) * buffers, 0))
        filled = np.minimum(late, (IMMEDIATE - DEFERRED) * buffers) + over
        least = np.maximum(buffers - np.minimum(most, DEFERRED * buffers) - filled, 0)
        wait = by_tasks / self._immediate_rate * 1e6 / np.maximum(came_in, 1)
        return _Written(every, by_tasks, least, none_free, wait)

    def _by_pool(self, values: Ints | Floats) -> Floats:
        pool, many = self._plan.queue_pool[self._own], len(self._plan.pools)
        return np.bincount(pool, values[self._own], many).astype(np.float64)

    def _sets(self, depth: Ints) -> dict[str, Any]:
        """Return the used pages of page sets by contents, and update their sizes."""
        plan, own = self._plan, self._own
        pages = depth[own] * plan.queue_pages[own]
        lasting = np.where(plan.queue_persistent[own], pages, 0)
        held = np.bincount(plan.queue_set[own], pages, len(self.size))
        persistent = np.bincount(plan.queue_set[own], lasting, len(self.size))
        used = held + _SET_PAGES
        grow = used > _FULL * self.size
        while grow.any():
            self.size = np.where(grow, np.floor(self.size * (1 + _MORE)), self.size)
            self.expanded += grow
            grow = used > _FULL * self.size
        return {
            "set_pages": self.size.copy(),
            "set_used": used,
            "set_persistent": persistent,
            "set_plain": held - persistent,
            "set_expanded": self.expanded.copy(),
        }


def storage_records(
    chunk: Chunk, reporters: Reporters, accounting: Accounting
) -> Iterator[RecordParts]:
    """Return the records 115/201, 115/215, 115/5 and 115/6 of some intervals."""
    sets, pools = (Cells(reporters, of) for of in (chunk.plan.set_manager, chunk.plan.pool_manager))
    connected = reporters.summed(np.ones(len(accounting.tasks)), accounting.tasks)
    for record, order, rows, count in (
        ((115, 201), 5, _page_sets(chunk, sets), sets.count),
        ((115, 215), 2, _buffer_pools(chunk, pools), pools.count),
        ((115, 5), 6, _storage_pools(chunk, connected), len(_POOLS)),
        ((115, 6), 7, _modules(chunk, reporters), len(_MODULES)),
    ):
        each = np.broadcast_to(np.asarray(count, np.int64), len(reporters))
        yield RecordParts(record, reporters.writers(order), {1: (rows.raw, each)})


def _buffer_pools(chunk: Chunk, cells: Cells) -> Rows:
    did, plan = chunk.did, chunk.plan
    at = (cells.time, cells.thing)
    immediate, behind, kept = (
        did[name][at] for name in ("pages_immediate", "pages_behind", "pages_kept")
    )
    flags = column(plan.pools, "above") * _ABOVE + column(plan.pools, "fixed") * _FIXED
    free = np.floor(did["buffers_free"][at])
    least = np.floor(did["buffers_least"][at])
    columns = {
        "qpstpool": column(plan.pools, "number")[cells.thing],
        "qpstnbuf": plan.buffers[cells.thing],
        "qpstcbs": free,
        "qpstcbsl": np.minimum(least, free),
        "qpstgetp": did["pages_got"][at],
        "qpstgetn": did["pages_new"][at],
        "qpstrio": did["pages_read"][at],
        "qpststw": did["pages_new"][at] * 2,
        "qpsttpw": behind + immediate + kept,
        "qpstwio": np.ceil(behind / PAGES_A_WRITE) + immediate + kept,
        "qpstimw": immediate + kept,
        "qpstdwt": did["wrote_behind"][at],
        "qpstdmc": immediate,
        "qpstsos": did["pages_refused"][at],
        "qpststl": did["pages_read"][at],
    }
    rows = chunk.rows(QPST, len(cells.thing), columns)
    rows.set_bytes("qpstflag", big_endian(flags[cells.thing], 4))
    return rows


def _page_sets(chunk: Chunk, cells: Cells) -> Rows:
    did, plan = chunk.did, chunk.plan
    at = (cells.time, cells.thing)
    number, pool, io, page = (
        column(plan.page_sets, name)[cells.thing] for name in ("number", "pool", "io", "page")
    )
    used = did["set_used"][at]
    behind, immediate, kept, read = (
        np.floor(_part_of_pool(chunk, name, cells))
        for name in ("pages_behind", "pages_immediate", "pages_kept", "pages_read")
    )
    writes, own = np.ceil(behind / PAGES_A_WRITE), immediate + kept
    columns = {
        "qis1psno": number,
        "qis1bpno": pool,
        "qis1topg": did["set_pages"][at],
        "qis1unpg": did["set_pages"][at] - used,
        "qis1ppg": did["set_persistent"][at],
        "qis1nppg": did["set_plain"][at],
        "qis1pchi": used,
        "qis1dwpn": writes,
        "qis1dwpp": behind,
        "qis1dwpt": writes * io + behind * page,
        "qis1imwn": own,
        "qis1imwp": own,
        "qis1imwt": own * (io + page),
        "qis1ckpp": kept,
        "qis1getn": read,
        "qis1getp": read,
        "qis1gett": read * (io + page),
        "qis1expn": did["set_expanded"][at],
        "qis1strn": 1,
        "qis1expm": _BY_SYSTEM,
        "qis1stat": _AVAILABLE,
    }
    rows = chunk.rows(QIS1, len(cells.thing), columns)
    rows.set_bytes("qis1flag", big_endian(np.full(len(rows), _MAY_EXPAND), 4))
    return rows


def _part_of_pool(chunk: Chunk, name: str, cells: Cells) -> Floats:
    """Divide the value `name` of a pool among its page sets, in proportion to their used pages."""
    did, plan = chunk.did, chunk.plan
    held = did["set_used"]
    total = np.zeros((chunk.times, len(plan.pools)))
    np.add.at(total.T, plan.set_pool, held.T)
    pool = plan.set_pool[cells.thing]
    share = held[cells.time, cells.thing] / np.maximum(total[cells.time, pool], 1)
    pages: Floats = did[name][cells.time, pool] * share
    return pages


def _storage_pools(chunk: Chunk, connected: Floats) -> Rows:
    """Return the QSPH blocks of storage pools, most of which grow with the connections."""
    names, base, grows = zip(*_POOLS, strict=True)
    size = np.array(base) + connected[:, None] * grows * _CONNECTION_KB
    before = np.vstack([size[:1], size[:-1]])
    columns = {
        "qsphstor": np.floor(size).ravel() * _KB,
        "qsphostor": np.floor(before).ravel() * _KB,
        "qsphxstor": 64 * _KB,
        "qsphcount": 1,
    }
    rows = chunk.rows(QSPH, size.size, columns)
    rows.set_texts("qsphname", names, np.tile(np.arange(len(names)), len(connected)))
    return rows


def _modules(chunk: Chunk, reporters: Reporters) -> Rows:
    which = np.tile(np.arange(len(_MODULES)), len(reporters))
    size = np.array([*_MODULES.values()])[which] * _KB
    requests = chunk.draws("modules").below(len(which), 12)
    columns = {
        "qsgmlvtot": size * 40,
        "qsgmlvnew": requests,
        "qsgmlvmax": size,
        "qsgmlvmin": 256,
        "qsgmcount": 40 + requests,
        "qsgmscls": which + 2,
    }
    rows = chunk.rows(QSGM, len(which), columns)
    rows.set_texts("qsgmcsect", [*_MODULES], which)
    return rows
