"""From records to a dump: records in the order of their times, numbered and spanned over blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from smfparse.errors import OutputError
from smfparse.progress import PROGRESS
from smfparse.schemas import DUMP_HEADER, DUMP_TRAILER
from smfparse.simulating.draws import Ints, numbered
from smfparse.simulating.records import Envelope, RecordParts

BLOCK_BYTES = 27_994
"""Bytes for segments in a block of a dump: BLKSIZE 27,998 minus the block descriptor word."""
_AT_ONCE = 1 << 20
"""Minimum number of bytes that are written in one step."""
_LEAST_SEGMENT = 36
"""Minimum bytes of a first segment: the SMF header and a triplet."""
_RDW = struct.Struct(">HBB")
_WHOLE, _FIRST, _LAST, _MIDDLE = range(4)


class SegmentWriter:
    """Writes records as in a dump data set: spanned over blocks, without block descriptor words."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._room = BLOCK_BYTES

    def write(self, records: Iterator[memoryview]) -> None:
        """Write records, each with its RDW."""
        out = bytearray()
        for record in records:
            if len(record) <= self._room:
                out += record
                self._room -= len(record)
            else:
                self._span(record, out)
            if len(out) >= _AT_ONCE:
                PROGRESS.add(self._stream.write(out))
                out = bytearray()
        PROGRESS.add(self._stream.write(out))

    def _span(self, record: memoryview, out: bytearray) -> None:
        if self._room < _LEAST_SEGMENT:
            self._room = BLOCK_BYTES
        at = _RDW.size
        while at < len(record):
            size = min(len(record) - at, self._room - _RDW.size)
            out += _RDW.pack(_RDW.size + size, _code(at == _RDW.size, at + size == len(record)), 0)
            out += record[at : at + size]
            at += size
            self._room -= _RDW.size + size
            if self._room <= _RDW.size:
                self._room = BLOCK_BYTES


def _code(first: bool, last: bool) -> int:
    if first:
        return _WHOLE if last else _FIRST
    return _LAST if last else _MIDDLE


PIECE = 1000
"""Number of records that are built in one step."""
_FIRST_COUNT = 1_390_000


def write_dump(
    target: Path | BinaryIO,
    envelope: Envelope,
    start: int,
    end: int,
    batches: Iterable[Sequence[RecordParts]],
) -> None:
    """Write a dump to a path or a stream; raise OutputError if a path cannot be written.

    start, end  times at which the header and the trailer of the dump were written
    """
    if not isinstance(target, Path):
        writer = SegmentWriter(target)
        writer.write(iter([envelope.marker(DUMP_HEADER, start)]))
        for records in map(
            partial(in_order, envelope), batches
        ):  # a variable for the batch would keep it in memory
            writer.write(records)
        writer.write(iter([envelope.marker(DUMP_TRAILER, end)]))
        return
    try:
        with target.open("wb") as stream:
            write_dump(stream, envelope, start, end, batches)
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}") from error


class Numbers:
    """Numbers the records of each queue manager, by kind and in total, from 1 after a start.

    starts  times at which each queue manager starts within the dump
    first   number of the first record of each kind; None: the first number in the total
    """

    def __init__(self, starts: Sequence[Ints], first: int | None = None) -> None:
        self._starts = starts
        self._runs = 1 + max(map(len, starts))
        every = _FIRST_COUNT * (1 + np.arange(len(starts)))
        self._first = self._from(every if first is None else np.full(len(starts), first))
        self._count: dict[tuple[int, int] | None, Ints] = {None: self._from(every)}

    def _from(self, count: Ints) -> Ints:
        """Return the first number of each queue manager's runs: `count`, or 1 after a start."""
        first = np.ones((len(count), self._runs), np.int64)
        first[:, 0] = count
        return first.reshape(-1)

    def numbered(self, kinds: Sequence[RecordParts]) -> list[RecordParts]:
        """Number each record among the records of its kind, and among all records of its run."""
        runs = [self._run(kind) for kind in kinds]
        when = np.concatenate([kind.writers.when for kind in kinds])
        ends = np.cumsum([len(each) for each in runs])[:-1]
        total = np.split(self._numbers(None, np.concatenate(runs), when), ends)
        return [
            replace(kind, writers=replace(kind.writers, count=(own, every)))
            for kind, run, every in zip(kinds, runs, total, strict=True)
            for own in [self._numbers(kind.record, run, kind.writers.when)]
        ]

    def _run(self, kind: RecordParts) -> Ints:
        """Return the run of each record: a run is the time between starts of a queue manager."""
        found = kind.writers.qmgr * self._runs
        for manager, starts in enumerate(self._starts):
            own = kind.writers.qmgr == manager
            found[own] += np.searchsorted(starts, kind.writers.when[own], side="right")
        return found

    def _numbers(self, record: tuple[int, int] | None, run: Ints, when: Ints) -> Ints:
        before = self._count.get(record, self._first)
        every = np.bincount(run, minlength=len(before))
        self._count[record] = before + every
        number = np.empty(len(run), np.int64)
        number[np.lexsort((when, run))] = numbered(every)
        found: Ints = number + before[run]
        return found


def in_order(envelope: Envelope, kinds: Sequence[RecordParts]) -> Iterator[memoryview]:
    """Yield records, each with its RDW, in the order of the times at which they were written.

    Records are built piece by piece, because all records of an interval would be large.
    """
    which = np.repeat(np.arange(len(kinds)), [len(kind.writers.when) for kind in kinds])
    rows = np.concatenate([np.arange(len(kind.writers.when)) for kind in kinds])
    order = np.argsort(np.concatenate([kind.writers.when for kind in kinds]), kind="stable")
    for at in range(0, len(order), PIECE):
        piece = order[at : at + PIECE]
        yield from _piece(envelope, kinds, which[piece], rows[piece])


def _piece(
    envelope: Envelope, kinds: Sequence[RecordParts], which: Ints, rows: Ints
) -> list[memoryview]:
    records = [memoryview(b"")] * len(rows)
    for number, kind in enumerate(kinds):
        mine = np.flatnonzero(which == number)
        if not len(mine):
            continue
        for raw, places in envelope.records(kind, rows[mine]):
            data, length = raw.reshape(-1).data, raw.shape[1]
            for nth, place in enumerate(mine[places].tolist()):
                records[place] = data[nth * length : (nth + 1) * length]
    return records
