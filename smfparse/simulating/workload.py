"""An invented workload: the tasks of queue managers, their queues and times.

Moments are microseconds since 1970, in UTC.
"""

from __future__ import annotations

import copy
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout.clocks import UNIX_EPOCH, US_PER_DAY, US_PER_SECOND
from smfparse.schemas import WQST
from smfparse.simulating.block_parts import FIRST_TASK, QUEUE_EYES, SHARED_QUEUE, TASK_BYTES
from smfparse.simulating.declaration import ALIAS, APPLICATION_KINDS, LOCAL_QUEUE, check_times
from smfparse.simulating.draws import (
    Bools,
    Draws,
    Floats,
    Ints,
    Rows,
    clock,
    encoded,
    hexadecimal,
    numbered,
    whole,
)

_US = dt.timedelta(microseconds=1)
_NAME = re.compile(r"[A-Z0-9@#$]{1,4}")
_VERSION = re.compile(r"([6-9]\.\d|\d\d\.\d\d?)\.\d\d?")
_CALLS_PER_SECOND = 100
"""Maximum API calls of a task per second: calls must not take longer than the task exists."""
_LASTING_RATE, _BRIEF_RATE = 0.7, 7.0
"""Typical API calls per second and queue of lasting tasks, and of brief tasks."""
_LEAST_LENGTH = 20_000

BATCH, CICS, IMS, CHINIT, RRS = (
    APPLICATION_KINDS[each] for each in ("batch", "cics", "ims", "channel", "rrs")
)
TRANSACTIONAL = (CICS, IMS, RRS)
"""Adapters with a transaction manager, which opens queues for each unit of work."""
_ADAPTERS = np.array([BATCH, BATCH, BATCH, CICS, CICS, IMS, CHINIT, CHINIT, CHINIT, RRS])


def _numbered(stems: str, last: int) -> tuple[str, ...]:
    return tuple(f"{stem}{number:02}" for stem in stems.split() for number in range(1, last + 1))


JOBS_OF: Mapping[int, tuple[str, ...]] = {
    BATCH: _numbered("PAYBAT STMTPR LEDGER CLAIMS FXRATE EODREC NIGHTL FRAUD", 12),
    CICS: _numbered("CICSAO CICSTO PAYAOR CRDAOR", 8),
    IMS: ("IMSP", "IMSA", "IMSB"),
    CHINIT: (),
    RRS: _numbered("BRKEXE DB2STP WASSRV", 6),
}
"""Job names by adapter; the name of a channel initiator contains its queue manager."""
USERS = (
    *("BATCHUSR", "CICSUSER", "IMSUSER", "MQCHAN", "BROKER", "OPS0001", "FTEAGENT", "WEBAPP"),
    *(f"{7919 * number % 1_000_000:07}" for number in range(1, 150)),
    *(f"U{104_729 * number % 1_000_000:06}" for number in range(1, 150)),
)
_DOMAINS = ("PAYMENTS", "LEDGER", "CARDS", "CLAIMS", "FX", "STATEMENTS", "CUSTOMER", "FRAUD")
_SERVICES = tuple(
    "".join("BCDFGKLMNPRSTVXZ"[code >> shift & 15] for shift in (0, 4, 8))
    for code in range(389, 4096, 79)
)
"""Abbreviations for names of queues and channels: LGR, XTB."""
_PURPOSES = (
    *("REQUEST", "REPLY", "EVENT", "AUDIT", "RETRY", "ERROR"),
    *("INBOUND.FROM.PARTNER", "OUTBOUND.TO.PARTNER.REPORT"),
)
CHANNELS = (
    *("", "APP.SVRCONN", "WEB.SVRCONN", "QM01.TO.QM02", "TO.QM01", "CLUS.PAY.QM01"),
    *(f"{domain}.{service}.SVR" for domain in _DOMAINS for service in _SERVICES[:20]),
    *(f"TO.QM{number:02}" for number in range(2, 40)),
)
ADDRESSES = (
    *("", "10.20.30.41", "10.20.30.42", "192.0.2.17", "mqgw.example.com", "198.51.100.9"),
    *(
        f"10.{number % 7 + 20}.{number * 37 % 251}.{number * 101 % 253 + 1}"
        for number in range(200)
    ),
    *(f"mqlp{number}.example.com(14{number:02})" for number in range(10, 30)),
)
_TRANSMISSION = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
QUEUES = (
    _TRANSMISSION,
    *(
        f"{domain}.{purpose}" if service is None else f"{domain}.{service}.{purpose}"
        for service in (None, *_SERVICES)
        for domain in _DOMAINS
        for purpose in _PURPOSES
    ),
)
_ALIASES = ("REMOTE", *(f"APP.{name.replace('.', '_', 1)}"[:48] for name in QUEUES[1:]))
_DYNAMIC = "CSQ."
_MODEL = "SYSTEM.DEFAULT.MODEL.QUEUE"
STRUCTURES = ("", "APPSTRUC1", "APPSTRUC2")
_BLOCK_STEP = 0xB00
"""Bytes between the addresses of two queue blocks of a task."""


@dataclass(frozen=True)
class Site:
    """The requested data: queue managers of one system, and the amount of their work.

    qmgrs       names, 1 to 4 characters each
    system      SMF id of the z/OS system, 1 to 4 characters
    start       start of the first interval, local time of the z/OS system (no tzinfo)
    utc_offset  local time minus UTC, a multiple of 15 minutes
    interval    length of intervals of statistics and accounting, from a second to a day
    version     MQ version from "6.0.0" on: version.release.modification
    seed        seed of the random numbers, not negative
    tasks       number of class 3 tasks per queue manager and interval
    queues      average number of queues per task; a task never has more than fit into one record
    dense       whether every counter, time and flag word is random: the worst case for speed and
                size

    Raises RequestError for invalid values.
    """

    qmgrs: Sequence[str]
    system: str
    start: dt.datetime
    utc_offset: dt.timedelta
    interval: dt.timedelta
    version: str
    seed: int
    tasks: int
    queues: int
    dense: bool = False

    def __post_init__(self) -> None:
        if not self.qmgrs or len(set(self.qmgrs)) < len(self.qmgrs):
            raise RequestError("queue managers: give at least one name, and no name twice")
        for name in (*self.qmgrs, self.system):
            if _NAME.fullmatch(name) is None:
                raise RequestError(
                    f"{name!r}: names of queue managers and systems: 1 to 4 of A-Z 0-9 @ # $"
                )
        check_times(self.start, self.utc_offset, self.interval)
        if _VERSION.fullmatch(self.version) is None:
            raise RequestError(
                f"MQ version {self.version}: must be 6.0.0 or later, in the form 9.3.0"
            )
        for name in ("seed", "tasks", "queues"):
            if getattr(self, name) < 0:
                raise RequestError(f"{name} {getattr(self, name)}: must be at least 0")

    @property
    def begin(self) -> int:
        """The start of the first interval, in microseconds since 1970."""
        return (self.start - self.utc_offset - UNIX_EPOCH) // _US

    @property
    def length(self) -> int:
        """The length of an interval, in microseconds."""
        return self.interval // _US

    @property
    def offset(self) -> int:
        """Local time minus UTC, in microseconds."""
        return self.utc_offset // _US


class Tasks:
    """The tasks of all queue managers, and their queues; all intervals have the same tasks.

    Tasks are ordered by queue manager, queues by task; `task` is the task index of each queue.
    A lasting task runs in all intervals; a brief task starts and ends within each interval.
    """

    def __init__(self, site: Site, most_queues: int) -> None:
        draws = Draws(site.seed, 0)
        self.site = site
        rows = len(site.qmgrs) * site.tasks
        self.qmgr: Ints = np.repeat(np.arange(len(site.qmgrs)), site.tasks)
        self.number: Ints = np.arange(rows)
        self.lasting: Bools = draws.chance(rows, 0.7)
        self.started: Ints = site.begin - US_PER_SECOND - draws.below(rows, 20 * US_PER_DAY)
        self.adapter: Ints = _ADAPTERS[draws.below(rows, len(_ADAPTERS))]
        self._jobs(draws)
        wanted = np.rint(2 * site.queues * draws.uniform(rows)).astype(np.int64)
        self.queues: Ints = np.minimum(wanted, most_queues)
        self.address: Ints = FIRST_TASK + TASK_BYTES * self.number + draws.below(rows, 16) * 0x10000
        self._queues(draws)
        self._names(draws)

    def __len__(self) -> int:
        return len(self.number)

    def repeated(self, times: int) -> Tasks:
        """Return the tasks of several intervals, interval by interval."""
        found = copy.copy(self)
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(found, name, np.concatenate([values] * times))
        found.task = found.task + len(self) * np.repeat(np.arange(times), len(self.task))
        return found

    def _jobs(self, draws: Draws) -> None:
        """Set job and user of each task and, for the channel initiator, channel and partner."""
        rows, own = len(self.adapter), tuple(f"{name}CHIN" for name in self.site.qmgrs)
        self.jobs = (*(name for names in JOBS_OF.values() for name in names), *own)
        self.job: Ints = len(self.jobs) - len(own) + self.qmgr
        first, part = 0, draws.uniform(rows)
        for adapter, names in JOBS_OF.items():
            if names:
                mine = first + whole(part * len(names))
                self.job = np.where(self.adapter == adapter, mine, self.job)
            first += len(names)
        self.user: Ints = draws.below(rows, len(USERS))
        channel = 1 + draws.below(rows, len(CHANNELS) - 1)
        self.channel: Ints = np.where(self.adapter == CHINIT, channel, 0)
        partner = 1 + draws.below(rows, len(ADDRESSES) - 1)
        self.partner: Ints = np.where(self.adapter == CHINIT, partner, 0)

    def _queues(self, draws: Draws) -> None:
        self.task: Ints = np.repeat(np.arange(len(self.queues)), self.queues)
        rows = len(self.task)
        role = draws.uniform(rows)
        self.puts: Bools = role < 0.65
        self.gets: Bools = (role >= 0.4) & (role < 0.97)
        self.single: Bools = draws.chance(rows, 0.1)
        self.persistent: Bools = draws.chance(rows, 0.5)
        self.forced: Bools = self.persistent & draws.chance(rows, 0.3)
        self.shared: Bools = draws.chance(rows, 0.1)
        managed = np.isin(self.adapter[self.task], TRANSACTIONAL)
        self.reopened: Bools = draws.uniform(rows) < np.where(managed, 0.8, 0.2)
        self.streamed: Bools = draws.chance(rows, 0.05)
        self.fixed: Bools = draws.chance(rows, 0.3)
        self.size: Ints = 50 + whole(draws.skewed(rows, 1200, 50))
        most = _CALLS_PER_SECOND / self.queues[self.task]
        usual = np.where(self.lasting[self.task], _LASTING_RATE, _BRIEF_RATE)
        self.rate: Floats = np.minimum(usual * draws.skewed(rows, 1, 200), most)
        self.name: Ints = draws.below(rows, len(QUEUES))
        self._blocks(draws)

    def _blocks(self, draws: Draws) -> None:
        """Set the addresses of queue blocks; the blocks of a task form a chain."""
        nth = numbered(self.queues)
        base = 0x69000000 + 0x20 * draws.below(len(self.queues), 1 << 21)
        self.block: Ints = base[self.task] + _BLOCK_STEP * nth
        last = nth == self.queues[self.task] - 1
        self.next_block: Ints = np.where(last, 0, self.block + _BLOCK_STEP)
        self.block_before: Ints = np.where(nth == 0, 0, self.block - _BLOCK_STEP)
        self.first_block: Ints = base
        self.last_block: Ints = base + _BLOCK_STEP * np.maximum(self.queues - 1, 0)

    def _names(self, draws: Draws) -> None:
        """Set two names of queues: the opened name (can be an alias or a model), the base name."""
        rows, kind = len(self.task), WQST.field("basename").kind
        self.base_name = encoded(kind, QUEUES)[self.name]
        self.open_name = self.base_name.copy()
        alias = (self.name == 0) | draws.chance(rows, 0.25)
        other = np.where(self.name == 0, 1 + draws.below(rows, len(QUEUES) - 1), self.name)
        self.open_name[alias] = encoded(kind, _ALIASES)[other][alias]
        dynamic = self.gets & ~self.puts & ~alias & draws.chance(rows, 0.2)
        self.open_name[dynamic] = encoded(kind, [_MODEL])
        self.base_name[dynamic] = encoded(kind, [_DYNAMIC])
        digits = hexadecimal(clock(self.started[self.task] + 0x1000 * self.name))
        at = len(_DYNAMIC)
        self.base_name[dynamic, at : at + digits.shape[1]] = digits[dynamic]
        self.qtype: Ints = np.where(alias, ALIAS, LOCAL_QUEUE)

    def queue_rows(self) -> Rows:
        """Return the blocks of all queues; set only fields that are the same in every interval."""
        rows = Rows(WQST, self.site.version, len(self.task), QUEUE_EYES)
        rows.set_bytes("objname", self.open_name)
        rows.set_bytes("basename", self.base_name)
        rows.set_texts("cfstrucname", STRUCTURES, np.where(self.shared, 1 + self.name % 2, 0))
        rows.set_all(
            {
                "wqnext": self.next_block,
                "wqback": self.block_before,
                "qtype": self.qtype,
                "indxtype": np.where(self.gets, 2 * (self.name % 2), 0),
                "qsgdisp": np.where(self.shared, SHARED_QUEUE, 0),
                "nps": np.where(self.shared, 0, 1 + self.name % 20),
                "nbuffpool": np.where(self.shared, 0, 1 + self.name % 5),
            }
        )
        return rows


@dataclass(frozen=True)
class Spans:
    """The times that the accounting of tasks or queues covers, and the start of each task."""

    begin: Ints
    end: Ints
    started: Ints

    def of(self, owner: Ints) -> Spans:
        """Return spans by row; `owner`: index of the span of each row."""
        return Spans(self.begin[owner], self.end[owner], self.started[owner])

    @property
    def microseconds(self) -> Ints:
        """Return the length of each span."""
        return self.end - self.begin


class Intervals:
    """Some intervals; rows are ordered by interval, queue manager and task.

    first   number of the first interval
    tasks   tasks of all these intervals
    begin   start of the interval, one value per queue manager and interval
    qmgr    index of the queue manager, one value per queue manager and interval
    load    factor on the work, one value per queue manager and interval
    row     index of the queue manager and interval of each task
    ended   rows of the tasks that end within their interval
    spans   times that the accounting of each task covers
    """

    def __init__(self, tasks: Tasks, first: int, times: int) -> None:
        self.site, self.first, self.tasks = tasks.site, first, tasks.repeated(times)
        qmgrs = len(self.site.qmgrs)
        begin = self.site.begin + (first + np.arange(times)) * self.site.length
        self.begin: Ints = np.repeat(begin, qmgrs)
        self.qmgr: Ints = np.tile(np.arange(qmgrs), times)
        self.load = self._load()
        self.row = self.tasks.qmgr + qmgrs * np.repeat(np.arange(times), len(tasks))
        self.ended: Ints = np.flatnonzero(~self.tasks.lasting)
        self.class_3 = self.draws("class 3")
        self.spans = self._spans(self.class_3)

    def _load(self) -> Floats:
        """Return the `load`: highest at 14:00 local time, lowest at 2:00."""
        local = (self.begin + self.site.offset) % US_PER_DAY / US_PER_DAY * 24
        distance = np.minimum(np.abs(local - 14), 24 - np.abs(local - 14))
        noise = 0.9 + 0.2 * self.draws("load").uniform(len(local))
        load: Floats = (1 - 0.06 * distance) * noise
        return load

    def _spans(self, draws: Draws) -> Spans:
        """Return spans: an interval for a lasting task, a part of the interval for a brief task.

        At a boundary the queue manager records the lasting tasks one after another, 8 to 11
        microseconds apart.
        """
        tasks, boundary, length = self.tasks, self.begin[self.row], self.site.length
        began = boundary + 2000 + 9 * tasks.number + tasks.number * 7 % 5
        first = boundary + whole(length * 0.8 * draws.uniform(len(tasks)))
        lasted = whole(length * 0.15 * draws.uniform(len(tasks))) + _LEAST_LENGTH
        end = np.minimum(first + lasted, boundary + length - 10)
        return Spans(
            np.where(tasks.lasting, began, first),
            np.where(tasks.lasting, began + length, end),
            np.where(tasks.lasting, tasks.started, first),
        )

    def draws(self, purpose: str) -> Draws:
        """Return random columns of these intervals for a purpose."""
        return Draws(self.site.seed, 1 + self.first, *purpose.encode())
