"""The channel initiator: its limits, and the work of its tasks (115/231)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.layout import US_PER_SECOND, Block, Raw
from smfparse.schemas import QCCT, QCT_ADP, QCT_DNS, QCT_DSP, QCT_SSL
from smfparse.simulating import costs
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.channels import CLIENT, Instances, channel_records
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.synthetic import Draws, Floats, Ints, RecordParts, Rows, Writers, encoded, numbered

_KB_CLIENT, _KB_CHANNEL = 156, 90
_STORAGE_64, _LIMIT_64 = 260, 2048
_LATER = 120_000
_DISPATCHED = 1.12
"""How long a dispatcher takes, of the processor time; a TLS task waits for its card as well."""
_ENCRYPTED = 1.15
_TASK, _NEXT_TASK, _NAMES_TASK = 0x7E0000, 0x11E0, 0x7F1000
_RESOLVED, _RESOLVED_CPU = 900.0, 45.0


class Movers:
    """The records of some intervals: of queue managers that have channels."""

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._accounting = chunk, reporters, accounting
        self._draws = chunk.draws("channels")
        self._version = chunk.plan.estate.version
        self._instances = Instances(chunk, reporters, accounting)
        has = np.zeros(len(chunk.plan.names), bool)
        has[chunk.plan.manager_of(chunk.plan.estate.channels)] = True
        self._which: Ints = np.flatnonzero(has[reporters.manager])
        self._length = reporters.microseconds[self._which]

    def records(self) -> Iterator[RecordParts]:
        """Return the records."""
        which = self._which
        if not len(which):
            return
        one = np.ones(len(which), np.int64)
        begin = self._reporters.begin[which] + self._chunk.plan.offset
        blocks: dict[int, tuple[Raw, Ints]] = {
            1: (self._control().raw, one),
            2: self._dispatchers(),
            3: self._adapters(),
            4: self._tls(),
            5: (_resolver(self._version, begin, self._length, self._draws).raw, one),
        }
        yield RecordParts((115, 231), self._writers(which, 0), blocks)
        rows, count = channel_records(
            self._chunk, self._reporters, self._accounting, self._instances
        )
        some = np.flatnonzero(count)
        yield RecordParts((116, 10), self._writers(some, 1), {1: (rows.raw, count[some])})

    def _writers(self, which: Ints, order: int) -> Writers:
        reporters = self._reporters
        when = reporters.end[which] + _LATER + 400 * order
        length = reporters.microseconds[which]
        return Writers(
            reporters.manager[which], when, reporters.begin[which], 0 * which, length=length
        )

    def _limit(self, name: str) -> Ints:
        return self._reporters.limit(name)[self._which]

    def _control(self) -> Rows:
        """Return the limits, how near to them channels are, and the storage that these take."""
        which, plan = self._which, self._chunk.plan
        rows = Rows(QCCT, self._version, len(which))
        jobs = encoded(QCCT.field("qcctjobn").kind, [f"{name}CHIN" for name in plan.names])
        rows.set_bytes("qcctjobn", jobs[self._reporters.manager[which]])
        group = encoded(QCCT.field("qcctqsgn").kind, [plan.estate.group])
        rows.set_bytes("qcctqsgn", np.repeat(group, len(which), axis=0))
        active = self._instances.at_once()[which]
        clients = self._instances.summed(self._instances.type == CLIENT)[which]
        held = np.minimum(clients, active)
        held = held * _KB_CLIENT + (active - held) * _KB_CHANNEL
        leaked = self._reporters.of(self._chunk.effects.leaked)[which]
        for field, limit in (("cc", "max_channels"), ("ac", "active_channels")):
            rows.set(f"qcctno{field}", active)
            rows.set(f"qcctmx{field}", self._limit(limit))
        for field, limit in (("tp", "tcp_channels"), ("lu", "lu62_channels")):
            rows.set(f"qcctmx{field}", self._limit(limit))
        rows.set("qcctstus", np.floor(self._limit("megabytes") + held / 1024 + leaked))
        rows.set("qcctstab", _STORAGE_64)
        rows.set("qcctslim", _LIMIT_64)
        return rows

    def _dispatchers(self) -> tuple[Raw, Ints]:
        """Return dispatchers: each runs the channels that it was given."""
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
        of_task = [
            np.bincount(key, values, size).reshape(-1, most)[self._which][used].astype(np.float64)
            for values in (calls, cpu, cpu * _DISPATCHED, np.ones(len(key)))
        ]
        rows = self._tasks(QCT_DSP, count, *of_task[:3])
        rows.set("qctchln", of_task[3])
        return rows.raw, count

    def _adapters(self) -> tuple[Raw, Ints]:
        """Return adapters: they make the calls of the channels."""
        of, made = self._instances, self._accounting.work.calls()
        values = (of.summed(each[of.task])[self._which] for each in vars(made).values())
        rows, count = self._in_turn(QCT_ADP, "adapters", *values)
        return rows.raw, count

    def _tls(self) -> tuple[Raw, Ints]:
        """Return the tasks that encrypt, decrypt and start channels with TLS."""
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
        rows.set("qctlsdu", np.full(len(used), costs.TLS_START * 1.3), where=used)
        return rows.raw, count

    def _in_turn(
        self, block: Block, name: str, calls: Floats, cpu: Floats, took: Floats
    ) -> tuple[Rows, Ints]:
        """Return tasks that are taken in order: the next one works when those before it do."""
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
        """Return blocks of tasks, `count` a record; none works longer than the interval."""
        rows = Rows(block, self._version, int(count.sum()))
        length = np.repeat(self._length, count)
        lasted = np.minimum(took, length * 0.995)
        rows.set_all(
            {
                "qcttskn": _TASK + _NEXT_TASK * numbered(count),
                "qctreqn": calls,
                "qctcptm": np.minimum(cpu, lasted),
                "qcteltm": lasted,
                "qctwttm": length - lasted,
            }
        )
        return rows


def _resolver(version: str, begin: Ints, length: Ints, draws: Draws) -> Rows:
    """Return the task that resolves names, a row a record: it has next to nothing to do."""
    asked = draws.below(len(begin), 3)
    rows = Rows(QCT_DNS, version, len(asked), {"qcttskn": _NAMES_TASK})
    rows.set("qctreqn", asked)
    rows.set("qctcptm", asked * _RESOLVED_CPU)
    rows.set("qcteltm", asked * _RESOLVED)
    rows.set("qctwttm", length - asked * _RESOLVED)
    some = np.flatnonzero(asked > 0)
    rows.set("qctlgtm", begin[some] + US_PER_SECOND, where=some)
    rows.set("qctlgdu", np.full(len(some), _RESOLVED * 1.2), where=some)
    return rows
