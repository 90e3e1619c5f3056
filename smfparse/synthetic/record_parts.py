"""The records of some intervals of a synthetic file: every kind that the registry knows.

What tasks, queues and the main statistics blocks count is made up to fit together; any other block
of the registry is filled by its declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.layout import US_PER_DAY, Block, version_key
from smfparse.schemas import CONTINUATION, Q5ST, QCST, QIS1, QPST, REGISTRY, TASK
from smfparse.synthetic import identity, qmgr_counters, workload
from smfparse.synthetic.blocks import CLASS_1, AccountingBlocks, statistics_blocks
from smfparse.synthetic.draws import Draws, Ints, Rows, fill, numbered
from smfparse.synthetic.interval import SyntheticInterval, place
from smfparse.synthetic.records import CountedBlocks, RecordParts, Writers
from smfparse.synthetic.sequence import first_count, with_counts

_POOLS_SINCE = ((115, 215), (8, 0))
"""The record that buffer pools have, and since when; they stood with other blocks before."""
_TIMES = {"QIS1": 5, "QQST": 10, "QCST": 4, "QSPH": 6, "QSGM": 6}
_TIMES |= {"QCT_DSP": 5, "QCT_ADP": 8, "QCT_SSL": 3}
"""How many of a block a record has, where it is not one."""
_BLOCK_TEXTS = {"qqstqnam": workload.QUEUES, "qcstchnm": workload.CHANNELS[1:]}
_BLOCK_TEXTS |= {"qcstcnnm": workload.ADDRESSES[1:], "qeststr": workload.STRUCTURES[1:]}
_BLOCK_TEXTS |= {"qesdstr": workload.STRUCTURES[1:]}
"""Texts of blocks that are otherwise filled without knowing them."""


class RecordMaker:
    """Makes the parts of every record of some intervals."""

    def __init__(self, interval: SyntheticInterval) -> None:
        self._interval = interval
        self._accounting = AccountingBlocks(interval)
        statistics = statistics_blocks(interval, self._accounting.sums)
        self._made = self._accounting.by_block | statistics
        for made in self._made.values():
            interval.densify(made.rows)
        self._accounting.join()

    def parts(self) -> list[RecordParts]:
        """Return every kind of record that the registry knows and this MQ version writes."""
        return with_counts(list(self._kinds()), len(self._interval.site.qmgrs), self._before)

    def _before(self, _record: tuple[int, int] | None, every: Ints) -> Ints:
        """Return how many records were written before: as many in every interval."""
        interval = self._interval
        return first_count(len(every)) + interval.first * (every // interval.times)

    def _kinds(self) -> Iterator[RecordParts]:
        for order, (record, triplets) in enumerate(REGISTRY.items()):
            if record == CONTINUATION:  # no task is given more queues than fit its record
                continue
            writers = self._writers(record, order)
            blocks = {
                number: self._counted(block, writers)
                for number, block in triplets.items()
                if self._is_written(record, block)
            }
            if blocks and len(writers.qmgr):
                yield RecordParts(record, writers, blocks)

    def _is_written(self, record: tuple[int, int], block: Block) -> bool:
        version = version_key(self._interval.site.version)
        if block is QPST:
            new, since = _POOLS_SINCE
            return (record == new) == (version >= since)
        return version_key(next(iter(block.lengths))) <= version

    def _writers(self, record: tuple[int, int], order: int) -> Writers:
        interval = self._interval
        if record == CLASS_1:
            return self._class_1_writers(interval)
        if record == TASK:
            stat = interval.task_stat
            noise = interval.draws("flags").below(len(stat), 1 << 32)
            when = self._accounting.spans.end + np.where(interval.lasting, 2, 5)
            agent = place(interval.qmgr[stat], 0x80)
            return Writers(interval.qmgr[stat], when, interval.begin[stat], agent, noise=noise)
        when = interval.begin + interval.site.interval + 9 + 100 * order
        return Writers(interval.qmgr, when, interval.begin, place(interval.qmgr, 0x360))

    def _class_1_writers(self, interval: SyntheticInterval) -> Writers:
        which = interval.ended
        stat = interval.task_stat[which]
        slot = which % max(len(interval.tasks.qmgr), 1)
        return Writers(
            interval.qmgr[stat],
            self._accounting.spans.end[which] + 2,
            interval.begin[stat],
            agent=interval.tasks.address[slot] - 0x1234BD80,
            who=identity.correlation(interval.site.version, self._accounting.wtid, which),
        )

    def _counted(self, block: Block, writers: Writers) -> CountedBlocks:
        if block.name in self._made:
            made = self._made[block.name]
            return made.rows.raw, made.count
        interval = self._interval
        count = np.full(len(writers.qmgr), _TIMES.get(block.name, 1))
        rows = Rows(block, interval.site.version, int(count.sum()))
        nth, draws = numbered(count), interval.draws(block.name)
        fill(rows, nth, np.repeat(writers.when, count), draws, _BLOCK_TEXTS)
        if block.name.startswith("QCT_"):
            length = interval.site.interval
            rows.set_all(qmgr_counters.chinit_columns(len(rows), length, draws))
        elif block is QIS1:
            rows.set_all(qmgr_counters.page_set_columns(nth, draws))
        elif block is Q5ST:
            rows.set_all(qmgr_counters.db2_columns(len(rows), draws))
        elif block is QCST:
            stat = np.repeat(np.arange(len(count)), count)
            _set_channels(interval, rows, stat, nth, draws)
        interval.densify(rows)
        return rows.raw, count


def _set_channels(
    interval: SyntheticInterval, rows: Rows, stat: Ints, nth: Ints, draws: Draws
) -> None:
    """Set what channels count that have been running since before the first interval.

    `stat` and `nth` are the queue manager's interval and the channel of each row.
    """
    channels = _BLOCK_TEXTS["qcstchnm"][: _TIMES["QCST"]]
    kinds = np.array(
        [
            [qmgr_counters.channel_type(each, name) for each in channels]
            for name in interval.site.qmgrs
        ]
    )
    length = interval.site.interval
    end = interval.begin[stat] + length
    rows.set_all(qmgr_counters.channel_columns(kinds[interval.qmgr[stat], nth], end, draws))
    rows.set("qcststrt", interval.begin[0] - interval.first * length - US_PER_DAY * (1 + nth))
