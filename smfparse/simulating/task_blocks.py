"""The blocks of accounting records: the identity of tasks, and their counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smfparse.layout import Block, Packed, Raw, Text
from smfparse.schemas import QMAC, QWAC, QWHC, WQST, WTAS, WTID
from smfparse.simulating.chunk import Chunk
from smfparse.simulating.coupling import set_requests
from smfparse.simulating.declaration import INDEXES
from smfparse.simulating.queue_work import QueueWork
from smfparse.simulating.task_work import TaskWork
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import NEVER, Ints, Rows, big_endian, clock, encoded

_ADDRESS, _STEP, _APART, _AGENT = 0x5C000000, 0x168, 0x100000, 0x1234BD80
"""Where the control blocks of tasks are, and how far those of applications are apart."""
_CICS, _IMS = 1, 4
"""Connection types."""
_REGIONS = 100
_SHARED = 2
_SIZE_BANDS = (100, 1000, 10_000)
_TASK_ENDED = 12
_WHOLE_QWAC = "9.4.0"
_EYES = {
    "openeye": "OPEN",
    "closeeye": "CLOS",
    "geteye": "GET",
    "puteye": "PUT",
    "put1eye": "PUT1",
    "inqeye": "INQ",
    "seteye": "SET",
    "cbeye": "CB",
}


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
        rows = Rows(WQST, self._version, len(used.task), _EYES)
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
        rows.set("qsgdisp", np.where(used.shared, _SHARED, 0))
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
        used = self._queues.used
        rows = Rows(QMAC, self._version, len(which))
        got = self._queues.columns["validget"], self._chunk.plan.queue_size[used.queue]
        for verb, counts, size in (("put", used.put, used.size), ("get", *got)):
            band = np.searchsorted(_SIZE_BANDS, size, side="right")
            for number, letter in enumerate("abcd"):
                mine = np.where(band == number, counts, 0)
                total = np.bincount(used.task, mine, len(self._tasks))
                rows.set(f"qmac{verb}{letter}", total[which])
        rows.set("qmaccput", self._work.calls().cpu[which])
        return rows

    def qwac(self, which: Ints) -> Raw:
        """Return the other block of class 1; of MQ 10 the first part of it."""
        tasks = self._tasks
        rows = Rows(QWAC, _WHOLE_QWAC, len(which), {"qwacrinv": _TASK_ENDED})
        rows.set_clocks({"qwacbsc": tasks.begin[which], "qwacesc": tasks.end[which]})
        rows.set("qwacejst", self._work.calls().cpu[which] * 1.3)
        rows.set("qwaccomm", self._work.commits[which])
        rows.set("qwacback", self._work.backouts[which])
        return rows.raw[:, : QWAC.length_at(self._version)]


def _names(block: Block, name: str, words: Sequence[str]) -> Raw:
    return encoded(block.field(name).kind, words)
