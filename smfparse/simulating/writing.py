"""An estate to the bytes of a dump: chunk by chunk, so that memory does not grow with the days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from smfparse.layout import US_PER_SECOND, version_key
from smfparse.schemas import REGISTRY
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.channels import Movers
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import Estate
from smfparse.simulating.dump import Numbers, write_dump
from smfparse.simulating.managers import Managers
from smfparse.simulating.queue_statistics import QueueStatistics
from smfparse.simulating.records import Envelope, RecordParts
from smfparse.simulating.run import Run
from smfparse.simulating.storage import storage_records

_FIRST_OF_KIND = 2_000
"""The number of the first record of each kind: the queue manager has been up for days."""


def simulate(target: Path | BinaryIO, estate: Estate, seed: int = 1) -> None:
    """Write the SMF dump of an estate; the same estate and seed give the same bytes.

    Raises RequestError for an estate that cannot be, OutputError where the dump cannot be written.
    """
    run = Run(estate, seed)
    systems = [each.system for each in estate.queue_managers]
    plan = run.plan
    envelope = Envelope(systems, plan.names, estate.version, plan.offset, run.length, estate.group)
    numbers = Numbers([run.starts(each) for each in range(len(systems))], _FIRST_OF_KIND)
    most = envelope.most_queues()
    batches = (numbers.numbered([*_kinds(chunk, most)]) for chunk in run.chunks())
    end = run.start + run.count * run.length + US_PER_SECOND
    write_dump(target, envelope, run.start, end, batches)


def _kinds(chunk: Chunk, most: int) -> Iterator[RecordParts]:
    """Return all records of some intervals, without the blocks that this MQ version lacks."""
    reporters, accounting = Reporters(chunk), Accounting(chunk, most)
    version = version_key(chunk.plan.estate.version)
    for kind in (
        *Managers(chunk, reporters, accounting).records(),
        *QueueStatistics(chunk, reporters, accounting).records(),
        *storage_records(chunk, reporters, accounting),
        *Movers(chunk, reporters, accounting).records(),
        *accounting.records(),
    ):
        since = {
            number: next(iter(REGISTRY[kind.record][number].lengths)) for number in kind.blocks
        }
        blocks = {
            number: of
            for number, of in kind.blocks.items()
            if version_key(since[number]) <= version
        }
        if blocks and len(kind.writers.when):
            yield replace(kind, blocks=blocks)
