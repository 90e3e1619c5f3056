"""Accounting: the work of tasks in some intervals, and its class 1 and class 3 records.

A class 3 interval (ACCTIME) may be longer than an interval of statistics (STATIME). The rows of a
task for several statistics intervals are then merged: a record is written at the end of each class
3 interval, and when the task ends.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from smfparse.layout.kinds import Packed, Raw, Text
from smfparse.schemas import CONTINUATION, QMAC, QWHC, TASK, WQST, WTAS, WTID
from smfparse.simulating.block_parts import (
    AGENT_BEFORE,
    CLASS_1,
    FIRST_TASK,
    QUEUE_EYES,
    SHARED_QUEUE,
    TASK_BYTES,
    THREAD_BEHIND,
    WTAS_BEHIND,
    Coupling,
    by_size,
    correlation,
    qwac,
    set_requests,
    task_places,
    units_of_work,
)
from smfparse.simulating.chunk import Chunk, Tasks
from smfparse.simulating.declaration import APPLICATION_KINDS, INDEXES
from smfparse.simulating.draws import (
    NEVER,
    Columns,
    Ints,
    Rows,
    big_endian,
    clock,
    encoded,
    numbered,
)
from smfparse.simulating.plan import column
from smfparse.simulating.records import RecordParts, Writers, once
from smfparse.simulating.work import QueueWork, TaskWork

_T = TypeVar("_T")
_MINIMUM, _MAXIMUM = ("minms", "minlatnt"), ("maxms", "maxlatnt", "maxln", "maxqdpth")
_LAST = ("use_count", "wtasflag")
_SUMMED = ("put", "opened", "closed", "commits", "backouts", "single", "several", "took")
"""How rows are merged: counters whose names have one of these endings keep their minimum or
maximum; counters of _LAST keep their last value; attributes of _SUMMED are summed.
"""
_ADDRESS_STEP = 0x100000
"""Distance between the control blocks of consecutive applications, in bytes."""
_NAMED = (APPLICATION_KINDS["cics"], APPLICATION_KINDS["ims"])
_REGIONS = 100


class _Groups:
    """Groups of rows with equal keys, in the order of the keys.

    of     int64 (rows,): index of the group of each row
    first  int64 (groups,): index of the first row of each group
    last   int64 (groups,): index of the last row of each group
    """

    def __init__(self, *keys: Ints) -> None:
        order = np.lexsort(keys[::-1])
        new = np.zeros(len(order), bool)
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        new[:1] = True
        start = np.flatnonzero(new)
        self._order, self._start = order, start
        self.of: Ints = np.empty(len(order), np.int64)
        self.of[order] = np.cumsum(new) - 1
        self.first: Ints = order[start]
        self.last: Ints = order[np.append(start[1:], len(order)) - 1] if len(order) else order

    def summed(self, values: Any, how: np.ufunc = np.add) -> Any:
        """Return one value per group: the values of the group's rows, combined by `how`."""
        if not len(self.of):
            return values
        return how.reduceat(np.asarray(values)[self._order], self._start)

    def columns(self, columns: Columns) -> Columns:
        """Return counters per group, combined according to their names."""
        return {name: self._counter(name, values) for name, values in columns.items()}

    def _counter(self, name: str, values: Any) -> Any:
        if name in _LAST:
            return values[self.last]
        if name.endswith(_MAXIMUM):
            return self.summed(values, np.maximum)
        if name.endswith(_MINIMUM):
            none = np.iinfo(np.int64).max
            least = self.summed(np.where(values > 0, values, none), np.minimum)
            return np.where(least == none, 0, least)
        return self.summed(values)

    def joined(self, rows: _T) -> _T:
        """Return one row per group: sums of attributes in _SUMMED, other values of the last row."""
        found = copy.copy(rows)
        for name, values in vars(rows).items():
            if isinstance(values, np.ndarray):
                combined = self.summed(values) if name in _SUMMED else values[self.last]
                setattr(found, name, combined)
        return found


def _merged(
    chunk: Chunk, tasks: Tasks, queues: QueueWork, work: TaskWork
) -> tuple[Tasks, QueueWork, TaskWork]:
    """Return tasks, queues and work with one row for each class 3 interval."""
    interval = (chunk.first + tasks.time) // chunk.plan.several
    of_tasks = _Groups(tasks.app, tasks.number, tasks.started, interval)
    of_queues = _Groups(of_tasks.of[queues.task], queues.slot)
    whole_tasks, whole_work = of_tasks.joined(tasks), of_tasks.joined(work)
    whole_queues = of_queues.joined(queues)
    whole_tasks.begin = tasks.begin[of_tasks.first]
    whole_queues.task = of_tasks.of[whole_queues.task]
    whole_queues.columns = of_queues.columns(queues.columns)
    whole_queues.coupling = _coupling(queues.coupling, of_queues)
    whole_work.sums = of_tasks.columns(work.sums)
    blocks = np.bincount(whole_queues.task, minlength=len(whole_tasks))
    whole_work.columns = of_tasks.columns(work.columns) | {"wtaswqct": blocks}
    return whole_tasks, whole_queues, whole_work


def _coupling(coupling: Coupling, groups: _Groups) -> Coupling:
    found = groups.joined(coupling)
    found.requests = {key: groups.summed(of) for key, of in coupling.requests.items()}
    found.committed = {key: groups.summed(of) for key, of in coupling.committed.items()}
    every = found.single + found.several
    found.each = np.where(every > 0, found.took / np.maximum(every, 1), found.each)
    return found


class _TaskRecords:
    """Makes accounting records from one row per task and one row per queue block of a task.

    most  maximum number of queue blocks in a record
    """

    def __init__(
        self, chunk: Chunk, most: int, tasks: Tasks, queues: QueueWork, work: TaskWork
    ) -> None:
        self._chunk, self._most, self._tasks = chunk, most, tasks
        self._queues, self._work = queues, work
        self._version = chunk.plan.estate.version
        place = TASK_BYTES * (tasks.number % 2000) + _ADDRESS_STEP * (tasks.app % 256)
        self._address: Ints = FIRST_TASK + place

    def records(self) -> Iterator[RecordParts]:
        """Yield class 3 records, then class 1 records."""
        wtid, wtas, wqst = self._wtid(), self._wtas(), self._wqst()
        wqst.set_bytes("correl", wtas.raw[self._queues.task, 8:24])
        blocks = self._work.columns["wtaswqct"]
        nth = numbered(blocks)
        first = (wqst.raw[nth < self._most], np.minimum(blocks, self._most))
        every = np.arange(len(self._tasks))
        yield RecordParts(TASK, self._writers(every, 0), {1: once(wtid), 2: once(wtas), 3: first})
        for part in range(1, 1 + int(nth.max(initial=0)) // self._most):
            mine = nth // self._most == part  # the record of the task contains part 0
            count = np.bincount(self._queues.task[mine], minlength=len(self._tasks))
            which = np.flatnonzero(count)
            who = (wtid.raw[which], np.ones(len(which), np.int64))
            continued = {1: who, 2: (wqst.raw[mine], count[which])}
            yield RecordParts(CONTINUATION, self._writers(which, part), continued)
        yield self._class_1(wtid)

    def _writers(self, which: Ints, part: int) -> Writers:
        tasks = self._tasks
        noise = self._chunk.draws(f"flags {part}").below(len(which), 1 << 32)
        when, agent = tasks.end[which] + 2 + part, self._address[which] - AGENT_BEFORE
        return Writers(tasks.manager[which], when, tasks.begin[which], agent, noise=noise)

    def _class_1(self, wtid: Rows) -> RecordParts:
        tasks, queues, work = self._tasks, self._queues, self._work
        which, rows = np.flatnonzero(tasks.brief), len(tasks)
        cpu, begin, end = work.calls("ct"), tasks.begin[which], tasks.end[which]
        got, size = queues.columns["validget"], self._chunk.plan.queue_size[queues.queue]
        columns = {
            **by_size("put", queues.put, queues.size, queues.task, rows),
            **by_size("get", got, size, queues.task, rows),
            "qmaccput": cpu,
        }
        qmac = self._chunk.rows(QMAC, len(which), {name: of[which] for name, of in columns.items()})
        spent = {
            "qwacejst": cpu[which] * 1.3,
            "qwaccomm": work.commits[which],
            "qwacback": work.backouts[which],
        }
        blocks = {1: once(qwac(self._version, begin, end, spent)), 2: once(qmac)}
        who, agent = correlation(self._version, wtid, which), self._address[which] - AGENT_BEFORE
        writers = Writers(tasks.manager[which], end + 1, begin, agent, who)
        return RecordParts(CLASS_1, writers, blocks)

    def _wtid(self) -> Rows:
        plan, tasks = self._chunk.plan, self._tasks
        apps = plan.estate.applications
        channels = [plan.channel(number) for number in range(len(apps))]
        rows = self._chunk.rows(WTID, len(tasks), {"wtidatyp": tasks.kind})
        for name, words in (
            ("wtidccn", [each.job for each in apps]),
            ("wtidopid", [each.user for each in apps]),
            ("wtidtran", [each.user for each in apps]),
            ("wtidchl", [each.shown if each else "" for each in channels]),
            ("wtidchlc", [each.connection if each else "" for each in channels]),
        ):
            rows.set_texts(name, words, tasks.app)
        rows.set("wtidwtas", self._address + WTAS_BEHIND)
        rows.set_bytes("wtiduowi", units_of_work(clock(tasks.begin), 1 + tasks.number % 30))
        rows.set_bytes("wtidcori", self._references())
        return rows

    def _references(self) -> Raw:
        """Return the thread cross-references: with a transaction for CICS, with a PSB for IMS."""
        tasks, apps = self._tasks, self._chunk.plan.estate.applications
        kind = QWHC.field("qwhcopid").kind
        names = encoded(kind, [each.transaction for each in apps])[tasks.app]
        thread = big_endian(self._address + THREAD_BEHIND, 4)
        transaction = np.hstack(
            [thread, names[:, :4], Packed().encode(1 + tasks.number % 9_999_999)]
        )
        region = encoded(Text(4), [f"{number:04}" for number in range(_REGIONS)])
        program = np.hstack([region[tasks.number % _REGIONS], names])
        cics, ims = (tasks.kind[:, None] == each for each in _NAMED)
        found: Raw = np.where(cics, transaction, np.where(ims, program, np.uint8(0)))
        return found

    def _wtas(self) -> Rows:
        tasks = self._tasks
        columns = self._work.columns | task_places(self._address)
        rows = self._chunk.rows(WTAS, len(tasks), columns)
        self._set_coupling(rows)
        times = {"wtasstrt": tasks.started, "wtasints": tasks.begin, "wtasinte": tasks.end}
        rows.set_clocks(times)
        return rows

    def _set_coupling(self, rows: Rows) -> None:
        """Set, per task, the requests to structures at commit, and the totals of all requests."""
        coupling = self._queues.coupling

        def by_task(values: Any) -> Any:
            return np.bincount(self._queues.task, values, len(self._tasks))

        single, several = by_task(coupling.single), by_task(coupling.several)
        each = by_task(coupling.took) / np.maximum(single + several, 1)
        for request, count in coupling.committed.items():
            set_requests(rows, request, by_task(count).astype(np.int64), each)
        rows.set_all({"wtascsec": single, "wtascmec": several})
        rows.set_all({"wtassstc": single * each, "wtasmstc": several * each})

    def _wqst(self) -> Rows:
        used, plan = self._queues, self._chunk.plan
        declared = plan.estate.queues
        rows = Rows(WQST, self._version, len(used.task), QUEUE_EYES)
        rows.set_all(self._queues.columns)
        for name, words, which in (
            ("objname", plan.slot_opened, used.slot),
            ("basename", [each.name for each in declared], used.queue),
            ("cfstrucname", [each.structure for each in declared], used.queue),
        ):
            rows.set_texts(name, words, which)
        self._queues.coupling.set_in(rows)
        rows.set("qtype", plan.slot_type[used.slot])
        rows.set("qsgdisp", np.where(used.shared, SHARED_QUEUE, 0))
        rows.set("indxtype", self._indexes())
        for name, of in (("nps", "number"), ("nbuffpool", "pool")):
            rows.set(name, column(plan.page_sets, of, 0)[plan.queue_set[used.queue]])
        self._set_handles(rows)
        return rows

    def _indexes(self) -> Ints:
        """Return the index type per queue block; none during an incident that removes the index."""
        used, plan = self._queues, self._chunk.plan
        own = np.array([INDEXES[each.index] for each in plan.estate.queues])[used.queue]
        gone = self._chunk.effects.unindexed[used.time, used.queue] > 0
        return np.where(gone, 0, own)

    def _set_handles(self, rows: Rows) -> None:
        used, tasks = self._queues, self._tasks
        lately = tasks.begin[used.task] + 150 + 1000 * (used.slot % 25)
        opened = np.where(used.opened > 0, lately, tasks.started[used.task] + 250_000)
        closed = np.where(used.closed > 0, tasks.end[used.task] - 200, NEVER)
        rows.set_clocks({"opentime": opened, "clostime": closed})


class Accounting:
    """The connected tasks, their work on queues, and the counters of tasks and queues.

    most  maximum number of queue blocks in a record
    """

    def __init__(self, chunk: Chunk, most: int) -> None:
        self._chunk, self._most = chunk, most
        self.tasks = Tasks(chunk)
        self.queues = QueueWork(chunk, self.tasks)
        self.work = TaskWork(chunk, self.tasks, self.queues)

    def records(self) -> Iterator[RecordParts]:
        """Yield the records of all tasks."""
        rows = self.tasks, self.queues, self.work
        if self._chunk.plan.several > 1:
            rows = _merged(self._chunk, *rows)
        if len(rows[0]):
            yield from _TaskRecords(self._chunk, self._most, *rows).records()
