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
from smfparse.simulating.queue_statistics import QueueStatistics
from smfparse.simulating.run import Run
from smfparse.simulating.storage_pools import pool_records, storage_records
from smfparse.synthetic import (
    Envelope,
    Ints,
    RecordParts,
    SegmentWriter,
    Writers,
    first_count,
    in_order,
    most_queues,
    with_counts,
    written,
)

_FIRST_OF_KIND = 2_000
"""The number of the first record of each kind: the queue manager has been up for days."""


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
        managers = len(run.plan.names)
        self._starts = [run.starts(each) for each in range(managers)]
        self._runs = 1 + max(map(len, self._starts), default=0)
        """Runs of a queue manager, at most: from one start of it to the next."""
        self._count: dict[tuple[int, int] | None, Ints] = {None: self._first(first_count(managers))}

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
        some = [each for each in known if len(each.writers.when)]
        return with_counts(some, len(self._starts) * self._runs, self._before, self._run_of)

    def _first(self, count: Ints) -> Ints:
        """Return the first numbers of the runs of queue managers: `count`, and 1 after a start."""
        first = np.ones((len(count), self._runs), np.int64)
        first[:, 0] = count
        return first.reshape(-1)

    def _run_of(self, of: Writers) -> Ints:
        """Return the run in which each record was written."""
        found = of.qmgr * self._runs
        for manager, starts in enumerate(self._starts):
            own = of.qmgr == manager
            found[own] += np.searchsorted(starts, of.when[own], side="right")
        return found

    def _before(self, record: tuple[int, int] | None, every: Ints) -> Ints:
        """Return how many records runs of queue managers wrote so far, and count these."""
        before = self._count.get(record)
        if before is None:
            before = self._first(np.full(len(self._starts), _FIRST_OF_KIND))
        self._count[record] = before + every
        return before

    def _written(self, kind: RecordParts) -> RecordParts:
        """Leave out the blocks that this MQ version does not write."""
        version = version_key(self._run.estate.version)
        since = {
            number: version_key(next(iter(REGISTRY[kind.record][number].lengths)))
            for number in kind.blocks
        }
        blocks = {number: of for number, of in kind.blocks.items() if since[number] <= version}
        return replace(kind, blocks=blocks)
