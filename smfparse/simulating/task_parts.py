"""Parts of accounting that the tasks of a site and made up ones share."""

from __future__ import annotations

import numpy as np

from smfparse.layout import Raw
from smfparse.schemas import QWAC, QWHC
from smfparse.simulating.draws import Columns, Floats, Ints, Rows

CLASS_1 = (116, 0)
ACTIVE, ENDED = 0x00800000, 0x20800000
"""WTASFLAG of tasks that go on, and of those that ended."""
SHARED_QUEUE = 2
"""QSGDISP of a shared queue."""
NO_MESSAGE = 0x0FFFFFFF
"""The size of the smallest message where none was moved."""
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
"""An MQ version whose QWAC blocks have the whole map."""
_SAME_IN_QWHC = {
    "qwhcaid": "wtidtran",
    "qwhccv": "wtidcori",
    "qwhccn": "wtidccn",
    "qwhcopid": "wtidopid",
    "qwhcatyp": "wtidatyp",
    "qwhctokn": "wtidacct",
    "qwhcnid": "wtidnid",
}


def correlation(version: str, wtid: Rows, which: Ints) -> Raw:
    """Return the QWHC areas of some tasks: their identities once more."""
    rows = Rows(QWHC, version, len(which), {"qwhclen": QWHC.size, "qwhctyp": 2})
    for name, source in _SAME_IN_QWHC.items():
        rows.set_bytes(name, wtid.get_bytes(source)[which])
    return rows.raw


def by_size(verb: str, counts: Ints | Floats, size: Ints, task: Ints, tasks: int) -> Columns:
    """Return how many messages of each size band tasks put or got, given those of their queues."""
    band = np.searchsorted(_SIZE_BANDS, size, side="right")
    return {
        f"qmac{verb}{letter}": np.bincount(task, np.where(band == number, counts, 0), tasks)
        for number, letter in enumerate("abcd")
    }


def qwac(version: str, begin: Ints, end: Ints, columns: Columns, **tokens: Raw) -> Rows:
    """Return QWAC blocks; of MQ 10.0.0 96 bytes, taken to be the first ones."""
    rows = Rows(QWAC, _WHOLE_QWAC, len(begin), {"qwacrinv": _TASK_ENDED})
    rows.set_clocks({"qwacbsc": begin, "qwacesc": end})
    rows.set_all(columns)
    for name, raw in tokens.items():
        rows.set_bytes(name, raw)
    found = Rows(QWAC, version, len(begin))
    found.raw = rows.raw[:, : found.length]
    return found
