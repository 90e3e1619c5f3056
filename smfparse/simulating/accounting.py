"""Accounting: the work of tasks in some intervals, and its class 1 and class 3 records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.schemas import CONTINUATION, TASK
from smfparse.simulating.chunk import Chunk
from smfparse.simulating.intervals import merged
from smfparse.simulating.queue_work import QueueWork, UsedQueues
from smfparse.simulating.task_blocks import TaskBlocks
from smfparse.simulating.task_work import TaskWork
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import Ints, RecordParts, Rows, Writers, correlation, numbered

_CLASS_1 = (116, 0)


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
        blocks = {1: (made.qwac(which), each), 2: (made.qmac(which).raw, each)}
        who = correlation(self._chunk.plan.estate.version, wtid, which)
        when = tasks.end[which] + 1
        agent = made.agent[which]
        writers = Writers(tasks.manager[which], when, tasks.begin[which], agent, who)
        yield RecordParts(_CLASS_1, writers, blocks)
