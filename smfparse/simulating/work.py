"""The work of tasks in a chunk: used queues, and the counters of queue and task blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.block_parts import ACTIVE, ENDED, NO_MESSAGE, Coupling, calls
from smfparse.simulating.chunk import Chunk, Tasks, spread
from smfparse.simulating.declaration import APPLICATION_KINDS, FORCED_TWICE
from smfparse.simulating.draws import Bools, Columns, Draws, Floats, Ints, numbered
from smfparse.simulating.plan import NONE

_WAIT_SECONDS = 60.0
"""Wait interval of gets: seconds after which a get with wait returns without a message."""
_SELECTOR = 64
"""Number of bytes of a selector."""
_MOST_TIME = 2.0e15
"""Maximum microseconds in a TOD field."""
_READ_US = 560.0
_TWO_PHASE = (*FORCED_TWICE, "cics")
_OTHER, _CONTROL = 12.0, 3.0
_OWN = ("wtascm", "wtasot", "wtasct", "wtaspr", "wtasba")
_LOGGING = ("put", "put1", "get")
_VERBS = ("open", "close", "get", "put", "put1")


class QueueWork:
    """The counters of queue blocks: one row per task and used queue.

    task, slot              index of the task in `Tasks`, and slot of the queue in the plan
    put, streamed           numbers of messages put, and of copies on streaming queues
    got, rolled, empty      numbers of gets: committed, backed out, without a message
    opened, closed          numbers of opens and closes
    time, manager, queue    interval, queue manager and queue of the row
    size, persistent        size of the messages put, and whether these messages are persistent
    wait                    microseconds of a forced log write
    selects                 whether gets have a selector
    skipped                 number of messages that a get skips before its own message
    columns                 the counters of the blocks, by IBM's name of the field
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
        self._draws = chunk.draws("queues")
        self.coupling = self._requests()
        self.columns: Columns = {
            **self._puts(),
            **self._gets(),
            **self._opens(),
            **dict.fromkeys(("inqn", "setn", "cbn"), 0 * self.put),
            "use_count": np.where(tasks.ended[self.task], 0, 1),
            "maxqdpth": chunk.did["depth_most"][self.time, self.queue],
        }
        self.columns["total_use"] = sum(self.columns[f"{verb}n"] for verb in _VERBS)

    def _count(self) -> None:
        """Set the numbers of calls of each row, and remove rows without calls."""
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
        """Return the part of `values` for each row; `values`: numbers by interval and slot."""
        tasks = self._tasks
        total = np.rint(values[tasks.time[self.task], self.slot])
        return spread(total, tasks.low[self.task], tasks.high[self.task])

    def _empty(self, got: Ints) -> Ints:
        """Return the number of gets that waited without a message; few, if many messages arrive."""
        tasks, plan = self._tasks, self._chunk.plan
        lived = (tasks.end - tasks.begin)[self.task] / 1e6
        waits = np.floor(lived / _WAIT_SECONDS / (1 + got / 8))
        gets = plan.slot_work[self.slot] != NONE
        return np.where(gets, waits, 0).astype(np.int64)

    def _handles(self, calls: Ints) -> tuple[Ints, Ints]:
        """Return numbers of opens and closes: at start and end of a task, and after some calls."""
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

    def _requests(self) -> Coupling:
        """Return the requests to structures; a get by id that skips messages reads more lists."""
        got = self.got + self.rolled
        counts = {
            "got": got,
            "put": np.where(self.put1, 0, self.put),
            "put1": np.where(self.put1, self.put, 0),
            "scanned": np.floor(got * self.skipped / costs.LIST_ENTRIES).astype(np.int64),
        }
        slower = self._chunk.effects.cf[self.time, self.queue]
        return Coupling(self.shared, counts, slower)

    def _puts(self) -> Columns:
        size = self.size
        cpu = costs.put_cpu(size, self.shared) * self._draws.near(len(size), 0.06)
        columns: Columns = {}
        for verb, mine, factor in (
            ("put", ~self.put1, 1.0),
            ("put1", self.put1, costs.PUT1_FACTOR),
        ):
            count, copies = (np.where(mine, each, 0) for each in (self.put, self.streamed))
            columns |= self._put_verb(verb, count, copies, cpu * factor)
            extra = np.where(mine, self.coupling.extra(3 + (verb == "put1")), 0)
            columns[f"{verb}ct"] = columns[f"{verb}ct"] + extra
            columns[f"{verb}et"] = columns[f"{verb}et"] + extra
        lasting = self.persistent
        return columns | {
            "putpmsg": np.where(lasting, columns["putn"], 0),
            "put1pmsg": np.where(lasting, columns["put1n"], 0),
            "validput": self.put,
            **_sizes("put", self.put, size, self._draws),
            "streamedn": self.streamed,
        }

    def _put_verb(self, verb: str, count: Ints, copies: Ints, cpu: Floats) -> Columns:
        written = np.where(self.persistent, count + copies, 0)
        forced = np.where(self.forced, count, 0)
        spent = (count + copies * costs.STREAMED) * cpu
        writing, waiting = written * costs.LOG_WRITE, forced * self.wait
        late = self._late_pages(count)
        return calls(
            verb,
            count,
            spent,
            self._stretched(spent) + writing + waiting * 1.01 + late,
            jw=(written, writing),
            jc=(forced, waiting),
            sus=(forced, waiting * 1.01),
            ps=(np.where(late > 0, count, 0), late),
        )

    def _late_pages(self, calls: Ints) -> Floats:
        """Return the microseconds that puts spent on page writes, because the pool was full."""
        pool = self._chunk.plan.queue_pool[self.queue]
        waits = np.append(self._chunk.did["page_wait"], np.zeros((self._chunk.times, 1)), axis=1)
        late: Floats = waits[self.time, pool] * calls * costs.pages(self.size)
        return late

    def _gets(self) -> Columns:
        got, size = self.got, self._chunk.plan.queue_size[self.queue]
        valid = got + self.rolled
        skipped = np.where(self.shared, 0, np.floor(valid * self.skipped))
        cpu = costs.GET_SHARE * costs.put_cpu(size, self.shared)
        spent = valid * cpu * self._draws.near(len(got), 0.06) + self.empty * costs.EMPTY_GET
        spent = spent + skipped * costs.SKIPPED + self.coupling.extra(2)
        lasting = self._chunk.plan.queue_persistent[self.queue]
        written = np.where(lasting, valid, 0)
        read = np.floor(self._read_share() * valid)
        reading = read * _READ_US
        writing = written * costs.LOG_WRITE
        elapsed = self._stretched(spent) + writing + reading * 1.02
        waits = {"jw": (written, writing), "ps": (read, reading), "sus": (read, reading * 1.02)}
        return {
            **calls("get", valid + self.empty, spent, elapsed, **waits),
            "geterr": self.empty,
            "gets": np.where(self.by_id, valid + self.empty, 0),
            "geta": np.where(self.by_id, 0, valid + self.empty),
            "getsmsg": skipped,
            "selcount": np.where(self.selects, valid, 0),
            "selmaxln": np.where(self.selects & (valid > 0), _SELECTOR, 0),
            "validget": valid,
            "getdval": valid,
            "getpmsg": written,
            **_sizes("get", valid, size, self._draws),
            **self._latencies(valid),
        }

    def _read_share(self) -> Floats:
        """Return the number of pages read per message got, for the queue of each row."""
        did = self._chunk.did
        read, went = did["queue_read"], np.maximum(did["went"], 1)
        share: Floats = (read / went)[self.time, self.queue]
        return share

    def _latencies(self, got: Ints) -> Columns:
        """Return the columns of the time that messages are on a queue."""
        chunk = self._chunk
        did = chunk.did
        mean = did["latency"][self.time, self.queue] * self._draws.near(len(got), 0.1)
        low, high = self._draws.near(len(got), 0.3), self._draws.near(len(got), 0.3)
        several = got > 1
        return {
            "totlatnt": np.minimum(got * mean, _MOST_TIME),
            "maxlatnt": np.where(got > 0, np.where(several, mean * (1 + 2 * high), mean), 0),
            "minlatnt": np.where(got > 0, np.where(several, mean * low * 0.4, mean), 0),
        }

    def _opens(self) -> Columns:
        """Return the columns of opens and closes; structures of shared queues are already open."""
        opening = np.where(self.shared, costs.SHARED_OPEN_HELD, costs.OPEN)
        spent = self.opened * opening * self._draws.near(len(self.task), 0.2)
        closing = self.closed * costs.CLOSE * self._draws.near(len(self.task), 0.2)
        return {
            **calls("open", self.opened, spent, self._stretched(spent)),
            "opencf0": np.where(self.shared, self.opened, 0),
            **calls("close", self.closed, closing, self._stretched(closing)),
            "closecf0": np.where(self.shared, self.closed, 0),
        }

    def _stretched(self, spent: Any) -> Floats:
        """Return elapsed times for CPU times, with waits for a processor."""
        lasts: Floats = spent * (1.02 + 0.12 * self._draws.uniform(len(spent)))
        return lasts


def _sizes(verb: str, messages: Ints, size: Ints, draws: Draws) -> Columns:
    low, high = draws.near(len(size), 0.2), draws.near(len(size), 0.2)
    several = messages > 1
    total = np.floor(messages * size * np.where(several, draws.near(len(size), 0.02), 1))
    least = np.where(several, np.floor(size * 0.5 * low), size)
    most = np.where(several, np.floor(size * 1.8 * high), size)
    return {
        f"{verb}bytes": total,
        f"{verb}minms": np.where(messages > 0, least, NO_MESSAGE),
        f"{verb}maxms": np.where(messages > 0, most, 0),
    }


class TaskWork:
    """The counters of task blocks: one row per row of `tasks`.

    sums  {counter: sum over the queue blocks of each task}
    """

    def __init__(self, chunk: Chunk, tasks: Tasks, queues: QueueWork) -> None:
        self._chunk, self._tasks, self._queues = chunk, tasks, queues
        self._draws = chunk.draws("tasks")
        self.sums = {
            name: np.bincount(queues.task, values, len(tasks))
            for name, values in queues.columns.items()
        }
        plan, did = chunk.plan, chunk.did
        ends = np.where(plan.commit > 0, did["units"] / np.maximum(plan.commit, 1), 0)
        self.commits = self._share(np.ceil(ends))
        self.backouts = self._share(did["rolled"])
        self._forces = self._forced_writes()
        wait = did["log_wait"][tasks.time, tasks.manager]
        self._waits: Floats = self._forces * wait * self._draws.near(len(tasks), 0.05)
        self.columns: Columns = {
            "wtaswqct": np.bincount(queues.task, minlength=len(tasks)),
            "wtasflag": np.where(tasks.ended, ENDED, ACTIVE),
            **self._units(),
            **self._log(),
            **self._others(),
            **self._pages(),
        }

    def _share(self, works: Any) -> Ints:
        """Return the part of `works` for each task; `works`: numbers by interval and work."""
        plan, tasks = self._chunk.plan, self._tasks
        total = np.zeros((self._chunk.times, len(plan.app_manager)))
        np.add.at(total.T, plan.app, works.T)
        return spread(np.rint(total[tasks.time, tasks.app]), tasks.low, tasks.high)

    def _is_one_of(self, kinds: Sequence[str]) -> Bools:
        return np.isin(self._tasks.kind, [APPLICATION_KINDS[each] for each in kinds])

    def _added(self, counter: str, start: Any = 0, verbs: Sequence[str] = _LOGGING) -> Any:
        return sum((self.sums[f"{verb}{counter}"] for verb in verbs), start)

    def _forced_writes(self) -> Ints:
        """Return the number of log writes that commits wait for, two per two-phase commit."""
        ends = np.minimum(self._share(self._chunk.did["logged_ends"]), self.commits)
        times = np.where(self._is_one_of(FORCED_TWICE), 2, 1)
        return np.where(self._added("jwn") > 0, ends * times, 0)

    def _units(self) -> Columns:
        """Return the columns of commits, prepares and backouts, including the waits for the log."""
        near, two_phase = self._draws.near(len(self.commits), 0.1), self._is_one_of(_TWO_PHASE)
        commit = self.commits * costs.COMMIT * near
        prepared = np.where(two_phase, self.commits, 0)
        prepare, backout = prepared * costs.PREPARE * near, self.backouts * costs.BACKOUT * near
        first = np.where(two_phase, self._waits * 0.8, 0)
        return {
            **calls("wtascm", self.commits, commit, commit * 1.08 + (self._waits - first) * 1.01),
            **calls("wtaspr", prepared, prepare, prepare * 1.08 + first * 1.01),
            **calls("wtasba", self.backouts, backout, backout * 2.4),
        }

    def _log(self) -> Columns:
        forces, waits, puts = self._forces, self._waits, _LOGGING[:2]
        return {
            "wtasjwn": self._added("jwn"),
            "wtasjwet": self._added("jwet"),
            "wtasjwb": self._share(self._chunk.did["work_bytes"]),
            "wtasjcn": self._added("jcn", forces, puts),
            "wtasjcet": self._added("jcet", waits, puts),
            "wtassusn": self._added("susn", forces),
            "wtassuse": self._added("suset", waits * 1.01),
        }

    def _others(self) -> Columns:
        tasks = self._tasks
        fresh = np.where(tasks.started >= tasks.begin - 60_000_000, 1, 0)
        control = np.where(self._chunk.plan.app_column("stays")[tasks.app] > 0, 2, 0)
        other = 2 * fresh + tasks.ended
        return {
            **calls("wtasot", other, other * _OTHER, other * _OTHER * 1.1),
            **calls("wtasct", control, control * _CONTROL, control * _CONTROL * 1.2),
        }

    def _pages(self) -> Columns:
        queues, rows = self._queues, len(self._tasks)
        new = np.where(queues.shared, 0, (queues.put + queues.streamed) * costs.pages(queues.size))
        got = queues.columns["validget"] * self._chunk.plan.queue_pages[queues.queue]
        old = np.where(queues.shared, 0, got * 2)
        return {
            "wtasgpn": np.bincount(queues.task, new, rows),
            "wtasgpo": np.bincount(queues.task, old + 2 * new, rows),
        }

    def calls(self, part: str) -> Any:
        """Return the number ("n"), CPU time ("ct") or elapsed time ("et") of all calls of tasks."""
        of_queues = self._added(part, verbs=_VERBS)
        return of_queues + sum(self.columns[f"{name}{part}"] for name in _OWN)
