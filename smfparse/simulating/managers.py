"""Statistics of queue managers: messages, data, the log, storage, locks and structures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.schemas import Q5ST, QEST, QIST, QLST, QMST, QSRS, QSST, QTST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.draws import Bools, Columns, Floats, Rows
from smfparse.simulating.logger import LogBlocks
from smfparse.simulating.records import RecordParts, once

_OWN_ENTRIES, _OWN_ELEMENTS = 40, 90
_ELEMENT_BYTES = 256
_MB = 1 << 20
_FREE_31, _CONNECTION_31 = 900 * _MB, 16 * 1024
"""Bytes of 31-bit storage of a queue manager, and bytes that one connection uses."""
_RESERVES = {"qsrsmvs": 6 * _MB, "qsrscrit": 10 * _MB, "qsrssos": 20 * _MB}


class Managers:
    """The records 115/1, 115/2 and 115/7 of some intervals."""

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._draws = chunk.draws("managers")

    def records(self) -> Iterator[RecordParts]:
        storage, messages = self._storage(), self._messages()
        backouts = self._by_task(self._accounting.work.backouts)
        log = LogBlocks(self._chunk, self._reporters).rows(backouts)
        for record, order, blocks in (
            ((115, 1), 0, {9: self._rows(QSST, storage), 11: log}),
            (
                (115, 2),
                1,
                {
                    1: self._rows(QMST, messages),
                    2: self._rows(QIST, self._data(messages)),
                    4: self._rows(QLST, self._locks(messages)),
                    5: self._rows(Q5ST),
                    6: self._structures(),
                    7: self._rows(QTST),
                },
            ),
            ((115, 7), 4, {1: self._rows(QSRS, self._region())}),
        ):
            counted = {number: once(rows) for number, rows in blocks.items()}
            yield RecordParts(record, self._reporters.writers(order), counted)

    def _rows(self, block: Block, columns: Columns | None = None) -> Rows:
        return self._chunk.rows(block, len(self._reporters), columns)

    def _by_queue(self, **values: Any) -> Columns:
        queues = self._accounting.queues
        return {name: self._reporters.summed(of, queues) for name, of in values.items()}

    def _by_task(self, values: Any) -> Floats:
        return self._reporters.summed(values, self._accounting.tasks)

    def _messages(self) -> Columns:
        """Return the counters of calls of all tasks; copies put on streaming queues are puts."""
        used, columns = self._accounting.queues, self._accounting.queues.columns
        size = columns["putbytes"] / np.maximum(used.put, 1)
        persistent = np.where(used.persistent, used.put + used.streamed, 0)
        plain = np.where(used.persistent, 0, used.put + used.streamed)
        return {
            **self._by_queue(
                qmstopen=columns["openn"],
                qmstclos=columns["closen"],
                qmstget=columns["getn"],
                qmstput=columns["putn"] + used.streamed,
                qmstput1=columns["put1n"],
                qmstinq=columns["inqn"],
                qmstspp=persistent,
                qmstsnp=plain,
                qmstpbp=persistent * size,
                qmstnbp=plain * size,
            ),
            "qmstctl": self._by_task(self._accounting.work.columns["wtasctn"]),
            "qmstcalh": self._by_task(self._accounting.tasks.ended),
        }

    def _data(self, messages: Columns) -> Columns:
        used, columns = self._accounting.queues, self._accounting.queues.columns
        makes, opened = self._chunk.plan.slot_makes[used.slot], messages["qmstopen"]
        found = self._by_queue(
            got=columns["validget"],
            looked=columns["getsmsg"],
            qistgetd=np.minimum(columns["getpsn"], used.got),
            qistdcre=np.where(makes, used.opened, 0),
            qistddel=np.where(makes, used.closed, 0),
            qistmput=used.put + used.streamed,
        )
        got, looked = found.pop("got"), found.pop("looked")
        return found | {
            "qistmget": got + looked,
            "qistdget": np.floor(opened / 3),
            "qistdloc": opened * 2,
            "qistmblr": np.floor(got * 0.002),
            "qistgetb": got + looked - found["qistgetd"],
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
        """Return the columns of storage of the address space; connections reduce free storage."""
        connected = self._by_task(np.ones(len(self._accounting.tasks)))
        free = _FREE_31 - connected * _CONNECTION_31
        buffers = np.bincount(
            self._chunk.plan.pool_manager, self._chunk.plan.buffers, len(self._chunk.plan.names)
        )[self._reporters.manager]
        return {
            "qsrsaval": free,
            "qsrsesiza": 1_500 * _MB,
            "qsrseloal": 1_500 * _MB - free,
            "qsrsmemlim": 20_480,
            "qsrsabytes": buffers * 4096,
            "qsrsaval64": 20_480 * float(_MB) - buffers * 4096,
            **_RESERVES,
        }

    def _structures(self) -> Rows:
        rows = self._rows(QEST)
        of = np.array([each.structure for each in self._chunk.plan.estate.queues])
        for entry, name in enumerate(sorted({*of.tolist()} - {""})):
            self._set_structure(rows, entry, name, of == name)
        return rows

    def _set_structure(self, rows: Rows, entry: int, name: str, mine: Bools) -> None:
        """Set the requests to a structure, and its contents; `mine`: which queues are in it."""
        queues, plan = self._accounting.queues, self._chunk.plan
        coupling, inside = queues.coupling, mine[queues.queue]
        single, several, took = (
            self._reporters.summed(np.where(inside, values, 0), queues)
            for values in (coupling.single, coupling.several, coupling.took)
        )
        depth = self._chunk.did["depth_most"][:, mine]
        elements = np.ceil(plan.queue_size[mine] / _ELEMENT_BYTES)
        share = single / np.maximum(single + several, 1)
        rows.set_texts("qeststr", [name], 0, entry)
        for field, values in {
            "qeststrn": entry + 1,
            "qestcsec": single,
            "qestcmec": several,
            "qestsstc": took * share,
            "qestmstc": took * (1 - share),
            "qestmnus": depth.sum(axis=1)[self._reporters.time] + _OWN_ENTRIES,
            "qestmlus": (depth @ elements)[self._reporters.time] + _OWN_ELEMENTS,
        }.items():
            rows.set(field, values, entry)
