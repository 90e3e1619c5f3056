"""The queues that tasks used in some intervals, a row each, and the counters of their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.chunk import Chunk, Columns, spread
from smfparse.simulating.coupling import Coupling
from smfparse.simulating.plan import NONE
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import Bools, Draws, Floats, Ints, numbered

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


_NO_MESSAGE = 0x0FFFFFFF
_SELECTOR = 64
"""Bytes of a selector."""
_MOST_TIME = 2.0e15
"""Microseconds that a TOD field holds."""
_READ_US = 560.0


class QueueWork:
    """What the blocks of used queues count, by IBM's field name: `columns`, a value a row."""

    def __init__(self, chunk: Chunk, used: UsedQueues, ended: Bools) -> None:
        self._chunk, self.used = chunk, used
        self._draws = chunk.draws("queues")
        self.coupling = used.coupling()
        self.columns: Columns = {
            **self._puts(),
            **self._gets(),
            **self._opens(),
            **dict.fromkeys(("inqn", "setn", "cbn"), 0 * used.put),
        }
        calls = ("openn", "closen", "getn", "putn", "put1n")
        self.columns["total_use"] = sum(self.columns[name] for name in calls)
        self.columns["use_count"] = np.where(ended[used.task], 0, 1)
        self.columns["maxqdpth"] = chunk.did["depth_most"][used.time, used.queue]

    def _puts(self) -> Columns:
        size = self.used.size
        cpu = costs.put_cpu(size, self.used.shared) * self._draws.near(len(size), 0.06)
        columns: Columns = {}
        for verb, mine, factor in (
            ("put", ~self.used.put1, 1.0),
            ("put1", self.used.put1, costs.PUT1_FACTOR),
        ):
            calls = np.where(mine, self.used.put, 0)
            copies = np.where(mine, self.used.streamed, 0)
            columns |= self._put_verb(verb, calls, copies, cpu * factor)
            extra = np.where(mine, self.coupling.extra(3 + (verb == "put1")), 0)
            columns[f"{verb}ct"] = columns[f"{verb}ct"] + extra
            columns[f"{verb}et"] = columns[f"{verb}et"] + extra
        lasting = self.used.persistent
        return columns | {
            "putpmsg": np.where(lasting, columns["putn"], 0),
            "put1pmsg": np.where(lasting, columns["put1n"], 0),
            "validput": self.used.put,
            **_sizes("put", self.used.put, size, self._draws),
            "streamedn": self.used.streamed,
        }

    def _put_verb(self, verb: str, calls: Ints, copies: Ints, cpu: Floats) -> Columns:
        written = np.where(self.used.persistent, calls + copies, 0)
        forced = np.where(self.used.forced, calls, 0)
        spent = (calls + copies * costs.STREAMED) * cpu
        writing, waiting = written * costs.LOG_WRITE, forced * self.used.wait
        late = self._late_pages(calls)
        return {
            f"{verb}n": calls,
            f"{verb}ct": spent,
            f"{verb}et": self._stretched(spent) + writing + waiting * 1.01 + late,
            f"{verb}jwn": written,
            f"{verb}jwet": writing,
            f"{verb}jcn": forced,
            f"{verb}jcet": waiting,
            f"{verb}susn": forced,
            f"{verb}suset": waiting * 1.01,
            f"{verb}psn": np.where(late > 0, calls, 0),
            f"{verb}pset": late,
        }

    def _late_pages(self, calls: Ints) -> Floats:
        """Return the time in which puts wrote pages of a full buffer pool themselves."""
        pool = self._chunk.plan.queue_pool[self.used.queue]
        waits = np.append(self._chunk.did["page_wait"], np.zeros((self._chunk.times, 1)), axis=1)
        late: Floats = waits[self.used.time, pool] * calls * costs.pages(self.used.size)
        return late

    def _gets(self) -> Columns:
        got, size = self.used.got, self._chunk.plan.queue_size[self.used.queue]
        valid = got + self.used.rolled
        passed = np.where(self.used.shared, 0, np.floor(valid * self.used.skipped))
        cpu = costs.GET_SHARE * costs.put_cpu(size, self.used.shared)
        spent = valid * cpu * self._draws.near(len(got), 0.06) + self.used.empty * costs.EMPTY_GET
        spent = spent + passed * costs.SKIPPED + self.coupling.extra(2)
        lasting = self._chunk.plan.queue_persistent[self.used.queue]
        written = np.where(lasting, valid, 0)
        read = np.floor(self._read_share() * valid)
        reading = read * _READ_US
        writing = written * costs.LOG_WRITE
        return {
            "getn": valid + self.used.empty,
            "geterr": self.used.empty,
            "gets": np.where(self.used.by_id, valid + self.used.empty, 0),
            "geta": np.where(self.used.by_id, 0, valid + self.used.empty),
            "getct": spent,
            "getet": self._stretched(spent) + writing + reading * 1.02,
            "getjwn": written,
            "getjwet": writing,
            "getpsn": read,
            "getpset": reading,
            "getsusn": read,
            "getsuset": reading * 1.02,
            "getsmsg": passed,
            "selcount": np.where(self.used.selects, valid, 0),
            "selmaxln": np.where(self.used.selects & (valid > 0), _SELECTOR, 0),
            "validget": valid,
            "getdval": valid,
            "getpmsg": written,
            **_sizes("get", valid, size, self._draws),
            **self._latencies(valid),
        }

    def _read_share(self) -> Floats:
        """Return the pages read for a message of each queue."""
        did, used = self._chunk.did, self.used
        read, went = did["queue_read"], np.maximum(did["went"], 1)
        share: Floats = (read / went)[used.time, used.queue]
        return share

    def _latencies(self, got: Ints) -> Columns:
        """Return how long messages were on the queue: its mean depth by what was taken from it."""
        chunk = self._chunk
        did = chunk.did
        mean = did["latency"][self.used.time, self.used.queue] * self._draws.near(len(got), 0.1)
        low, high = self._draws.near(len(got), 0.3), self._draws.near(len(got), 0.3)
        several = got > 1
        return {
            "totlatnt": np.minimum(got * mean, _MOST_TIME),
            "maxlatnt": np.where(got > 0, np.where(several, mean * (1 + 2 * high), mean), 0),
            "minlatnt": np.where(got > 0, np.where(several, mean * low * 0.4, mean), 0),
        }

    def _opens(self) -> Columns:
        """Return opens and closes, and their times: of shared queues somebody else holds most."""
        opening = np.where(self.used.shared, costs.SHARED_OPEN_HELD, costs.OPEN)
        spent = self.used.opened * opening * self._draws.near(len(self.used.task), 0.2)
        closing = self.used.closed * costs.CLOSE * self._draws.near(len(self.used.task), 0.2)
        return {
            "openn": self.used.opened,
            "openct": spent,
            "openet": self._stretched(spent),
            "opencf0": np.where(self.used.shared, self.used.opened, 0),
            "closen": self.used.closed,
            "closect": closing,
            "closeet": self._stretched(closing),
            "closecf0": np.where(self.used.shared, self.used.closed, 0),
        }

    def _stretched(self, spent: Any) -> Floats:
        """Return how long some processor time lasts, with the waits for a processor."""
        lasts: Floats = spent * (1.02 + 0.12 * self._draws.uniform(len(spent)))
        return lasts


def _sizes(verb: str, messages: Ints, size: Ints, draws: Draws) -> Columns:
    """Return the bytes of messages, and the smallest and largest of them."""
    low, high = draws.near(len(size), 0.2), draws.near(len(size), 0.2)
    several = messages > 1
    total = np.floor(messages * size * np.where(several, draws.near(len(size), 0.02), 1))
    least = np.where(several, np.floor(size * 0.5 * low), size)
    most = np.where(several, np.floor(size * 1.8 * high), size)
    return {
        f"{verb}bytes": total,
        f"{verb}minms": np.where(messages > 0, least, _NO_MESSAGE),
        f"{verb}maxms": np.where(messages > 0, most, 0),
    }
