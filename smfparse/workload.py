"""Who works in a synthetic file: the tasks of its queue managers, their queues, and when.

Moments are microseconds since 1970, in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smfparse.schemas.wqst import WQST
from smfparse.schemas.wtas import WTAS
from smfparse.schemas.wtid import WTID
from smfparse.synthesis import Bools, Draws, Floats, Ints, Rows, encoded, whole

SECOND = 1_000_000
DAY = 24 * 3600 * SECOND
_SHARED = 2
_CALLS_PER_SECOND = 100
"""Most API calls of a task, so that they take no longer than the task was there."""

_BATCH, _CICS, _IMS, _CHINIT, _RRS = 2, 1, 4, 6, 7
_ADAPTERS = np.array([_BATCH, _BATCH, _BATCH, _CICS, _CICS, _IMS, _CHINIT, _CHINIT, _CHINIT, _RRS])
JOBS = (
    *("PAYBATCH", "STMTPRT1", "LEDGER01", "CARDAUTH", "CLAIMS02", "FXRATES", "EODRECON", "NIGHTLY"),
    *(
        "CICSAOR1",
        "CICSAOR2",
        "CICSTOR1",
        "IMSPRD1",
        "IMSMPP07",
        "BRKEXEC1",
        "BRKEXEC2",
        "DB2STP01",
    ),
)
USERS = ("BATCHUSR", "CICSUSER", "IMSUSER", "MQCHAN", "BROKER", "OPS0001", "FTEAGENT", "WEBAPP")
CHANNELS = ("", "APP.SVRCONN", "WEB.SVRCONN", "QM01.TO.QM02", "TO.QM01", "CLUS.PAY.QM01")
ADDRESSES = ("", "10.20.30.41", "10.20.30.42", "192.0.2.17", "mqgw.example.com", "198.51.100.9")
_DOMAINS = ("PAYMENTS", "LEDGER", "CARDS", "CLAIMS", "FX", "STATEMENTS", "CUSTOMER", "FRAUD")
_PURPOSES = (
    *("REQUEST", "REPLY", "EVENT", "AUDIT", "RETRY", "ERROR"),
    *("INBOUND.FROM.PARTNER.SETTLEMENT", "OUTBOUND.TO.PARTNER.REGULATORY.REPORT"),
)
QUEUES = (
    "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    *(f"{domain}.{purpose}" for domain in _DOMAINS for purpose in _PURPOSES),
)
STRUCTURES = ("", "APPSTRUC1", "APPSTRUC2")


@dataclass(frozen=True)
class Site:
    """What the caller asks for: the writers of the file and how much they do.

    `interval` is in microseconds; `tasks` per queue manager, `queues` per task on average; `dense`:
    what they count is random, in full width.
    """

    qmgrs: tuple[str, ...]
    version: str
    seed: int
    interval: int
    tasks: int
    queues: int
    dense: bool = False


class Tasks:
    """The tasks of one interval, all queue managers', and their queues: the same in every one.

    Tasks stand queue manager by queue manager, queues task by task. A lasting task goes on through
    all intervals; the others start and end within each.
    """

    def __init__(self, site: Site, start: int, most_queues: int) -> None:
        draws = Draws(site.seed, 0)
        self.site = site
        rows = len(site.qmgrs) * site.tasks
        self.qmgr: Ints = np.repeat(np.arange(len(site.qmgrs)), site.tasks)
        self.lasting: Bools = draws.chance(rows, 0.7)
        self.started: Ints = start - SECOND - draws.below(rows, 20 * DAY)
        self.adapter: Ints = _ADAPTERS[draws.below(rows, len(_ADAPTERS))]
        self.job: Ints = draws.below(rows, len(JOBS))
        self.user: Ints = draws.below(rows, len(USERS))
        wanted = np.rint(2 * site.queues * draws.uniform(rows)).astype(np.int64)
        self.queues: Ints = np.minimum(wanted, most_queues)
        self.address: Ints = 0x5C000000 + 0x168 * np.arange(rows) + draws.below(rows, 16) * 0x10000
        self._queues(draws)
        self.wtid = self._wtid(draws)
        self.wtas = self._wtas()
        self.wqst = self._wqst()

    def _queues(self, draws: Draws) -> None:
        self.task: Ints = np.repeat(np.arange(len(self.queues)), self.queues)
        rows = len(self.task)
        role = draws.uniform(rows)
        self.puts: Bools = (role < 0.45) | (role > 0.85) & (role < 0.95)
        self.gets: Bools = (role >= 0.45) & (role < 0.95)
        self.single: Bools = draws.chance(rows, 0.1)
        self.persistent: Bools = draws.chance(rows, 0.5)
        self.forced: Bools = self.persistent & draws.chance(rows, 0.3)
        self.shared: Bools = draws.chance(rows, 0.1)
        self.streamed: Bools = draws.chance(rows, 0.05)
        self.size: Ints = 50 + whole(draws.skewed(rows, 1200, 50))
        most = _CALLS_PER_SECOND / self.queues[self.task]
        self.rate: Floats = np.minimum(draws.skewed(rows, 0.5, 200), most)
        self.name: Ints = draws.below(rows, len(QUEUES))

    def _wtid(self, draws: Draws) -> Rows:
        rows = Rows(WTID, self.site.version, len(self.job))
        fields = {each.name: each.kind for each in WTID.fields}
        rows.set("wtidatyp", self.adapter)
        rows.set_bytes("wtidccn", encoded(fields["wtidccn"], JOBS)[self.job])
        for name in ("wtidopid", "wtidtran"):
            rows.set_bytes(name, encoded(fields[name], USERS)[self.user])
        which = 1 + draws.below(len(rows), len(CHANNELS) - 1)
        which = np.where(self.adapter == _CHINIT, which, 0)
        rows.set_bytes("wtidchl", encoded(fields["wtidchl"], CHANNELS)[which])
        rows.set_bytes("wtidchlc", encoded(fields["wtidchlc"], ADDRESSES)[which])
        rows.set("wtidwtas", self.address)
        return rows

    def _wtas(self) -> Rows:
        rows = Rows(WTAS, self.site.version, len(self.job))
        rows.set("wtasmthr", self.address - 0x2000000)
        rows.set("wtaswtas", self.address)
        rows.set("wtaswqct", self.queues)
        return rows

    def _wqst(self) -> Rows:
        eyes = {"openeye": "OPEN", "closeeye": "CLOS", "geteye": "GET", "puteye": "PUT"}
        more = {"put1eye": "PUT1", "inqeye": "INQ", "seteye": "SET", "cbeye": "CB"}
        rows = Rows(WQST, self.site.version, len(self.task), eyes | more)
        names = encoded(WQST.field("basename").kind, QUEUES)[self.name]
        rows.set_bytes("objname", names)
        rows.set_bytes("basename", names)
        rows.set("qtype", 1)
        rows.set("indxtype", np.where(self.gets, 2 * (self.name % 2), 0))
        rows.set("qsgdisp", np.where(self.shared, _SHARED, 0))
        structure = np.where(self.shared, 1 + self.name % 2, 0)
        structures = encoded(WQST.field("cfstrucname").kind, STRUCTURES)
        rows.set_bytes("cfstrucname", structures[structure])
        rows.set("nps", np.where(self.shared, 0, 1 + self.name % 4))
        rows.set("nbuffpool", np.where(self.shared, 0, 1 + self.name % 3))
        return rows


@dataclass(frozen=True)
class Spans:
    """From when to when tasks, or their queues, are accounted for; and when the task started."""

    begin: Ints
    end: Ints
    started: Ints

    def of(self, owner: Ints) -> Spans:
        """Return the spans of the owners of other rows."""
        return Spans(self.begin[owner], self.end[owner], self.started[owner])

    @property
    def microseconds(self) -> Ints:
        """Return how long each is."""
        return self.end - self.begin


def task_spans(lasting: Bools, begin: Ints, started: Ints, interval: int, draws: Draws) -> Spans:
    """Lasting tasks cover the interval that starts at `begin`; the others a part of it."""
    first = begin + whole(interval * 0.8 * draws.uniform(len(begin)))
    length = whole(interval * 0.15 * draws.uniform(len(begin))) + 1000
    end = np.minimum(first + length, begin + interval - 10)
    return Spans(
        np.where(lasting, begin, first),
        np.where(lasting, begin + interval, end),
        np.where(lasting, started, first),
    )
