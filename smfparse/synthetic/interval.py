"""The records of some intervals of a synthetic file: every kind that the registry knows.

What tasks, queues and the main statistics blocks count is made up to fit together; any other block
of the registry is filled by its declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from smfparse.layout import Block, version_key
from smfparse.schemas import Q5ST, QCST, QIS1, QPST, QWAC, REGISTRY
from smfparse.synthetic import accounting, identity, statistics, workload
from smfparse.synthetic.draws import (
    Columns,
    Draws,
    Floats,
    Ints,
    Rows,
    big_endian,
    fill,
    randomize,
    whole,
)
from smfparse.synthetic.records import Blocks, Envelope, Kind, Writers
from smfparse.synthetic.workload import DAY, Spans, Tasks

_TASK, _CLASS_1 = (116, 1), (116, 0)
_CONTINUATION = (116, 2)
"""Never needed: no task is given more queues than fit its record."""
_WHOLE_QWAC = "9.4.0"
"""An MQ version whose QWAC blocks have the whole map."""
_FEWEST_POOLS, _MOST_POOLS = 4, 16
_POOLS_SINCE = ((115, 215), (8, 0))
"""The record that buffer pools have, and since when; they stood with other blocks before."""
_FIRST_NUMBER = 1_390_000
_TIMES = {"QIS1": 5, "QQST": 10, "QCST": 4, "QSPH": 6, "QSGM": 6}
_TIMES |= {"QCT_DSP": 5, "QCT_ADP": 8, "QCT_SSL": 3}
"""How many of a block a record has, where it is not one."""
_WORDS = {"qqstqnam": workload.QUEUES, "qcstchnm": workload.CHANNELS[1:]}
_WORDS |= {"qcstcnnm": workload.ADDRESSES[1:], "qeststr": workload.STRUCTURES[1:]}
_WORDS |= {"qesdstr": workload.STRUCTURES[1:]}
"""Texts of blocks that are otherwise filled without knowing them."""
_KEPT = frozenset({"correl", "wtasints", "wtasinte"})
"""What a dense file does not fill: whose a queue block is, and the interval of a task."""
_GROUP_SHARE = {"WTAS": 0.3, "WQST": 0.3}
"""Share of the blocks in which a dense file fills latches and coupling facility requests."""


@dataclass(frozen=True)
class _Made:
    """Blocks that are filled, and how many each record has."""

    rows: Rows
    count: Ints


class Batch:
    """The records of some intervals: rows are interval by interval, then queue manager by task."""

    def __init__(
        self, tasks: Tasks, envelope: Envelope, start: int, first: int, times: int
    ) -> None:
        self.tasks = tasks
        self.site = tasks.site
        self.envelope = envelope
        self.first = first
        self.times = times
        site, qmgrs = self.site, len(self.site.qmgrs)
        begin = start + (first + np.arange(times)) * site.interval
        self.begin: Ints = np.repeat(begin, qmgrs)
        self.qmgr: Ints = np.tile(np.arange(qmgrs), times)
        self.load = self._load()
        self.task_stat: Ints = np.tile(tasks.qmgr, times) + qmgrs * self._nth(len(tasks.qmgr))
        self.queue_task: Ints = np.tile(tasks.task, times) + len(tasks.qmgr) * self._nth(
            len(tasks.task)
        )
        self.lasting = np.tile(tasks.lasting, times)
        self.ended: Ints = np.flatnonzero(~self.lasting)
        self.made = self._class_3() | self._statistics()
        for made in self.made.values():
            self._densify(made.rows)
        self._join()

    def _densify(self, rows: Rows) -> None:
        """Make the blocks of a dense file random."""
        if self.site.dense:
            name = rows.block.name
            share = _GROUP_SHARE.get(name, 1)
            randomize(rows, self._draws(f"dense {name}"), keep=_KEPT, share=share)

    def _join(self) -> None:
        """Give queue blocks the token of their task."""
        token = self.made["WTAS"].rows.raw[self.queue_task, 8:24]
        self.made["WQST"].rows.set_bytes("correl", token)

    def _nth(self, rows: int) -> Ints:
        """Return the interval that each row belongs to, of `rows` an interval."""
        return np.repeat(np.arange(self.times), rows)

    def _draws(self, purpose: str) -> Draws:
        return Draws(self.site.seed, 1 + self.first, *purpose.encode())

    def _load(self) -> Floats:
        """Return how busy each queue manager is: most at 14:00 local time, least at 2:00."""
        local = (self.begin + self.envelope.offset) % DAY / DAY * 24
        distance = np.minimum(np.abs(local - 14), 24 - np.abs(local - 14))
        noise = 0.9 + 0.2 * self._draws("load").uniform(len(local))
        load: Floats = (1 - 0.06 * distance) * noise
        return load

    def _class_3(self) -> dict[str, _Made]:
        tasks, times, draws = self.tasks, self.times, self._draws("class 3")
        self.spans = workload.task_spans(tasks, self.begin[self.task_stat], draws)
        load, spans = self.load[self.task_stat][self.queue_task], self.spans.of(self.queue_task)
        self.queues = accounting.queue_columns(tasks, spans, load, draws)
        self.sums = accounting.summed(self.queues, self.queue_task, len(self.lasting))
        one = np.ones(len(self.lasting), np.int64)
        self.wtid = identity.task_rows(tasks, self.spans, draws)
        return {
            "WTID": _Made(self.wtid, one),
            "WTAS": _Made(self._wtas(draws), one),
            "WQST": _Made(self._wqst(spans, draws), np.tile(tasks.queues, times)),
            "QMAC": self._qmac(),
            "QWAC": self._qwac(),
        }

    def _wtas(self, draws: Draws) -> Rows:
        rows = self._rows(_TASK, "WTAS", len(self.lasting))
        rows.set_all(accounting.task_columns(self.tasks, self.sums, self.spans, draws))
        spans = self.spans
        rows.set_clocks({"wtasstrt": spans.started, "wtasints": spans.begin, "wtasinte": spans.end})
        place = _place(self.qmgr[self.task_stat], 0xE0)
        rows.set_bytes("wtaslatc", big_endian(place << 32, 8))
        accounting.set_latches(rows, self.site.version, draws)
        return rows

    def _wqst(self, spans: Spans, draws: Draws) -> Rows:
        rows = self.tasks.queue_rows(self.times)
        rows.set_all(self.queues)
        opens = whole(self.queues["openn"])
        rows.set_clocks(
            accounting.handle_clocks(self.lasting[self.queue_task], opens, spans, draws)
        )
        shared = np.tile(self.tasks.shared, self.times)
        accounting.set_coupling(rows, shared, self.queues, draws)
        return rows

    def _qmac(self) -> _Made:
        size = np.tile(self.tasks.size, self.times)
        columns = accounting.class_1_columns(self.queues, size, self.queue_task, len(self.lasting))
        self.class_1: Columns = {name: values[self.ended] for name, values in columns.items()}
        rows = self._rows(_CLASS_1, "QMAC", len(self.ended))
        rows.set_all(self.class_1)
        return _Made(rows, np.ones(len(self.ended), np.int64))

    def _qwac(self) -> _Made:
        """Make the blocks of which MQ 10.0.0 writes 96 bytes: taken to be the first ones."""
        spans, draws = self.spans.of(self.ended), self._draws("QWAC")
        whole_rows = Rows(QWAC, _WHOLE_QWAC, len(self.ended))
        whole_rows.set_clocks({"qwacbsc": spans.begin, "qwacesc": spans.end})
        whole_rows.set_all(accounting.class_1_processor_columns(self.class_1, spans, draws))
        whole_rows.set_bytes("qwacnid", self.wtid.get_bytes("wtidnid")[self.ended])
        rows = self._rows(_CLASS_1, "QWAC", len(self.ended))
        rows.raw = whole_rows.raw[:, : rows.length]
        return _Made(rows, np.ones(len(self.ended), np.int64))

    def _rows(self, record: tuple[int, int], name: str, count: int) -> Rows:
        block = next(each for each in REGISTRY[record].values() if each.name == name)
        return Rows(block, self.site.version, count)

    def _statistics(self) -> dict[str, _Made]:
        rows = len(self.begin)
        sums = accounting.summed(self.sums, self.task_stat, rows)
        messages = statistics.message_columns(sums, self._draws("QMST"))
        qjst = self._rows((115, 1), "QJST", rows)
        logged = messages["qmstpbp"].astype(np.float64)
        statistics.set_log(
            qjst, logged, self.begin, self.site.interval, self.load, self._draws("QJST")
        )
        columns: dict[str, tuple[int, Columns]] = {
            "QMST": (2, messages),
            "QIST": (2, statistics.data_columns(messages, self._draws("QIST"))),
            "QSST": (1, statistics.storage_columns(rows, self._draws("QSST"))),
        }
        made = {"QJST": _Made(qjst, np.ones(rows, np.int64)), "QPST": self._pools(messages)}
        for name, (subtype, values) in columns.items():
            block = self._rows((115, subtype), name, rows)
            block.set_all(values)
            made[name] = _Made(block, np.ones(rows, np.int64))
        return made

    def _pools(self, messages: Columns) -> _Made:
        kinds = _MOST_POOLS - _FEWEST_POOLS + 1
        pools = _FEWEST_POOLS + Draws(self.site.seed, 0, 1).below(len(self.site.qmgrs), kinds)
        count = pools[self.qmgr]
        each = (messages["qmstput"] + messages["qmstget"])[np.repeat(np.arange(len(count)), count)]
        rows = self._rows((115, 215), "QPST", len(each))
        rows.set_all(statistics.pool_columns(_number(count), each, self._draws("QPST")))
        return _Made(rows, count)

    def kinds(self) -> list[Kind]:
        """Return every kind of record that the registry knows and this MQ version writes."""
        kinds = list(self._kinds())
        total = self._numbers(
            np.concatenate([kind.writers.qmgr for kind in kinds]),
            np.concatenate([kind.writers.when for kind in kinds]),
        )
        numbered, at = [], 0
        for kind in kinds:
            writers, end = kind.writers, at + len(kind.writers.when)
            count = (self._numbers(writers.qmgr, writers.when), total[at:end])
            numbered.append(replace(kind, writers=replace(writers, count=count)))
            at = end
        return numbered

    def _numbers(self, qmgr: Ints, when: Ints) -> Ints:
        """Number the records of each queue manager as they are written, from the first interval on.

        A queue manager writes as many in every interval.
        """
        order = np.lexsort((when, qmgr))
        every = np.bincount(qmgr, minlength=len(self.site.qmgrs))
        number = np.empty(len(qmgr), np.int64)
        number[order] = _number(every)
        before = self.first * (every // self.times) + _FIRST_NUMBER * (1 + np.arange(len(every)))
        numbers: Ints = number + before[qmgr]
        return numbers

    def _kinds(self) -> Iterator[Kind]:
        for order, (record, triplets) in enumerate(REGISTRY.items()):
            if record == _CONTINUATION:
                continue
            writers = self._writers(record, order)
            blocks = {
                number: self._blocks(block, writers)
                for number, block in triplets.items()
                if self._is_written(record, block)
            }
            if blocks and len(writers.qmgr):
                yield Kind(record, writers, blocks)

    def _is_written(self, record: tuple[int, int], block: Block) -> bool:
        version = version_key(self.site.version)
        if block is QPST:
            new, since = _POOLS_SINCE
            return (record == new) == (version >= since)
        return version_key(next(iter(block.lengths))) <= version

    def _writers(self, record: tuple[int, int], order: int) -> Writers:
        if record == _CLASS_1:
            which = self.ended
            stat = self.task_stat[which]
            slot = which % max(len(self.tasks.qmgr), 1)
            return Writers(
                self.qmgr[stat],
                self.spans.end[which] + 2,
                self.begin[stat],
                agent=self.tasks.address[slot] - 0x1234BD80,
                who=identity.correlation(self.tasks, self.wtid, which),
            )
        if record == _TASK:
            stat = self.task_stat
            noise = self._draws("flags").below(len(stat), 1 << 32)
            when = self.spans.end + np.where(self.lasting, 2, 5)
            agent = _place(self.qmgr[stat], 0x80)
            return Writers(self.qmgr[stat], when, self.begin[stat], agent, noise=noise)
        when = self.begin + self.site.interval + 9 + 100 * order
        return Writers(self.qmgr, when, self.begin, _place(self.qmgr, 0x360))

    def _blocks(self, block: Block, writers: Writers) -> Blocks:
        if block.name in self.made:
            made = self.made[block.name]
            return made.rows.raw, made.count
        count = np.full(len(writers.qmgr), _TIMES.get(block.name, 1))
        rows = Rows(block, self.site.version, int(count.sum()))
        nth, draws = _number(count), self._draws(block.name)
        fill(rows, nth, np.repeat(writers.when, count), draws, _WORDS)
        if block.name.startswith("QCT_"):
            rows.set_all(statistics.chinit_columns(len(rows), self.site.interval, draws))
        elif block is QIS1:
            rows.set_all(statistics.page_set_columns(nth, draws))
        elif block is Q5ST:
            rows.set_all(statistics.db2_columns(len(rows), draws))
        elif block is QCST:
            self._set_channels(rows, np.repeat(np.arange(len(count)), count), nth, draws)
        self._densify(rows)
        return rows.raw, count

    def _set_channels(self, rows: Rows, stat: Ints, nth: Ints, draws: Draws) -> None:
        """Set what channels count that have been running since before the first interval.

        `stat` and `nth` are the queue manager's interval and the channel of each row.
        """
        channels = _WORDS["qcstchnm"][: _TIMES["QCST"]]
        kinds = np.array(
            [[statistics.channel_type(each, name) for each in channels] for name in self.site.qmgrs]
        )
        end = self.begin[stat] + self.site.interval
        rows.set_all(statistics.channel_columns(kinds[self.qmgr[stat], nth], end, draws))
        rows.set("qcststrt", self.begin[0] - self.first * self.site.interval - DAY * (1 + nth))


def _place(qmgr: Ints, part: int) -> Ints:
    """Return the address of something that each queue manager has."""
    places: Ints = 0x2E000000 + 0x1000 * (qmgr * 37 % 251) + part
    return places


def _number(count: Ints) -> Ints:
    """Number the blocks of each record from 0."""
    return np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
