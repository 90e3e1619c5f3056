"""Coupling facility requests of calls on shared queues and of their commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.draws import Bools, Floats, Ints, Rows

_READ_LIST, _NEW, _MOVE, _MOVE_ENTRY, _DELETE = 9, 10, 11, 12, 13
_TYPES = 20
_GET, _PUT, _PUT1 = 2, 3, 4
_ASYNCHRONOUS = 0.06
SINGLE = (_NEW, _MOVE)
"""Requests for one entry; the others are for several."""


class Coupling:
    """Requests of queue blocks, by (verb, request), and what one takes in each block.

    single, several  how many are for one entry of a list, and for several
    took             microseconds of all
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
        self.single: Any = sum(count for request, count in every if request in SINGLE)
        self.several: Any = sum(count for request, count in every if request not in SINGLE)
        self.took: Floats = (self.single + self.several) * self.each

    def extra(self, verb: int) -> Floats:
        """Return what the requests of a verb take longer than usual, microseconds.

        Synchronous requests take processor time as well, all the time that they last.
        """
        count = sum(of for (own, _), of in self.requests.items() if own == verb)
        extra: Floats = count * (self.each - costs.CF_SYNC)
        return extra + (self._scanned * costs.CF_SYNC if verb == _GET else 0)

    def set_in(self, rows: Rows) -> None:
        """Set the requests of queue blocks."""
        for (verb, request), count in self.requests.items():
            set_requests(rows, _TYPES * verb + request, count, self.each)


def set_requests(rows: Rows, entry: int, count: Ints, each: Floats) -> None:
    """Set the requests of one type: few of them are asynchronous."""
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
