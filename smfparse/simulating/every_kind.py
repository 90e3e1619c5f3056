"""Records of every kind in the registry, in any MQ version, with invented values.

The values of tasks, queues and the main statistics blocks are consistent. Other blocks contain
values that fit their declarations. Memory contains one batch: some intervals of all queue managers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout.blocks import Block
from smfparse.layout.clocks import US_PER_DAY, US_PER_SECOND
from smfparse.schemas import (
    CONTINUATION,
    Q5ST,
    QCST,
    QIS1,
    QIST,
    QJST,
    QMAC,
    QMST,
    QPST,
    QSST,
    REGISTRY,
    TASK,
    WTAS,
)
from smfparse.simulating import manager_counters, task_counters, workload
from smfparse.simulating.block_parts import AGENT_BEFORE, CLASS_1, correlation, qwac
from smfparse.simulating.draws import (
    Columns,
    Draws,
    Ints,
    Rows,
    big_endian,
    fill,
    numbered,
    randomize,
)
from smfparse.simulating.records import (
    CountedBlocks,
    Envelope,
    Numbers,
    RecordParts,
    Writers,
    in_order,
    is_written,
    once,
    write_dump,
)
from smfparse.simulating.workload import Intervals, Site, Tasks

BATCH_BYTES = 16 << 20
_KEPT = frozenset({"correl", "wtasints", "wtasinte"})
"""Fields that are not random, even in a dense file (`Site.dense`)."""
_GROUP_SHARE = {"WTAS": 0.3, "WQST": 0.3}
"""Share of blocks of a dense file whose latches and coupling facility requests are filled."""
_FEWEST_POOLS, _MOST_POOLS = 4, 16
_BLOCKS_PER_RECORD = {"QIS1": 5, "QQST": 10, "QCST": 4, "QSPH": 6, "QSGM": 6}
_BLOCKS_PER_RECORD |= {"QCT_DSP": 5, "QCT_ADP": 8, "QCT_SSL": 3}
"""Number of blocks per record, by kind of block, if it is not 1."""
_BLOCK_TEXTS = {"qqstqnam": workload.QUEUES, "qcstchnm": workload.CHANNELS[1:]}
_BLOCK_TEXTS |= {"qcstcnnm": workload.ADDRESSES[1:], "qeststr": workload.STRUCTURES[1:]}
_BLOCK_TEXTS |= {"qesdstr": workload.STRUCTURES[1:]}
"""Texts by field, for blocks that are not consistent with other blocks."""


def generate(
    target: Path | BinaryIO, *, count: int = 1, size: int | None = None, **site: Any
) -> None:
    """Write an SMF dump of queue managers of one system; the same arguments give the same bytes.

    target  path, or a binary stream to write to
    count   number of intervals
    size    minimum bytes of the dump, instead of `count`
    site    the fields of a `Site`

    Raises RequestError for invalid arguments, OutputError if the file cannot be written.
    """
    of = Site(**site)
    for name, number in {"count": count, "size": 1 if size is None else size}.items():
        if number < 1:
            raise RequestError(f"{name} {number}: must be at least 1")
    qmgrs = len(of.qmgrs)
    envelope = Envelope([of.system] * qmgrs, of.qmgrs, of.version, of.offset, of.length)
    tasks = Tasks(of, envelope.most_queues())
    step = sum(map(len, in_order(envelope, [*_EveryKind(tasks, 0, 1).records()])))
    if size is not None:
        count = -(-size // step)
    several = max(BATCH_BYTES // step, 1)
    numbers = Numbers([np.zeros(0, np.int64)] * qmgrs)
    batches = (
        numbers.numbered([*_EveryKind(tasks, first, min(several, count - first)).records()])
        for first in range(0, count, several)
    )
    end = of.begin + count * of.length + US_PER_SECOND
    write_dump(target, envelope, of.begin, end, batches)


class _EveryKind:
    """Makes the records of some intervals; `_made`: consistent blocks, by name of the block."""

    def __init__(self, tasks: Tasks, first: int, times: int) -> None:
        self._of = of = Intervals(tasks, first, times)
        self._version = of.site.version
        self._made: dict[str, CountedBlocks] = {}
        self._accounting()
        self._statistics()

    def records(self) -> Iterator[RecordParts]:
        """Yield the records of every kind in the registry that this MQ version writes."""
        for order, (record, triplets) in enumerate(REGISTRY.items()):
            if record == CONTINUATION:  # no task has more queues than fit into its record
                continue
            writers = self._writers(record, order)
            blocks = {
                number: self._made.get(block.name) or self._filled(block, writers)
                for number, block in triplets.items()
                if is_written(record, block, self._version)
            }
            if blocks and len(writers.qmgr):
                yield RecordParts(record, writers, blocks)

    def _accounting(self) -> None:
        of, tasks, spans, draws = self._of, self._of.tasks, self._of.spans, self._of.class_3
        spans_of_queues, load = spans.of(tasks.task), of.load[of.row][tasks.task]
        queues = task_counters.queue_columns(tasks, spans_of_queues, load, draws)
        self._sums = task_counters.summed(queues, tasks.task, len(tasks))
        self._wtid = task_counters.task_rows(tasks, spans, draws)
        wtas = Rows(WTAS, self._version, len(tasks))
        wtas.set_all(task_counters.task_columns(tasks, self._sums, spans, draws))
        clocks = {"wtasstrt": spans.started, "wtasints": spans.begin, "wtasinte": spans.end}
        wtas.set_clocks(clocks)
        wtas.set_bytes("wtaslatc", big_endian(_address(of.qmgr[of.row], 0xE0) << 32, 8))
        task_counters.set_latches(wtas, self._version, draws)
        wqst = tasks.queue_rows()
        wqst.set_all(queues)
        wqst.set_clocks(task_counters.handle_clocks(tasks, queues, spans_of_queues, draws))
        task_counters.set_coupling(wqst, tasks.shared, queues, draws)
        self._class_1(queues)
        self._make(self._wtid)
        self._make(wtas)
        self._make(wqst, tasks.queues)
        wqst.set_bytes("correl", wtas.raw[tasks.task, 8:24])

    def _class_1(self, queues: Columns) -> None:
        tasks, ended = self._of.tasks, self._of.ended
        columns = task_counters.class_1_columns(tasks, queues)
        columns = {name: values[ended] for name, values in columns.items()}
        self._make_of(QMAC, columns, len(ended))
        spans = self._of.spans.of(ended)
        times = task_counters.processor_columns(columns["qmaccput"], spans, self._of.draws("QWAC"))
        token = self._wtid.get_bytes("wtidnid")[ended]
        self._make(qwac(self._version, spans.begin, spans.end, times, qwacnid=token))

    def _statistics(self) -> None:
        of, rows = self._of, len(self._of.begin)
        sums = task_counters.summed(self._sums, of.row, rows)
        messages = manager_counters.message_columns(sums, of.draws("QMST"))
        self._make_of(QMST, messages, rows)
        self._make_of(QIST, manager_counters.data_columns(messages, of.draws("QIST")), rows)
        self._make_of(QSST, manager_counters.storage_columns(rows, of.draws("QSST")), rows)
        log = Rows(QJST, self._version, rows)
        logged = messages["qmstpbp"].astype(np.float64)
        manager_counters.set_log(log, logged, of, of.draws("QJST"))
        self._make(log)
        kinds = _MOST_POOLS - _FEWEST_POOLS + 1
        pools = _FEWEST_POOLS + Draws(of.site.seed, 0, 1).below(len(of.site.qmgrs), kinds)
        count = pools[of.qmgr]
        each = np.repeat(messages["qmstput"] + messages["qmstget"], count)
        columns = manager_counters.pool_columns(numbered(count), each, of.draws("QPST"))
        self._make_of(QPST, columns, len(each), count)

    def _make_of(
        self, block: Block, columns: Columns, rows: int, count: Ints | None = None
    ) -> None:
        made = Rows(block, self._version, rows)
        made.set_all(columns)
        self._make(made, count)

    def _make(self, rows: Rows, count: Ints | None = None) -> None:
        """Store blocks in `_made`; `count`: number of these blocks in each record; None: 1."""
        self._densify(rows)
        self._made[rows.block.name] = once(rows) if count is None else (rows.raw, count)

    def _densify(self, rows: Rows) -> None:
        if self._of.site.dense:
            name = rows.block.name
            share = _GROUP_SHARE.get(name, 1)
            randomize(rows, self._of.draws(f"dense {name}"), keep=_KEPT, share=share)

    def _writers(self, record: tuple[int, int], order: int) -> Writers:
        of = self._of
        if record not in (CLASS_1, TASK):
            when = of.begin + of.site.length + 9 + 100 * order
            return Writers(of.qmgr, when, of.begin, _address(of.qmgr, 0x360))
        qmgr, begin, end = of.qmgr[of.row], of.begin[of.row], of.spans.end
        if record == TASK:
            noise = of.draws("flags").below(len(of.row), 1 << 32)
            when = end + np.where(of.tasks.lasting, 2, 5)
            return Writers(qmgr, when, begin, _address(qmgr, 0x80), noise=noise)
        which = of.ended
        agent = of.tasks.address[which] - AGENT_BEFORE
        who = correlation(self._version, self._wtid, which)
        return Writers(qmgr[which], end[which] + 2, begin[which], agent, who)

    def _filled(self, block: Block, writers: Writers) -> CountedBlocks:
        """Return blocks of one kind, with values that do not depend on other blocks."""
        count = np.full(len(writers.qmgr), _BLOCKS_PER_RECORD.get(block.name, 1))
        rows = Rows(block, self._version, int(count.sum()))
        nth, draws = numbered(count), self._of.draws(block.name)
        fill(rows, nth, np.repeat(writers.when, count), draws, _BLOCK_TEXTS)
        if block.name.startswith("QCT_"):
            length = self._of.site.length
            rows.set_all(manager_counters.chinit_columns(len(rows), length, draws))
        elif block is QIS1:
            rows.set_all(manager_counters.page_set_columns(nth, draws))
        elif block is Q5ST:
            rows.set_all(manager_counters.db2_columns(len(rows), draws))
        elif block is QCST:
            self._set_channels(rows, np.repeat(np.arange(len(count)), count), nth, draws)
        self._densify(rows)
        return rows.raw, count

    def _set_channels(self, rows: Rows, owner: Ints, nth: Ints, draws: Draws) -> None:
        """Set the counters of channels that started before the first interval.

        owner  index of queue manager and interval of each row
        nth    number of the channel of each row
        """
        of, channels = self._of, _BLOCK_TEXTS["qcstchnm"][: _BLOCKS_PER_RECORD["QCST"]]
        kinds = np.array(
            [
                [manager_counters.channel_type(each, name) for each in channels]
                for name in of.site.qmgrs
            ]
        )
        end = of.begin[owner] + of.site.length
        rows.set_all(manager_counters.channel_columns(kinds[of.qmgr[owner], nth], end, draws))
        rows.set("qcststrt", of.site.begin - US_PER_DAY * (1 + nth))


def _address(qmgr: Ints, offset: int) -> Ints:
    addresses: Ints = 0x2E000000 + 0x1000 * (qmgr * 37 % 251) + offset
    return addresses
