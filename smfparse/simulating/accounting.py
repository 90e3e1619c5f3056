"""Accounting: the work of tasks in some intervals, and its class 1 and class 3 records.

A class 3 interval (ACCTIME) may be longer than those of the statistics (STATIME). Then a task is
recorded when its interval ends, and when it ends itself: its rows become one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from smfparse.layout import Block, Packed, Raw, Text
from smfparse.schemas import CONTINUATION, QMAC, QWHC, TASK, WQST, WTAS, WTID
from smfparse.simulating.chunk import Chunk
from smfparse.simulating.coupling import Coupling, set_requests
from smfparse.simulating.declaration import INDEXES
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
from smfparse.simulating.records import RecordParts, Writers
from smfparse.simulating.task_parts import (
    CLASS_1,
    QUEUE_EYES,
    SHARED_QUEUE,
    by_size,
    correlation,
    qwac,
)
from smfparse.simulating.tasks import Tasks
from smfparse.simulating.work import QueueWork, TaskWork, UsedQueues

_LEAST, _MOST, _LAST = (
    ("minms", "minlatnt"),
    ("maxms", "maxlatnt", "maxln", "maxqdpth"),
    "use_count",
)
_OF_TASKS = ("app", "number", "manager", "kind", "started", "time", "end", "ended")
_OF_QUEUES = ("slot", "queue", "manager", "shared", "size", "persistent", "time")


class _Groups:
    """Rows that become one: those with equal keys, in the order of the keys.

    of     the group of each row
    first  the first row of each group; `last`: the last one
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

    def combined(self, how: np.ufunc, values: Any) -> Any:
        """Return a value a group."""
        return (
            how.reduceat(np.asarray(values)[self._order], self._start) if len(self.of) else values
        )


def merged(
    chunk: Chunk, tasks: Tasks, queues: QueueWork, work: TaskWork
) -> tuple[Tasks, QueueWork, TaskWork]:
    """Return tasks, queues and work with a row for each interval of class 3."""
    longer = (chunk.first + tasks.time) // chunk.plan.several
    groups = _Groups(tasks.app, tasks.number, tasks.started, longer)
    found = copy.copy(tasks)
    for name in _OF_TASKS:
        setattr(found, name, getattr(tasks, name)[groups.last])
    found.begin = tasks.begin[groups.first]
    queues = _queues(queues, groups)
    return found, queues, _work(work, found, queues, groups)


def _queues(queues: QueueWork, tasks: _Groups) -> QueueWork:
    used = queues.used
    groups = _Groups(tasks.of[used.task], used.slot)
    merged_use = copy.copy(used)
    for name in _OF_QUEUES:
        setattr(merged_use, name, getattr(used, name)[groups.last])
    merged_use.task = tasks.of[used.task][groups.last]
    for name in ("put", "opened", "closed"):
        setattr(merged_use, name, groups.combined(np.add, getattr(used, name)))
    found = copy.copy(queues)
    found.used = merged_use
    found.columns = _columns(queues.columns, groups)
    found.coupling = _coupling(queues.coupling, groups)
    return found


def _columns(columns: Mapping[str, Any], groups: _Groups) -> Columns:
    found: Columns = {}
    for name, values in columns.items():
        if name == _LAST:
            found[name] = values[groups.last]
        elif name.endswith(_MOST):
            found[name] = groups.combined(np.maximum, values)
        elif name.endswith(_LEAST):
            none = np.iinfo(np.int64).max
            least = groups.combined(np.minimum, np.where(values > 0, values, none))
            found[name] = np.where(least == none, 0, least)
        else:
            found[name] = groups.combined(np.add, values)
    return found


def _coupling(coupling: Coupling, groups: _Groups) -> Coupling:
    found = copy.copy(coupling)
    for name in ("requests", "committed"):
        of = getattr(coupling, name)
        setattr(found, name, {key: groups.combined(np.add, of[key]) for key in of})
    for name in ("single", "several", "took"):
        setattr(found, name, groups.combined(np.add, getattr(coupling, name)))
    every = found.single + found.several
    usual = coupling.each[groups.last]
    found.each = np.where(every > 0, found.took / np.maximum(every, 1), usual)
    return found


def _work(work: TaskWork, tasks: Tasks, queues: QueueWork, groups: _Groups) -> TaskWork:
    found = copy.copy(work)
    found.blocks = np.bincount(queues.used.task, minlength=len(tasks))
    found.columns = _columns(work.columns, groups) | {
        "wtaswqct": found.blocks,
        "wtasflag": work.columns["wtasflag"][groups.last],
    }
    found.sums = _columns(work.sums, groups)
    for name in ("commits", "backouts"):
        setattr(found, name, groups.combined(np.add, getattr(work, name)))
    return found


_ADDRESS, _STEP, _APART, _AGENT = 0x5C000000, 0x168, 0x100000, 0x1234BD80
"""Where the control blocks of tasks are, and how far those of applications are apart."""
_CICS, _IMS = 1, 4
"""Connection types."""
_REGIONS = 100


class TaskBlocks:
    """Makes the blocks of tasks, a row each, and of their queues."""

    def __init__(self, chunk: Chunk, tasks: Tasks, queues: QueueWork, work: TaskWork) -> None:
        self._chunk, self._tasks, self._queues, self._work = chunk, tasks, queues, work
        self._version = chunk.plan.estate.version
        place = _STEP * (tasks.number % 2000) + _APART * (tasks.app % 256)
        self._address: Ints = _ADDRESS + place
        self.agent: Ints = self._address - _AGENT

    def wtid(self) -> Rows:
        """Return who the tasks are."""
        plan, tasks = self._chunk.plan, self._tasks
        apps = plan.estate.applications
        channels = [plan.channel(number) for number in range(len(apps))]
        rows = Rows(WTID, self._version, len(tasks))
        rows.set("wtidatyp", tasks.kind)
        for name, words in (
            ("wtidccn", [each.job for each in apps]),
            ("wtidopid", [each.user for each in apps]),
            ("wtidtran", [each.user for each in apps]),
            ("wtidchl", [each.shown if each else "" for each in channels]),
            ("wtidchlc", [each.connection if each else "" for each in channels]),
        ):
            rows.set_bytes(name, _names(WTID, name, words)[tasks.app])
        rows.set("wtidwtas", self._address + 0xD0)
        unit = np.full((len(tasks), 24), 0x40, np.uint8)
        unit[:, 16:22] = clock(tasks.begin)[:, :6]
        unit[:, 22:] = big_endian(1 + tasks.number % 30, 2)
        rows.set_bytes("wtiduowi", unit)
        rows.set_bytes("wtidcori", self._references())
        return rows

    def _references(self) -> Raw:
        """Return the thread cross-references: of CICS with a transaction, of IMS with a PSB."""
        tasks, apps = self._tasks, self._chunk.plan.estate.applications
        names = _names(QWHC, "qwhcopid", [each.transaction for each in apps])[tasks.app]
        thread = big_endian(self._address + 0x1A40, 4)
        transaction = np.hstack(
            [thread, names[:, :4], Packed().encode(1 + tasks.number % 9_999_999)]
        )
        region = encoded(Text(4), [f"{number:04}" for number in range(_REGIONS)])
        program = np.hstack([region[tasks.number % _REGIONS], names])
        kind = tasks.kind[:, None]
        found: Raw = np.where(
            kind == _CICS, transaction, np.where(kind == _IMS, program, np.uint8(0))
        )
        return found

    def wtas(self) -> Rows:
        """Return what the tasks count."""
        tasks = self._tasks
        rows = Rows(WTAS, self._version, len(tasks))
        rows.set_all(self._work.columns)
        self._set_coupling(rows)
        rows.set("wtasmthr", self._address - 0x2000000)
        rows.set("wtaswtas", self._address)
        rows.set("wtashshi", self._address * 31 % 1021)
        times = {"wtasstrt": tasks.started, "wtasints": tasks.begin, "wtasinte": tasks.end}
        rows.set_clocks(times)
        return rows

    def _set_coupling(self, rows: Rows) -> None:
        """Set the requests to structures that commits cause, and the totals of tasks."""
        used, coupling = self._queues.used, self._queues.coupling

        def by_task(values: Any) -> Any:
            return np.bincount(used.task, values, len(self._tasks))

        single, several = by_task(coupling.single), by_task(coupling.several)
        each = by_task(coupling.took) / np.maximum(single + several, 1)
        for request, count in coupling.committed.items():
            set_requests(rows, request, by_task(count).astype(np.int64), each)
        rows.set_all({"wtascsec": single, "wtascmec": several})
        rows.set_all({"wtassstc": single * each, "wtasmstc": several * each})

    def wqst(self) -> Rows:
        """Return what the tasks did with queues, a row each."""
        used, plan = self._queues.used, self._chunk.plan
        declared = plan.estate.queues
        rows = Rows(WQST, self._version, len(used.task), QUEUE_EYES)
        rows.set_all(self._queues.columns)
        rows.set_bytes("objname", _names(WQST, "objname", plan.slot_opened)[used.slot])
        for name, words in (
            ("basename", [each.name for each in declared]),
            ("cfstrucname", [each.structure for each in declared]),
        ):
            rows.set_bytes(name, _names(WQST, name, words)[used.queue])
        self._queues.coupling.set_in(rows)
        numbers = np.array([of.number for _, of in plan.page_sets] + [0])
        pools = np.array([of.pool for _, of in plan.page_sets] + [0])
        rows.set("qtype", plan.slot_type[used.slot])
        rows.set("qsgdisp", np.where(used.shared, SHARED_QUEUE, 0))
        rows.set("indxtype", self._indexes())
        rows.set("nps", numbers[plan.queue_set[used.queue]])
        rows.set("nbuffpool", pools[plan.queue_set[used.queue]])
        self._set_handles(rows)
        return rows

    def _indexes(self) -> Ints:
        """Return the index type of each queue: none while an incident took it away."""
        used, plan = self._queues.used, self._chunk.plan
        own = np.array([INDEXES[each.index] for each in plan.estate.queues])[used.queue]
        gone = self._chunk.effects.unindexed[used.time, used.queue] > 0
        return np.where(gone, 0, own)

    def _set_handles(self, rows: Rows) -> None:
        """Set when queues were opened and closed last."""
        used, tasks = self._queues.used, self._tasks
        lately = tasks.begin[used.task] + 150 + 1000 * (used.slot % 25)
        opened = np.where(used.opened > 0, lately, tasks.started[used.task] + 250_000)
        closed = np.where(used.closed > 0, tasks.end[used.task] - 200, NEVER)
        rows.set_clocks({"opentime": opened, "clostime": closed})

    def qmac(self, which: Ints) -> Rows:
        """Return what class 1 counts of some tasks: puts and gets by size, processor time."""
        used, tasks = self._queues.used, len(self._tasks)
        got, size = self._queues.columns["validget"], self._chunk.plan.queue_size[used.queue]
        columns = {
            **by_size("put", used.put, used.size, used.task, tasks),
            **by_size("get", got, size, used.task, tasks),
            "qmaccput": self._work.calls().cpu,
        }
        rows = Rows(QMAC, self._version, len(which))
        rows.set_all({name: values[which] for name, values in columns.items()})
        return rows

    def qwac(self, which: Ints) -> Rows:
        """Return the other block of class 1."""
        tasks = self._tasks
        columns = {
            "qwacejst": self._work.calls().cpu[which] * 1.3,
            "qwaccomm": self._work.commits[which],
            "qwacback": self._work.backouts[which],
        }
        return qwac(self._version, tasks.begin[which], tasks.end[which], columns)


def _names(block: Block, name: str, words: Sequence[str]) -> Raw:
    return encoded(block.field(name).kind, words)


class Accounting:
    """Who was connected, what they did with queues, and what both count.

    most  queue blocks that fit a record
    """

    def __init__(self, chunk: Chunk, most: int) -> None:
        self._chunk, self._most = chunk, most
        self.tasks = Tasks(chunk)
        self.used = UsedQueues(chunk, self.tasks)
        self.queues = QueueWork(chunk, self.used, self.tasks.ended)
        self.work = TaskWork(chunk, self.tasks, self.queues)

    def records(self) -> Iterator[RecordParts]:
        """Return the records of all tasks."""
        rows = self.tasks, self.queues, self.work
        if self._chunk.plan.several > 1:
            rows = merged(self._chunk, *rows)
        if len(rows[0]):
            yield from TaskRecords(self._chunk, self._most, *rows).records()


class TaskRecords:
    """The records of tasks: a row of `tasks` each."""

    def __init__(
        self, chunk: Chunk, most: int, tasks: Tasks, queues: QueueWork, work: TaskWork
    ) -> None:
        self._chunk, self._most = chunk, most
        self._tasks, self._queues, self._work = tasks, queues, work

    def records(self) -> Iterator[RecordParts]:
        """Return class 3, then class 1."""
        tasks, used = self._tasks, self._queues.used
        made = TaskBlocks(self._chunk, tasks, self._queues, self._work)
        wtid, wtas = made.wtid(), made.wtas()
        wqst = made.wqst()
        wqst.set_bytes("correl", wtas.raw[used.task, 8:24])
        each, nth = np.ones(len(tasks), np.int64), numbered(self._work.blocks)
        fits = np.minimum(self._work.blocks, self._most)
        first = (wqst.raw[nth < self._most], fits)
        blocks = {1: (wtid.raw, each), 2: (wtas.raw, each), 3: first}
        yield RecordParts(TASK, self._writers(made, np.arange(len(tasks)), 0), blocks)
        yield from self._continued(made, wtid, wqst, nth)
        yield from self._class_1(made, wtid)

    def _continued(
        self, made: TaskBlocks, wtid: Rows, wqst: Rows, nth: Ints
    ) -> Iterator[RecordParts]:
        """Return the records of queues that do not fit that of their task."""
        for part in range(1, 1 + int(nth.max(initial=0)) // self._most):
            mine = nth // self._most == part
            count = np.bincount(self._queues.used.task[mine], minlength=len(self._tasks))
            which = np.flatnonzero(count)
            each = np.ones(len(which), np.int64)
            blocks = {1: (wtid.raw[which], each), 2: (wqst.raw[mine], count[which])}
            yield RecordParts(CONTINUATION, self._writers(made, which, part), blocks)

    def _writers(self, made: TaskBlocks, which: Ints, part: int) -> Writers:
        tasks = self._tasks
        noise = self._chunk.draws(f"flags {part}").below(len(which), 1 << 32)
        when = tasks.end[which] + 2 + part
        agent = made.agent[which]
        return Writers(tasks.manager[which], when, tasks.begin[which], agent, noise=noise)

    def _class_1(self, made: TaskBlocks, wtid: Rows) -> Iterator[RecordParts]:
        """Return the records of the tasks that came and went: what they count is all they did."""
        which, tasks = np.flatnonzero(self._tasks.brief), self._tasks
        each = np.ones(len(which), np.int64)
        blocks = {1: (made.qwac(which).raw, each), 2: (made.qmac(which).raw, each)}
        who = correlation(self._chunk.plan.estate.version, wtid, which)
        when = tasks.end[which] + 1
        agent = made.agent[which]
        writers = Writers(tasks.manager[which], when, tasks.begin[which], agent, who)
        yield RecordParts(CLASS_1, writers, blocks)
