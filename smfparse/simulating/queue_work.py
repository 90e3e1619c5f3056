"""Counters of the queue blocks of tasks: a row for each queue of a task and interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.chunk import Chunk, Columns
from smfparse.simulating.used_queues import UsedQueues
from smfparse.synthetic import Bools, Draws, Floats, Ints

_NO_MESSAGE = 0x0FFFFFFF
_SELECTOR = 64
"""Bytes of a selector."""
_MOST_TIME = 2.0e15
"""Microseconds that a TOD field holds."""
_READ_US = 560.0


class QueueWork:
    """What the blocks of used queues count, by IBM's field name: `columns`, a value a row."""

    def __init__(self, chunk: Chunk, used: UsedQueues, ended: Bools) -> None:
        self._chunk, self.used = chunk, used
        self._draws = chunk.draws("queues")
        self.coupling = used.coupling()
        self.columns: Columns = {
            **self._puts(),
            **self._gets(),
            **self._opens(),
            **dict.fromkeys(("inqn", "setn", "cbn"), 0 * used.put),
        }
        calls = ("openn", "closen", "getn", "putn", "put1n")
        self.columns["total_use"] = sum(self.columns[name] for name in calls)
        self.columns["use_count"] = np.where(ended[used.task], 0, 1)
        self.columns["maxqdpth"] = chunk.did["depth_most"][used.time, used.queue]

    def _puts(self) -> Columns:
        size = self.used.size
        cpu = costs.put_cpu(size, self.used.shared) * self._draws.near(len(size), 0.06)
        columns: Columns = {}
        for verb, mine, factor in (
            ("put", ~self.used.put1, 1.0),
            ("put1", self.used.put1, costs.PUT1_FACTOR),
        ):
            calls = np.where(mine, self.used.put, 0)
            copies = np.where(mine, self.used.streamed, 0)
            columns |= self._put_verb(verb, calls, copies, cpu * factor)
            extra = np.where(mine, self.coupling.extra(3 + (verb == "put1")), 0)
            columns[f"{verb}ct"] = columns[f"{verb}ct"] + extra
            columns[f"{verb}et"] = columns[f"{verb}et"] + extra
        lasting = self.used.persistent
        return columns | {
            "putpmsg": np.where(lasting, columns["putn"], 0),
            "put1pmsg": np.where(lasting, columns["put1n"], 0),
            "validput": self.used.put,
            **_sizes("put", self.used.put, size, self._draws),
            "streamedn": self.used.streamed,
        }

    def _put_verb(self, verb: str, calls: Ints, copies: Ints, cpu: Floats) -> Columns:
        written = np.where(self.used.persistent, calls + copies, 0)
        forced = np.where(self.used.forced, calls, 0)
        spent = (calls + copies * costs.STREAMED) * cpu
        writing, waiting = written * costs.LOG_WRITE, forced * self.used.wait
        late = self._late_pages(calls)
        return {
            f"{verb}n": calls,
            f"{verb}ct": spent,
            f"{verb}et": self._stretched(spent) + writing + waiting * 1.01 + late,
            f"{verb}jwn": written,
            f"{verb}jwet": writing,
            f"{verb}jcn": forced,
            f"{verb}jcet": waiting,
            f"{verb}susn": forced,
            f"{verb}suset": waiting * 1.01,
            f"{verb}psn": np.where(late > 0, calls, 0),
            f"{verb}pset": late,
        }

    def _late_pages(self, calls: Ints) -> Floats:
        """Return the time in which puts wrote pages of a full buffer pool themselves."""
        pool = self._chunk.plan.queue_pool[self.used.queue]
        waits = np.append(self._chunk.did["page_wait"], np.zeros((self._chunk.times, 1)), axis=1)
        late: Floats = waits[self.used.time, pool] * calls * costs.pages(self.used.size)
        return late

    def _gets(self) -> Columns:
        got, size = self.used.got, self._chunk.plan.queue_size[self.used.queue]
        valid = got + self.used.rolled
        passed = np.where(self.used.shared, 0, np.floor(valid * self.used.skipped))
        cpu = costs.GET_SHARE * costs.put_cpu(size, self.used.shared)
        spent = valid * cpu * self._draws.near(len(got), 0.06) + self.used.empty * costs.EMPTY_GET
        spent = spent + passed * costs.SKIPPED + self.coupling.extra(2)
        lasting = self._chunk.plan.queue_persistent[self.used.queue]
        written = np.where(lasting, valid, 0)
        read = np.floor(self._read_share() * valid)
        reading = read * _READ_US
        writing = written * costs.LOG_WRITE
        return {
            "getn": valid + self.used.empty,
            "geterr": self.used.empty,
            "gets": np.where(self.used.by_id, valid + self.used.empty, 0),
            "geta": np.where(self.used.by_id, 0, valid + self.used.empty),
            "getct": spent,
            "getet": self._stretched(spent) + writing + reading * 1.02,
            "getjwn": written,
            "getjwet": writing,
            "getpsn": read,
            "getpset": reading,
            "getsusn": read,
            "getsuset": reading * 1.02,
            "getsmsg": passed,
            "selcount": np.where(self.used.selects, valid, 0),
            "selmaxln": np.where(self.used.selects & (valid > 0), _SELECTOR, 0),
            "validget": valid,
            "getdval": valid,
            "getpmsg": written,
            **_sizes("get", valid, size, self._draws),
            **self._latencies(valid),
        }

    def _read_share(self) -> Floats:
        """Return the pages read for a message of each queue."""
        did, used = self._chunk.did, self.used
        read, went = did["queue_read"], np.maximum(did["went"], 1)
        share: Floats = (read / went)[used.time, used.queue]
        return share

    def _latencies(self, got: Ints) -> Columns:
        """Return how long messages were on the queue: its mean depth by what was taken from it."""
        chunk = self._chunk
        did = chunk.did
        mean = did["latency"][self.used.time, self.used.queue] * self._draws.near(len(got), 0.1)
        low, high = self._draws.near(len(got), 0.3), self._draws.near(len(got), 0.3)
        several = got > 1
        return {
            "totlatnt": np.minimum(got * mean, _MOST_TIME),
            "maxlatnt": np.where(got > 0, np.where(several, mean * (1 + 2 * high), mean), 0),
            "minlatnt": np.where(got > 0, np.where(several, mean * low * 0.4, mean), 0),
        }

    def _opens(self) -> Columns:
        """Return opens and closes, and their times: of shared queues somebody else holds most."""
        opening = np.where(self.used.shared, costs.SHARED_OPEN_HELD, costs.OPEN)
        spent = self.used.opened * opening * self._draws.near(len(self.used.task), 0.2)
        closing = self.used.closed * costs.CLOSE * self._draws.near(len(self.used.task), 0.2)
        return {
            "openn": self.used.opened,
            "openct": spent,
            "openet": self._stretched(spent),
            "opencf0": np.where(self.used.shared, self.used.opened, 0),
            "closen": self.used.closed,
            "closect": closing,
            "closeet": self._stretched(closing),
            "closecf0": np.where(self.used.shared, self.used.closed, 0),
        }

    def _stretched(self, spent: Any) -> Floats:
        """Return how long some processor time lasts, with the waits for a processor."""
        lasts: Floats = spent * (1.02 + 0.12 * self._draws.uniform(len(spent)))
        return lasts


def _sizes(verb: str, messages: Ints, size: Ints, draws: Draws) -> Columns:
    """Return the bytes of messages, and the smallest and largest of them."""
    low, high = draws.near(len(size), 0.2), draws.near(len(size), 0.2)
    several = messages > 1
    total = np.floor(messages * size * np.where(several, draws.near(len(size), 0.02), 1))
    least = np.where(several, np.floor(size * 0.5 * low), size)
    most = np.where(several, np.floor(size * 1.8 * high), size)
    return {
        f"{verb}bytes": total,
        f"{verb}minms": np.where(messages > 0, least, _NO_MESSAGE),
        f"{verb}maxms": np.where(messages > 0, most, 0),
    }
