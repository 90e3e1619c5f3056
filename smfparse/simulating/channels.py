"""The records of channel initiators (115/231) and of channel instances (116/10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.layout.clocks import US_PER_SECOND
from smfparse.schemas import QCCT, QCST, QCT_ADP, QCT_DNS, QCT_DSP, QCT_SSL
from smfparse.simulating import costs
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.block_parts import BATCH_CONTROL, BATCH_KB, CHANNEL_STATE, MESSAGE_HEADER
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import CHANNEL_TYPES
from smfparse.simulating.draws import (
    NEVER,
    Bools,
    Columns,
    Floats,
    Ints,
    Rows,
    numbered,
)
from smfparse.simulating.plan import NONE, column
from smfparse.simulating.records import CountedBlocks, RecordParts, Writers, once

_CLIENT = CHANNEL_TYPES["server-connection"]
_INWARD = (CHANNEL_TYPES["receiver"], CHANNEL_TYPES["cluster-receiver"], _CLIENT)
_UNSET = 0x8FFFFFFF
_CALLS = 3
"""Number of MQI calls of a client per message."""
_LATER, _SINCE = 120_000, 900_000
_KB_CLIENT, _KB_CHANNEL = 156, 90
_STORAGE_64, _LIMIT_64 = 260, 2048
_DISPATCHED = 1.12
"""Ratio of elapsed time to CPU time of a dispatcher."""
_ENCRYPTED = 1.15
"""Ratio of elapsed time to CPU time of a TLS task, which also waits for its crypto card."""
_TASK, _NEXT_TASK, _NAMES_TASK = 0x7E0000, 0x11E0, 0x7F1000
_RESOLVED, _RESOLVED_CPU = 900.0, 45.0
_FIRST_ON_TASK = 10
"""Maximum number of channels of a dispatcher before the next dispatcher gets channels."""


class Instances:
    """Channel instances, one row per instance and interval, in the order of `Reporters`.

    row         index of the queue manager and interval in `Reporters`
    task        index of the instance's task in `Tasks`
    channel     number of the channel
    type        type of the channel
    client      whether the channel is a server-connection channel
    moved       number of messages on the channel
    bytes       number of bytes of these messages
    lasting     number of persistent messages
    dispatcher  number of the dispatcher of the instance
    app         application of the instance's task
    brief       whether the instance started and ended within one interval
    """

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._tasks = chunk, reporters, accounting.tasks
        plan, tasks = chunk.plan, accounting.tasks
        apps, channels = plan.estate.applications, plan.estate.channels
        is_channel = np.array([each.kind == "channel" for each in apps])
        numbers = np.array([plan.channel_no.get(each.channel, 0) for each in apps])
        mine = np.flatnonzero(is_channel[tasks.app])
        row = reporters.row_of[tasks.time[mine], tasks.manager[mine]]
        mine, row = mine[row >= 0], row[row >= 0]
        names = np.argsort(np.argsort([each.name for each in apps]))
        order = np.lexsort((tasks.number[mine], names[tasks.app[mine]], row))
        self.task: Ints = mine[order]
        self.row: Ints = row[order]
        self.app: Ints = tasks.app[self.task]
        self.channel: Ints = numbers[self.app]
        kinds = np.array([CHANNEL_TYPES[each.type] for each in channels] or [0])
        self.type: Ints = kinds[self.channel]
        self.client: Bools = self.type == _CLIENT
        self.brief: Bools = tasks.brief[self.task]
        sums = accounting.work.sums
        self.moved = (sums["validget"] + sums["putn"] + sums["put1n"])[self.task]
        self.bytes = (sums["getbytes"] + sums["putbytes"])[self.task]
        lasting = sums["getpmsg"] + sums["putpmsg"] + sums["put1pmsg"]
        self.lasting = lasting[self.task]
        self.dispatcher = self._dispatcher()

    def _dispatcher(self) -> Ints:
        """Return the dispatcher of each instance: channels fill one dispatcher after another."""
        count = np.bincount(self.row, minlength=len(self._reporters))
        channels, dispatchers = (
            self._reporters.declared("mover", name)[self.row]
            for name in ("max_channels", "dispatchers")
        )
        size = np.clip(channels // dispatchers, 1, _FIRST_ON_TASK)
        found: Ints = numbered(count) // size % dispatchers
        return found

    def of_channel(self, name: str) -> Floats:
        """Return the declared property `name` of the channel of each row."""
        found: Floats = column(self._chunk.plan.estate.channels, name, 0)[self.channel]
        return found.astype(np.float64)

    def summed(self, values: Floats | Bools) -> Floats:
        """Return sums of values per row of `Reporters`."""
        return np.bincount(self.row, values, len(self._reporters)).astype(np.float64)

    def at_once(self) -> Floats:
        """Return the average number of running channels per row of `Reporters`, rounded up."""
        return np.ceil(self.summed(self._tasks.present()[self.task]))

    def _backed_up(self) -> Bools:
        """Return which instances have enough waiting messages for full batches."""
        plan, did = self._chunk.plan, self._chunk.did
        apps = plan.estate.applications
        queues = [plan.queue_no[each.get[0]] if each.get else NONE for each in apps]
        source = np.array(queues)[self.app]
        depth = did["depth"][self._reporters.time[self.row], source]
        found: Bools = (source != NONE) & (depth > 2 * self._batch())
        return found

    def _batch(self) -> Floats:
        time = self._reporters.time[self.row]
        changed = self._chunk.effects.batch[time, self.channel]
        return np.where(changed > 0, changed, self.of_channel("batch"))

    def rows(self) -> Rows:
        """Return the QCST blocks of the instances that run at the end of their interval."""
        mine = np.flatnonzero(~self.brief)
        channels, tasks = self._chunk.plan.estate.channels, self._tasks
        columns = {**self._described(), **self._moved(), **self._network()}
        columns = {name: values[mine] for name, values in columns.items()}
        rows = self._chunk.rows(QCST, len(mine), columns | CHANNEL_STATE)
        rows.set("qcstetmn", _UNSET)
        for field, words in (
            ("qcstchnm", [each.shown for each in channels]),
            ("qcstcnnm", [each.connection for each in channels]),
            ("qcstrqmn", [each.partner for each in channels]),
        ):
            rows.set_texts(field, words, self.channel[mine])
        end, task = self._reporters.end[self.row[mine]], self.task[mine]
        rows.set_clocks(
            {
                "qcstcltm": end + _LATER,
                "qcststrt": tasks.started[task],
                "qcstludt": np.where(tasks.ended[task], tasks.end[task], NEVER),
                "qcstlmst": end - _SINCE,
            }
        )
        return rows

    def _described(self) -> Columns:
        return {
            "qcstchty": self.type,
            "qcstcbsz": np.where(self.client, 0, self._batch()),
            "qcstcbdl": np.where(self.client, 0, BATCH_KB),
            "qcstcscv": np.where(self.client, self.of_channel("sharing"), 0),
            "qcstcpra": self.of_channel("compression"),
            "qcstslcs": self.of_channel("cipher"),
            "qcstdspn": self.dispatcher,
        }

    def _batches(self) -> tuple[Ints, Ints]:
        commit = self._chunk.plan.app_column("commit")
        most = np.maximum(self._batch(), 1)
        usual = np.clip(commit[self.app], 1, most)
        size = np.where(self._backed_up(), most, usual)
        batches = np.where(self.client, 0, np.ceil(self.moved / size)).astype(np.int64)
        full = np.where(~self.client & (size == most), np.floor(self.moved / most), 0)
        return batches, np.minimum(full, batches).astype(np.int64)

    def _moved(self) -> Columns:
        inward = np.isin(self.type, _INWARD)
        messages = np.where(self.client, self.moved * _CALLS, self.moved)
        batches, full = self._batches()
        squeezed: Floats = 1 - self.of_channel("compression") / 100
        data = self.bytes * squeezed + self.moved * MESSAGE_HEADER
        control = BATCH_CONTROL * (batches + np.where(self.client, messages, 0))
        return {
            "qcstnmsg": messages,
            "qcstnpmg": np.minimum(self.lasting, messages),
            "qcstbatc": batches,
            "qcstfuba": full,
            "qcstbfst": np.where(inward, batches + self.client * messages, self.moved + batches),
            "qcstbfrc": np.where(inward, self.moved + batches, batches),
            "qcstnbyt": self.bytes,
            "qcstnpby": np.where(self.lasting > 0, self.bytes, 0),
            "qcstbyst": np.where(inward, control, data + control),
            "qcstbyrc": np.where(inward, data + control, control),
            "qcstqetc": np.where(inward, 0, batches - full),
        }

    def _network(self) -> Columns:
        slower = self._chunk.effects.network[self._reporters.time[self.row], self.channel]
        near = self._chunk.draws("network").near(len(self.row), 0.08)
        trip = self.of_channel("network") * slower * near
        longest = trip * (2 + self._chunk.draws("longest trips").uniform(len(trip)))
        return {
            "qcstntmn": np.where(self.client, _UNSET, np.floor(trip * 0.8)),
            "qcstntav": np.where(self.client, 0, np.floor(trip)),
            "qcstntmx": np.where(self.client, 0, np.floor(longest)),
        }


class Movers:
    """Makes the records of channel initiators in a chunk, for queue managers with channels."""

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._draws = chunk.draws("channels")
        self._instances = Instances(chunk, reporters, accounting)
        has = np.zeros(len(chunk.plan.names), bool)
        has[chunk.plan.manager_of(chunk.plan.estate.channels)] = True
        self._which: Ints = np.flatnonzero(has[reporters.manager])
        self._length = reporters.microseconds[self._which]

    def records(self) -> Iterator[RecordParts]:
        which = self._which
        if not len(which):
            return
        blocks = {
            1: once(self._control()),
            2: self._dispatchers(),
            3: self._adapters(),
            4: self._tls(),
            5: once(self._resolver()),
        }
        yield RecordParts((115, 231), self._writers(which, _LATER), blocks)
        row = self._instances.row[~self._instances.brief]
        count = np.bincount(row, minlength=len(self._reporters))
        some = np.flatnonzero(count)
        blocks = {1: (self._instances.rows().raw, count[some])}
        yield RecordParts((116, 10), self._writers(some, _LATER + 400), blocks)

    def _writers(self, which: Ints, after: int) -> Writers:
        writers = self._reporters.writers(0, which)
        return replace(writers, when=self._reporters.end[which] + after)

    def _limit(self, name: str) -> Ints:
        found: Ints = self._reporters.declared("mover", name)[self._which]
        return found

    def _control(self) -> Rows:
        which, plan = self._which, self._chunk.plan
        active = self._instances.at_once()[which]
        clients = np.minimum(self._instances.summed(self._instances.client)[which], active)
        kilobytes = clients * _KB_CLIENT + (active - clients) * _KB_CHANNEL
        leaked = self._reporters.of(self._chunk.effects.leaked)[which]
        columns = {
            "qcctnocc": active,
            "qcctnoac": active,
            "qcctmxcc": self._limit("max_channels"),
            "qcctmxac": self._limit("active_channels"),
            "qcctmxtp": self._limit("tcp_channels"),
            "qcctmxlu": self._limit("lu62_channels"),
            "qcctstus": np.floor(self._limit("megabytes") + kilobytes / 1024 + leaked),
            "qcctstab": _STORAGE_64,
            "qcctslim": _LIMIT_64,
        }
        rows = self._chunk.rows(QCCT, len(which), columns)
        jobs = [f"{name}CHIN" for name in plan.names]
        rows.set_texts("qcctjobn", jobs, self._reporters.manager[which])
        rows.set_texts("qcctqsgn", [plan.estate.group], 0)
        return rows

    def _dispatchers(self) -> CountedBlocks:
        of, starts = self._instances, self._instances.brief.astype(np.float64)
        cpu = of.moved * costs.DISPATCH + of.bytes * costs.DISPATCH_BYTE
        squeezed = of.of_channel("compression") > 0
        cpu = cpu + np.where(squeezed, of.bytes * costs.COMPRESS_BYTE, 0)
        cpu = cpu + starts * costs.CONNECT * costs.CONNECT_MOVER
        calls = 2 * of.moved + costs.CONNECT_CALLS * starts
        count = self._limit("dispatchers")
        most = int(count.max())
        key, size = of.row * most + of.dispatcher, len(self._reporters) * most
        used = np.arange(most) < count[:, None]
        *of_task, channels = [
            np.bincount(key, values, size).reshape(-1, most)[self._which][used].astype(np.float64)
            for values in (calls, cpu, cpu * _DISPATCHED, np.ones(len(key)))
        ]
        rows = self._tasks(QCT_DSP, count, *of_task)
        rows.set("qctchln", channels)
        return rows.raw, count

    def _adapters(self) -> CountedBlocks:
        """Return the blocks of adapters, which issue the MQI calls of the channels."""
        of, work = self._instances, self._accounting.work
        calls = (of.summed(work.calls(part)[of.task])[self._which] for part in ("n", "ct", "et"))
        rows, count = self._in_turn(QCT_ADP, "adapters", *calls)
        return rows.raw, count

    def _tls(self) -> CountedBlocks:
        of, starts = self._instances, self._instances.brief.astype(np.float64)
        cipher = of.of_channel("cipher") > 0
        spent = of.moved * costs.TLS + of.bytes * costs.TLS_BYTE + starts * costs.TLS_START
        rekey = of.of_channel("rekey")
        keys = np.where(rekey > 0, of.bytes / np.maximum(rekey, 1), 0)
        spent = spent + keys * costs.TLS_REKEY
        calls = np.where(cipher, keys + 2 * of.moved + costs.TLS_CALLS * starts, 0)
        spent = np.where(cipher, spent, 0)
        values = (of.summed(each)[self._which] for each in (calls, spent, spent * _ENCRYPTED))
        rows, count = self._in_turn(QCT_SSL, "tls_tasks", *values)
        reporters, which = self._reporters, self._which
        part = np.floor(self._chunk.length * self._draws.uniform(len(rows))).astype(np.int64)
        when = np.repeat(reporters.begin[which], count) + part + self._chunk.plan.offset
        first = np.cumsum(count) - count
        used = np.intersect1d(first, np.flatnonzero(rows.get_bytes("qctreqn").any(axis=1)))
        rows.set("qctlstm", when[used], where=used)
        rows.set("qctlsdu", costs.TLS_START * 1.3, where=used)
        return rows.raw, count

    def _in_turn(
        self, block: Block, name: str, calls: Floats, cpu: Floats, took: Floats
    ) -> tuple[Rows, Ints]:
        """Return blocks of tasks, and their number per record; a busy task passes on its work."""
        count = self._limit(name)
        used = np.arange(int(count.max())) < count[:, None]
        left, shares = took / self._length, []
        for _ in range(int(count.max())):
            shares.append(left / (1 + left))
            left = left - shares[-1]
        share = np.where(used, np.stack(shares, axis=1), 0)
        share = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-12)
        columns = [(values[:, None] * share)[used] for values in (calls, cpu, took)]
        return self._tasks(block, count, np.rint(columns[0]), *columns[1:]), count

    def _tasks(self, block: Block, count: Ints, calls: Floats, cpu: Floats, took: Floats) -> Rows:
        """Return blocks of tasks, `count` per record; no task works longer than the interval."""
        length = np.repeat(self._length, count)
        lasted = np.minimum(took, length * 0.995)
        columns = {
            "qcttskn": _TASK + _NEXT_TASK * numbered(count),
            "qctreqn": calls,
            "qctcptm": np.minimum(cpu, lasted),
            "qcteltm": lasted,
            "qctwttm": length - lasted,
        }
        return self._chunk.rows(block, len(length), columns)

    def _resolver(self) -> Rows:
        """Return the blocks of the task that resolves names, which is nearly idle."""
        length = self._length
        requests = self._draws.below(len(length), 3)
        took = requests * _RESOLVED
        columns = {
            "qcttskn": _NAMES_TASK,
            "qctreqn": requests,
            "qctcptm": requests * _RESOLVED_CPU,
            "qcteltm": took,
            "qctwttm": length - took,
        }
        rows = self._chunk.rows(QCT_DNS, len(requests), columns)
        some = np.flatnonzero(requests > 0)
        begin = self._reporters.begin[self._which] + self._chunk.plan.offset
        rows.set("qctlgtm", begin[some] + US_PER_SECOND, where=some)
        rows.set("qctlgdu", _RESOLVED * 1.2, where=some)
        return rows
