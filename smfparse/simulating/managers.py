"""Statistics of queue managers: messages, data, the log, storage, locks and structures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from smfparse.layout import Block, Raw
from smfparse.schemas import Q5ST, QEST, QIST, QLST, QMST, QSRS, QSST, QTST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Reporters, statistics_writers
from smfparse.simulating.draws import Columns, Floats, Ints, Rows, encoded
from smfparse.simulating.logger import log_rows
from smfparse.simulating.records import RecordParts

_OWN_ENTRIES, _OWN_ELEMENTS = 40, 90
_ELEMENT_BYTES = 256


def structure_rows(chunk: Chunk, reporters: Reporters, accounting: Accounting) -> Rows:
    """Return the blocks: an entry for each structure."""
    rows = Rows(QEST, chunk.plan.estate.version, len(reporters))
    of = np.array([each.structure for each in chunk.plan.estate.queues])
    for entry, name in enumerate(sorted({*of.tolist()} - {""})):
        _set_structure(rows, entry, name, of == name, chunk, reporters, accounting)
    return rows


def _set_structure(
    rows: Rows,
    entry: int,
    name: str,
    mine: np.ndarray,
    chunk: Chunk,
    reporters: Reporters,
    accounting: Accounting,
) -> None:
    """Set the requests to a structure, and what is in it; `mine` are the queues in it."""
    used, coupling = accounting.used, accounting.queues.coupling
    single, several, took = (
        reporters.summed(np.where(mine[used.queue], values, 0), used.time, used.manager)
        for values in (coupling.single, coupling.several, coupling.took)
    )
    depth = chunk.did["depth_most"][:, mine]
    elements = np.ceil(chunk.plan.queue_size[mine] / _ELEMENT_BYTES)
    share = single / np.maximum(single + several, 1)
    text = encoded(QEST.field("qeststr").kind, [name])
    rows.set_bytes("qeststr", np.repeat(text, len(rows), axis=0), entry)
    for field, values in {
        "qeststrn": np.full(len(rows), entry + 1),
        "qestcsec": single,
        "qestcmec": several,
        "qestsstc": took * share,
        "qestmstc": took * (1 - share),
        "qestmnus": depth.sum(axis=1)[reporters.time] + _OWN_ENTRIES,
        "qestmlus": (depth @ elements)[reporters.time] + _OWN_ELEMENTS,
    }.items():
        rows.set(field, values, entry)


_MB = 1 << 20
_FREE_31, _CONNECTION_31 = 900 * _MB, 16 * 1024
"""31-bit storage that a queue manager has, and what a connection takes of it."""
_RESERVES = {"qsrsmvs": 6 * _MB, "qsrscrit": 10 * _MB, "qsrssos": 20 * _MB}


class Managers:
    """The records 115/1, 115/2 and 115/7 of some intervals."""

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._draws = chunk.draws("managers")
        self._version = chunk.plan.estate.version

    def records(self) -> Iterator[RecordParts]:
        """Return the records."""
        one = np.ones(len(self._reporters), np.int64)

        def blocks(**rows: Rows) -> dict[int, tuple[Raw, Ints]]:
            return {int(name[1:]): (of.raw, one) for name, of in rows.items()}

        first = blocks(t9=self._rows(QSST, self._storage()), t11=self._log())
        messages = self._messages()
        second = blocks(
            t1=self._rows(QMST, messages),
            t2=self._rows(QIST, self._data(messages)),
            t4=self._rows(QLST, self._locks(messages)),
            t5=self._rows(Q5ST, {}),
            t6=structure_rows(self._chunk, self._reporters, self._accounting),
            t7=self._rows(QTST, {}),
        )
        regions = blocks(t1=self._rows(QSRS, self._region()))
        yield RecordParts((115, 1), statistics_writers(self._reporters, 0), first)
        yield RecordParts((115, 2), statistics_writers(self._reporters, 1), second)
        yield RecordParts((115, 7), statistics_writers(self._reporters, 4), regions)

    def _rows(self, block: Block, columns: Columns) -> Rows:
        rows = Rows(block, self._version, len(self._reporters))
        rows.set_all(columns)
        return rows

    def _by_queue_work(self, values: Any) -> Floats:
        """Add values of queue blocks up."""
        used = self._accounting.used
        return self._reporters.summed(values, used.time, used.manager)

    def _messages(self) -> Columns:
        """Return the calls of all tasks; copies on streaming queues are puts as well."""
        used, columns = self._accounting.used, self._accounting.queues.columns
        copies, size = (
            self._by_queue_work(used.streamed),
            columns["putbytes"] / np.maximum(used.put, 1),
        )
        persistent = np.where(used.persistent, used.put + used.streamed, 0)
        plain = np.where(used.persistent, 0, used.put + used.streamed)
        return {
            "qmstopen": self._by_queue_work(columns["openn"]),
            "qmstclos": self._by_queue_work(columns["closen"]),
            "qmstget": self._by_queue_work(columns["getn"]),
            "qmstput": self._by_queue_work(columns["putn"]) + copies,
            "qmstput1": self._by_queue_work(columns["put1n"]),
            "qmstinq": self._by_queue_work(columns["inqn"]),
            "qmstctl": self._by_task(self._accounting.work.columns["wtasctn"]),
            "qmstcalh": self._by_task(self._accounting.tasks.ended),
            "qmstspp": self._by_queue_work(persistent),
            "qmstsnp": self._by_queue_work(plain),
            "qmstpbp": self._by_queue_work(persistent * size),
            "qmstnbp": self._by_queue_work(plain * size),
        }

    def _by_task(self, values: Any) -> Floats:
        tasks = self._accounting.tasks
        return self._reporters.summed(np.asarray(values, np.float64), tasks.time, tasks.manager)

    def _data(self, messages: Columns) -> Columns:
        used, columns = self._accounting.used, self._accounting.queues.columns
        got = self._by_queue_work(columns["validget"])
        looked = self._by_queue_work(columns["getsmsg"])
        read = self._by_queue_work(np.minimum(columns["getpsn"], used.got))
        opened, makes = messages["qmstopen"], self._chunk.plan.slot_makes[used.slot]
        return {
            "qistdcre": self._by_queue_work(np.where(makes, used.opened, 0)),
            "qistddel": self._by_queue_work(np.where(makes, used.closed, 0)),
            "qistmget": got + looked,
            "qistmput": self._by_queue_work(used.put + used.streamed),
            "qistdget": np.floor(opened / 3),
            "qistdloc": opened * 2,
            "qistmblr": np.floor(got * 0.002),
            "qistgetd": read,
            "qistgetb": got + looked - read,
        }

    def _locks(self, messages: Columns) -> Columns:
        held = messages["qmstopen"] + messages["qmstget"]
        return {
            "qlstgetl": held * 2,
            "qlsthldl": np.floor(held * 0.3),
            "qlstrell": np.floor(held * 1.7),
        }

    def _storage(self) -> Columns:
        pools = 4 + self._draws.below(len(self._reporters), 12)
        taken = 40 + self._draws.below(len(self._reporters), 60)
        return {
            "qsstgplf": pools,
            "qsstfplf": pools,
            "qsstgplv": 10 * pools,
            "qsstfplv": 10 * pools,
            "qsstexpv": 30 * pools,
            "qsstfrev": 30 * pools,
            "qsstgetm": taken,
            "qsstfrem": taken,
        }

    def _region(self) -> Columns:
        """Return the storage of the address space: what connections take is not available."""
        connected = self._by_task(np.ones(len(self._accounting.tasks)))
        free = _FREE_31 - connected * _CONNECTION_31
        buffers = np.bincount(
            self._chunk.plan.pool_manager, self._chunk.plan.buffers, len(self._chunk.plan.names)
        )[self._reporters.manager]
        return {
            "qsrsaval": free,
            "qsrsesiza": np.full(len(free), 1_500 * _MB),
            "qsrseloal": 1_500 * _MB - free,
            "qsrsmemlim": np.full(len(free), 20_480),
            "qsrsabytes": buffers * 4096,
            "qsrsaval64": 20_480 * float(_MB) - buffers * 4096,
            **{name: np.full(len(free), size) for name, size in _RESERVES.items()},
        }

    def _log(self) -> Rows:
        backouts = self._by_task(self._accounting.work.backouts)
        return log_rows(self._chunk, self._reporters, backouts)
