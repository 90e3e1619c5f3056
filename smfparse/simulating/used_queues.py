"""The queues that tasks used in some intervals: a row each, with the calls on it."""

from __future__ import annotations

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.chunk import Chunk, spread
from smfparse.simulating.coupling import Coupling
from smfparse.simulating.plan import NONE
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import Bools, Floats, Ints, numbered

_WAIT_SECONDS = 60.0
"""How long a get with wait waits for a message; then it gets none."""


class UsedQueues:
    """Rows by task and queue: those that were used.

    task, slot              row of the task, and which queue of its application it is
    put, streamed           messages that were put, and copies that this caused
    got, rolled, empty      gets: for good, backed out, in vain
    opened, closed          opens and closes
    time, manager, queue    where the row belongs to
    size, persistent        of the messages that are put
    wait                    microseconds that a forced log write takes
    selects                 whether its gets have a selector
    skipped                 messages that a get looks at before it finds its own
    """

    def __init__(self, chunk: Chunk, tasks: Tasks) -> None:
        self._chunk, self._tasks, plan = chunk, tasks, chunk.plan
        slots = [np.flatnonzero(plan.slot_app == app) for app in range(len(plan.app_manager))]
        each = np.array([len(of) for of in slots], np.int64)
        count = each[tasks.app]
        self.task: Ints = np.repeat(np.arange(len(tasks)), count)
        first = np.cumsum(each) - each
        self.slot: Ints = first[tasks.app[self.task]] + numbered(count)
        self._count()
        self._describe()

    def _count(self) -> None:
        """Count the calls of each row, and leave out those without any."""
        plan, did = self._chunk.plan, self._chunk.did
        put, streamed = did["put"] @ plan.slot_puts, did["streamed"] @ plan.slot_puts
        got, rolled = did["units"] @ plan.slot_gets, did["rolled"] @ plan.slot_gets
        counts = [self._part(values) for values in (put, streamed, got, rolled)]
        empty, opened, closed = self._empty(counts[2]), *self._handles(counts[2] + counts[0])
        used = sum(counts) + empty + opened + closed > 0
        self.task, self.slot = self.task[used], self.slot[used]
        every = (*counts, empty, opened, closed)
        self.put, self.streamed, self.got, self.rolled, self.empty, self.opened, self.closed = (
            values[used] for values in every
        )

    def _part(self, values: Floats) -> Ints:
        """Return each task's part of what an application does with a queue in an interval."""
        tasks = self._tasks
        total = np.rint(values[tasks.time[self.task], self.slot])
        return spread(total, tasks.low[self.task], tasks.high[self.task])

    def _empty(self, got: Ints) -> Ints:
        """Return gets that waited in vain: the fewer messages come, the more."""
        tasks, plan = self._tasks, self._chunk.plan
        lived = (tasks.end - tasks.begin)[self.task] / 1e6
        waits = np.floor(lived / _WAIT_SECONDS / (1 + got / 8))
        gets = plan.slot_work[self.slot] != NONE
        return np.where(gets, waits, 0).astype(np.int64)

    def _handles(self, calls: Ints) -> tuple[Ints, Ints]:
        """Return opens and closes: as a task starts and ends, and as often as its kind does it."""
        tasks = self._tasks
        again = self._chunk.plan.app_column("reopen")[tasks.app[self.task]]
        often = np.floor(calls * again + 0.5).astype(np.int64)
        fresh = (tasks.started >= tasks.begin - 60_000_000)[self.task]
        return often + fresh, often + tasks.ended[self.task]

    def _describe(self) -> None:
        chunk, plan, tasks = self._chunk, self._chunk.plan, self._tasks
        app = tasks.app[self.task]
        self.time: Ints = tasks.time[self.task]
        self.manager: Ints = tasks.manager[self.task]
        self.queue: Ints = plan.slot_queue[self.slot]
        self.shared: Bools = plan.shared[self.queue]
        self.size: Ints = plan.app_column("size")[app]
        self.persistent: Bools = plan.app_column("persistent")[app]
        self.put1: Bools = plan.app_column("put1")[app]
        self.by_id: Bools = plan.app_column("by_id")[app]
        self.selects: Bools = plan.app_column("scans")[app] > 0
        self.wait: Floats = chunk.did["log_wait"][self.time, self.manager]
        self.forced: Bools = (plan.app_column("commit")[app] == 0) & self.persistent
        work = plan.slot_work[self.slot]
        self.skipped: Floats = np.where(work != NONE, chunk.did["skipped"][self.time, work], 0)

    def coupling(self) -> Coupling:
        """Return the requests to structures: a get by id that scans reads more lists."""
        got = self.got + self.rolled
        counts = {
            "got": got,
            "put": np.where(self.put1, 0, self.put),
            "put1": np.where(self.put1, self.put, 0),
            "scanned": np.floor(got * self.skipped / costs.LIST_ENTRIES).astype(np.int64),
        }
        slower = self._chunk.effects.cf[self.time, self.queue]
        return Coupling(self.shared, counts, slower)
