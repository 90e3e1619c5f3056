"""An estate to the bytes of a dump: chunk by chunk, so that memory does not grow with the days."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from smfparse.layout import US_PER_SECOND, version_key
from smfparse.schemas import REGISTRY
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import Estate
from smfparse.simulating.managers import Managers
from smfparse.simulating.movers import Movers
from smfparse.simulating.pool_statistics import pool_records
from smfparse.simulating.queue_statistics import QueueStatistics
from smfparse.simulating.run import Run
from smfparse.simulating.storage_pools import storage_records
from smfparse.synthetic import (
    Envelope,
    Ints,
    RecordParts,
    SegmentWriter,
    in_order,
    most_queues,
    written,
)

_FIRST_NUMBER = 1_390_000


def simulate(target: Path | BinaryIO, estate: Estate, seed: int = 1) -> None:
    """Write the SMF dump of an estate; the same estate and seed give the same bytes.

    Raises RequestError for an estate that cannot be, OutputError where the dump cannot be written.
    """
    dump = _Dump(Run(estate, seed))
    written(target, dump.write)


class _Dump:
    """All records of an estate, between a dump's header and trailer."""

    def __init__(self, run: Run) -> None:
        estate = run.estate
        self._run = run
        self.envelope = Envelope(
            tuple(each.system for each in estate.queue_managers),
            tuple(run.plan.names),
            estate.version,
            run.plan.offset,
            run.length,
            estate.group,
        )
        self.most = most_queues(estate.version, self.envelope)
        self._numbers = _Numbers(len(run.plan.names))

    def write(self, stream: BinaryIO) -> None:
        """Write the dump."""
        run, headers = self._run, self.envelope.headers
        segments = SegmentWriter(stream)
        segments.write(iter([memoryview(headers.dump_header(run.start))]))
        for chunk in run.chunks():
            segments.write(in_order(self.envelope, self._kinds(chunk)))
        end = run.start + run.count * run.length + US_PER_SECOND
        segments.write(iter([memoryview(headers.dump_trailer(end))]))

    def _kinds(self, chunk: Chunk) -> list[RecordParts]:
        reporters, accounting = Reporters(chunk), Accounting(chunk, self.most)
        kinds = [
            *Managers(chunk, reporters, accounting).records(),
            *pool_records(chunk, reporters),
            *QueueStatistics(chunk, reporters, accounting).records(),
            *storage_records(chunk, reporters, accounting),
            *Movers(chunk, reporters, accounting).records(),
            *accounting.records(),
        ]
        known = [each for each in map(self._written, kinds) if each.blocks]
        return self._numbers.numbered([each for each in known if len(each.writers.when)])

    def _written(self, kind: RecordParts) -> RecordParts:
        """Leave out the blocks that this MQ version does not write."""
        version = version_key(self._run.estate.version)
        since = {
            number: version_key(next(iter(REGISTRY[kind.record][number].lengths)))
            for number in kind.blocks
        }
        blocks = {number: of for number, of in kind.blocks.items() if since[number] <= version}
        return replace(kind, blocks=blocks)


class _Numbers:
    """How many records queue managers wrote, of each trace and of all."""

    def __init__(self, managers: int) -> None:
        self._all: Ints = _FIRST_NUMBER * (1 + np.arange(managers))
        self._of: dict[tuple[int, int], Ints] = {}

    def numbered(self, kinds: list[RecordParts]) -> list[RecordParts]:
        """Give the records of a chunk their numbers, in the order in which they are written."""
        qmgr = np.concatenate([kind.writers.qmgr for kind in kinds])
        when = np.concatenate([kind.writers.when for kind in kinds])
        total, self._all = _counted(qmgr, when, self._all)
        found, at = [], 0
        for kind in kinds:
            writers, end = kind.writers, at + len(kind.writers.when)
            before = self._of.get(kind.record, 0 * self._all)
            own, self._of[kind.record] = _counted(writers.qmgr, writers.when, before)
            found.append(replace(kind, writers=replace(writers, count=(own, total[at:end]))))
            at = end
        return found


def _counted(qmgr: Ints, when: Ints, before: Ints) -> tuple[Ints, Ints]:
    """Number records by queue manager and time; return the numbers, and those reached."""
    order = np.lexsort((when, qmgr))
    every = np.bincount(qmgr, minlength=len(before))
    number = np.empty(len(qmgr), np.int64)
    number[order] = np.arange(len(qmgr)) - np.repeat(np.cumsum(every) - every, every)
    numbers: Ints = number + before[qmgr]
    return numbers, before + every
