"""Values of blocks: class 1, identities of tasks, requests to structures, log writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from smfparse.layout.kinds import BLANK, Raw
from smfparse.schemas import QWAC, QWHC
from smfparse.simulating import costs
from smfparse.simulating.draws import Bools, Columns, Floats, Ints, Rows, big_endian

CLASS_1 = (116, 0)
ACTIVE, ENDED = 0x00800000, 0x20800000
"""Values of WTASFLAG for tasks that continue, and for tasks that ended."""
SHARED_QUEUE = 2
"""Value of QSGDISP for a shared queue."""
NO_MESSAGE = 0x0FFFFFFF
"""Minimum message size in records if no message was put or got."""
QUEUE_EYES = {
    "openeye": "OPEN",
    "closeeye": "CLOS",
    "geteye": "GET",
    "puteye": "PUT",
    "put1eye": "PUT1",
    "inqeye": "INQ",
    "seteye": "SET",
    "cbeye": "CB",
}
_SIZE_BANDS = (100, 1000, 10_000)
_TASK_ENDED = 12
_WHOLE_QWAC = "9.4.0"
"""An MQ version whose QWAC blocks contain all declared fields."""
_SAME_IN_QWHC = {
    "qwhcaid": "wtidtran",
    "qwhccv": "wtidcori",
    "qwhccn": "wtidccn",
    "qwhcopid": "wtidopid",
    "qwhcatyp": "wtidatyp",
    "qwhctokn": "wtidacct",
    "qwhcnid": "wtidnid",
}
_READ_LIST, _NEW, _MOVE, _MOVE_ENTRY, _DELETE = 9, 10, 11, 12, 13
_TYPES = 20
_GET, _PUT, _PUT1 = 2, 3, 4
_ASYNCHRONOUS = 0.06
_SINGLE = (_NEW, _MOVE)
"""Requests for one list entry; all other requests are for several entries."""
FIRST_TASK, TASK_BYTES = 0x5C000000, 0x168
AGENT_BEFORE, WTAS_BEHIND, THREAD_BEHIND = 0x1234BD80, 0xD0, 0x1A40
"""Addresses of control blocks: first task, distance between tasks, distances within a task."""
CHANNEL_STATE = {"qcstchst": 3, "qcstchdp": 4, "qcststcl": 33}
"""Values that are the same for all channels: running, private, medium statistics."""
MESSAGE_HEADER, BATCH_CONTROL = 476, 28
"""Bytes on a channel per message, in addition to the message data, and per batch."""
BATCH_KB = 5000
LOGS = 12
_LOG_NAMES = tuple(f"ACTLG{copy}{log:02}" for copy in (1, 2) for log in range(1, LOGS + 1))


def correlation(version: str, wtid: Rows, which: Ints) -> Raw:
    """Return the QWHC areas of the tasks `which`, with the identities from the blocks `wtid`."""
    rows = Rows(QWHC, version, len(which), {"qwhclen": QWHC.size, "qwhctyp": 2})
    for name, source in _SAME_IN_QWHC.items():
        rows.set_bytes(name, wtid.get_bytes(source)[which])
    return rows.raw


def units_of_work(began: Raw, number: Ints) -> Raw:
    """Return WTIDUOWI of tasks: blank network name, the TOD clock value `began`, and a number."""
    found = np.full((len(began), 24), BLANK[0], np.uint8)
    found[:, 16:22] = began[:, :6]
    found[:, 22:] = big_endian(number, 2)
    return found


def task_places(address: Ints) -> Columns:
    """Return the columns of WTAS with addresses of control blocks."""
    hashed = address * 31 % 1021
    return {"wtasmthr": address - 0x2000000, "wtaswtas": address, "wtashshi": hashed}


def calls(name: str, count: Any, cpu: Any, elapsed: Any, **waits: tuple[Any, Any]) -> Columns:
    """Return the counters of one kind of call, and of the waits in these calls.

    waits  number and time of waits, by letters in the counter's name: jw log records, jc forced log
           writes, ps page sets, sus suspends
    """
    columns = {f"{name}n": count, f"{name}ct": cpu, f"{name}et": elapsed}
    for wait, (times, took) in waits.items():
        columns |= {f"{name}{wait}n": times, f"{name}{wait}et": took}
    return columns


def by_size(verb: str, counts: Ints | Floats, size: Ints, task: Ints, tasks: int) -> Columns:
    """Return the number of messages per task and size band, from counts and sizes per queue."""
    band = np.searchsorted(_SIZE_BANDS, size, side="right")
    return {
        f"qmac{verb}{letter}": np.bincount(task, np.where(band == number, counts, 0), tasks)
        for number, letter in enumerate("abcd")
    }


def qwac(version: str, begin: Ints, end: Ints, columns: Columns, **tokens: Raw) -> Rows:
    """Return QWAC blocks. MQ 10.0.0 writes 96 bytes, assumed to be the first 96 declared bytes."""
    rows = Rows(QWAC, _WHOLE_QWAC, len(begin), {"qwacrinv": _TASK_ENDED})
    rows.set_clocks({"qwacbsc": begin, "qwacesc": end})
    rows.set_all(columns)
    for name, raw in tokens.items():
        rows.set_bytes(name, raw)
    found = Rows(QWAC, version, len(begin))
    found.raw = rows.raw[:, : found.length]
    return found


class Coupling:
    """Requests to coupling facility structures, one row per queue block.

    requests         numbers of requests by (verb, request)
    committed        numbers of requests at commit, by request
    each             microseconds of one request
    single, several  numbers of requests for one list entry, and for several entries
    took             microseconds of all requests
    """

    def __init__(self, shared: Bools, counts: Mapping[str, Ints], slower: Floats) -> None:
        got, put, put1, scanned = (
            np.where(shared, counts[name], 0) for name in ("got", "put", "put1", "scanned")
        )
        self.each = costs.CF_SYNC * slower
        self._scanned = scanned
        self.requests: dict[tuple[int, int], Ints] = {
            (_GET, _READ_LIST): got + scanned,
            (_GET, _MOVE): got,
            (_PUT, _NEW): put,
            (_PUT1, _NEW): put1,
        }
        self.committed: dict[int, Ints] = {_MOVE_ENTRY: put + put1, _DELETE: got}
        every = [(request, count) for (_, request), count in self.requests.items()]
        every += list(self.committed.items())
        self.single: Any = sum(count for request, count in every if request in _SINGLE)
        self.several: Any = sum(count for request, count in every if request not in _SINGLE)
        self.took: Floats = (self.single + self.several) * self.each

    def extra(self, verb: int) -> Floats:
        """Return the microseconds of a verb's requests in addition to the usual cost of the verb.

        A synchronous request uses CPU for its whole time.
        """
        count = sum(number for (own, _), number in self.requests.items() if own == verb)
        extra: Floats = count * (self.each - costs.CF_SYNC)
        return extra + (self._scanned * costs.CF_SYNC if verb == _GET else 0)

    def set_in(self, rows: Rows) -> None:
        """Set the counters of requests in the queue blocks `rows`."""
        for (verb, request), count in self.requests.items():
            set_requests(rows, _TYPES * verb + request, count, self.each)


def set_requests(rows: Rows, entry: int, count: Ints, each: Floats) -> None:
    """Set the counters of one type of request; a share _ASYNCHRONOUS is asynchronous."""
    where = np.flatnonzero(count)
    count, each = count[where], each[where]
    late = np.floor(count * _ASYNCHRONOUS).astype(np.int64)
    for name, values in {
        "cfcount": count,
        "cfsyncn": count - late,
        "cfsyncet": (count - late) * each,
        "cfasyncn": late,
        "cfasyncet": late * each * (costs.CF_ASYNC / costs.CF_SYNC),
    }.items():
        rows.set(name, values, entry, where=where)


def log_totals(
    writes: Ints, pages: Ints, switches: Any, log_pages: Any, copies: Ints | int
) -> Columns:
    """Return the counters that cover all copies of the log.

    writes, pages        numbers of writes and pages of one copy
    switches, log_pages  number of log switches, and pages of one active log
    """
    return {
        "qjstbfwr": writes,
        "qjstlogw": copies * writes,
        "qjstciwr": copies * pages,
        "qjstalw": copies * switches,
        "qjstciof": switches * log_pages,
        "qjstcp1n": switches,
        "qjstcp2n": (copies - 1) * switches,
    }


def set_log_writes(
    rows: Rows,
    entry: int,
    counts: tuple[Ints, Ints],
    times: tuple[Floats, Floats],
    suspended: tuple[float, float],
    when: Ints,
    log: Ints,
) -> Floats:
    """Set the writes of one kind to one copy of the log; return the suspended time of the logger.

    entry      index in the repeated group: 2 * copy (0, 1) + kind (0: one page, 1: several pages)
    counts     number of writes, and number of written pages
    times      microseconds of all writes, and of the longest write
    suspended  ratios of the suspended time of the logger to each of `times`
    when, log  moment of the longest write, and number of the active log of this write
    """
    count, pages = counts
    waits = times[0] * suspended[0]
    used = np.flatnonzero(count > 0)
    for field, values in {
        "qjstiocount": count,
        "qjstioci": pages,
        "qjstiototio": times[0],
        "qjstiototsus": waits,
        "qjstiomaxio": times[1],
        "qjstiomaxsus": times[1] * suspended[1],
    }.items():
        rows.set(field, values, entry)
    for which in ("io", "sus"):
        names = log[used] + LOGS * (entry // 2)
        rows.set(f"qjstiomax{which}T", when[used], entry, where=used)
        rows.set_texts(f"qjstiomax{which}l", _LOG_NAMES, names, entry, where=used)
    return waits
