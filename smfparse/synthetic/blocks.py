"""The blocks of some intervals whose figures fit together: tasks, queues, main statistics."""

from __future__ import annotations

import numpy as np

from smfparse.schemas import QWAC, TASK
from smfparse.synthetic import identity, qmgr_counters, queue_counters, task_counters, workload
from smfparse.synthetic.draws import Draws, FieldValues, Rows, big_endian, numbered, whole
from smfparse.synthetic.interval import MadeBlocks, SyntheticInterval, place
from smfparse.synthetic.workload import Spans

CLASS_1 = (116, 0)
_WHOLE_QWAC = "9.4.0"
"""An MQ version whose QWAC blocks have the whole map."""
_FEWEST_POOLS, _MOST_POOLS = 4, 16


class AccountingBlocks:
    """The blocks of class 1 and class 3 records.

    spans     from when to when each task is accounted for
    wtid      who each task is
    sums      what the queues of each task count together
    by_block  all blocks, by the names of their declarations
    """

    def __init__(self, interval: SyntheticInterval) -> None:
        self._interval = interval
        tasks, draws = interval.tasks, interval.draws("class 3")
        self.spans = workload.task_spans(tasks, interval.begin[interval.task_stat], draws)
        load = interval.load[interval.task_stat][interval.queue_task]
        spans = self.spans.of(interval.queue_task)
        self._queues = queue_counters.queue_columns(tasks, spans, load, draws)
        rows = len(interval.lasting)
        self.sums = task_counters.summed(self._queues, interval.queue_task, rows)
        self.wtid = identity.task_rows(tasks, self.spans, draws)
        wtas = self._wtas(draws)
        wqst = self._wqst(spans, draws)
        self._class_1 = self._class_1_columns()
        self.by_block = {
            "WTID": MadeBlocks.one_each(self.wtid),
            "WTAS": MadeBlocks.one_each(wtas),
            "WQST": MadeBlocks(wqst, np.tile(tasks.queues, interval.times)),
            "QMAC": MadeBlocks.one_each(self._qmac()),
            "QWAC": MadeBlocks.one_each(self._qwac()),
        }

    def _wtas(self, draws: Draws) -> Rows:
        interval, spans = self._interval, self.spans
        rows = interval.rows(TASK, "WTAS", len(interval.lasting))
        rows.set_all(task_counters.task_columns(interval.tasks, self.sums, spans, draws))
        rows.set_clocks({"wtasstrt": spans.started, "wtasints": spans.begin, "wtasinte": spans.end})
        latch = place(interval.qmgr[interval.task_stat], 0xE0)
        rows.set_bytes("wtaslatc", big_endian(latch << 32, 8))
        task_counters.set_latches(rows, interval.site.version, draws)
        return rows

    def _wqst(self, spans: Spans, draws: Draws) -> Rows:
        interval = self._interval
        rows = interval.tasks.queue_rows(interval.times)
        rows.set_all(self._queues)
        opens = whole(self._queues["openn"])
        lasting = interval.lasting[interval.queue_task]
        rows.set_clocks(queue_counters.handle_clocks(lasting, opens, spans, draws))
        shared = np.tile(interval.tasks.shared, interval.times)
        queue_counters.set_coupling(rows, shared, self._queues, draws)
        return rows

    def _class_1_columns(self) -> FieldValues:
        """Return what class 1 counts of the tasks that ended."""
        interval = self._interval
        size = np.tile(interval.tasks.size, interval.times)
        columns = task_counters.class_1_columns(
            self._queues, size, interval.queue_task, len(interval.lasting)
        )
        return {name: values[interval.ended] for name, values in columns.items()}

    def _qmac(self) -> Rows:
        rows = self._interval.rows(CLASS_1, "QMAC", len(self._interval.ended))
        rows.set_all(self._class_1)
        return rows

    def _qwac(self) -> Rows:
        """Make the blocks of which MQ 10.0.0 writes 96 bytes: taken to be the first ones."""
        interval = self._interval
        spans, draws = self.spans.of(interval.ended), interval.draws("QWAC")
        whole_rows = Rows(QWAC, _WHOLE_QWAC, len(interval.ended))
        whole_rows.set_clocks({"qwacbsc": spans.begin, "qwacesc": spans.end})
        whole_rows.set_all(task_counters.class_1_processor_columns(self._class_1, spans, draws))
        whole_rows.set_bytes("qwacnid", self.wtid.get_bytes("wtidnid")[interval.ended])
        rows = interval.rows(CLASS_1, "QWAC", len(interval.ended))
        rows.raw = whole_rows.raw[:, : rows.length]
        return rows

    def join(self) -> None:
        """Give queue blocks the token of their task."""
        token = self.by_block["WTAS"].rows.raw[self._interval.queue_task, 8:24]
        self.by_block["WQST"].rows.set_bytes("correl", token)


def statistics_blocks(interval: SyntheticInterval, tasks: FieldValues) -> dict[str, MadeBlocks]:
    """Return the blocks of statistics, by name, given what all tasks count."""
    rows = len(interval.begin)
    sums = task_counters.summed(tasks, interval.task_stat, rows)
    messages = qmgr_counters.message_columns(sums, interval.draws("QMST"))
    made = {
        "QJST": MadeBlocks.one_each(_log_rows(interval, messages)),
        "QPST": _pools(interval, messages),
    }
    columns: dict[str, tuple[int, FieldValues]] = {
        "QMST": (2, messages),
        "QIST": (2, qmgr_counters.data_columns(messages, interval.draws("QIST"))),
        "QSST": (1, qmgr_counters.storage_columns(rows, interval.draws("QSST"))),
    }
    for name, (subtype, values) in columns.items():
        block = interval.rows((115, subtype), name, rows)
        block.set_all(values)
        made[name] = MadeBlocks.one_each(block)
    return made


def _log_rows(interval: SyntheticInterval, messages: FieldValues) -> Rows:
    rows = interval.rows((115, 1), "QJST", len(interval.begin))
    logged, draws = messages["qmstpbp"].astype(np.float64), interval.draws("QJST")
    length, load = interval.site.interval, interval.load
    qmgr_counters.set_log(rows, logged, interval.begin, length, load, draws)
    return rows


def _pools(interval: SyntheticInterval, messages: FieldValues) -> MadeBlocks:
    kinds, site = _MOST_POOLS - _FEWEST_POOLS + 1, interval.site
    pools = _FEWEST_POOLS + Draws(site.seed, 0, 1).below(len(site.qmgrs), kinds)
    count = pools[interval.qmgr]
    each = (messages["qmstput"] + messages["qmstget"])[np.repeat(np.arange(len(count)), count)]
    rows = interval.rows((115, 215), "QPST", len(each))
    rows.set_all(qmgr_counters.pool_columns(numbered(count), each, interval.draws("QPST")))
    return MadeBlocks(rows, count)
