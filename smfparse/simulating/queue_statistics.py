"""Statistics of queues (class 5), one row per queue and interval; calls come from accounting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from smfparse.schemas import QQST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Cells, Chunk, Reporters
from smfparse.simulating.draws import (
    NEVER,
    Columns,
    Floats,
    Ints,
    Rows,
    big_endian,
    numbered,
)
from smfparse.simulating.engine import UNDER_WAY
from smfparse.simulating.plan import NONE, column
from smfparse.simulating.records import RecordParts

_SHARED, _PARTIAL, _UNCOMMITTED = 0x80000000, 0x40000000, 0x20000000
_MOST_QUEUES = 40
"""Maximum number of queues in a record."""
_MOST_TIME = 2e9
_REDRIVEN = 0.02


class QueueStatistics:
    """Makes the records 115/216 of a chunk.

    In a queue-sharing group, each queue manager reports its own calls on all shared queues.
    """

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._plan = plan = chunk.plan
        every = enumerate(plan.queue_manager.tolist())
        reports = [(queue, manager) for queue, manager in every if not plan.wire[queue]]
        reports += [
            (queue, manager)
            for queue in np.flatnonzero(plan.shared).tolist()
            for manager in range(len(plan.names))
            if manager != plan.queue_manager[queue]
        ]
        queue, manager = np.array(reports, np.int64).reshape(-1, 2).T
        self._cells = cells = Cells(reporters, manager)
        self._queue: Ints = queue[cells.thing]
        self._manager: Ints = manager[cells.thing]
        self._home = self._manager == plan.queue_manager[self._queue]
        self._at = (cells.time, self._queue)
        self._draws = chunk.draws("statistics of queues")

    def records(self) -> Iterator[RecordParts]:
        """Yield the records, each with up to _MOST_QUEUES queues."""
        cells, reporters = self._cells, self._reporters
        rows = self._rows()
        nth = numbered(cells.count)
        for part in range(1 + int(nth.max(initial=0)) // _MOST_QUEUES):
            mine = nth // _MOST_QUEUES == part
            count = np.bincount(cells.row[mine], minlength=len(reporters))
            some = np.flatnonzero(count)
            writers = reporters.writers(3, some)
            writers = replace(writers, when=writers.when + part)
            yield RecordParts((115, 216), writers, {1: (rows.raw[mine], count[some])})

    def _rows(self) -> Rows:
        plan, queues = self._plan, self._plan.estate.queues
        columns = {**self._puts(), **self._gets(), **self._state()}
        rows = self._chunk.rows(QQST, len(self._queue), columns)
        for field, words in (
            ("qqstqnam", [each.name for each in queues]),
            ("qqstcfst", [each.structure for each in queues]),
            ("qqstqsgn", [plan.estate.group if each.structure else "" for each in queues]),
        ):
            rows.set_texts(field, words, self._queue)
        for field, name in (("qqstpsid", "number"), ("qqstbpid", "pool")):
            numbers = column(plan.page_sets, name, NONE)
            rows.set(field, numbers[plan.queue_set[self._queue]])
        moving = self._chunk.did["came"][self._at] / (self._chunk.length / 1e6) * UNDER_WAY
        chance = self._chunk.draws("uncommitted").uniform(len(rows))
        busy = chance < moving / (1 + moving)
        flags = np.where(plan.shared[self._queue], _SHARED, 0) + np.where(self._home, 0, _PARTIAL)
        flags = flags + np.where(busy & self._home, _UNCOMMITTED, 0)
        rows.set_bytes("qqstflag", big_endian(flags, 4))
        self._set_clocks(rows)
        return rows

    def _set_clocks(self, rows: Rows) -> None:
        """Set the times of the last put and the last get: shortly before the interval ends."""
        end = self._reporters.end[self._cells.row]
        for field, moved in (("qqstlput", "came"), ("qqstlget", "went")):
            count = self._chunk.did[moved][self._at]
            gap = np.floor(self._chunk.length / (count + 1) * self._draws.uniform(len(count)))
            rows.set_clocks({field: np.where(count > 0, end - gap.astype(np.int64), NEVER)})

    def _total(self, values: Any, queue: Ints | None = None) -> Ints:
        """Return sums of values per row, that is per interval, queue manager and queue.

        values  one value per queue block
        queue   queue of each value, NONE: no queue; default: the queue of the block
        """
        used, plan = self._accounting.queues, self._plan
        queue = used.queue if queue is None else queue
        known = queue != NONE
        managers, names = len(plan.names), len(plan.queue_no)
        key = ((used.time * managers + used.manager) * names + queue)[known]
        total = np.bincount(key, values[known], self._chunk.times * managers * names)
        own = (self._cells.time * managers + self._manager) * names + self._queue
        found: Ints = np.rint(total[own]).astype(np.int64)
        return found

    def _puts(self) -> Columns:
        """Return the columns of puts, which include copies on streaming queues."""
        used, work = self._accounting.queues, self._accounting.queues.columns
        lasting = self._plan.queue_persistent[self._queue]
        copies = self._total(used.streamed, self._plan.stream[used.queue])
        copied = copies * self._plan.queue_size[self._queue]
        columns: Columns = {}
        for verb, suffix, mine, more, bytes_more in (
            ("put", ("puts", "ppt", "nppt", "putb", "ppb", "nppb"), ~used.put1, copies, copied),
            ("put1", ("put1", "pp1", "npp1", "pt1b", "p1b", "np1b"), used.put1, 0, 0),
        ):
            moved = np.where(mine, work["putbytes"], 0)
            every = self._total(work[f"{verb}n"]) + more
            persistent = self._total(work[f"{verb}pmsg"]) + np.where(lasting, more, 0)
            size = self._total(moved) + bytes_more
            kept = self._total(np.where(used.persistent, moved, 0)) + np.where(
                lasting, bytes_more, 0
            )
            values = (every, persistent, every - persistent, size, kept, size - kept)
            columns |= {f"qqst{name}": of for name, of in zip(suffix, values, strict=True)}
        count = columns["qqstputs"] + columns["qqstput1"]
        mean = (columns["qqstputb"] + columns["qqstpt1b"]) / np.maximum(count, 1)
        most = self._plan.queue_size[self._queue] * 2
        return columns | {
            "qqststrm": self._total(used.streamed),
            "qqstmsmi": np.where(count > 0, np.floor(mean * 0.4), 0),
            "qqstmsma": np.where(count > 0, most, 0),
            "qqstmsav": np.floor(mean),
            "qqstopen": self._total(work["openn"]),
            "qqstclos": self._total(work["closen"]),
        }

    def _gets(self) -> Columns:
        used, work = self._accounting.queues, self._accounting.queues.columns
        lasting = self._plan.queue_persistent[self._queue]
        got, size = self._total(work["validget"]), self._total(work["getbytes"])
        empty = self._total(work["geterr"])
        expired = self._chunk.did["expired"][self._at]
        return {
            "qqstgets": got,
            "qqstpdg": np.where(lasting, got, 0),
            "qqstnpdg": np.where(lasting, 0, got),
            "qqstgetb": size,
            "qqstpdb": np.where(lasting, size, 0),
            "qqstnpdb": np.where(lasting, 0, size),
            "qqstflgt": empty,
            "qqstnmag": empty,
            "qqstflgw": empty,
            "qqstrdgw": np.floor(got * _REDRIVEN),
            "qqstexpr": np.where(self._home, expired, 0),
            "qqstrbgt": self._total(used.rolled),
        }

    def _state(self) -> Columns:
        """Return the columns of depth, age, time on queue, handles; _PARTIAL rows have no depth."""
        did, plan = self._chunk.did, self._plan
        taken = did["went"][self._at] > 0
        mean = np.where(taken, np.minimum(did["latency"][self._at], _MOST_TIME), 0)
        columns: Columns = {
            "qqstqtst": np.floor(mean * self._draws.near(len(mean), 0.2)),
            "qqstqtlt": np.floor(mean),
        }
        for name, of in (("dpth", "depth"), ("dphi", "depth_most"), ("dplo", "depth_least")):
            columns[f"qqst{name}"] = np.where(self._home, did[of][self._at], 0)
        columns["qqstmage"] = np.where(self._home, did["age"][self._at], 0)
        connected = self._connected()
        for letter, uses in (("i", plan.slot_gets), ("o", plan.slot_puts)):
            for name, tasks in connected.items():
                columns[f"qqst{letter}p{name}"] = self._handles(uses, tasks)
        return columns

    def _handles(self, uses: Floats, tasks: Ints) -> Ints:
        """Return the number of handles in each row: one handle per task that uses the queue.

        uses   1 where a slot is used: by work and slot for gets, by edge and slot for puts (`plan`)
        tasks  number of tasks by interval and application
        """
        plan, slots = self._plan, np.flatnonzero(uses.sum(axis=0))
        app = plan.slot_app[slots]
        mine = plan.slot_queue[slots] == self._queue[:, None]
        mine &= plan.app_manager[app] == self._manager[:, None]
        held: Ints = (tasks[self._cells.time][:, app] * mine).sum(axis=1)
        return held

    def _connected(self) -> dict[str, Ints]:
        """Return numbers of tasks by interval and application: last (ct), highest, lowest."""
        chunk, tasks = self._chunk, self._accounting.tasks
        shape = (chunk.times, len(self._plan.app_manager))
        key = tasks.time * shape[1] + tasks.app

        def counted(weight: Any) -> Ints:
            found = np.ceil(np.bincount(key, weight, shape[0] * shape[1]))
            return found.astype(np.int64).reshape(shape)

        stay = ~tasks.ended
        last, gone = counted(stay), counted(tasks.ended * tasks.present())
        whole = counted(stay & (tasks.started < chunk.begin[tasks.time]))
        return {"ct": last, "hi": np.maximum(last, gone), "lo": whole}
